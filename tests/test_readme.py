"""What the README shows is what happens: its examples run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_set_up_is_two_lines() -> None:
    setup = blocks("sh")[0].splitlines()
    assert len(setup) == 2
    assert "fixtures/transcripts/" in setup[0]
    assert "pytest" in setup[1]


def test_python_examples_run() -> None:
    examples = blocks("python")
    assert examples
    for code in examples:
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, timeout=60)


def test_console_examples_print_what_they_show() -> None:
    sessions = [
        line for block in blocks("console") for line in re.split(r"^(?=\$ )", block, flags=re.MULTILINE) if line
    ]
    assert sessions
    for session in sessions:
        command, _, output = session.partition("\n")
        shown = command.removeprefix("$ unspool ")
        ran = subprocess.run(
            ["bash", "-c", f'"{sys.executable}" -m unspool.cli {shown}'],
            cwd=ROOT,
            check=True,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )
        assert ran.stdout == output
