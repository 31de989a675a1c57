"""The formats of an xgrammar structural tag that are needed here, one function each.

Owns their spelling in JSON and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

Format = dict[str, Any]
"""One format: a JSON object with a ``type``."""

Style = Literal["json", "qwen_xml", "glm_xml", "deepseek_xml"]
"""How arguments are spelled; xgrammar has more."""


def text(excludes: Iterable[str] = ()) -> Format:
    """Any text without the strings ``excludes``."""
    return {"type": "any_text", "excludes": list(dict.fromkeys(excludes))}


def const(value: str) -> Format:
    """One string."""
    return {"type": "const_string", "value": value}


def regex(pattern: str) -> Format:
    """What a regular expression matches."""
    return {"type": "regex", "pattern": pattern}


def arguments(schema: Mapping[str, Any], style: Style = "json", excludes: Iterable[str] = ()) -> Format:
    """A function's arguments, whose strings hold none of ``excludes``; ``{}`` as a schema allows any."""
    made = {"type": "json_schema", "json_schema": dict(schema) or {"type": "object"}, "style": style}
    without = list(dict.fromkeys(excludes))
    return {**made, "excludes": without} if without else made


def sequence(*elements: Format) -> Format:
    """One after the other."""
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": list(elements)}


def either(elements: Sequence[Format]) -> Format:
    """One of them."""
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": list(elements)}


def optional(content: Format) -> Format:
    """Once or not at all."""
    return {"type": "optional", "content": content}


def star(content: Format) -> Format:
    """Any number of times, also none."""
    return {"type": "star", "content": content}


def repeated(content: Format, between: Format) -> Format:
    """Once or more often, with ``between`` in between."""
    return sequence(content, star(sequence(between, content)))


def tag(begin: str, content: Format, *ends: str) -> Format:
    """``content`` between two strings; the second is one of ``ends``."""
    return {"type": "tag", "begin": begin, "content": content, "end": ends[0] if len(ends) == 1 else list(ends)}


def text_with(tags: Sequence[Format], excludes: Iterable[str]) -> Format:
    """Any text in which what begins like one of ``tags`` is that tag."""
    triggers = list(dict.fromkeys(each["begin"] for each in tags))
    return {
        "type": "triggered_tags",
        "triggers": triggers,
        "tags": list(tags),
        "excludes": list(dict.fromkeys(excludes)),
    }


def escape(literal: str) -> str:
    """``literal`` as a regular expression."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", literal)
