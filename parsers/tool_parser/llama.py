"""Llama 3 and later with the JSON template: an envelope after ``<|python_tag|>``, or without it."""

from __future__ import annotations

import re

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager

_TOKEN = re.compile(r'\s*+(?:([{}:,])|"([^"\\]*+)")')
_UNFINISHED = re.compile(r'\s*+(?:"[^"\\]*+)?\Z')
_LONGEST_HEAD = 512  # characters: names are far shorter, and what is held until the head is judged must be bounded


@ToolParserManager.register_module("llama3")
class LlamaToolParser(JsonToolParser):
    """``<|python_tag|>{"name": ..., "parameters": {...}}``; further calls follow after ``;`` or a newline."""

    description = "JSON after <|python_tag|> or bare, no close tag: Llama 3.1, 3.2, 3.3, 4"
    argument_field = "parameters"
    untagged_at_start = True
    separator = re.compile(r"[\s;,]*+")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|python_tag|>"

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        head = text[pos : pos + _LONGEST_HEAD]
        begins = self._is_call_head(head, any_name=after_call)
        if begins is None and (final or len(head) == _LONGEST_HEAD):
            return False
        return begins

    def _is_call_head(self, head: str, *, any_name: bool) -> bool | None:
        """Whether an object begins as a call does; ``None`` where it may yet.

        An answer that is plain JSON must not be taken for a call, so a name alone is not enough: the argument field or
        the object's end has to follow it, and the request has to expose the name where its tools are known. Right
        after a call no answer is to be expected, and any name will do.
        """
        tokens = []  # marks as they are, strings with their opening quote
        pos = 0
        while (token := _TOKEN.match(head, pos)) is not None:
            tokens.append(token[1] or f'"{token[2]}')
            pos = token.end()
        if tokens[:1] != ["{"]:
            return None if not tokens and _UNFINISHED.match(head) else False
        name, rest = "", tokens[1:]
        while len(rest) >= 2:
            key, colon, *rest = rest
            if colon != ":":
                return False
            if name and key[1:] in self.argument_spellings:
                return True
            if not rest:
                break
            value, *rest = rest
            if key == '"name' and not name and value[:1] == '"':
                name = value[1:]
                if not name or (not any_name and self._allowed_names is not None and name not in self._allowed_names):
                    return False
            elif (key, value) != ('"type', '"function'):
                return False
            if rest:
                after, *rest = rest
                if after == "}" and name:
                    return True
                if after != ",":
                    return False
        return None if _UNFINISHED.match(head, pos) else False
