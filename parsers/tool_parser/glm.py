"""GLM-4.7 and GLM-5: a bare function name, then ``<arg_key>`` and ``<arg_value>`` pairs."""

from __future__ import annotations

import re
from typing import ClassVar

from ..grammar.call_syntax import CallSyntax
from ..json_schema import declares
from .next_block import UsualPayload
from .tool_parser import ToolParserManager
from .undecided import Undecided
from .writing import FunctionCalls, bare_text
from .xml_tool_parser import LOOKAHEAD, AfterArgStart, AfterFunction, XmlToolParser

_KEY = r"[\w.\-]{1,128}"
_HEAD = re.compile(rf"([\w.\-:]{{1,256}})\s*+(?=<arg_key>|</tool_call>|{_KEY}\s*+</arg_key>)")
_UNFINISHED_HEAD = re.compile(r"[\w.\-:]{0,256}\s*+(?:[\w.\-]{0,128}\s*+)?(?:<[/a-z_]{0,11})?\Z")
# the like, with so little white space that it can be looked at again with every chunk
_SHORT_UNFINISHED_HEAD = re.compile(r"[\w.\-:]{0,256}\s{0,32}+(?:[\w.\-]{0,128}\s{0,32}+)?(?:<[/a-z_]{0,11})?\Z").match
_KEY_WITHOUT_OPENER = re.compile(rf"{_KEY}\s*+</arg_key>")
_UNFINISHED_KEY = re.compile(r"[\w.\-]{1,128}\s*+(?:<[/a-z_]{0,9})?\Z")
_ARGUMENT = re.compile(r"([^<]{0,256})(?:(?P<close></arg_key>)(?P<stray>\s*+</arg_key>)*+|(?=<arg_value>))")
_UNFINISHED_ARGUMENT = re.compile(r"[^<]{0,256}(?:</?[a-z_]{0,9})?\Z")
_VALUE_OPENER = re.compile(r"\s{0,256}<arg_value>")
_UNFINISHED_OPENER = re.compile(r"\s{0,256}(?:</?[a-z_]{0,9})?\Z")
_USUAL_PAIR = r"<arg_key>([^<\s]{1,256}+)</arg_key>\s{0,32}+<arg_value>"
_UNFINISHED_PAIR = r"<arg_key>[^<>]{0,128}+(?:</?[a-z_]{0,9}+(?:>\s{0,32}+(?:<[a-z_]{0,9}+)?+)?+)?+"
_NEXT_ARGUMENT = re.compile(r"<arg_key>\s{0,32}([^<\s]{1,128})\s{0,32}</arg_key>\s{0,32}<arg_value>")
_UNFINISHED_NEXT = re.compile(
    r"<arg_key>\s{0,32}[^<\s]{0,128}\s{0,32}(?:</?[a-z_]{0,7}|</arg_key>\s{0,32}(?:<[a-z_]{0,9})?)?\Z"
)


@ToolParserManager.register_module("glm47")
class Glm47ToolParser(XmlToolParser):
    """``<tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value>...</tool_call>``, newlines between tags or not."""

    description = "a name, then <arg_key> and <arg_value> pairs: GLM-4.7, GLM-5"
    arg_value_close_tag = "</arg_value>"
    usual_argument = _USUAL_PAIR
    usual_end = "(?=</tool_call>)"
    unfinished_argument = _UNFINISHED_PAIR
    usual_payload = UsualPayload("", r"[\w.\-:]", followers=("<arg_key>", "\n<arg_key>", "</tool_call>"))
    tag_margin: ClassVar[str] = ""  # what a model writes between tags
    value_followers = ("<arg_key>", "</tool_call>")
    value_breakers = {"<arg_key>": (), "</tool_call>": ("<tool_call>",)}  # noqa: RUF012

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</tool_call>"

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        written = []
        for name, arguments in calls:
            pairs = (
                f"{cls.tag_margin}<arg_key>{key}</arg_key>{cls.tag_margin}<arg_value>{bare_text(value)}</arg_value>"
                for key, value in arguments.items()
            )
            written.append(f"<tool_call>{name}{''.join(pairs)}{cls.tag_margin}</tool_call>")
        return cls.tag_margin.join(written)

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        return (CallSyntax("<tool_call>", r"\s*NAME\s*", r"\s*", "</tool_call>", "glm_xml", cls.tags_in_values()),)

    def undecided(self) -> Undecided | None:
        return _SHORT_UNFINISHED_HEAD if self._opening else super().undecided()

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        window = text[pos : pos + LOOKAHEAD]
        if _HEAD.match(window):
            return True
        return None if not final and len(window) < LOOKAHEAD and _UNFINISHED_HEAD.match(window) else False

    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        head = _HEAD.match(payload, pos)
        assert head is not None  # the payload began with it
        return head.end(), head[1], "arg_start"

    def _consume_arg_start(self, payload: str, pos: int) -> AfterArgStart | None:
        tag = self._tag_at(payload, pos, ("<arg_key>", "</tool_call>", "</arg_key>", "</arg_value>"))
        if tag == "<arg_key>":
            return pos + len(tag), "arg_name"
        if tag == "</tool_call>":
            return pos, "done"
        if tag:
            return self._skip_stray(tag, pos)
        window = payload[pos : pos + LOOKAHEAD]
        if _KEY_WITHOUT_OPENER.match(window):
            self._report("open-tag-missing", pos, "'<arg_key>' expected before this key")
            return pos, "arg_name"
        if tag is None or _UNFINISHED_KEY.match(window):
            return None
        return self._end_early(tag, pos, "</tool_call>")

    def _consume_arg_name(self, payload: str, pos: int) -> tuple[int, str] | None:
        argument = _ARGUMENT.match(payload, pos)
        if argument is None:
            unfinished = len(payload) - pos < LOOKAHEAD and _UNFINISHED_ARGUMENT.match(payload, pos)
            return None if unfinished else (pos, "")
        end = argument.end()
        opener = _VALUE_OPENER.match(payload, end)
        if opener is None and _UNFINISHED_OPENER.match(payload, end):
            return None
        if argument["stray"]:
            self._report("stray-close-tag", argument.start("stray"), "'</arg_key>' closes nothing here")
        if not argument["close"]:
            self._report("close-tag-missing", end, "'</arg_key>' expected here")
        if opener is None:
            self._report("open-tag-missing", end, "'<arg_value>' expected before this value")
        return (end if opener is None else opener.end()), argument[1].strip()

    def _follows(self, window: str, pos: int, followers: tuple[str, ...], final: bool) -> bool | None:
        follows = super()._follows(window, pos, followers, final)
        if follows is not False or followers is not self.value_followers:
            return follows
        rest = window[pos:].lstrip()
        if _KEY_WITHOUT_OPENER.match(rest):
            return True
        return None if not final and _UNFINISHED_KEY.match(rest) else False

    def _breaks_value(self, window: str, tag: str, final: bool) -> bool | None:
        if tag != "<arg_key>":
            return super()._breaks_value(window, tag, final)
        following = _NEXT_ARGUMENT.match(window)
        if following is None:
            return None if not final and _UNFINISHED_NEXT.match(window) else False
        # values may hold text about tags: only a declared argument, or one on a line of its own, ends them
        declared = declares(self._parameters, following[1])
        return self._argument.at_line_start if declared is None else declared
