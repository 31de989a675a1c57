"""What goes into the wheel. Built from the tree with the installed back end, so without a network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

import unspool

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.package,
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="a tree without its README can't be built"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def metadata(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(f"unspool-{unspool.__version__}.dist-info/{name}").decode()


def test_nothing_but_unspool_is_at_top_level(wheel: zipfile.ZipFile) -> None:
    top_level = {name.split("/")[0] for name in wheel.namelist()}
    assert top_level == {"unspool", f"unspool-{unspool.__version__}.dist-info"}


def test_every_module_of_the_tree_is_in_the_wheel_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    modules = {
        f"unspool/{path.relative_to(ROOT).as_posix()}"
        for folder in ("cli", "parsers")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert "unspool/cli/transcript/reader.py" in modules
    assert "unspool/parsers/messages.py" in modules
    packed = {name for name in wheel.namelist() if name.startswith("unspool/")}
    assert packed == modules | {"unspool/__init__.py", "unspool/py.typed"}


def test_the_command_is_installed(wheel: zipfile.ZipFile) -> None:
    entry_points = ConfigParser()
    entry_points.read_string(metadata(wheel, "entry_points.txt"))
    assert dict(entry_points["console_scripts"]) == {"unspool": "unspool.cli:app"}


def test_metadata(wheel: zipfile.ZipFile) -> None:
    found = Parser().parsestr(metadata(wheel, "METADATA"))
    assert found["Name"] == "unspool"
    assert found["Version"] == unspool.__version__
    assert found["License-Expression"] == "Apache-2.0"
    assert "Apache License" in metadata(wheel, "licenses/LICENSE")
    required = {line.split(">=")[0] for line in found.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert required == {"orjson", "rich", "tokenizers", "transformers", "typer"}
