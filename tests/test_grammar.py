"""Structural tags (R42): what they allow is what the parsers read, with xgrammar as the judge where it is installed."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from oracle import CASE_FILES, Case, load_cases, run
from typer.testing import CliRunner

from unspool.cli.commands.grammar import grammar
from unspool.parsers import (
    ChatRequest,
    JsonToolParser,
    ReasoningParser,
    ResponseParser,
    ToolParser,
    ToolParserManager,
    build_response_parser,
)
from unspool.parsers.grammar.call_syntax import CallSyntax, json_envelope
from unspool.parsers.grammar.response_format import build_required_response_format

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
TOOLS = [WEATHER, CLOCK]


class Protocol(NamedTuple):
    """Names of parsers, and how a model of theirs writes things.

    Attributes:
        parsers: arguments of the builders.
        weather, clock: one call each.
        both: the two in one answer.
        model: xgrammar's own name of the format, ``""`` where it has none.
    """

    parsers: dict[str, str]
    weather: str
    clock: str
    both: str
    model: str = ""


def _json(begin: str, end: str, field: str, between: str = "\n") -> tuple[str, str, str]:
    weather = f'{begin}{{"name": "get_weather", "{field}": {{"city": "Lima", "days": 3}}}}{end}'
    clock = f'{begin}{{"name": "clock", "{field}": {{}}}}{end}'
    return weather, clock, weather + between + clock


def _dsml(block: str) -> tuple[str, str, str]:
    weather = (
        '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Lima</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    )
    clock = '<｜DSML｜invoke name="clock">\n</｜DSML｜invoke>\n'
    return tuple(  # type: ignore[return-value]
        f"\n\n<｜DSML｜{block}>\n{calls}</｜DSML｜{block}>" for calls in (weather, clock, weather + clock)
    )


def _coder() -> tuple[str, str, str]:
    weather = (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    clock = "<tool_call>\n<function=clock>\n</function>\n</tool_call>"
    return weather, clock, f"{weather}\n{clock}"


def _glm() -> tuple[str, str, str]:
    weather = (
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Lima</arg_value>"
        "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>"
    )
    return weather, "<tool_call>clock</tool_call>", weather + "<tool_call>clock</tool_call>"


def _kimi() -> tuple[str, str, str]:
    def call(name: str, number: int, arguments: str) -> str:
        header = f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>"
        return f"{header}{arguments}<|tool_call_end|>"

    def section(calls: str) -> str:
        return f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>"

    weather = '{"city": "Lima", "days": 3}'
    both = call("get_weather", 0, weather) + call("clock", 1, "{}")
    return section(call("get_weather", 0, weather)), section(call("clock", 0, "{}")), section(both)


def _harmony() -> tuple[str, str, str]:
    def call(name: str, arguments: str) -> str:
        return f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>"

    weather, clock = call("get_weather", '{"city": "Lima", "days": 3}'), call("clock", "{}")
    return weather, clock, f"{weather}<|start|>assistant{clock}"


PROTOCOLS = {
    "qwen3": Protocol({"tool_parser": "qwen3"}, *_json("<tool_call>\n", "\n</tool_call>", "arguments"), "qwen_3"),
    "internlm": Protocol(
        {"tool_parser": "internlm"}, *_json("<|action_start|><|plugin|>", "<|action_end|>", "parameters")
    ),
    "llama3": Protocol({"tool_parser": "llama3"}, *_json("", "", "parameters", "; "), "llama"),
    "llama3-tagged": Protocol({"tool_parser": "llama3"}, *_json("<|python_tag|>", "", "parameters", "; ")),
    "qwen3coder": Protocol({"tool_parser": "qwen3coder"}, *_coder(), "qwen_3_coder"),
    "glm47": Protocol({"tool_parser": "glm47"}, *_glm(), "glm_4_7"),
    "deepseek-v32": Protocol({"tool_parser": "deepseek-v32"}, *_dsml("function_calls"), "deepseek_v3_2"),
    "deepseek-v4": Protocol({"tool_parser": "deepseek-v4"}, *_dsml("tool_calls"), "deepseek_v4"),
    "kimi_k2": Protocol({"tool_parser": "kimi_k2"}, *_kimi(), "kimi"),
    "gpt-oss": Protocol({"response_parser": "gpt-oss"}, *_harmony()),
}


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Each of the seed's formats."""
    return PROTOCOLS[request.param]


def response_format(protocol: Protocol, choice: Any = "auto", tools: Any = TOOLS, **parsers: str) -> dict[str, Any]:
    """The structural tag of a request to a protocol."""
    return build_required_response_format(ChatRequest(tools, choice), **{**protocol.parsers, **parsers})


class Judge:
    """xgrammar, or a skipped test."""

    def __init__(self) -> None:
        self.xgrammar = pytest.importorskip(
            "xgrammar", reason="xgrammar is not installed: pip install -e '.[xgrammar]'"
        )
        self.accepts_string = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
        self._compiled: dict[str, Any] = {}

    def compiled(self, structural_tag: dict[str, Any]) -> Any:
        """Compile, after xgrammar's own model of a structural tag took it."""
        key = json.dumps(structural_tag)
        if key not in self._compiled:
            self.xgrammar.StructuralTag.model_validate(structural_tag)
            self._compiled[key] = self.xgrammar.Grammar.from_structural_tag(structural_tag)
        return self._compiled[key]

    def accepts(self, structural_tag: dict[str, Any], text: str) -> bool:
        """Whether the grammar allows ``text`` as the whole response."""
        return bool(self.accepts_string(self.compiled(structural_tag), text))


@pytest.fixture(scope="session")
def judge() -> Judge:
    """One for all tests: it remembers compiled grammars."""
    return Judge()


class TestFormat:
    """The dicts; xgrammar is not needed for them."""

    @pytest.mark.parametrize(
        "choice", ["auto", "required", {"type": "function", "function": {"name": "clock"}}, "none"]
    )
    def test_is_json(self, protocol: Protocol, choice: Any) -> None:
        made = response_format(protocol, choice)
        assert json.loads(json.dumps(made)) == made
        assert set(made) == {"type", "format"}
        assert made["type"] == "structural_tag"

    def test_xgrammar_is_not_imported(self) -> None:
        script = (
            "import sys; from unspool.parsers import ChatRequest;"
            "from unspool.parsers.grammar.response_format import build_required_response_format as build;"
            "build(ChatRequest([{'name': 'f'}], 'required'), tool_parser='qwen3', reasoning_parser='default');"
            "sys.exit('xgrammar' in sys.modules or 'torch' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)

    def test_schemas_are_passed_on_unchanged(self, protocol: Protocol) -> None:
        schema = {"type": "object", "$defs": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}}
        made = response_format(protocol, "required", [{"name": "f", "parameters": schema}])
        assert schema in [each["json_schema"] for each in walk(made) if each.get("type") == "json_schema"]


class TestCallerMistakes:
    """Each says what to do."""

    def build(self, request: ChatRequest, **parsers: Any) -> None:
        build_required_response_format(request, **{"tool_parser": "qwen3", **parsers})

    def test_tools_are_not_known(self) -> None:
        with pytest.raises(ValueError, match="needs the request's tools"):
            self.build(ChatRequest(tool_choice="required"))

    def test_no_tool_to_require(self) -> None:
        with pytest.raises(ValueError, match="'required' needs a tool to call"):
            self.build(ChatRequest([], "required"))

    def test_no_tool_parser(self) -> None:
        with pytest.raises(ValueError, match="'required' needs a tool parser"):
            self.build(ChatRequest(TOOLS, "required"), tool_parser=None)

    @pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {"name": "clock"}}])
    def test_a_parser_without_a_grammar(self, choice: Any) -> None:
        with pytest.raises(ValueError, match=r"tool parser 'Bare' has no grammar.*tool_choice .*`call_syntaxes`"):
            self.build(ChatRequest(TOOLS, choice), tool_parser=Bare)

    def test_a_response_parser_without_a_grammar(self) -> None:
        with pytest.raises(ValueError, match="response parser 'Whole' has no grammar"):
            self.build(ChatRequest(TOOLS, "required"), response_parser=Whole)

    def test_an_unknown_name(self) -> None:
        with pytest.raises(LookupError, match="did you mean 'qwen3'"):
            self.build(ChatRequest(TOOLS), tool_parser="qwen33")


class Bare(ToolParser):
    """A dialect that says nothing of a grammar."""

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<call>"

    def _consume_stream_payload(self, text: str, deltas: Any, final: bool, pos: int) -> int:
        raise NotImplementedError


class Whole(ResponseParser):
    """A protocol of its own."""

    def stream_chunk(self, delta_text: str, delta_token_ids: Any = (), final: bool = False) -> Any:
        raise NotImplementedError


class Shouting(JsonToolParser):
    """A JSON dialect as a plug-in would register it."""

    argument_field = "INPUT"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<CALL>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</CALL>"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        """One envelope a block."""
        return (json_envelope("<CALL>", "</CALL>", cls.argument_field),)


class TestChoices:
    """What each tool choice allows."""

    def test_auto_allows_text_and_calls(self, protocol: Protocol, judge: Judge) -> None:
        made = response_format(protocol)
        for text in (*said(protocol, "It is late. a < b"), protocol.weather, protocol.clock):
            assert judge.accepts(made, text), text

    def test_auto_allows_text_around_calls(self, protocol: Protocol, judge: Judge) -> None:
        if protocol.parsers.get("response_parser"):
            pytest.skip("Harmony's messages hold one thing each")
        made = response_format(protocol)
        assert judge.accepts(made, f"Let me see.{protocol.both}\nDone.")

    def test_auto_allows_no_broken_call(self, protocol: Protocol, judge: Judge) -> None:
        made = response_format(protocol)
        for wrong in broken(protocol):
            assert not judge.accepts(made, wrong), wrong

    def test_required_allows_calls_only(self, protocol: Protocol, judge: Judge) -> None:
        made = response_format(protocol, "required")
        for text in (protocol.weather, protocol.clock, protocol.both):
            assert judge.accepts(made, text), text
        for text in ("", *said(protocol, "It is late."), *broken(protocol)):
            assert not judge.accepts(made, text), text

    def test_a_named_function_allows_one_call_of_it(self, protocol: Protocol, judge: Judge) -> None:
        made = response_format(protocol, {"type": "function", "function": {"name": "clock"}})
        assert judge.accepts(made, protocol.clock)
        for text in (protocol.weather, protocol.both, *said(protocol, "It is late.")):
            assert not judge.accepts(made, text), text

    @pytest.mark.parametrize("mode", ["auto", "required"])
    def test_allowed_tools(self, protocol: Protocol, judge: Judge, mode: str) -> None:
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [CLOCK]}}
        made = response_format(protocol, choice)
        assert judge.accepts(made, protocol.clock)
        assert not judge.accepts(made, protocol.weather)
        assert judge.accepts(made, said(protocol, "It is late.")[0]) is (mode == "auto")

    @pytest.mark.parametrize(("tools", "choice"), [(TOOLS, "none"), ([], "auto")])
    def test_none_allows_no_call(self, protocol: Protocol, judge: Judge, tools: Any, choice: str) -> None:
        made = response_format(protocol, choice, tools)
        assert judge.accepts(made, said(protocol, "It is late.")[0])
        if protocol is not PROTOCOLS["llama3"]:  # without its tag a call is JSON like any other
            assert not judge.accepts(made, protocol.clock)

    def test_reasoning_comes_first(self, protocol: Protocol, judge: Judge) -> None:
        if protocol.parsers.get("response_parser"):
            made, before = (
                response_format(protocol, "required"),
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant",
            )
            assert judge.accepts(made, before + protocol.clock)
            return
        made = response_format(protocol, "required", reasoning_parser="default")
        for before in ("Hm.</think>\n\n", "<think>\nHm.\n</think>", "</think>"):
            assert judge.accepts(made, before + protocol.clock), before
        for text in (protocol.clock, f"Hm.{protocol.clock}", f"Hm.</think>So.{protocol.clock}"):
            assert not judge.accepts(made, text), text

    def test_reasoning_that_is_off(self, judge: Judge) -> None:
        request = ChatRequest(TOOLS, "required", chat_template_kwargs={"enable_thinking": False})
        made = build_required_response_format(request, reasoning_parser="default", tool_parser="glm47")
        assert judge.accepts(made, PROTOCOLS["glm47"].clock)
        assert judge.accepts(made, "<think>Hm.</think>" + PROTOCOLS["glm47"].clock)
        assert not judge.accepts(made, "Hm.</think>" + PROTOCOLS["glm47"].clock)

    def test_a_call_inside_reasoning_is_not_allowed(self, judge: Judge) -> None:
        for name, protocol in PROTOCOLS.items():
            if protocol.parsers.get("response_parser") or name == "llama3":
                continue
            made = response_format(protocol, reasoning_parser="default")
            assert not judge.accepts(made, f"Hm.{protocol.clock}</think>So."), name

    def test_a_json_dialect_of_a_plug_in(self, judge: Judge) -> None:
        made = build_required_response_format(ChatRequest(TOOLS, "required"), tool_parser=Shouting)
        assert judge.accepts(made, '<CALL>{"name": "clock", "INPUT": {}}</CALL>')
        assert not judge.accepts(made, '<CALL>{"name": "clock", "arguments": {}}</CALL>')

    def test_names_are_escaped(self, protocol: Protocol, judge: Judge) -> None:
        made = response_format(protocol, "required", [{"name": "a.b-c/d"}])
        assert judge.accepts(made, protocol.clock.replace("clock", "a.b-c/d"))
        assert not judge.accepts(made, protocol.clock.replace("clock", "axb-c/d"))

    def test_xgrammar_allows_the_same_calls(self, protocol: Protocol, judge: Judge) -> None:
        """Its own format of the model, written by others, takes the call that ours is tested with."""
        if not protocol.model:
            pytest.skip("xgrammar has no format of this spelling")
        builtin = pytest.importorskip("xgrammar.builtin_structural_tag").get_model_structural_tag
        theirs = builtin(protocol.model, TOOLS, "required", "disabled").model_dump()
        assert judge.accepts(theirs, protocol.weather)


class TestAgainstTheParser:
    """Grammar and parser agree on what a call is."""

    def test_every_well_formed_fixture_is_allowed(self, case: Case, judge: Judge) -> None:
        if not is_well_formed(case):
            pytest.skip("not as the template would write it")
        request = {**case.request, "tools": [{"name": name} for name in call_names(case)]}
        request.pop("tool_choice", None)
        made = build_required_response_format(
            ChatRequest.from_body(request),
            reasoning_parser=case.reasoning_parser,
            tool_parser=case.tool_parser,
            response_parser=case.response_parser,
        )
        assert judge.accepts(made, case.raw)

    def test_enough_fixtures_are_well_formed(self) -> None:
        """Else the test above tests little."""
        formats = [spelled_by(case) for path in CASE_FILES for case in load_cases(path) if is_well_formed(case)]
        counts = {name: formats.count(name) for name in (*_RENDERERS, "gpt-oss")}
        assert min(counts.values()) >= 2, counts
        assert len(formats) >= 100, counts

    @pytest.mark.parametrize("choice", ["auto", "required"])
    @pytest.mark.parametrize("seed", range(12))
    def test_what_is_allowed_is_parsed_without_a_finding(
        self, protocol: Protocol, judge: Judge, choice: str, seed: int
    ) -> None:
        reasons = {} if protocol.parsers.get("response_parser") else {"reasoning_parser": "default"}
        made = response_format(protocol, choice, **reasons)
        rng = random.Random(f"{protocol.parsers} {choice} {seed}")
        text = wander(judge, made, pieces_of(protocol), rng)
        while repeats_an_id(text):
            text = wander(judge, made, pieces_of(protocol), rng)
        parser = build_response_parser(ChatRequest(TOOLS, choice), **{**protocol.parsers, **reasons})  # type: ignore[arg-type]
        outcome = run(parser, [text])
        # a quoted value loses its quotes; Llama's calls come with and without their tag
        allowed = {"value-unquoted", *(["open-tag-missing"] if protocol.parsers.get("tool_parser") == "llama3" else [])}
        assert set(outcome.codes) <= allowed, f"{text!r}: {outcome}"
        assert len(outcome.tool_calls) >= (choice == "required"), f"{text!r}: {outcome}"
        for call in outcome.tool_calls:
            assert isinstance(json.loads(call.arguments), dict), f"{text!r}: {outcome}"


def said(protocol: Protocol, text: str) -> list[str]:
    """An answer that is only text, in the protocol's spellings."""
    if protocol.parsers.get("response_parser"):
        return [f"<|channel|>final<|message|>{text}<|return|>", f"<|channel|>final<|message|>{text}<|end|>"]
    return [text]


def broken(protocol: Protocol) -> list[str]:
    """Calls that a client could not use."""
    weather = protocol.weather
    return [
        weather.replace("get_weather", "get_whether"),
        weather.replace("city", "place"),
        weather.replace("3", "three"),
        weather[: len(weather) * 3 // 4],
    ]


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(item)


# White space inside what has to be one tag or one key.
SPELLED_OTHERWISE = ("glm47-newline-form", "internlm-spaced-open-tag", "internlm-both-spellings-in-one-answer")
# Values stand between tags, so that a tag in one ends it.
TAGGED = ("qwen3coder", "glm47", "deepseek-v32", "deepseek-v4")

# -- fixtures ---------------------------------------------------------------------------------------------------------


def call_names(case: Case) -> list[str]:
    """The functions that a case calls, each once."""
    return list(dict.fromkeys(call["name"] for call in case.expected.get("tool_calls", ())))


def is_well_formed(case: Case) -> bool:
    """Whether a case's text, white space aside, is what the model's template makes of the expected message."""
    expected = case.expected
    in_order = [name for name in ("reasoning", "content", "tool_calls") if name in expected["channels"]]
    if expected["diagnostics"] or expected["channels"] != in_order or case.request.get("tool_choice") == "none":
        return False
    if (
        spelled_by(case) not in (*_RENDERERS, "gpt-oss", "")
        or case.id in SPELLED_OTHERWISE
        or case.raw != case.raw.rstrip()
    ):
        return False
    texts = [expected.get("content", ""), expected.get("reasoning_content", "")]
    for call in expected.get("tool_calls", ()):
        try:
            values = json.loads(call["arguments"])
        except ValueError:
            return False
        texts += [value for value in values.values() if isinstance(value, str) and case.tool_parser in TAGGED]
    tags = {tag.strip().rstrip(">") for tag in tags_of(case)}
    return not any(tag in text for tag in tags for text in texts) and squeezed(case.raw) in map(
        squeezed, rendered(case)
    )


def tags_of(case: Case) -> tuple[str, ...]:
    """Every tag of a case's parsers."""
    parser = case.parser()
    layers = [type(layer).tags() for layer in (parser, parser.tool, parser.reasoning) if layer is not None]
    return sum(layers, ())


def squeezed(text: str) -> str:
    """``text`` without white space."""
    return "".join(text.split())


def rendered(case: Case) -> Iterator[str]:
    """The expected message as the model's template writes it; nothing where it can't."""
    expected = case.expected
    calls = expected.get("tool_calls", [])
    content, reasoning = expected.get("content", ""), expected.get("reasoning_content", "")
    if case.response_parser == "gpt-oss":
        messages = [f"<|channel|>analysis<|message|>{reasoning}<|end|>"] if reasoning else []
        messages += [
            f"<|channel|>commentary to=functions.{call['name']} <|constrain|>json<|message|>{call['arguments']}<|call|>"
            for call in calls
        ]
        messages += [f"<|channel|>final<|message|>{content}<|return|>"] if content else []
        yield "<|start|>assistant".join(messages)
        return
    parser = case.parser()
    starts_inside = parser.reasoning is not None and parser.reasoning.starts_in_reasoning_mode()
    openings, closings = ([""], [""]) if parser.reasoning is None else tags_of_reasoning(parser.reasoning)
    if starts_inside:
        openings = ["", *openings]
    name = spelled_by(case)
    for opening, closing in product(openings, closings):
        thoughts = f"{opening}{reasoning}{closing}" if starts_inside or reasoning else ""
        for call_text in _RENDERERS[name](calls) if calls else [""]:
            yield thoughts + content + call_text


def tags_of_reasoning(reasoning: ReasoningParser) -> tuple[list[str], list[str]]:
    """The spellings of the two tags."""
    return list(reasoning.all_open_tags()), list(reasoning.all_close_tags())


def spelled_by(case: Case) -> str:
    """The parser whose calls a case has: ``gpt-oss``, a tool parser's canonical name, or ``""``."""
    if case.response_parser != "default":
        return case.response_parser
    entry = ToolParserManager.find(case.tool_parser) if case.tool_parser else None
    return entry.name if entry else ""


def _enveloped(begin: str, end: str, field: str, between: str = "") -> Callable[[Any], list[str]]:
    def render(calls: Any) -> list[str]:
        texts = [f'{{"name": "{call["name"]}", "{field}": {call["arguments"]}}}' for call in calls]
        return [between.join(begin + text + end for text in texts), begin + between.join(texts) + end]

    return render


def _tagged(before: str, argument: Callable[[str, Any], str], after: str, around: tuple[str, str] = ("", "")) -> Any:
    def render(calls: Any) -> list[str]:
        text = ""
        for call in calls:
            pairs: list[tuple[str, Any]] = json.loads(call["arguments"], object_pairs_hook=list)
            if len(dict(pairs)) < len(pairs):
                return []
            text += before.replace("NAME", call["name"]) + "".join(argument(*pair) for pair in pairs) + after
        return [around[0] + text + around[1]]

    return render


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _dsml_argument(name: str, value: Any) -> str:
    typed = "true" if isinstance(value, str) else "false"
    return f'<｜DSML｜parameter name="{name}" string="{typed}">{_text(value)}</｜DSML｜parameter>'


def _section(calls: Any) -> list[str]:
    texts = [
        f"<|tool_call_begin|>{call['id']}<|tool_call_argument_begin|>{call['arguments']}<|tool_call_end|>"
        for call in calls
        if str(call.get("id", "")).startswith("functions.")
    ]
    return [f"<|tool_calls_section_begin|>{''.join(texts)}<|tool_calls_section_end|>"]


_RENDERERS: dict[str, Callable[[Any], list[str]]] = {
    "qwen3": _enveloped("<tool_call>", "</tool_call>", "arguments"),
    "internlm": _enveloped("<|action_start|><|plugin|>", "<|action_end|>", "parameters"),
    "llama3": lambda calls: [
        text
        for begin in ("", "<|python_tag|>")
        for between in ("", ";")
        for text in _enveloped(begin, "", "parameters", between)(calls)
    ],
    "qwen3coder": _tagged(
        "<tool_call><function=NAME>",
        lambda name, value: f"<parameter={name}>{_text(value)}</parameter>",
        "</function></tool_call>",
    ),
    "glm47": _tagged(
        "<tool_call>NAME",
        lambda name, value: f"<arg_key>{name}</arg_key><arg_value>{_text(value)}</arg_value>",
        "</tool_call>",
    ),
    "kimi_k2": _section,
    **{
        parser: _tagged(
            '<｜DSML｜invoke name="NAME">',
            _dsml_argument,
            "</｜DSML｜invoke>",
            (f"<｜DSML｜{block}>", f"</｜DSML｜{block}>"),
        )
        for parser, block in (("deepseek-v32", "function_calls"), ("deepseek-v4", "tool_calls"))
    },
}


# -- random walks through a grammar -----------------------------------------------------------------------------------


def pieces_of(protocol: Protocol) -> tuple[str, ...]:
    """What a walk is made of: the protocol's tags, JSON and some text."""
    parser = build_response_parser(ChatRequest(TOOLS), **protocol.parsers)  # type: ignore[arg-type]
    tags = parser.tags() if protocol.parsers.get("response_parser") else type(parser.tool).tags()  # type: ignore[union-attr]
    words = ("get_weather", "clock", "city", "days", "functions.", "string=", "name=", " to=", "assistant", "json")
    return (*tags, "<think>", "</think>", "<|start|>assistant", *words, *'{}[]":,<>/=| \n017aé.', "commentary", "final")


def wander(judge: Judge, structural_tag: dict[str, Any], pieces: tuple[str, ...], rng: random.Random) -> str:
    """A random text that the grammar allows: some steps anywhere, then the shortest way out."""
    matcher = judge.xgrammar.testing._get_matcher_from_grammar(judge.compiled(structural_tag))
    text, steps = "", 0
    while not (matcher.is_terminated() and (steps > 25 or rng.random() < 0.1)):
        steps += 1
        assert steps < 2000, f"no way out of {text!r}"
        ahead = matcher.find_jump_forward_string()
        order = closing_first(pieces, rng) if steps > 40 and rng.random() < 0.8 else rng.sample(pieces, len(pieces))
        for piece in (ahead,) if ahead else (*order, *map(chr, range(32, 127))):
            if matcher.accept_string(piece):
                text += piece
                break
        else:
            assert matcher.is_terminated(), f"stuck after {text!r}"
            break
    return text


def repeats_an_id(text: str) -> bool:
    """Whether two calls of Kimi's have the same id, which no grammar can rule out."""
    ids = re.findall(r"<\|tool_call_begin\|>\s*(functions\.\w+:\d+)", text)
    return len(ids) > len(set(ids))


def closing_first(pieces: tuple[str, ...], rng: random.Random) -> list[str]:
    """What ends things before what begins them, but not always in the same order."""
    closing = [piece for piece in pieces if piece.startswith(("</", "<|")) or piece in '"}]:']
    others = [piece for piece in pieces if piece not in closing]
    return rng.sample(closing, len(closing)) + rng.sample(others, len(others))


# -- the command ------------------------------------------------------------------------------------------------------


@cache
def command() -> typer.Typer:
    """The command by itself."""
    app = typer.Typer()
    app.command()(grammar)
    return app


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    """The tools as a file."""
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS), encoding="utf-8")
    return file


class TestCommand:
    """``unspool grammar``."""

    def test_prints_the_structural_tag(self, tools_file: Path) -> None:
        arguments = [
            "-t",
            "qwen3",
            "-r",
            "default",
            "--tools",
            str(tools_file),
            "--tool-choice",
            "required",
            "--no-check",
        ]
        result = CliRunner().invoke(command(), arguments)
        assert result.exit_code == 0, result.stderr
        wanted = response_format(PROTOCOLS["qwen3"], "required", reasoning_parser="default")
        assert json.loads(result.stdout) == wanted
        assert result.stderr == ""

    def test_harmony_and_a_named_function(self, tools_file: Path) -> None:
        arguments = ["--response-parser", "gpt-oss", "--tools", str(tools_file), "--tool-choice", "clock", "--no-check"]
        result = CliRunner().invoke(command(), arguments)
        assert result.exit_code == 0, result.stderr
        assert "get_weather" not in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-t", "qwen3"], "tools"),
            (["-t", "qwen", "--tool-choice", "nope"], "nope"),
            (["-t", "qwen33"], "did you mean 'qwen3'"),
            (["--tool-choice", "required"], "needs a tool parser"),
        ],
    )
    def test_mistakes_are_for_people(self, tools_file: Path, arguments: list[str], words: str) -> None:
        given = [*arguments, *([] if words == "tools" else ["--tools", str(tools_file)]), "--no-check"]
        result = CliRunner().invoke(command(), given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr
        assert "Traceback" not in result.stderr

    def test_what_is_nested_too_deeply(self, tmp_path: Path) -> None:
        file = tmp_path / "deep.json"
        for depth, words in ((300, "a tool's schema is nested too deeply"), (5000, "its JSON is nested too deeply")):
            schema = '{"properties":{"a":' * depth + "{}" + "}}" * depth
            file.write_text(f'[{{"type": "function", "function": {{"name": "f", "parameters": {schema}}}}}]')
            result = CliRunner().invoke(command(), ["-t", "qwen3", "--tools", str(file), "--no-check"])
            assert (result.exit_code, result.stdout) == (2, "")
            assert words in result.stderr

    def test_a_plug_in(self, tools_file: Path, tmp_path: Path) -> None:
        plugin = tmp_path / "shout.py"
        plugin.write_text(
            "from unspool.parsers import JsonToolParser, ToolParserManager\n"
            "from unspool.parsers.grammar.call_syntax import json_envelope\n"
            "@ToolParserManager.register_module('shout-for-grammar')\n"
            "class Shout(JsonToolParser):\n"
            "    @classmethod\n"
            "    def get_tool_open_tag(cls):\n"
            "        return '<SHOUT>'\n"
            "    @classmethod\n"
            "    def call_syntaxes(cls):\n"
            "        return (json_envelope('<SHOUT>', None, 'arguments'),)\n",
            encoding="utf-8",
        )
        arguments = ["-t", "shout-for-grammar", "--plugin", str(plugin), "--tools", str(tools_file), "--no-check"]
        result = CliRunner().invoke(command(), arguments)
        assert result.exit_code == 0, result.stderr
        assert "<SHOUT>" in result.stdout

    def test_check_compiles(self, tools_file: Path, tmp_path: Path, judge: Judge) -> None:
        arguments = ["-t", "qwen3", "--tools", str(tools_file), "--check"]
        assert CliRunner().invoke(command(), arguments).exit_code == 0
        odd = tmp_path / "odd.json"
        odd.write_text('[{"name": "f", "parameters": {"type": "objekt"}}]', encoding="utf-8")
        result = CliRunner().invoke(command(), ["-t", "qwen3", "--tools", str(odd), "--check"])
        assert (result.exit_code, result.stdout) == (2, "")
        assert 'Unsupported type "objekt"' in result.stderr

    def test_check_without_xgrammar(self, tools_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "xgrammar", None)
        result = CliRunner().invoke(command(), ["-t", "qwen3", "--tools", str(tools_file), "--check"])
        assert (result.exit_code, result.stdout) == (2, "")
        assert "pip install 'unspool[xgrammar]'" in result.stderr
