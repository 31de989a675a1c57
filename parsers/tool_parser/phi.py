"""Microsoft Phi-4-mini: a JSON array behind the word ``functools``."""

from __future__ import annotations

import re

from .bare_json_tool_parser import BareJsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("phi4_mini_json")
class Phi4MiniToolParser(BareJsonToolParser):
    """``functools[{"name": ..., "arguments": {...}}, ...]``.

    The model sometimes leaves out the bracket, or puts a space before it. The word alone is what it is in any talk
    about Python: what follows it then has to begin a call.
    """

    description = "a JSON array behind the word functools, no close tag: Phi-4-mini"
    other_argument_fields = ("parameters",)
    untagged_at_start = False
    bare_openers = ("functools",)
    bare_prefix = re.compile(r"functools\s*+")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "functools["

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return f"functools{cls._array(calls)}"

    def _begin_payload(self) -> None:
        super()._begin_payload()
        self._depth = 1 if self._tagged else 0  # the tag's own bracket
