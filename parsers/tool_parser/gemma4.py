"""Gemma 4: calls as ``call:NAME{key:value}``, strings in a quote of the format's own."""

from __future__ import annotations

import re
from typing import Any

from ..messages import DeltaToolCall
from .literal_tool_parser import LiteralToolParser
from .next_block import UsualPayload
from .tool_parser import ToolParserManager
from .writing import FunctionCalls, json_text

_NAME = r"[\w.\-]{1,256}"


@ToolParserManager.register_module("gemma4")
class Gemma4ToolParser(LiteralToolParser):
    """``<|tool_call>call:NAME{key:<|"|>text<|"|>,other:3,list:[true,{a:1}]}<tool_call|>``.

    Nothing is escaped in a string. Keys are bare. A bare value is a number, ``true``, ``false`` or ``null``, or it
    becomes what the schema declares.
    """

    description = 'call:NAME{key:value} in <|tool_call>, strings in <|"|>: Gemma 4'
    call_head = re.compile(
        rf"(?P<call>call\s{{0,8}})?:\s{{0,8}}(?P<name>{_NAME})\s{{0,32}}(?P<bracket>[{{(]|(?=<tool_call\|>))"
    )
    unfinished_head = re.compile(
        rf"(?:c|ca|cal|(?:call\s{{0,8}})?(?::\s{{0,8}}(?:{_NAME}\s{{0,32}}(?:<[|a-z_]{{0,10}})?)?)?)\Z"
    )
    usual_payload = UsualPayload("call:", r"[\w.\-]", "{")
    private_quote = '<|"|>'

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "<tool_call|>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return "".join(f"<|tool_call>call:{name}{cls._write_value(dict(args))}<tool_call|>" for name, args in calls)

    @classmethod
    def _write_value(cls, value: Any) -> str:
        if isinstance(value, str):
            return f"{cls.private_quote}{value}{cls.private_quote}"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{cls._write_value(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(cls._write_value, value)) + "]"
        return json_text(value)

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        self._open_call(name, "}", deltas, pos)

    def _begin(self, head: re.Match[str], deltas: list[DeltaToolCall], pos: int) -> None:
        if head["call"] is None or head["bracket"] == "(":
            self._report("token-repaired", pos, f"{head.group()!r} was read as 'call:{head['name']}{{'")
        super()._begin(head, deltas, pos)
