"""OLMo 3: calls in Python's syntax, one a line, in ``<function_calls>``."""

from __future__ import annotations

from .pythonic import PythonicToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("olmo3")
class Olmo3ToolParser(PythonicToolParser):
    """The calls of a block stand on lines of their own.

    Values are Python or JSON literals::

    <function_calls>
    name(key=value, ...)
    </function_calls>
    """

    description = "Python calls on lines in <function_calls>: OLMo 3"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<function_calls>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</function_calls>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return f"{cls.get_tool_open_tag()}\n{cls._write_list(calls, chr(10))}\n{cls.get_tool_close_tag()}"
