"""Values written as a dialect writes them come back the same, and literals at random never depend on the cut."""

from __future__ import annotations

import json
import os
import random
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import in_pieces, run, same

from unspool.parsers import Boundaries, ResponseParser, build_response_parser
from unspool.parsers.request import ChatRequest

EXAMPLES = settings(
    max_examples=int(os.environ.get("UNSPOOL_LITERALS", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Of each dialect; more with the variable UNSPOOL_LITERALS."""
GEMMA_QUOTE = '<|"|>'

TEXT = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="ab '\"\\\n\r\t,)]}:{[(<>|é🌍\x00\u2028", max_size=12),
    st.sampled_from(
        ["it's", 'say "hi", ok', "a]b)", "</function_calls>", "<|tool_call_end|>", "true", "3", "", "\\d+", "'''"]
    ),
)
LONG_TEXT = st.builds(str.__mul__, st.text("ab '\"\\\n,)<é\x00", min_size=1, max_size=6), st.just(90))
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
NUMBERS = st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXT, LONG_TEXT)


def values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=6,
    )


PYTHON_CALLS = st.lists(st.tuples(NAMES, st.dictionaries(NAMES, values(TEXT), max_size=3)), min_size=1, max_size=3)
GEMMA_CALLS = st.lists(st.tuples(NAMES, st.dictionaries(NAMES, values(NAMES), max_size=3)), min_size=1, max_size=3)


class PythonWriter:
    """Writes values as Python literals, in one of the many ways that there are."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def space(self) -> str:
        return self.rng.choice(("", "", " ", "\n  "))

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return self.string(value)
        if value is None or isinstance(value, bool):
            return self.rng.choice((repr(value), json.dumps(value)))
        if isinstance(value, int):
            forms = [str(value), f"{value:_}"]
            if value >= 0:
                forms += [hex(value), f"{value:#o}", f"{value:#b}", f"+{value}"]
            return self.rng.choice(forms)
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, list):
            items = [self.value(item) for item in value]
            opening, closing = self.rng.choice(("[]", "()"))
            if opening == "(" and len(items) == 1:
                return f"({items[0]},)"
            return self.joined(opening, items, closing)
        items = [f"{self.string(key)}{self.space()}:{self.space()}{self.value(item)}" for key, item in value.items()]
        return self.joined("{", items, "}")

    def joined(self, opening: str, items: list[str], closing: str) -> str:
        comma = f"{self.space()},{self.space()}".join(items)
        last = self.rng.choice(("", ",")) if items else ""
        return f"{opening}{self.space()}{comma}{last}{self.space()}{closing}"

    def string(self, value: str) -> str:
        forms = [repr(value), json.dumps(value), json.dumps(value, ensure_ascii=False)]
        for mark in ("'", '"', "'''", '"""'):
            escaped = value.replace("\\", "\\\\").replace("\r", "\\r").replace(mark[0], f"\\{mark[0]}")
            forms.append(f"{mark}{escaped}{mark}")
            if len(mark) == 3 and mark[0] not in value and "\\" not in value:
                forms += [f"{mark}{value}{mark}", f"r{mark}{value}{mark}"]
        half = len(value) // 2
        if half:
            forms.append(f"{value[:half]!r} {value[half:]!r}")
        return self.rng.choice(forms)

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        items = [f"{key}{self.rng.choice(('=', ' = '))}{self.value(item)}" for key, item in arguments.items()]
        return name + self.joined("(", items, ")")


def gemma_value(value: Any) -> str:
    """A value as Gemma's template writes it."""
    if isinstance(value, str):
        return f"{GEMMA_QUOTE}{value}{GEMMA_QUOTE}"
    if isinstance(value, list):
        return f"[{','.join(map(gemma_value, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{gemma_value(item)}' for key, item in value.items())}}}"
    return json.dumps(value)


def write(dialect: str, calls: list[tuple[str, dict[str, Any]]], rng: random.Random) -> str:
    if dialect == "gemma4":
        blocks = [f"<|tool_call>call:{name}{gemma_value(arguments)}<tool_call|>" for name, arguments in calls]
        return "\n".join(blocks)
    written = [PythonWriter(rng).call(name, arguments) for name, arguments in calls]
    if dialect == "olmo3":
        lines = "\n".join(written)
        return f"<function_calls>\n{lines}\n</function_calls>"
    opening, closing = {
        "pythonic": ("", ""),
        "llama4_pythonic": ("<|python_start|>", "<|python_end|>"),
        "lfm2": ("<|tool_call_start|>", "<|tool_call_end|>"),
    }[dialect]
    return f"{opening}[{', '.join(written)}]{closing}"


@pytest.mark.parametrize("dialect", ["pythonic", "llama4_pythonic", "olmo3", "lfm2", "gemma4"])
def test_values_come_back(dialect: str) -> None:
    @EXAMPLES
    @given(GEMMA_CALLS if dialect == "gemma4" else PYTHON_CALLS, st.integers(0, 2**16))
    def check(calls: list[tuple[str, dict[str, Any]]], seed: int) -> None:
        text = write(dialect, calls, random.Random(seed))
        found = run(parser(dialect), [text])
        assert [(call.name, json.loads(call.arguments)) for call in found.tool_calls] == calls, text
        assert (found.content, found.diagnostics) == (None, ()), text
        for chunks in (list(text), in_pieces(text, 1 + seed % 7)):
            same(run(parser(dialect), chunks), found, chunks)

    check()


PYTHON_PIECES = (
    "f(", "f(a=", "b=", ", b=", "a: ", "'", '"', "'''", '"""', "r'", "b\"", "(", ")", "[", "]", "{", "}", "**{", ",",
    ", ",
    ":", "=", "\\", "\\n", "\\u00e", "\\ud83c\\udf0d", "\\x4", "\\1", "None", "true", "Tru", "1", "-2.5e", "0x1f",
    "1_0",
    "WORD", "g(x=1)", "datetime(2024, 1)", " ", "\n", "f()", "f(a='WORD', b=[1, {'k': (2,)}])", "{'a', 'b'}",
    "('WORD')",
    "<", "é", "#", "*", "f(a=WORD, b=WORD)", "it's",
    "a='WORD', ", "', b='", "', '", "='", "=1", "17, ", "c=True)", "['WORD', \"c\", 1.5]", "''", "         ",
)  # fmt: skip
GEMMA_PIECES = (
    "call:f{", "call:f{a:", "call:", ":f(", "b:", ",b:", GEMMA_QUOTE, GEMMA_QUOTE, "<|", '"', "'", "{", "}", "[", "]",
    "(", ")", ",", ":", "1", "true", "nul", "WORD", "WORD, WORD", f"{GEMMA_QUOTE}WORD{GEMMA_QUOTE}", " ", "\n", "\\",
    f"call:f{{a:{GEMMA_QUOTE}WORD{GEMMA_QUOTE},b:[1,{{c:true}}]}}", "<", "é",
    f"a:{GEMMA_QUOTE}WORD{GEMMA_QUOTE},", f"{GEMMA_QUOTE},b:{GEMMA_QUOTE}", f":{GEMMA_QUOTE}", "b:17,", "c:true}",
    "no,",
)  # fmt: skip
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}, "c": {}}}
REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]},
    {"tools": [{"type": "function", "function": {"name": "g"}}]},
)


@pytest.mark.parametrize("dialect", ["pythonic", "olmo3", "lfm2", "gemma4"])
def test_soup_of_literals(dialect: str) -> None:
    pieces = GEMMA_PIECES if dialect == "gemma4" else PYTHON_PIECES
    tags = parser(dialect).tool.tags()  # type: ignore[union-attr]
    texts = st.lists(st.one_of(st.sampled_from(pieces), st.sampled_from(pieces), st.sampled_from(tags)), max_size=20)

    @EXAMPLES
    @given(texts, st.booleans(), st.sampled_from(REQUESTS), st.integers(1, 9))
    def check(drawn: list[str], opened: bool, request: dict[str, Any], size: int) -> None:
        start = [tags[0], "" if dialect == "gemma4" else "[", pieces[1]] if opened else []
        joined = "".join([*start, *drawn])
        text = re.sub("WORD", lambda found: f"w{found.start()}x", joined)
        whole = run(parser(dialect, request), [text])
        for chunks in (list(text), [*text, ""], in_pieces(text, size), [text[:size], text[size:], ""]):
            same(run(parser(dialect, request), chunks), whole, chunks)
        same(run(without_shortcuts(parser(dialect, request)), [text]), whole, [text])
        for call in whole.tool_calls:
            assert not call.arguments or json.loads(call.arguments) is not None, f"{text!r} gives {call}"
        shown = f"{whole.content} {[call.arguments for call in whole.tool_calls]}"
        lost = [word for word in re.findall(r"w\d+x", text) if word not in shown]
        assert not lost or whole.diagnostics, f"{lost} vanished from {text!r} without a diagnostic: {whole}"

    check()


def without_shortcuts(response_parser: ResponseParser) -> ResponseParser:
    """The same parser, which takes each step by itself."""
    reader = response_parser.tool._reader  # type: ignore[union-attr]
    reader._own_patterns = reader._list_patterns = None
    return response_parser


def parser(dialect: str, request: dict[str, Any] | None = None) -> ResponseParser:
    return build_response_parser(
        ChatRequest.from_body(request or {}), tool_parser=dialect, boundaries=Boundaries.characters()
    )
