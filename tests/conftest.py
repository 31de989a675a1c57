"""Collects the fixtures into parameters, loads the tiny tokenizer, adds ``--update-goldens``."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from oracle import CASE_FILES, FIXTURES, load_cases
from tokenizers import Tokenizer

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


@pytest.fixture(scope="session")
def tiny() -> TextTokenizer:
    """The tokenizer of the recorded token streams."""
    return TextTokenizer(Tokenizer.from_file(str(FIXTURES / "tokenizers" / "tiny" / "tokenizer.json")))
