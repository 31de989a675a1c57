"""DeepSeek V3.2 and V4: DSML tags, whose parameters say on the wire whether they are strings."""

from __future__ import annotations

import re
from typing import Any

from ..grammar.call_syntax import CallSyntax
from ..json_schema import STRING_ONLY, declares, is_json
from ..json_string import quote
from ..markers import marker_scanner
from ..messages import DeltaToolCall
from .argument_value import ArgumentValue
from .json_value_scanner import JsonValueScanner
from .tool_parser import ToolParserManager
from .writing import FunctionCalls, bare_text, json_text
from .xml_tool_parser import ARG_START, LOOKAHEAD, AfterArgStart, AfterFunction, XmlToolParser

_INVOKE = re.compile(r"""<｜DSML｜invoke\s{1,32}name\s{0,8}=\s{0,8}(["'])([^"'<>\n]{0,256})\1\s{0,32}(/?)>""")
_PARAMETER = re.compile(
    r"""\s{0,32}name\s{0,8}=\s{0,8}(["'])(?P<name>[^"'<>\n]{1,256})\1"""
    r"""(?:\s{1,32}string\s{0,8}=\s{0,8}(["'])(?P<string>true|false)\3)?\s{0,32}>"""
)
_VALUE_CLOSE = "</｜DSML｜parameter>"
_WHITE_SPACE = re.compile(r"\s*+")
_WRAPPERS = ("arguments", "input")


def _write_parameter(item: tuple[str, Any]) -> str:
    name, value = item
    is_string = json_text(isinstance(value, str))
    return f'<｜DSML｜parameter name="{name}" string="{is_string}">{bare_text(value)}</｜DSML｜parameter>\n'


class JsonValue(ArgumentValue):
    """A value that the wire calls JSON: verbatim if it is, else the string that the model wrote."""

    __slots__ = ("passed_on", "typed")

    def __init__(self, typed: bool, key: str) -> None:
        super().__init__(STRING_ONLY, template_newlines=False, key=key)
        self.passed_on = False  # a container went out as it came; only white space may follow
        self.typed = typed  # the wire says that it is JSON, and does not just leave it open

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space came yet."""
        return not any(map(str.strip, self._parts))

    def add(self, piece: str) -> str:
        self._last_piece = piece
        self._parts.append(piece)
        return ""

    @property
    def text(self) -> str:
        """All that came so far and is not out."""
        return "".join(self._parts)

    def take_key(self) -> str:
        """The key goes out before the value, which is passed on as it comes."""
        key, self._key = self._key, ""
        return key

    def _whole(self, text: str) -> str:
        if self.passed_on:
            self.finding = "text-dropped" if text.strip() else ""
            return ""
        if is_json(text):
            return text.strip()
        self.finding = "value-uncoerced" if self.typed else ""
        return quote(text)

    def cut(self) -> str | None:
        if not self.passed_on:
            return None
        rest = self.text.strip()  # perhaps the beginning of the closing tag
        return "" if _VALUE_CLOSE.startswith(rest) else self.end()


class DsmlToolParser(XmlToolParser):
    """Base of the DSML dialects; a subclass names its block.

    Parses this; ``string="false"`` means JSON, and the newlines before the block belong to its open tag::

        <｜DSML｜BLOCK>
        <｜DSML｜invoke name="NAME">
        <｜DSML｜parameter name="KEY" string="true|false">VALUE</｜DSML｜parameter>
        </｜DSML｜invoke>
        </｜DSML｜BLOCK>
    """

    payload_openers = ("<｜DSML｜invoke",)
    bare_openers = ("<｜DSML｜invoke",)
    arg_value_close_tag = _VALUE_CLOSE
    usual_argument = r'<｜DSML｜parameter name="([^"\'<>\n]{1,256}+)" string="(true|false)">'
    usual_end = "</｜DSML｜invoke>"
    unfinished_argument = r"<｜DSML｜parameter[^<>\n]{0,160}+"
    several_functions = True
    block: str

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tag, close = f"<｜DSML｜{cls.block}>", f"</｜DSML｜{cls.block}>"
        cls.open_tags = (f"\n\n{tag}", tag)
        cls.close_tags = (close,)
        cls.value_followers = ("<｜DSML｜parameter", "</｜DSML｜invoke>", close, "<parameter")
        cls.value_breakers = {
            "<｜DSML｜parameter": (),
            "</｜DSML｜invoke>": ("<｜DSML｜invoke", close),
            close: (tag,),
        }

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (
            *super().tags(),
            *cls.payload_openers,
            "</｜DSML｜invoke>",
            "<｜DSML｜parameter",
            cls.arg_value_close_tag,
        )

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        written = "".join(
            f'<｜DSML｜invoke name="{name}">\n{"".join(map(_write_parameter, arguments.items()))}</｜DSML｜invoke>\n'
            for name, arguments in calls
        )
        return f"{cls.get_tool_open_tag()}\n{written}{cls.get_tool_close_tag()}"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        block = (cls.open_tags[1], cls.close_tags[0])
        head, end = r' name="NAME">\s*', "</｜DSML｜invoke>"
        return (CallSyntax("<｜DSML｜invoke", head, r"\s*", end, "deepseek_xml", cls.tags_in_values(), block),)

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        window = text[pos : pos + LOOKAHEAD]
        if _INVOKE.match(window):
            return True
        return None if not final and len(window) < LOOKAHEAD and ">" not in window else False

    def _begin_payload(self) -> None:
        super()._begin_payload()
        stops = (self.arg_value_close_tag, *self.value_breakers)  # outside a string of JSON each of them ends it
        self._scanner = JsonValueScanner(marker_scanner(stops, self.boundaries))
        self._wire_string: str | None = None

    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        invoke = _INVOKE.match(payload, pos)
        if invoke is None:
            end = payload.find(">", pos, pos + LOOKAHEAD)
            if end < 0 and len(payload) - pos < LOOKAHEAD:
                return None
            return max(end + 1, pos + len(self.payload_openers[0])), "", "arg_start"
        return invoke.end(), invoke[2].strip(), "done" if invoke[3] else "arg_start"

    def _consume_arg_start(self, payload: str, pos: int) -> AfterArgStart | None:
        tags = ("<｜DSML｜parameter", "</｜DSML｜invoke>", "<parameter", self.arg_value_close_tag, *self.close_tags)
        tag = self._tag_at(payload, pos, tags)
        if tag == "<parameter":
            self._report("token-repaired", pos, "'<parameter' was read as '<｜DSML｜parameter'")
        if tag in ("<｜DSML｜parameter", "<parameter"):
            return pos + len(tag), "arg_name"
        if tag == "</｜DSML｜invoke>":
            return pos + len(tag), "done"
        if tag == self.arg_value_close_tag:
            return self._skip_stray(tag, pos)
        return None if tag is None else self._end_early(tag, pos, "</｜DSML｜invoke>")

    def _consume_arg_name(self, payload: str, pos: int) -> tuple[int, str] | None:
        parameter = _PARAMETER.match(payload, pos)
        if parameter is None:
            end = payload.find(">", pos, pos + LOOKAHEAD)
            return None if end < 0 and len(payload) - pos < LOOKAHEAD else (max(end + 1, pos), "")
        self._wire_string = parameter["string"]
        return parameter.end(), parameter["name"]

    def _name_in(self, head: re.Match[str]) -> str:
        self._wire_string = head[2]
        return head[1]

    # -- values -------------------------------------------------------------------------------------------------------

    def _argument_value(self, name: str, key: str) -> ArgumentValue:
        if self._wire_string == "true":
            return ArgumentValue(frozenset(), False, key)
        types = self._declared_types(name) if self._wire_string is None else frozenset()
        if types:  # the wire leaves it open, the schema does not
            return ArgumentValue(types, False, key)
        return JsonValue(self._wire_string == "false", key)

    def _begin_value(self, name: str, pos: int) -> None:
        super()._begin_value(name, pos)
        if isinstance(self._argument, JsonValue):  # perhaps a container, which is passed on as it comes
            self._streamed = None

    def _is_wrapper(self) -> bool:
        """Whether the parameter at hand only wraps the arguments: a slip of models that were shown other formats."""
        return self._name in _WRAPPERS and not self._object_open and declares(self._parameters, self._name) is False

    def _consume_value(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> tuple[int, bool]:
        value = self._argument
        if isinstance(value, JsonValue):
            if value.passed_on:
                self._judge_container(value, pos)
            elif value.is_blank and self._name and not self._is_wrapper():
                space = _WHITE_SPACE.match(text, pos)
                assert space is not None
                first = text[space.end() : space.end() + 1]
                if first and first in "{[":
                    value.passed_on = True
                    self._scanner.begin(first)
                    self._emit_delta(deltas, value.take_key())
                    self._passing = self._scanner
                    return space.end(), True
        return super()._consume_value(text, deltas, final, pos)

    def _judge_container(self, value: JsonValue, pos: int) -> None:
        """The container that was passed on is over, one way or another."""
        if self._scanner.stopped:
            self._report("payload-malformed", pos, f"the JSON of {self._name!r} is not complete here")
            self._scanner.stopped = False

    def _end_value(self, deltas: list[DeltaToolCall]) -> None:
        value = self._argument
        if isinstance(value, JsonValue) and self._is_wrapper():
            inner = value.text.strip()
            if is_json(inner, dict):
                self._report_at("arguments-unwrapped", self._value_offset, f"{self._name!r} held the arguments")
                members = inner[1:-1].strip()
                self._object_open = bool(members)
                self._emit_delta(deltas, f"{{{members}" if members else "")
                self._state = ARG_START
                return
        super()._end_value(deltas)

    def _breaks_value(self, window: str, tag: str, final: bool) -> bool | None:
        if tag != "<｜DSML｜parameter":
            return super()._breaks_value(window, tag, final)
        following = _PARAMETER.match(window, len(tag))
        if following is None:
            return None if not final and not set(window[len(tag) :]) & set("<>") else False
        # values may hold text about tags: only a declared parameter, or one on a line of its own, ends them
        declared = declares(self._parameters, following["name"])
        return self._argument.at_line_start if declared is None else declared

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        if self._passing is not None:  # the object stays open like the value in it: a brace would close the wrong one
            self._object_open = False
            if pos < len(text):
                self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
            return
        super()._end_of_input(text, deltas, pos)


@ToolParserManager.register_module("deepseek-v32", "deepseek-v3.2")
class DeepSeekV32ToolParser(DsmlToolParser):
    """The block is ``function_calls``."""

    description = "DSML in <｜DSML｜function_calls>: DeepSeek-V3.2"
    block = "function_calls"


@ToolParserManager.register_module("deepseek-v4")
class DeepSeekV4ToolParser(DsmlToolParser):
    """The block is ``tool_calls``."""

    description = "DSML in <｜DSML｜tool_calls>: DeepSeek-V4"
    block = "tool_calls"
