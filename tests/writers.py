"""Renders calls as a model's chat template does, one writer a dialect, and knows what a format can't tell apart.

Owns no parsing: a test gives what a writer made to a parser and expects the same calls back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

FunctionCall = tuple[str, dict[str, Any]]
"""A function's name and its arguments, values as JSON has them."""


@dataclass(frozen=True)
class Dialect:
    """A wire format.

    Attributes:
        id: what pytest shows.
        write: renders ``(before, calls, after)``.
        options: of ``build_response_parser``.
        by_schema: values are bare text, whose types only the schema tells.
        unreadable: ``(reason, pattern)``: a value whose wire text matches reads as something else.
    """

    id: str
    write: Callable[[str, Sequence[FunctionCall], str], str]
    options: dict[str, str]
    by_schema: bool = False
    unreadable: tuple[tuple[str, re.Pattern[str]], ...] = field(default=())


def dumps(value: Any) -> str:
    """JSON as a template's ``tojson`` writes it."""
    return json.dumps(value, ensure_ascii=False)


def as_text(value: Any) -> str:
    """Strings bare, the rest as JSON; a truth value as Python spells it, which is what ``| string`` makes of it."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, bool) else dumps(value)


def write_qwen3(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    blocks = [
        f'<tool_call>\n{{"name": {dumps(name)}, "arguments": {dumps(args)}}}\n</tool_call>' for name, args in calls
    ]
    return before + "\n".join(blocks) + after


def write_internlm(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    blocks = [
        f'<|action_start|><|plugin|>{{"name": {dumps(name)}, "parameters": {dumps(args)}}}<|action_end|>'
        for name, args in calls
    ]
    return before + "\n".join(blocks) + after


def write_llama3(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    envelopes = [f'{{"name": {dumps(name)}, "parameters": {dumps(args)}}}' for name, args in calls]
    return before + "<|python_tag|>" + "; ".join(envelopes) + after


def write_qwen3coder(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    blocks = []
    for name, arguments in calls:
        parameters = [f"<parameter={key}>\n{as_text(value)}\n</parameter>\n" for key, value in arguments.items()]
        blocks.append(f"<tool_call>\n<function={name}>\n{''.join(parameters)}</function>\n</tool_call>")
    return before + "\n".join(blocks) + after


def write_glm47(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    blocks = []
    for name, arguments in calls:
        pairs = [
            f"<arg_key>{key}</arg_key><arg_value>{value if isinstance(value, str) else dumps(value)}</arg_value>"
            for key, value in arguments.items()
        ]
        blocks.append(f"<tool_call>{name}{''.join(pairs)}</tool_call>")
    return before + "".join(blocks) + after


def dsml_writer(block: str) -> Callable[[str, Sequence[FunctionCall], str], str]:
    """The writer of a DSML dialect; the blank line before a block belongs to it."""

    def parameter(key: str, value: Any) -> str:
        kind, text = ("true", value) if isinstance(value, str) else ("false", dumps(value))
        return f'<｜DSML｜parameter name="{key}" string="{kind}">{text}</｜DSML｜parameter>\n'

    def write(before: str, calls: Sequence[FunctionCall], after: str) -> str:
        invokes = [
            f'<｜DSML｜invoke name="{name}">\n{"".join(parameter(*item) for item in args.items())}</｜DSML｜invoke>\n'
            for name, args in calls
        ]
        return f"{before}\n\n<｜DSML｜{block}>\n{''.join(invokes)}</｜DSML｜{block}>{after}"

    return write


def write_kimi_k2(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    bodies = [
        f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{dumps(args)}<|tool_call_end|>"
        for index, (name, args) in enumerate(calls)
    ]
    return f"{before}<|tool_calls_section_begin|>{''.join(bodies)}<|tool_calls_section_end|>{after}"


def write_harmony(before: str, calls: Sequence[FunctionCall], after: str) -> str:
    messages = [f"<|channel|>commentary<|message|>{before}<|end|>"] if before else []
    messages += [
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumps(arguments)}<|call|>"
        for name, arguments in calls
    ]
    messages += [f"<|channel|>final<|message|>{after}<|return|>"] if after else []
    return "<|start|>assistant".join(messages)


def _dsml_unreadable(block: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    close, end = f"</｜DSML｜{block}>", "</｜DSML｜invoke>"
    return (
        (
            "the value's close tag with what the grammar allows after it",
            re.compile(rf"</｜DSML｜parameter[^<>\s]{{0,8}}>\s*(?:<｜DSML｜parameter|{end}|{close}|<parameter)"),
        ),
        (
            "the beginning of another parameter, which ends a value whose close tag is missing",
            re.compile(r'<｜DSML｜parameter\s+name="'),
        ),
        (
            "the end of the invoke, or of the block, with what may come after it",
            re.compile(rf"{end}\s*(?:<｜DSML｜invoke|{close})|{close}\s*<｜DSML｜{block}>"),
        ),
    )


DIALECTS = (
    Dialect("qwen3", write_qwen3, {"tool_parser": "qwen3"}),
    Dialect("internlm", write_internlm, {"tool_parser": "internlm"}),
    Dialect("llama3", write_llama3, {"tool_parser": "llama3"}),
    Dialect(
        "qwen3coder",
        write_qwen3coder,
        {"tool_parser": "qwen3coder"},
        by_schema=True,
        unreadable=(
            (
                "the value's close tag with what the grammar allows after it",
                re.compile(r"</parameter[^<>\s]{0,8}>\s*(?:<parameter=|</function>|</tool_call>)"),
            ),
            (
                "the beginning of another parameter, which ends a value whose close tag is missing",
                re.compile(r"<parameter=[^<>\n]+>"),
            ),
            (
                "the end of the function, or of the block, with what may come after it",
                re.compile(r"</function>\s*(?:</tool_call>|<function=|<tool_call>)|</tool_call>\s*<tool_call>"),
            ),
            ("a carriage return at the end, which the template's newline makes a line break", re.compile(r"\r\Z")),
        ),
    ),
    Dialect(
        "glm47",
        write_glm47,
        {"tool_parser": "glm47"},
        by_schema=True,
        unreadable=(
            (
                "the value's close tag with what the grammar allows after it, be it a key without its opener",
                re.compile(r"</arg_value[^<>\s]{0,8}>\s*(?:<arg_key>|</tool_call>|[\w.\-]{1,128}\s*</arg_key>)"),
            ),
            (
                "another key with its value, which ends a value whose close tag is missing",
                re.compile(r"<arg_key>\s*[^<\s]+\s*</arg_key>\s*<arg_value>"),
            ),
            ("the end of the block with the beginning of another", re.compile(r"</tool_call>\s*<tool_call>")),
        ),
    ),
    Dialect(
        "deepseek-v32",
        dsml_writer("function_calls"),
        {"tool_parser": "deepseek-v32"},
        unreadable=_dsml_unreadable("function_calls"),
    ),
    Dialect(
        "deepseek-v4",
        dsml_writer("tool_calls"),
        {"tool_parser": "deepseek-v4"},
        unreadable=_dsml_unreadable("tool_calls"),
    ),
    Dialect("kimi-k2", write_kimi_k2, {"tool_parser": "kimi_k2"}),
    Dialect("gpt-oss", write_harmony, {"response_parser": "gpt-oss"}),
)

READS_AS_NULL_OR_ANOTHER_TYPE = "a string that reads as a value of another type that is declared beside string"
READS_AS_LITERAL = "a string that is wholly a JSON string literal, where string is declared: models quote strings"
TYPE_UNKNOWN = "a value that is no string and has no declared type: the wire has no types"


def cant_tell(dialect: Dialect, value: Any, types: frozenset[str]) -> str:
    """Why the format itself can't tell ``value`` from another one, ``""`` where it can.

    Args:
        dialect: the format.
        value: of one argument.
        types: that its schema declares; none where the argument is not declared.
    """
    if dialect.by_schema and not isinstance(value, str) and not types:
        return TYPE_UNKNOWN
    if dialect.by_schema and isinstance(value, str) and types:
        if reads_as(value.strip()) & types:
            return READS_AS_NULL_OR_ANOTHER_TYPE
        if is_literal(value):
            return READS_AS_LITERAL
    passes_json_on = dialect.id.startswith("deepseek") and isinstance(value, (dict, list))
    if not passes_json_on:  # inside a string of JSON every DSML tag is data
        text = as_text(value) if dialect.by_schema or isinstance(value, str) else dumps(value)
        for reason, pattern in dialect.unreadable:
            if pattern.search(text):
                return reason
    return ""


def reads_as(text: str) -> set[str]:
    """Types other than string of which ``text`` is a value."""
    if text.lower() in ("true", "false"):
        return {"boolean"}
    try:
        value = json.loads(text, parse_constant=lambda _: "")
    except (ValueError, RecursionError):
        return set()
    for kind, names in _KINDS:
        if isinstance(value, kind):
            return names
    return {"null"} if value is None else set()


_KINDS: tuple[tuple[type, set[str]], ...] = (
    (bool, {"boolean"}),
    (int, {"integer", "number"}),
    (float, {"number"}),
    (dict, {"object"}),
    (list, {"array"}),
)


def is_literal(text: str) -> bool:
    """Whether ``text`` is one JSON string literal, raw newlines in it allowed."""
    try:
        return text.startswith('"') and isinstance(json.loads(text, strict=False), str)
    except (ValueError, RecursionError):
        return False
