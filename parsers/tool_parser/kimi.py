"""Kimi K2: a section of calls whose ids, written by the model, hold the function's name."""

from __future__ import annotations

import json
import re

from ..grammar.call_syntax import CallSyntax
from ..messages import DeltaToolCall
from .section_tool_parser import Header, SectionToolParser
from .tool_parser import ToolParserManager

_ID = re.compile(r"(?:functions\.)?+(?!\d+\Z)(?P<name>[^:].*?)(?P<counter>:\d+)?\Z", re.DOTALL)
_COUNTER = re.compile(r":\d+\Z")


@ToolParserManager.register_module("kimi_k2", "kimi-k2")
class KimiK2ToolParser(SectionToolParser):
    """A section of calls.

    The header is the call's id, ``functions.NAME:COUNTER``::

    <|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}
    <|tool_call_end|><|tool_calls_section_end|>
    """

    description = "a section of calls with ids: Kimi K2, K2-Thinking, K2.5, K2.6"
    open_tags = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")  # the second is a slip of the model
    close_tags = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
    bare_openers = ("<|tool_call_begin|>",)
    call_open_tag = "<|tool_call_begin|>"
    argument_tag = "<|tool_call_argument_begin|>"
    call_close_tag = "<|tool_call_end|>"

    def _set_up(self) -> None:
        super()._set_up()
        self._ids: set[str] = set()  # of the calls so far

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def _write_header(cls, name: str, index: int) -> str:
        return f"functions.{name}:{index}"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        head = r"\s*functions\.NAME:\d+\s*<\|tool_call_argument_begin\|>\s*"
        block = (cls.open_tags[0], cls.close_tags[0])
        return (CallSyntax(cls.call_open_tag, head, r"\s*", cls.call_close_tag, block=block),)

    def open_block(self, offset: int, tag: str) -> None:
        super().open_block(offset, tag)
        self._doubtful: Header | None = None  # names no known function; the body may name it
        self._misspelt = tag == self.open_tags[1]

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        if self._misspelt:  # there is a payload, so the tag is more than mentioned
            self._misspelt = False
            self._report_at("token-repaired", self._block_offset, f"{self.open_tags[1]!r} was read as the plural")
        return super()._consume_stream_payload(text, deltas, final, pos)

    def _begin_call(self, name: str, deltas: list[DeltaToolCall], pos: int, call_id: str | None = None) -> bool:
        """Begin a call; where the model writes an id again, which a client could not answer twice, count it on."""
        again, count = call_id, len(self._ids)
        while call_id in self._ids:
            call_id = f"{_COUNTER.sub('', call_id or '')}:{count}"
            count += 1
        accepted = super()._begin_call(name, deltas, pos, call_id)
        if accepted and call_id is not None:
            self._ids.add(call_id)
        if accepted and call_id != again:
            self._report("token-repaired", pos, f"the call id {again!r} comes twice: this call's is now {call_id!r}")
        return accepted

    def _read_header(self, text: str, pos: int) -> Header | None:
        parts = _ID.match(text)
        if parts is None:
            return None
        if parts["counter"] is None or not text.startswith("functions."):
            self._report("token-repaired", pos, f"the call id {text!r} should read 'functions.NAME:COUNTER'")
        return Header(parts["name"], text)

    def _open_call(self, header: Header, deltas: list[DeltaToolCall], pos: int) -> None:
        unknown = self._allowed_names is not None and header.name not in self._allowed_names
        if unknown and not (header.call_id or "").startswith("functions."):
            self._doubtful = header  # an id of another style: the arguments may hold the name
        else:
            super()._open_call(header, deltas, pos)

    def _keeps_body(self) -> bool:
        return self._doubtful is not None

    def _end_body(self, deltas: list[DeltaToolCall], cut: bool = False) -> None:
        if self._doubtful is None:
            super()._end_body(deltas, cut)
        else:
            self._name_from_body(self._doubtful, "".join(self._kept_body), deltas)
            self._doubtful = None

    def _name_from_body(self, header: Header, body: str, deltas: list[DeltaToolCall]) -> None:
        """The id names no function of the request: a ``name`` among the arguments that does is it."""
        pos = self._call_offset - self.base_offset
        try:
            arguments = json.loads(body)
        except (ValueError, RecursionError):
            arguments = None
        name = arguments.get("name") if isinstance(arguments, dict) else None
        if isinstance(name, str) and self._allowed_names is not None and name in self._allowed_names:
            del arguments["name"]
            self._begin_call(name, deltas, pos, header.call_id)
            self._emit_delta(deltas, json.dumps(arguments, ensure_ascii=False))
            self._report("field-substituted", pos, f"the name {name!r} was taken from the arguments")
        else:
            self._begin_call(header.name, deltas, pos, header.call_id)  # which rejects it, with a diagnostic
