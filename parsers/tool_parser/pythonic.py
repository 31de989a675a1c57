"""Llama 4, Llama 3.2 and ToolACE: a Python list of calls, in tags or without; base of the other pythonic dialects."""

from __future__ import annotations

import re

from .literal_tool_parser import LONGEST_HEAD, LiteralToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls

_NAME = r"[^\W\d][\w.\-]{0,255}"
# what a list of calls begins with, where no tag says that it is one: no link, no list of values, no index
_BARE_LIST = re.compile(
    rf"\[\s{{0,64}}(?P<name>{_NAME})\(\s{{0,64}}(?:[^\W\d][\w\-]{{0,127}}\s?=(?!=)|\*\*\s?\{{|\)\s{{0,64}}(?:,|\](?!\()))"
)
_UNFINISHED_LIST = re.compile(
    rf"\[\s{{0,64}}(?:{_NAME})?"
    rf"(?:(?<=[\w.\-])\(\s{{0,64}}(?:[^\W\d][\w\-]{{0,127}}\s?=?|\*{{0,2}}\s?|\)\s{{0,64}}\]?))?\Z"
)


class PythonicToolParser(LiteralToolParser):
    """Base of the dialects that write calls in Python's syntax, ``name(key=value, ...)``, in a list or line by line.

    Values are Python or JSON literals. Tuples and sets become arrays. An argument without a name gets the name that the
    schema declares at its place, and where there is none its place as a name.
    """

    call_head = re.compile(rf"(?P<name>{_NAME})\s{{0,32}}(?P<bracket>\()")
    unfinished_head = re.compile(rf"(?:{_NAME}\s{{0,32}})?\Z")
    in_list = True

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return f"{cls.get_tool_open_tag()}[{cls._write_list(calls, ', ')}]{cls.get_tool_close_tag() or ''}"

    @classmethod
    def _write_list(cls, calls: FunctionCalls, separator: str) -> str:
        return separator.join(
            f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in calls
        )

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        """A list counts anywhere, but only if it begins with a call of keyword arguments or of none.

        Where the request's tools are known the first call has to name one of them: code in an answer must stay text.
        """
        window = text[pos : pos + LONGEST_HEAD]
        ended = final or len(window) == LONGEST_HEAD
        if not ended and _UNFINISHED_LIST.match(window):
            return None
        begins = _BARE_LIST.match(window)
        return begins is not None and (self._allowed_names is None or begins["name"] in self._allowed_names)


@ToolParserManager.register_module("pythonic", "llama4_pythonic")
class Llama4PythonicToolParser(PythonicToolParser):
    """``[name(key=value, ...), ...]``, which ``<|python_start|>`` and ``<|python_end|>`` may enclose."""

    description = "a Python list of calls, in <|python_start|> or bare: Llama 4, Llama 3.2 1B and 3B, ToolACE"
    bare_openers = ("[",)
    tag_optional = True

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|python_start|>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "<|python_end|>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return f"[{cls._write_list(calls, ', ')}]"
