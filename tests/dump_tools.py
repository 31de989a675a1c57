"""Helpers for the tests of dumps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from unspool.cli.transcript.dumps import SHAPES, DumpOptions, Part, read_dump
from unspool.cli.transcript.errors import BadLine
from unspool.parsers.tokenization import TextTokenizer


class Dump:
    """Reads a dump and keeps what was said on the way."""

    def __init__(self, shape: str | None = None, tokenizer: TextTokenizer | None = None, choice: str | None = None):
        self.warnings: list[str] = []
        self.bad: list[BadLine] = []
        self.notes: list[str] = []
        self.parts: list[Part] = []
        found = None if shape is None else SHAPES[shape]
        self.options = DumpOptions(
            "in.sse", found, tokenizer, choice, self.warnings.append, self.bad.append, self.notes.append
        )

    def read(self, data: bytes | str, *, together: bool = True) -> Dump:
        """Read bytes; ``together``: as a file, whose lines are all there."""
        data = data.encode() if isinstance(data, str) else data
        self.parts = list(read_dump(data.split(b"\n"), self.options, line_ready=lambda: together))
        return self

    @property
    def texts(self) -> dict[str | None, str]:
        """The text of every response by its label, in the order in which they began."""
        found: dict[str | None, str] = {}
        for part in self.parts:
            found[part.response.label] = found.get(part.response.label, "") + joined(part)
        return found

    @property
    def text(self) -> str:
        """The text of the only response."""
        (text,) = self.texts.values()
        return text

    @property
    def ids(self) -> list[int]:
        return [number for part in self.parts for output in part.outputs for number in output.token_ids]

    @property
    def reasons(self) -> list[str]:
        return [
            output.finish_reason for part in self.parts for output in part.outputs if output.finish_reason is not None
        ]

    @property
    def differences(self) -> list[int]:
        return [part.difference.offset for part in self.parts if part.difference is not None]


def joined(part: Part) -> str:
    """The text of a part."""
    return "".join(output.text for output in part.outputs)


def sse(*values: Any) -> str:
    """Server-sent events."""
    return "".join(f"data: {json.dumps(value)}\n\n" for value in values)


def choice(text: str | None = None, index: int = 0, *, request: str = "cmpl-1", **more: Any) -> dict[str, Any]:
    """A piece of a completion."""
    return {"id": request, "object": "text_completion", "choices": [{"index": index, "text": text, **more}]}


def delta(index: int = 0, *, more: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A piece of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": index, "delta": fields, **(more or {})}],
    }


def sglang(text: str | None, ids: Iterable[int] | None, total: int, **more: Any) -> dict[str, Any]:
    """An event of SGLang's ``/generate``."""
    value: dict[str, Any] = {"meta_info": {"id": "a", "completion_tokens": total, "finish_reason": None} | more}
    if text is not None:
        value["text"] = text
    if ids is not None:
        value["output_ids"] = list(ids)
    return value
