"""Collects the fixtures into parameters, loads the tiny tokenizer, adds ``--update-goldens``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from oracle import CASE_FILES, FIXTURES, load_cases
from tokenizers import Tokenizer

from unspool.parsers import ReasoningParserManager, ResponseParserManager, ToolParserManager
from unspool.parsers.registry import Registry
from unspool.parsers.tokenization import TextTokenizer

settings.register_profile("ci", derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add this suite's options."""
    parser.addoption("--update-goldens", action="store_true", help="write the golden outputs of the command again")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes ``case`` every hand-written case."""
    if "case" in metafunc.fixturenames:
        cases = [case for path in CASE_FILES for case in load_cases(path)]
        assert cases, f"no case files in {FIXTURES / 'cases'}"
        metafunc.parametrize("case", cases, ids=lambda case: case.id)


@pytest.fixture(autouse=True, scope="module")
def registries_as_before() -> Iterator[None]:
    """The plug-ins that a module's tests load are gone after it: all tests of a process share the managers."""
    managers: tuple[Registry[Any], ...] = (ReasoningParserManager, ToolParserManager, ResponseParserManager)
    before = [(dict(manager._entries), dict(manager._names)) for manager in managers]
    yield
    for manager, (entries, names) in zip(managers, before, strict=True):
        if manager._entries.keys() == entries.keys():
            continue
        manager._entries, manager._names = entries, names
        for module in [name for name in sys.modules if name.startswith("unspool_plugin_")]:
            del sys.modules[module]


@pytest.fixture(scope="session")
def tiny() -> TextTokenizer:
    """The tokenizer of the recorded token streams."""
    return TextTokenizer(Tokenizer.from_file(str(FIXTURES / "tokenizers" / "tiny" / "tokenizer.json")))
