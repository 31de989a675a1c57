"""Qwen3-Coder and its relatives: ``<function=...>`` and ``<parameter=...>`` in tags that a dialect names."""

from __future__ import annotations

import re
from typing import ClassVar

from ..grammar.call_syntax import CallSyntax
from ..json_schema import declares
from .next_block import UsualPayload
from .tool_parser import ToolParserManager
from .writing import FunctionCalls, bare_text
from .xml_tool_parser import LOOKAHEAD, AfterArgStart, AfterFunction, XmlToolParser

_FUNCTION = re.compile(r"<function=([^<>\n]{0,256})(>|(?=[<\n]))")
_NAME = re.compile(r"([^<>\n]{0,256})(>|(?=[<\n]))")
_NEXT_PARAMETER = re.compile(r"<parameter=([^<>\n]{1,256})>")
# a call without its open tag is one only where the function's head is followed by what a function holds
_BARE_CALL = re.compile(r"<function=[^<>\s]{1,256}>\s*+(?:<parameter=|</function>)")
_UNFINISHED_BARE_CALL = re.compile(r"<function=[^<>\s]{0,256}(?:>\s*+[<=/a-z]{0,11})?\Z")


class FunctionTagsToolParser(XmlToolParser):
    """Base of the dialects that write this; a subclass names the block's tags in ``open_tags`` and ``close_tags``.

    One newline on each side of a value belongs to the template::

    <BLOCK>
    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>
    </BLOCK>
    """

    payload_openers = ("<function=",)
    bare_openers = ("<function=",)
    arg_value_close_tag = "</parameter>"
    usual_argument = r"""<parameter=([^<>\s"']{1,256}+)>"""
    unfinished_argument = r"<parameter=[^<>\n]{0,128}+"
    usual_end = "</function>"
    template_newlines = True
    several_functions = True
    usual_payload = UsualPayload("<function=", r"[^<>\s\"']", ">")
    value_margin: ClassVar[str] = "\n"  # what a model writes on each side of a value

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.value_followers = ("<parameter=", "</function>", *cls.close_tags)
        cls.value_breakers = {
            "<parameter=": (),
            "</function>": (*cls.close_tags, "<function=", *cls.open_tags),
            **dict.fromkeys(cls.close_tags, cls.open_tags),
        }

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), "<function=", "</function>", "<parameter=", "</parameter>")

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        written = []
        for name, arguments in calls:
            parameters = "".join(
                f"<parameter={key}>{cls.value_margin}{bare_text(value)}{cls.value_margin}</parameter>\n"
                for key, value in arguments.items()
            )
            written.append(f"{cls.open_tags[0]}\n<function={name}>\n{parameters}</function>\n{cls.close_tags[0]}")
        return "\n".join(written)

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        head, tail = r"\s*<function=NAME>\s*", r"\s*<\/function>\s*"
        return (CallSyntax("<tool_call>", head, tail, "</tool_call>", "qwen_xml", cls.tags_in_values()),)

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        window = text[pos : pos + LOOKAHEAD]
        if _BARE_CALL.match(window):
            return True
        return None if not final and len(window) < LOOKAHEAD and _UNFINISHED_BARE_CALL.match(window) else False

    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        head = _FUNCTION.match(payload, pos)
        if head is None:
            return None if len(payload) - pos < LOOKAHEAD else (pos + len("<function="), "", "done")
        if not head[2]:
            self._report("close-tag-missing", head.end(), "'>' expected after the function's name")
        return head.end(), head[1].strip(" \"'"), "arg_start"

    def _consume_arg_start(self, payload: str, pos: int) -> AfterArgStart | None:
        tag = self._tag_at(payload, pos, ("<parameter=", "</function>", "</parameter>", *self.close_tags))
        if tag == "<parameter=":
            return pos + len(tag), "arg_name"
        if tag == "</function>":
            return pos + len(tag), "done"
        if tag == "</parameter>":
            return self._skip_stray(tag, pos)
        return None if tag is None else self._end_early(tag, pos, "</function>")

    def _consume_arg_name(self, payload: str, pos: int) -> tuple[int, str] | None:
        name = _NAME.match(payload, pos)
        if name is None:
            return None if len(payload) - pos < LOOKAHEAD else (pos, "")
        if not name[2]:
            self._report("close-tag-missing", name.end(), "'>' expected after the parameter's name")
        return name.end(), name[1].strip(" \"'")

    def _breaks_value(self, window: str, tag: str, final: bool) -> bool | None:
        if tag != "<parameter=":
            return super()._breaks_value(window, tag, final)
        following = _NEXT_PARAMETER.match(window)
        if following is None:
            return None if not final and not set(window[len(tag) :]) & set("<>\n") else False
        # values may hold text about tags: only a declared parameter, or one on a line of its own, ends them
        declared = declares(self._parameters, following[1])
        return self._argument.at_line_start if declared is None else declared


@ToolParserManager.register_module("qwen3coder", "interns2-preview")
class Qwen3CoderToolParser(FunctionTagsToolParser):
    """The block is ``tool_call``."""

    description = "tags <function=..> and <parameter=..>: Qwen3-Coder, Qwen3.5, Intern-S2, Nemotron 3, Step 3.5"
    open_tags = ("<tool_call>",)
    close_tags = ("</tool_call>",)
