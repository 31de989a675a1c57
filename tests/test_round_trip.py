"""What a chat template writes, a parser reads back: every dialect, any value, any cut."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Outcome, run
from writers import (
    DIALECTS,
    READS_AS_LITERAL,
    READS_AS_NULL_OR_ANOTHER_TYPE,
    TYPE_UNKNOWN,
    Dialect,
    FunctionCall,
    cant_tell,
    dumps,
)

from unspool.parsers import ChatRequest, ToolParserManager, build_response_parser
from unspool.parsers.response_parser.harmony_tokens import TOKENS as HARMONY_TAGS

EXAMPLES = settings(
    max_examples=int(os.environ.get("UNSPOOL_ROUND_TRIP", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
"""Of each dialect; more with the variable UNSPOOL_ROUND_TRIP."""
TAGS = tuple(
    dict.fromkeys(
        (
            *(tag for entry in ToolParserManager.entries() for tag in ToolParserManager.get(entry.name).tags()),
            *HARMONY_TAGS,
            *("<think>", "</think>", "<|im_end|>", "<parameter=x>", "<function=f>", '<｜DSML｜invoke name="f">'),
        )
    )
)
TEXTS = (
    "", " ", "\n", "\n\n", "\r\n", "\r", "\t", "\x00", "\x1b", "\u2028", "\u2029", "\ufeff", "🌍", "e\u0301", "京",
    '"', '"x"', "'", "\\", "\\n", "\\u00e9", "&amp;", "<", "</", ">", "<|", "|>", "{", "}", "[]", "{}", '{"a": 1}',
    "null", "None", "true", "False", "0", "-7", "007", "1e5", "3.14", "NaN", "a=b", "word", "two words",
)  # fmt: skip


class Argument(NamedTuple):
    """An argument to be written: its schema, the types in it, its value."""

    name: str
    schema: dict[str, Any] | None
    types: frozenset[str]
    value: Any


STRINGS = st.one_of(
    st.lists(st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.sampled_from(TAGS), st.text(max_size=5)),
             max_size=6).map("".join),
    st.sampled_from(TEXTS),
    st.text(max_size=30),
)  # fmt: skip
INTEGERS = st.one_of(st.integers(-9, 99), st.integers(-(10**40), 10**40))
NUMBERS = st.one_of(INTEGERS, st.floats(allow_nan=False, allow_infinity=False))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, STRINGS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(STRINGS, inner, max_size=3)),
    max_leaves=6,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": STRINGS,
    "integer": INTEGERS,
    "number": NUMBERS,
    "boolean": st.booleans(),
    "null": st.none(),
    "object": st.dictionaries(STRINGS, JSON, max_size=3),
    "array": st.lists(JSON, max_size=3),
}
NAMES = st.sampled_from(("a", "key", "snake_case", "kebab-case", "dotted.name", "größe", "n1", "Aa", "名前"))
FUNCTIONS = st.sampled_from(("f", "get_weather", "files.read-all", "Do2"))
BEFORE = st.sampled_from(("", "Let me see.", "Right:\n", " é "))
AFTER = st.sampled_from(("", "Done.", "\nOk, then", " 🌍\n"))


@st.composite
def schemas(draw: st.DrawFn) -> tuple[dict[str, Any], frozenset[str], Any]:
    """A schema in one of its spellings, its types, and a value that fits it."""
    kinds = draw(st.lists(st.sampled_from(tuple(VALUES)), min_size=1, max_size=3, unique=True))
    value = draw(VALUES[draw(st.sampled_from(kinds))])
    types = frozenset(kinds)
    spelling = draw(st.sampled_from(("type", "anyOf", "oneOf", "$ref", "allOf", "enum")))
    listed = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if spelling in ("anyOf", "oneOf"):
        return {spelling: [{"type": kind} for kind in kinds]}, types, value
    if spelling == "allOf":
        return {"allOf": [{"description": "of any type"}, listed]}, types, value
    if spelling == "enum" and isinstance(value, str):
        return {"enum": [value, "other"]}, frozenset(("string",)), value
    if spelling == "$ref":
        return {"$ref": f"#/$defs/{'-'.join(kinds)}"}, types, value
    return listed, types, value


@st.composite
def arguments(draw: st.DrawFn, dialect: Dialect) -> list[Argument]:
    """Arguments of one call that the format can tell apart."""
    found = []
    for name in draw(st.lists(NAMES, unique=True, max_size=4)):
        schema, types, value = draw(schemas())
        undeclared = draw(st.integers(0, 4)) == 0
        argument = Argument(name, None if undeclared else schema, frozenset() if undeclared else types, value)
        if not cant_tell(dialect, value, argument.types):
            found.append(argument)
    return found


def tool(name: str, signature: Sequence[Argument]) -> dict[str, Any]:
    """The request's description of a function."""
    properties = {argument.name: argument.schema for argument in signature if argument.schema is not None}
    references = {kind for schema in properties.values() for kind in [schema.get("$ref", "")] if kind}
    definitions = {
        ref.removeprefix("#/$defs/"): {"type": ref.removeprefix("#/$defs/").split("-")} for ref in references
    }
    parameters = {"type": "object", "properties": properties, "$defs": definitions}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def at_random(text: str, seed: int) -> list[str]:
    """Cut at random places, some of them twice."""
    rng = random.Random(seed)
    places = sorted(rng.choices(range(len(text) + 1), k=rng.choice((0, 1, 3, 12, len(text)))))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def parse(dialect: Dialect, tools: list[dict[str, Any]], chunks: Sequence[str]) -> Outcome:
    return run(build_response_parser(ChatRequest(tools=tools), **dialect.options), chunks)  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.id)
def test_calls_come_back(dialect: Dialect) -> None:
    @EXAMPLES
    @given(st.data(), BEFORE, AFTER, st.integers(0, 2**16))
    def check(data: st.DataObject, before: str, after: str, seed: int) -> None:
        calls: list[FunctionCall] = []
        tools = []
        for number in range(data.draw(st.sampled_from((1, 1, 2, 3, 12)))):
            name = f"{data.draw(FUNCTIONS)}{number}"
            signature = data.draw(arguments(dialect))
            tools.append(tool(name, signature))
            calls.append((name, {argument.name: argument.value for argument in signature}))
        text = dialect.write(before, calls, after)
        for chunks in ([text], at_random(text, seed)):
            found = parse(dialect, tools, chunks)
            comes_back(found, calls)
            assert (found.content or "") == before + after
            assert not found.diagnostics

    check()


def comes_back(found: Outcome, calls: Sequence[FunctionCall]) -> None:
    """Assert that the calls are the ones that were written, number for number."""
    read = [(call.name, json.loads(call.arguments)) for call in found.tool_calls]
    assert [dumps(call) for call in read] == [dumps(call) for call in calls]


# What a format can't tell, with a value that shows it: `cant_tell` names no more than that.
LOST: tuple[tuple[str, str, Any, str], ...] = (
    ("qwen3coder", READS_AS_NULL_OR_ANOTHER_TYPE, "null", "string null"),
    ("qwen3coder", READS_AS_NULL_OR_ANOTHER_TYPE, "12", "string integer"),
    ("glm47", READS_AS_NULL_OR_ANOTHER_TYPE, "TRUE", "string boolean"),
    ("glm47", READS_AS_NULL_OR_ANOTHER_TYPE, "{}", "string object"),
    ("qwen3coder", READS_AS_LITERAL, '"x"', "string"),
    ("glm47", READS_AS_LITERAL, '""', "string"),
    ("qwen3coder", TYPE_UNKNOWN, 3, ""),
    ("glm47", TYPE_UNKNOWN, None, ""),
    ("qwen3coder", "the value's close tag", "a</parameter>\n<parameter=", "string"),
    ("qwen3coder", "the value's close tag", ["</parameter1></function>"], "array"),
    ("qwen3coder", "the beginning of another parameter", "a<parameter=v>", "string"),
    ("qwen3coder", "the end of the function", "a</function></tool_call>", "string"),
    ("qwen3coder", "a carriage return", "a\r", "string"),
    ("glm47", "the value's close tag", "a</arg_value> </tool_call>", "string"),
    ("glm47", "the value's close tag", "a</arg_value>v</arg_key>", "string"),
    ("glm47", "another key", "a<arg_key>v</arg_key><arg_value>", "string"),
    ("glm47", "the end of the block", "a</tool_call><tool_call>f", "string"),
    ("deepseek-v32", "the value's close tag", "a</｜DSML｜parameter></｜DSML｜invoke>", "string"),
    ("deepseek-v32", "the beginning of another parameter", 'a<｜DSML｜parameter name="v" string="true">', "string"),
    ("deepseek-v32", "the end of the invoke", "a</｜DSML｜invoke></｜DSML｜function_calls>", "string"),
    ("deepseek-v4", "the end of the invoke", "a</｜DSML｜tool_calls><｜DSML｜tool_calls>", "string"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "reason", "value", "types"), LOST, ids=lambda value: str(value)[:40])
def test_what_a_format_cant_tell(name: str, reason: str, value: Any, types: str) -> None:
    dialect = next(dialect for dialect in DIALECTS if dialect.id == name)
    assert cant_tell(dialect, value, frozenset(types.split())).startswith(reason)
    properties = {"v": {"type": types.split()}} if types else {}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"properties": properties}}}]
    found = parse(dialect, tools, [dialect.write("", [("f", {"v": value})], "")])
    calls = [(call.name, call.arguments) for call in found.tool_calls]
    assert calls != [("f", dumps({"v": value}))], "the format can tell after all: take it from the list"


def test_every_reason_is_shown() -> None:
    shown = {(name.split("-")[0], reason) for name, reason, _, _ in LOST}
    for dialect in DIALECTS:
        for reason, _ in dialect.unreadable:
            family = dialect.id.split("-")[0]
            assert any(name == family and reason.startswith(start) for name, start in shown), (dialect.id, reason)
