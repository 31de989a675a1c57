"""LFM2 and LFM2.5: a Python list of calls in tool-call tokens, or JSON envelopes in them."""

from __future__ import annotations

import re

from ..messages import DeltaToolCall
from .json_tool_parser import JsonToolParser
from .pythonic import PythonicToolParser
from .tool_parser import ToolParserManager
from .undecided import Undecided

_BEFORE_JSON = re.compile(r"(?:\[\s{0,64})?")


@ToolParserManager.register_module("lfm2")
class Lfm2ToolParser(PythonicToolParser, JsonToolParser):
    """``<|tool_call_start|>[name(key=value, ...), ...]<|tool_call_end|>``.

    The system prompt can ask for JSON instead: ``{"name": ..., "arguments": {...}}``, alone or in a list. LFM2.5 also
    writes the bare list.
    """

    description = "a Python list of calls, or JSON, in <|tool_call_start|>: LFM2, LFM2.5"
    bare_openers = ("[",)

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|tool_call_start|>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "<|tool_call_end|>"

    def _begin_payload(self) -> None:
        PythonicToolParser._begin_payload(self)
        JsonToolParser._begin_payload(self)
        self._json = False

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        begins = PythonicToolParser._begins_payload(self, text, pos, final)
        if begins is not False:
            return begins
        before = _BEFORE_JSON.match(text, pos)
        assert before is not None
        begins = JsonToolParser._begins_payload(self, text, before.end(), final)
        self._json = begins is True
        return begins

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        self._json = True
        JsonToolParser._begin_named(self, name, deltas, pos)

    def _undecided_payload(self) -> Undecided | None:
        return (JsonToolParser if self._json else PythonicToolParser)._undecided_payload(self)

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        form = JsonToolParser if self._json else PythonicToolParser
        return form._consume_stream_payload(self, text, deltas, final, pos)
