"""Mistral: a name and its arguments behind ``[TOOL_CALLS]``, or an array of calls in older models."""

from __future__ import annotations

import re

from ..messages import DeltaToolCall
from .bare_json_tool_parser import BareJsonToolParser
from .json_tool_parser import OUTSIDE
from .next_block import UsualPayload
from .tool_parser import ToolParserManager
from .undecided import Undecided
from .writing import FunctionCalls, json_text

_TAG = "[TOOL_CALLS]"
_LONGEST_HEADER = 512  # characters that are held, at most, to see whether a header begins


def _part_of(tag: str) -> str:
    """A pattern of the proper prefixes of ``tag``."""
    return "(?:" + "|".join(re.escape(tag[:end]) for end in range(len(tag) - 1, 0, -1)) + ")"


_WORD = r'[^\s\[\]{}"<>,]'
_NAME = rf"{_WORD}{{1,256}}+\s*+"
_CALL_ID = rf"\[CALL_ID\]\s*+(?P<id>{_WORD}{{1,64}}+)\s*+"
_HEADER = re.compile(rf'(?P<name>{_NAME})(?:{_CALL_ID})?(?:\[ARGS\]|(?=\{{\s*+["}}]))')
_UNFINISHED_HEADER = re.compile(
    rf"{_NAME}(?:{_part_of('[CALL_ID]')}|\[CALL_ID\]\s*+(?:{_WORD}{{1,64}}+\s*+)?)?(?:{_part_of('[ARGS]')}|\{{\s*+)?\Z"
)
# the usual of these, so short that it can be looked at again with every chunk
_short_unfinished_header = re.compile(rf"{_WORD}{{1,128}}+(?:{_part_of('[CALL_ID]')}|{_part_of('[ARGS]')})?\Z").match


@ToolParserManager.register_module("mistral")
class MistralToolParser(BareJsonToolParser):
    """``[TOOL_CALLS]NAME[ARGS]{...}``, the tag again before each call.

    Some models write ``[CALL_ID]ID`` after the name; ``[ARGS]`` may be left out. Models before tokenizer v11 write
    ``[TOOL_CALLS] [{"name": ..., "arguments": {...}, "id": ...}, ...]``: what the model wrote tells the two apart.
    Its own id is kept where it comes before the arguments, which don't wait for one.
    """

    description = "[TOOL_CALLS] with a name and [ARGS], or with a JSON array: all Mistral models that call tools"
    id_field = "id"
    usual_payload = UsualPayload("", _WORD, "[ARGS]")
    payload_filler = re.compile(rf"(?:\s|\[(?!{_part_of(_TAG[1:])}?\Z|{re.escape(_TAG[1:])}))*+")

    def _set_up(self) -> None:
        super()._set_up()
        self._ids: set[str] = set()  # that the model gave

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return _TAG

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), "[CALL_ID]", "[ARGS]")

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return "".join(f"{_TAG}{name}[ARGS]{json_text(dict(arguments))}" for name, arguments in calls)

    def undecided(self) -> Undecided | None:
        return _short_unfinished_header if self._opening else super().undecided()

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        if text[pos] == "[":  # which the filler would have taken, if it weren't the tag again
            return None if not final and len(text) - pos < len(_TAG) else False
        begins = super()._begins_payload(text, pos, final)
        if begins is not False or "[" in "".join(self._held):
            return begins
        header = text[pos : pos + _LONGEST_HEADER]
        if _HEADER.match(header):
            return True
        unfinished = not final and len(header) < _LONGEST_HEADER and _UNFINISHED_HEADER.match(header)
        return None if unfinished else False

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        if self._state is OUTSIDE and not self._depth and text[pos] != "{":
            header = _HEADER.match(text, pos)
            assert header is not None  # else no payload would have been seen here
            self._begin_headed(header["name"].rstrip(), header["id"], deltas, pos)
            pos = header.end()
        return super()._consume_stream_payload(text, deltas, final, pos)

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        self._begin_headed(name, None, deltas, pos)

    def _begin_call(self, name: str, deltas: list[DeltaToolCall], pos: int, call_id: str | None = None) -> bool:
        if call_id in self._ids:
            self._report("token-repaired", pos, f"the call id {call_id!r} comes twice: this call gets another")
            call_id = None
        elif call_id is not None:
            self._ids.add(call_id)
        return super()._begin_call(name, deltas, pos, call_id)
