"""Calls as ``invoke`` and ``parameter`` tags with a ``name`` attribute, and raw values between them.

Owns the two tags. What encloses the calls is a dialect's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ..json_schema import declares
from .writing import FunctionCalls, bare_text
from .xml_tool_parser import LOOKAHEAD, AfterArgStart, AfterFunction, XmlToolParser

# Quoted either way or not at all. What has no `>` is told first: such text waits, and a name can be read in many ways.
_ATTRIBUTE = r"""(?=[^<>]{0,400}+>)\s{0,32}name\s{0,8}=\s{0,8}["']?([^"'<>\n]{0,256}?)["']?\s{0,32}(/?)>"""
_NAME = re.compile(_ATTRIBUTE)


class InvokeToolParser(XmlToolParser):
    """Base of the dialects that write this, values verbatim; a subclass names its tags.

    The tags below can have a prefix::

    <invoke name="NAME">
    <parameter name="KEY">VALUE</parameter>
    </invoke>

    Attributes:
        prefix: stands before ``invoke`` and ``parameter``.
        enclosing_close_tags: what closes a call besides its own close tag, the block's close tags aside.
    """

    prefix: ClassVar[str] = ""
    enclosing_close_tags: ClassVar[tuple[str, ...]] = ()
    several_functions = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.invoke, cls.invoke_close = f"<{cls.prefix}invoke", f"</{cls.prefix}invoke>"
        cls.parameter, cls.arg_value_close_tag = f"<{cls.prefix}parameter", f"</{cls.prefix}parameter>"
        cls.usual_argument = rf"""{re.escape(cls.parameter)} name="([^"'<>\s]{{1,256}}+)">"""
        cls.usual_end = re.escape(cls.invoke_close)
        cls.unfinished_argument = rf"{re.escape(cls.parameter)}[^<>\n]{{0,160}}+"
        if not cls.payload_openers:
            cls.payload_openers = (f"{cls.invoke} name",)
        cls.bare_openers = cls.payload_openers
        closers = (*cls.enclosing_close_tags, *cls.close_tags)
        cls.value_followers = (f"{cls.parameter} name", cls.invoke_close, *closers, *cls.payload_openers)
        after_call = (*closers, *cls.payload_openers)
        cls.value_breakers = {
            f"{cls.parameter} name": (),
            cls.invoke_close: after_call,
            **dict.fromkeys(closers, (*cls.open_tags, *after_call)),
        }
        cls._invoke_head = re.compile(re.escape(cls.invoke) + _ATTRIBUTE)

    invoke: ClassVar[str]
    invoke_close: ClassVar[str]
    parameter: ClassVar[str]
    _invoke_head: ClassVar[re.Pattern[str]]

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        own = (cls.invoke, cls.invoke_close, cls.parameter, cls.arg_value_close_tag)
        return (*super().tags(), *cls.enclosing_close_tags, *own)

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return "\n".join((cls.open_tags[0], *(cls._write_call(*call) for call in calls), cls.close_tags[0]))

    @classmethod
    def _write_call(cls, name: str, arguments: Mapping[str, Any], margin: str = "\n") -> str:
        parameters = (
            f'{cls.parameter} name="{key}">{bare_text(value)}{cls.arg_value_close_tag}{margin}'
            for key, value in arguments.items()
        )
        return f'{cls.invoke} name="{name}">{margin}{"".join(parameters)}{cls.invoke_close}'

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        """A call without its block is one only where its head is followed by what a call holds."""
        window = text[pos : pos + LOOKAHEAD]
        head = self._invoke_head.match(window)
        if head is None:
            return None if not final and len(window) < LOOKAHEAD and ">" not in window else False
        follows = self._follows(window, head.end(), (self.parameter, self.invoke_close), final=False)
        return follows if follows is not None or (not final and len(window) < LOOKAHEAD) else False

    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        head = self._invoke_head.match(payload, pos)
        if head is None:
            end = payload.find(">", pos, pos + LOOKAHEAD)
            if end < 0 and len(payload) - pos < LOOKAHEAD:
                return None
            return max(end + 1, pos + len(self.invoke)), "", "arg_start"
        return head.end(), head[1].strip(), "done" if head[2] else "arg_start"

    def _consume_arg_start(self, payload: str, pos: int) -> AfterArgStart | None:
        closers = (*self.enclosing_close_tags, *self.close_tags)
        tag = self._tag_at(payload, pos, (self.parameter, self.invoke_close, self.arg_value_close_tag, *closers))
        if tag == self.parameter:
            return pos + len(tag), "arg_name"
        if tag == self.invoke_close:
            return pos + len(tag), "done"
        if tag == self.arg_value_close_tag:
            return self._skip_stray(tag, pos)
        return None if tag is None else self._end_early(tag, pos, self.invoke_close)

    def _consume_arg_name(self, payload: str, pos: int) -> tuple[int, str] | None:
        named = _NAME.match(payload, pos)
        if named is None:
            end = payload.find(">", pos, pos + LOOKAHEAD)
            return None if end < 0 and len(payload) - pos < LOOKAHEAD else (max(end + 1, pos), "")
        return named.end(), named[1].strip()

    def _is_cut_tag(self, text: str, pos: int) -> bool:
        rest = text[pos : pos + LOOKAHEAD]
        return super()._is_cut_tag(text, pos) or any(tag.startswith(rest) for tag in self.enclosing_close_tags)

    def _breaks_value(self, window: str, tag: str, final: bool) -> bool | None:
        if not tag.startswith(self.parameter):
            return super()._breaks_value(window, tag, final)
        following = _NAME.match(window, len(self.parameter))
        if following is None:
            return None if not final and ">" not in window else False
        # values may hold text about tags: only a declared parameter, or one on a line of its own, ends them
        declared = declares(self._parameters, following[1])
        return self._argument.at_line_start if declared is None else declared
