"""The array of calls, free of any tag, that constrained decoding writes where a call is required."""

from __future__ import annotations

from ..markers import marker_scanner
from ..messages import DeltaToolCall
from .bare_json_tool_parser import BareJsonToolParser
from .json_call_head import LONGEST_HEAD, begins_call
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("json_array", "guided_json", "required_json")
class JsonArrayToolParser(BareJsonToolParser):
    """``[{"name": ..., "parameters": {...}}, ...]``, or one such object, as the whole of the content.

    Where the request requires a call all JSON is one: an engine constrains the output to that. Where it names the
    function, the engine may write the arguments alone.
    """

    description = "a bare JSON array of calls: any model whose decoding is constrained to one"
    argument_field = "parameters"
    other_argument_fields = ("arguments",)
    tag_optional = True

    def _set_up(self) -> None:
        super()._set_up()
        self.open_tags = ()  # a bracket inside text opens nothing
        self.opener_scanner = marker_scanner(("]",))  # which opens nothing anywhere
        choice, names = self.request.tool_choice, sorted(self.request.exposed_names or ())
        kind = choice if isinstance(choice, str) else choice.get("type", "function")
        self._required = kind in ("required", "any")
        self._forced = names[0] if kind in ("function", "tool") else ""

    def _stop_tags(self) -> tuple[str, ...]:
        return ()

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "["

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return cls._array(calls)

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        if self._required and not after_call:
            return text.startswith(("[", "{"), pos)
        begins = super().begins_untagged_call(text, pos, final, after_call=after_call)
        if begins is False and self._forced and not after_call:
            return text.startswith("{", pos)
        return begins

    def _start(self, text: str, deltas: list[DeltaToolCall], pos: int) -> int:
        head = text[pos : pos + LONGEST_HEAD]
        if self._forced and head[0] == "{" and not begins_call(head, self.argument_spellings, None):
            self._begin_headed(self._forced, None, deltas, pos)
        return super()._start(text, deltas, pos)
