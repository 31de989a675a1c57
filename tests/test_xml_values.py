"""Values that are written as text: their types, when they come out, and how much is held back until then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import run
from test_soup import survives

from unspool.parsers import ChatRequest, ToolParserManager, build_response_parser
from unspool.parsers.json_schema import argument_types, declares, is_json, to_json
from unspool.parsers.tool_parser.argument_value import ArgumentValue
from unspool.parsers.tool_parser.invoke_tool_parser import InvokeToolParser
from unspool.parsers.tool_parser.xml_tool_parser import LOOKAHEAD

ROOT = {
    "$defs": {
        "Box": {"type": "object"},
        "Alias": {"$ref": "#/$defs/Box"},
        "a/b~c": {"type": "array"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Tree": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Tree"}]},
        "Twice": {"anyOf": [{"$ref": "#/$defs/Twice"}, {"$ref": "#/$defs/Twice"}, {"type": "null"}]},
    }
}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "integer null"),
        ({"type": ["integer", 5]}, "integer"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string null"),
        ({"oneOf": [{"type": "boolean"}, {"type": "number"}]}, "boolean number"),
        ({"anyOf": [{"type": "array"}, {"oneOf": [{"type": "object"}, {"const": None}]}]}, "array object null"),
        ({"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}, "integer"),
        ({"allOf": [{"minimum": 1}, {"type": "number"}]}, "number"),
        ({"allOf": [{"type": "string"}, {"type": "array"}]}, "string array"),
        ({"enum": ["a", "b"]}, "string"),
        ({"enum": [1, 2.5, None, True, {}, []]}, "integer number null boolean object array"),
        ({"const": False}, "boolean"),
        ({"$ref": "#/$defs/Box"}, "object"),
        ({"$ref": "#/$defs/Alias"}, "object"),
        ({"$ref": "#/$defs/a~1b~0c"}, "array"),
        ({"$ref": "#/$defs/Missing"}, ""),
        ({"$ref": "#/$defs/Loop"}, ""),
        ({"$ref": "#/$defs/Tree"}, "null"),
        ({"$ref": "#/$defs/Twice"}, "null"),
        ({"properties": {}}, "object"),
        ({"items": {"type": "string"}}, "array"),
        ({"description": "no type"}, ""),
        (True, ""),
        ("string", ""),
    ],
)
def test_argument_types(schema: Any, types: str) -> None:
    parameters = {"type": "object", "properties": {"v": schema}, **ROOT}
    assert argument_types(parameters, "v") == frozenset(types.split())
    assert argument_types(parameters, "w") == frozenset()


@pytest.mark.parametrize(
    "parameters",
    [
        {"allOf": [{"properties": {"w": {}}}, {"properties": {"v": {"type": "integer"}}}]},
        {"oneOf": [{"$ref": "#/$defs/P"}], "$defs": {"P": {"properties": {"v": {"type": "integer"}}}}},
        {"properties": {"w": {}}, "anyOf": [{"anyOf": [{"properties": {"v": {"type": "integer"}}}]}]},
        {
            "anyOf": [{"$ref": "#/$defs/P"}, {"$ref": "#/$defs/P"}, {"properties": {"v": {"type": "integer"}}}],
            "$defs": {"P": {"anyOf": [{"$ref": "#/$defs/P"}, {"$ref": "#/$defs/P"}]}},
        },
    ],
)
def test_types_in_branches_of_the_parameters(parameters: dict[str, Any]) -> None:
    assert argument_types(parameters, "v") == {"integer"}


@pytest.mark.parametrize("parameters", [{}, {"properties": None}, {"properties": []}, {"anyOf": None}, {"$ref": 7}])
def test_parameters_that_say_nothing(parameters: dict[str, Any]) -> None:
    assert argument_types(parameters, "v") == frozenset()
    assert declares(parameters, "v") is None


def test_declares() -> None:
    assert declares({"properties": {"v": True}}, "v") is True
    assert declares({"properties": {"v": True}}, "w") is False


ALL = "null integer number boolean object array string"


@pytest.mark.parametrize(
    ("text", "types", "value", "fits"),
    [
        ("null", ALL, "null", True),
        ("5", ALL, "5", True),
        ("5", "string number", "5", True),
        ("5", "string", '"5"', True),
        ("5", "", '"5"', True),
        (" 5\n", "integer", "5", True),
        ("5.0", "integer", '"5.0"', False),
        ("05", "integer", '"05"', False),
        ("+5", "integer", '"+5"', False),
        ("٥", "integer", '"٥"', False),
        ("1_000", "integer", '"1_000"', False),
        ("-0", "integer", "-0", True),
        ("9" * 5000, "integer", "9" * 5000, True),
        ("1E+5", "number", "1E+5", True),
        (".5", "number", '".5"', False),
        ("Infinity", "number", '"Infinity"', False),
        ("TRUE", "boolean", "true", True),
        ("yes", "boolean", '"yes"', False),
        ("1", "boolean", '"1"', False),
        ('{"a": 1,  "a": 2}', "object", '{"a": 1,  "a": 2}', True),
        ("{'a': 1}", "object", "\"{'a': 1}\"", False),
        ('{"a": NaN}', "object", '"{\\"a\\": NaN}"', False),
        ("[]", "object", '"[]"', False),
        ("[" * 100_000, "array", '"' + "[" * 100_000 + '"', False),
        ("None", "null", '"None"', False),
        (" x ", "null string", '" x "', True),
    ],
    ids=lambda value: str(value)[:24],
)
def test_to_json(text: str, types: str, value: str, fits: bool) -> None:
    assert to_json(text, frozenset(types.split())) == (value, fits)


def test_is_json() -> None:
    assert is_json("[1]")
    assert is_json("{}", dict)
    assert not is_json("{}", list)
    assert not is_json("-Infinity")
    assert not is_json("")


# -- one value


def feed(value: ArgumentValue, text: str) -> list[str]:
    """What comes out after each character."""
    return [value.add(character) for character in text]


def of(types: str, template_newlines: bool = True) -> ArgumentValue:
    return ArgumentValue(frozenset(types.split()), template_newlines)


class TestArgumentValue:
    @pytest.mark.parametrize("types", ["", "string"])
    def test_string_streams_at_once(self, types: str) -> None:
        value = of(types)
        assert feed(value, "\nabc") == ["", '"a', "b", "c"]
        assert value.end() == '"'
        assert value.finding == ""

    def test_last_newline_is_held_until_it_is_certain(self) -> None:
        value = of("string")
        assert feed(value, "\na\n\nb\r\nc\r\n") == ["", '"a', "", "\\n", "\\nb", "", "", "\\r\\nc", "", ""]
        assert value.end() == '"'

    def test_without_template_newlines_nothing_is_held(self) -> None:
        value = of("", template_newlines=False)
        assert feed(value, "\na\n") == ['"\\n', "a", "\\n"]
        assert value.end() == '"'

    def test_undeclared_quote_streams(self) -> None:
        assert feed(of(""), '"a') == ['"\\"', "a"]

    def test_quoted_string_is_kept_until_its_end(self) -> None:
        value = of("string")
        assert feed(value, '\n"a\\n"\n') == [""] * 7
        assert value.end() == '"a\\n"'
        assert value.finding == "value-unquoted"

    def test_quotes_that_are_text_are_kept_too(self) -> None:
        value = of("string")
        assert feed(value, '"a" b') == [""] * 5
        assert value.end() == '"\\"a\\" b"'
        assert value.finding == ""

    def test_nullable_string_streams_once_it_is_not_null(self) -> None:
        assert feed(of("string null"), "nuts") == ["", "", '"nut', "s"]
        value = of("string null")
        assert feed(value, "null") == [""] * 4
        assert value.end() == "null"
        value = of("string null")
        assert "".join(feed(value, "nullable")) + value.end() == '"nullable"'

    def test_typed_value_comes_at_its_end(self) -> None:
        value = of("integer")
        assert feed(value, "\n12\n") == [""] * 4
        assert value.end() == "12"

    def test_value_that_does_not_fit(self) -> None:
        value = of("integer")
        feed(value, "\ntwelve\n")
        assert value.end() == '"twelve"'
        assert value.finding == "value-uncoerced"

    @pytest.mark.parametrize(
        ("types", "text", "whole"),
        [
            ("", "abc", '"abc"'),
            ("string", "\nabc\n", '"abc\\n"'),
            ("string", "", None),
            ("string", "\n", None),
            ("string", '"abc', '"\\"abc"'),
            ("string null", "nul", '"nul"'),
            ("integer", "12", None),
            ("integer string", "12", '"12"'),
            ("object", '{"a"', None),
        ],
    )
    def test_cut(self, types: str, text: str, whole: str | None) -> None:
        value = of(types)
        out = "".join(feed(value, text))
        rest = value.cut()
        assert (None if rest is None else out + rest) == whole

    @given(st.text(alphabet='\r\n"\\ nulab1{}\x00é', max_size=12), st.sampled_from(("", "string", "string null", ALL)))
    def test_pieces_do_not_matter(self, text: str, types: str) -> None:
        for newlines in (True, False):
            whole, pieces = of(types, newlines), of(types, newlines)
            once = whole.add(text) + whole.end()
            assert "".join(feed(pieces, text)) + pieces.end() == once
            assert pieces.finding == whole.finding
            json.loads(once)


# -- early emission

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"s": {"type": "string"}, "i": {"type": "integer"}, "o": {"type": "object"}},
            },
        },
    }
]
DSML = '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="s" string="true">'
STRINGS = (
    ("qwen3coder", "<tool_call>\n<function=f>\n<parameter=s>\n", "\n</parameter>\n</function>\n</tool_call>"),
    ("glm47", "<tool_call>f<arg_key>s</arg_key><arg_value>", "</arg_value></tool_call>"),
    ("deepseek-v32", DSML, "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
    ("kimi_k2", '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"s": "', '"}<|tool_call_end|>'),
)


def stream(name: str, text: str) -> Iterator[str]:
    """After each character, all of the arguments that are out by then."""
    parser = build_response_parser(ChatRequest(tools=TOOLS), tool_parser=name)
    out = ""
    for character in text:
        for delta, _ in parser.stream_chunk(character, []):
            for call in delta.tool_calls or ():
                out += call.arguments or ""
        yield out


@pytest.mark.parametrize(("name", "head", "tail"), STRINGS, ids=[name for name, _, _ in STRINGS])
class TestEarlyEmission:
    def test_string_is_out_as_it_comes(self, name: str, head: str, tail: str) -> None:
        body = "The quick brown fox. " * 20
        for count, out in enumerate(stream(name, head + body)):
            written = count + 1 - len(head)
            if written > 0:
                assert out == '{"s": "' + body[:written]

    def test_identity_is_out_before_the_arguments(self, name: str, head: str, tail: str) -> None:
        parser = build_response_parser(ChatRequest(tools=TOOLS), tool_parser=name)
        deltas = [delta for character in head for delta, _ in parser.stream_chunk(character, [])]
        calls = [call for delta in deltas for call in delta.tool_calls or ()]
        assert calls[0].name == "f"
        assert not calls[0].arguments

    def test_a_tag_is_held_only_until_it_is_judged(self, name: str, head: str, tail: str) -> None:
        close_tag = "<|tool_call_end|>" if name == "kimi_k2" else tail.strip().split(">")[0] + ">"
        for tag in (close_tag, "<parameter=zz>", "<arg_key>zz", "</tool_call>", "< b"):
            *_, out = stream(name, f"{head}a {tag} b, c")
            assert out == '{"s": "a ' + tag + " b, c"

    def test_call_is_complete_with_its_block(self, name: str, head: str, tail: str) -> None:
        *_, out = stream(name, f"{head}a{tail}")
        assert json.loads(out) == {"s": "a"}


@pytest.mark.parametrize(
    ("name", "head", "value"),
    [
        ("qwen3coder", "<tool_call><function=f><parameter=i>", "12"),
        ("glm47", "<tool_call>f<arg_key>o</arg_key><arg_value>", '{"a": [1, 2]'),
        ("deepseek-v32", DSML.replace('"true"', '"false"'), "12"),
    ],
)
def test_typed_value_is_not_out_before_its_end(name: str, head: str, value: str) -> None:
    assert set(stream(name, head + value)) == {""}


def test_dsml_container_is_out_as_it_comes() -> None:
    head, body = DSML.replace('"true"', '"false"'), '{"a": ["x", {"b": 1.5}'
    *_, out = stream("deepseek-v32", head + body)
    assert out == '{"s": ' + body


# -- what is held

HEADS = {
    "qwen3coder": (
        "",
        "<tool_call>",
        "<tool_call><function=",
        "<tool_call><function=f>",
        "<tool_call><function=f><parameter=",
        "<tool_call><function=f><parameter=s>",
        "<tool_call><function=f><parameter=i>",
        "<tool_call><function=f><parameter=s>x</parameter>",
        "<tool_call><function=f></function>",
        "<function=f>",
    ),
    "glm47": (
        "<tool_call>",
        "<tool_call>f",
        "<tool_call>f<arg_key>",
        "<tool_call>f<arg_key>s</arg_key>",
        "<tool_call>f<arg_key>s</arg_key><arg_value>",
        "<tool_call>f<arg_key>s</arg_key><arg_value>x</arg_value>",
        "<tool_call>f</tool_call>",
    ),
    "deepseek-v32": (
        "",
        "<｜DSML｜function_calls>",
        "<｜DSML｜invoke",
        '<｜DSML｜function_calls><｜DSML｜invoke name="f">',
        '<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter',
        DSML,
        DSML.replace('"true"', '"false"'),
        DSML.replace('"true"', '"false"') + "{",
        DSML + "x</｜DSML｜parameter>",
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        "<|tool_call_begin|>functions.f:0",
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>",
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>x",
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}",
        "<|tool_call_begin|>call_f<|tool_call_argument_begin|>{",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    ),
}
FILLERS = ("\n", "<", "</", " ", "a", '"', "\\", "\r", "{", "nul", "</parameter>", "<arg_key>", "</arg_value>\n")


@pytest.mark.parametrize("name", HEADS)
def test_what_is_held_is_bounded(name: str) -> None:
    """So that the work is linear: held text is searched again with every chunk."""
    for head in HEADS[name]:
        for filler in FILLERS:
            parser: Any = build_response_parser(ChatRequest(tools=TOOLS), tool_parser=name)
            parser.stream_chunk(head, [])
            for character in filler * (3 * LOOKAHEAD // len(filler)):
                parser.stream_chunk(character, [])
                assert len(parser._pending) <= LOOKAHEAD, (head, filler)


# -- soup of a dialect's own syntax

SOUP = {
    "qwen3coder": (
        "<function=f>", "<function=g>", "<function=", "<parameter=s>", "<parameter=i>", "<parameter=zz>",
        "</parameter1>", "<tool_call>\n<function=f>\n<parameter=s>\n", "\n</parameter>\n</function>\n</tool_call>",
    ),
    "glm47": (
        "f", "s", "i", "zz</arg_key>", "<arg_key>s</arg_key><arg_value>", "</arg_value></tool_call>",
        "<tool_call>f<arg_key>", "</arg_value1>",
    ),
    "deepseek-v32": (
        '<｜DSML｜invoke name="f">', '<｜DSML｜invoke name="f"/>', '<｜DSML｜parameter name="s" string="true">',
        '<｜DSML｜parameter name="o" string="false">', '<｜DSML｜parameter name="i">', '<parameter name="s">',
        '<｜DSML｜parameter name="arguments" string="false">', DSML, '[1, "</｜DSML｜parameter>"]',
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    ),
    "kimi_k2": (
        "functions.f:0", "functions.g", "call_x", '{"name": "f", "x": 1}',
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>",
    ),
}  # fmt: skip
PLAIN = (
    "\n", "\n\n", " ", "\r\n", "\r", "<", "</", ">", "1", "null", "nul", '"', '"x\\"', "{", "}", "[", "]", "\\",
    "\\u12", '{"a": "b"}', "é", "🌍", "<think>", "</think>",
)  # fmt: skip


@pytest.mark.parametrize("name", SOUP)
def test_soup_of_its_own_syntax(name: str) -> None:
    own = st.sampled_from((*ToolParserManager.get(name).tags(), *SOUP[name]))
    part = st.tuples(own, st.integers(1, 20)).map(lambda pair: pair[0][: pair[1]])
    piece = st.one_of(own, own, part, st.sampled_from(PLAIN), st.integers(0, 99).map("w{}x".format))

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.lists(piece, max_size=14).map("".join),
        st.integers(0, 2**16),
        st.sampled_from(({}, {"tools": TOOLS})),
        st.sampled_from((None, "default")),
    )
    def check(text: str, seed: int, request: dict[str, Any], reasoning: str | None) -> None:
        survives(text, seed, request, reasoning, name)

    check()


def test_a_repeated_id_of_the_model_is_counted_on() -> None:
    call = '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"s": "a"}<|tool_call_end|>'
    found = run(build_response_parser(tool_parser="kimi_k2"), [call * 4])
    assert [each.id for each in found.tool_calls] == [f"functions.f:{count}" for count in range(4)]


@pytest.mark.parametrize("prefix", ["|x|", "(x", "x.", "[x"])
def test_a_prefix_is_no_pattern(prefix: str) -> None:
    name = prefix

    class Dialect(InvokeToolParser):
        prefix = name
        open_tags = ("<calls>",)
        close_tags = ("</calls>",)

    calls = [("f", {"a": "b"}), ("g", {}), ("h", {"c": "d"})]
    message = build_response_parser(tool_parser=Dialect).parse_complete(Dialect.write_calls(calls))
    assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == calls
    assert message.content is None
