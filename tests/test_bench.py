"""``unspool bench``: every parser writes what it reads, good ones pass, and slow or wrong ones are caught."""

from __future__ import annotations

import json
import math
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from oracle import FIXTURES
from typer.testing import CliRunner, Result

from unspool.cli import app
from unspool.cli.benchmark.measure import Growth, Point
from unspool.cli.benchmark.results import Target, plan_written
from unspool.cli.benchmark.transcripts import SHAPES, written
from unspool.cli.benchmark.verification import find_wrong
from unspool.parsers import (
    ChatRequest,
    ReasoningParserManager,
    ResponseParser,
    ToolParserManager,
    build_response_parser,
)

TINY = FIXTURES / "tokenizers" / "tiny"
TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]
CALLS: list[tuple[str, dict[str, Any]]] = [("get_weather", {"city": "Paris", "days": 3}), ("now", {})]
PLUGIN = """
import re
from unspool.parsers import BaseResponseParser, ResponseParser, ResponseParserManager, ToolParser, ToolParserManager

Qwen = ToolParserManager.get("qwen3")


@ToolParserManager.register_module("b-good")
class Good(Qwen):
    pass


@ToolParserManager.register_module("b-misquoting")
class Misquoting(Qwen):
    @classmethod
    def write_calls(cls, calls):
        return super().write_calls(calls).replace("Bergen", "Begren")


@ToolParserManager.register_module("b-unwritable")
class Unwritable(Qwen):
    @classmethod
    def write_calls(cls, calls):
        raise KeyError("no")


@ToolParserManager.register_module("b-silent")
class Silent(ToolParser):
    @classmethod
    def get_tool_open_tag(cls):
        return "<call>"

    def _consume_stream_payload(self, text, deltas, final, pos):
        self._payload_closed = True
        return pos


@ResponseParserManager.register_module("b-quadratic")
class Quadratic(BaseResponseParser):
    seen = ""

    def stream_chunk(self, text, ids=(), final=False):
        self.seen += text
        sum(map(ord, self.seen))
        return super().stream_chunk(text, ids, final)


@ResponseParserManager.register_module("b-quadratic-whole")
class QuadraticWhole(BaseResponseParser):
    def parse_complete(self, text, ids=None):
        for end in range(0, len(text), 8):
            sum(map(ord, text[:end]))
        return super().parse_complete(text, ids)


@ResponseParserManager.register_module("b-torn")
class Torn(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return super().stream_chunk(text.replace("\\n\\n", "\\n"), ids, final)


@ResponseParserManager.register_module("b-raises")
class Raises(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        if not final:
            raise RuntimeError("not\\x1b[31m today")
        return super().stream_chunk(text, ids, final)


@ResponseParserManager.register_module("b-opaque")
class Opaque(ResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return []
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plugin") / "bench_plugin.py"
    file.write_text(PLUGIN)
    return file


def run(*args: object, sizes: str = "300,600") -> Result:
    return CliRunner().invoke(app, ["bench", "--sizes", sizes, *map(str, args)])


def reports(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def parser_for(target: Target) -> Any:
    def new_parser_for(request: ChatRequest) -> Any:
        return lambda: build_response_parser(
            request,
            reasoning_parser=target.reasoning,
            tool_parser=target.tool,
            response_parser=target.response,
        )

    return new_parser_for


def read_back(parser: ResponseParser, text: str) -> tuple[str | None, str | None, list[tuple[str, Any]]]:
    content, calls, reasoning = parser.parse_complete(text)
    assert parser.diagnostics == []
    return reasoning, content, [(call.name, json.loads(call.arguments)) for call in calls]


OURS = [entry.name for entry in ToolParserManager if entry.cls.__module__.startswith("unspool.")]


class TestWriting:
    @pytest.mark.parametrize("name", OURS)
    def test_calls_read_back_as_written(self, name: str) -> None:
        parser = build_response_parser(ChatRequest(tools=TOOLS), tool_parser=name)
        text = ToolParserManager.get(name).write_calls(CALLS)
        assert read_back(parser, text) == (None, None, CALLS)

    @pytest.mark.parametrize("name", [entry.name for entry in ReasoningParserManager])
    @pytest.mark.parametrize("request_", [ChatRequest(), ChatRequest(chat_template_kwargs={"enable_thinking": False})])
    def test_reasoning_reads_back_as_written(self, name: str, request_: ChatRequest) -> None:
        parser = build_response_parser(request_, reasoning_parser=name)
        if parser.reasoning is not None and not parser.reasoning.separates:
            with pytest.raises(NotImplementedError):
                parser.write_response("Why.", "So.")
            return
        assert read_back(parser, parser.write_response("Why.", "So.")) == ("Why.", "So.", [])

    def test_harmony_reads_back_as_written(self) -> None:
        parser = build_response_parser(ChatRequest(tools=TOOLS), response_parser="gpt-oss")
        assert read_back(parser, parser.write_response("Why.", "So.", CALLS)) == ("Why.", "So.", CALLS)

    def test_parts_that_a_parser_has_not_are_refused(self) -> None:
        with pytest.raises(NotImplementedError):
            build_response_parser(tool_parser="qwen3").write_response("Why.")
        with pytest.raises(NotImplementedError):
            build_response_parser(reasoning_parser="default").write_response(calls=CALLS)
        with pytest.raises(NotImplementedError, match="where content begins"):
            build_response_parser(tool_parser="json_array").write_response("", "So.", CALLS)

    @pytest.mark.parametrize(
        ("target", "parts"),
        [
            (Target("default", "qwen3"), {"reasoning", "content", "calls"}),
            (Target(tool="qwen3"), {"content", "calls"}),
            (Target("default"), {"reasoning", "content"}),
            (Target("default", "json_array"), {"reasoning", "calls"}),
            (Target(tool="json_array"), {"calls"}),
            (Target(response="gpt-oss"), {"reasoning", "content", "calls"}),
        ],
        ids=lambda each: each.label if isinstance(each, Target) else "",
    )
    def test_a_response_has_all_that_the_parser_reads(self, target: Target, parts: set[str]) -> None:
        expected = written(SHAPES[0], 8000, parser_for(target)).expected
        assert expected is not None
        assert {name for name in ("reasoning", "content", "calls") if getattr(expected, name)} == parts

    @pytest.mark.parametrize("name", OURS)
    def test_every_shape_is_right(self, name: str) -> None:
        target = Target(tool=name)
        plan = plan_written(target, 3000, parser_for(target))
        assert [case.name for case in plan.cases] == [shape.name for shape in SHAPES if shape.name != "long reasoning"]
        for case in plan.cases:
            text = case.base.text
            assert find_wrong(case.base, {"5": [text[at : at + 5] for at in range(0, len(text), 5)]}) == ""

    @pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
    def test_length_is_about_what_was_asked_for(self, shape: Any) -> None:
        target = Target("default", "qwen3coder")
        length = len(written(shape, 20_000, parser_for(target)).text)
        assert 17_000 < length < 23_000


class TestGrowth:
    @staticmethod
    def growth(*seconds: float) -> Growth:
        return Growth("4", [Point(10**at, [each]) for at, each in enumerate(seconds, 4)])

    def test_linear_is_not_quadratic(self) -> None:
        found = self.growth(1.0, 11.0, 105.0)
        assert not found.is_quadratic
        assert found.relative == pytest.approx([1.0, 1.1, 1.05])
        assert found.tenfold == pytest.approx(11.0)

    def test_quadratic_is(self) -> None:
        found = self.growth(1.0, 12.0, 900.0)
        assert found.is_quadratic
        assert found.tenfold == pytest.approx(75.0)

    def test_stopped_pass_counts_for_as_far_as_it_came(self) -> None:
        found = Growth("4", [Point(1000, [1.0]), Point(10_000, [60.0, 40.0], complete=False)])
        assert found.tenfold == pytest.approx(100.0)
        assert not Growth("4", [Point(1000, [1.0]), Point(1100, [1.5], complete=False)]).is_quadratic


class TestCommand:
    def test_report_in_a_pipe(self) -> None:
        result = run("-t", "qwen3", "-r", "default", "--chunk-sizes", "4,64")
        assert result.exit_code == 0
        title, head, *rows = result.stdout.splitlines()
        assert title.startswith("reasoning parser default, tool parser qwen3: ")
        assert head.split() == ["shape", "chunk", "µs/chunk", "MB/s", "×", "floor", "at", "600"]
        assert [row[:20].strip() for row in rows[::3]] == [shape.name for shape in SHAPES]
        assert [row[20:26].strip() for row in rows[:3]] == ["4", "64", "whole"]
        assert result.stderr == ""

    def test_record(self) -> None:
        (report,) = reports(run("-t", "qwen3", "--json", "--chunk-sizes", "8,tokens", "--tokenizer", TINY))
        assert (report["tool_parser"], report["reasoning_parser"], report["ok"]) == ("qwen3", None, True)
        shape = report["shapes"][0]
        assert [cost["chunk"] for cost in shape["costs"]] == ["8", "tokens", "whole"]
        assert [each["chunk"] for each in shape["growth"]] == ["4", "whole"]
        assert shape["growth"][0]["points"][0]["relative"] == 1.0
        assert all(math.isfinite(cost["us_per_chunk"]) for cost in shape["costs"])

    def test_harmony(self) -> None:
        (report,) = reports(run("--response-parser", "gpt-oss", "--json", "--chunk-sizes", "4"))
        assert [shape["shape"] for shape in report["shapes"]] == [shape.name for shape in SHAPES]

    def test_reasoning_parser_that_keeps_reasoning_in_the_content(self) -> None:
        (report,) = reports(run("-r", "minimax_m2_append_think", "--json", "--chunk-sizes", "4"))
        assert report["ok"]
        assert [shape["shape"] for shape in report["shapes"]] == ["content"]

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("-t", "qwen33"), "did you mean"),
            (("-t", "qwen3", "--chunk-sizes", "4,x"), "list of numbers"),
            (("-t", "qwen3", "--chunk-sizes", "0"), "list of numbers"),
            (("-t", "qwen3", "--chunk-sizes", "tokens"), "--tokenizer"),
            (("-t", "qwen3", "--input", "/no/such/file"), "/no/such/file"),
        ],
    )
    def test_wrong_usage(self, args: tuple[str, ...], message: str) -> None:
        result = run(*args)
        assert result.exit_code == 2
        assert message in result.stderr.replace("\n", " ")
        assert result.stdout == ""


class TestPlugins:
    def test_good_one_passes(self, plugin: Path) -> None:
        assert run("-t", "b-good", "--plugin", plugin, "--chunk-sizes", "4").exit_code == 0

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("-t", "b-misquoting"), "arguments of call 0 differs from character"),
            (("-t", "b-unwritable"), "wrong: writing the sample 'response' raises KeyError"),
            (("-t", "qwen3", "--response-parser", "b-torn"), "parse_complete gives another message than was written"),
            (("-t", "qwen3", "--response-parser", "b-raises"), "in chunks of 4 it raises RuntimeError: not\\x1b[31m"),
        ],
    )
    def test_wrong_ones_are_caught(self, args: tuple[str, ...], message: str, plugin: Path) -> None:
        result = run(*args, "--plugin", plugin, "--chunk-sizes", "4")
        assert result.exit_code == 1
        assert message in result.stdout.replace("\\u001b", "\\x1b")
        assert "\x1b" not in result.stdout

    def test_nothing_is_measured_of_what_is_wrong(self, plugin: Path) -> None:
        result = run("-t", "b-misquoting", "--plugin", plugin, "--chunk-sizes", "4", "--json")
        shapes = {shape["shape"]: shape for shape in reports(result)[0]["shapes"]}
        assert shapes["many calls"]["wrong"]
        assert shapes["many calls"]["costs"] == shapes["many calls"]["growth"] == []
        assert shapes["long value"]["costs"]

    @pytest.mark.parametrize(("name", "cut"), [("b-quadratic", "in chunks of 4"), ("b-quadratic-whole", "whole")])
    def test_quadratic_ones_are_caught(self, name: str, cut: str, plugin: Path) -> None:
        result = run("--response-parser", name, "--plugin", plugin, "--chunk-sizes", "64", sizes="500,5000")
        assert result.exit_code == 1
        assert f"quadratic: content, {cut}: 10 times the text takes " in result.stdout

    def test_parser_that_writes_no_calls(self, plugin: Path, tmp_path: Path) -> None:
        result = run("-t", "b-silent", "--plugin", plugin, "--chunk-sizes", "4")
        assert result.exit_code == 0
        assert "give a transcript with --input FILE" in result.stderr
        file = tmp_path / "given.txt"
        file.write_text("Text and <call> more.\n" * 30)
        result = run("-t", "b-silent", "--plugin", plugin, "--chunk-sizes", "4", "--input", file)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "\ninput " in result.stdout

    def test_parser_that_writes_nothing(self, plugin: Path, tmp_path: Path) -> None:
        result = run("--response-parser", "b-opaque", "--plugin", plugin)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "this parser writes no sample: give a transcript with --input FILE" in result.stderr
        empty = tmp_path / "empty.txt"
        empty.write_text("")
        assert run("--response-parser", "b-opaque", "--plugin", plugin, "--input", empty).exit_code == 2


class TestTerminal:
    @pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
    def test_progress_leaves_a_redirected_report_alone(self, tmp_path: Path) -> None:
        """The bar stands on a terminal's stderr; the report goes to the file that stdout is."""
        controller, terminal = pty.openpty()
        report = tmp_path / "report.txt"
        command = [sys.executable, "-m", "unspool.cli", "bench", "-t", "qwen3", "--sizes", "300,600"]
        with report.open("wb") as stdout:
            process = subprocess.Popen(
                command, stdout=stdout, stderr=terminal, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
            )
            os.close(terminal)
            seen = b""
            try:
                while piece := os.read(controller, 4096):
                    seen += piece
            except OSError:  # how a pseudo-terminal says that the other side is closed
                pass
            assert process.wait() == 0
        os.close(controller)
        assert b"qwen3" in seen
        text = report.read_text()
        assert text.startswith("tool parser qwen3: ")
        assert "\x1b" not in text
