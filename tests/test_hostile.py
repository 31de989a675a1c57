"""Inputs that once broke the command or made the result depend on the cut."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from oracle import FIXTURES

from unspool.cli.transcript.json_text import complete_json, load_json
from unspool.parsers import ChatRequest, build_response_parser

COMMAND = [sys.executable, "-m", "unspool.cli"]


def arguments(tool_parser: str, chunks: list[str]) -> tuple[str, list[str]]:
    parser = build_response_parser(ChatRequest(), tool_parser=tool_parser)
    deltas = [delta for chunk in chunks for delta, _ in parser.stream_chunk(chunk)]
    deltas += [delta for delta, _ in parser.stream_chunk("", final=True)]
    pieces = [call.arguments or "" for delta in deltas for call in delta.tool_calls or ()]
    return "".join(pieces), [each.code for each in parser.diagnostics]


@pytest.mark.parametrize("junk", ["<think>", "<", "xf", "xfunct", "functools ", "f f"])
def test_junk_ends_where_a_call_begins(junk: str) -> None:
    text = f'functools[{{"name": "f"{junk}functools['  # the second tag is no junk of the first block
    assert arguments("phi4_mini_json", [text]) == arguments("phi4_mini_json", list(text))


@pytest.mark.parametrize(
    ("tool_parser", "start", "end"),
    [
        (
            "qwen3coder",
            "<tool_call>\n<function=f>\n<parameter=a>\nx",
            "<parameter=c>y</parameter>\n</function>\n</tool_call>",
        ),
        (
            "glm47",
            "<tool_call>f<arg_key>a</arg_key><arg_value>x",
            "<arg_key>c</arg_key><arg_value>y</arg_value></tool_call>",
        ),
    ],
)
def test_an_empty_chunk_changes_nothing(tool_parser: str, start: str, end: str) -> None:
    assert arguments(tool_parser, [start, "two ", end]) == arguments(tool_parser, [start, "two ", "", end])


def test_a_newline_in_a_step3_header() -> None:
    text = (
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function\n<｜tool_sep｜>"
        '<steptml:invoke name="f"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>'
    )
    assert arguments("step3", list(text)) == arguments("step3", [text]) == ("{}", [])


def test_the_beginning_of_deep_json_is_looked_into_once() -> None:
    assert complete_json(b'{"text": "hi", "x": ' + b"[" * 60_000) is None  # seconds would be minutes if it weren't


def test_what_is_nested_too_deeply_to_be_written_is_a_bad_line() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        load_json(b"[" * 500 + b"]" * 500)
    line = '{"text": "x", "logprobs": ' + "[" * 500 + "]" * 500 + "}"
    ran = subprocess.run(
        [*COMMAND, "replay", "-i", "jsonl", "-"],
        input=line + '\n{"text": "ok"}\n',
        capture_output=True,
        encoding="utf-8",
    )
    assert ran.returncode == 2
    assert "ok" in ran.stdout
    assert "nested too deeply" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_parser_that_raises_costs_only_its_input(tmp_path: Path) -> None:
    plugin = tmp_path / "raiser.py"
    plugin.write_text(
        textwrap.dedent(
            """
            from unspool.parsers import JsonToolParser, ToolParserManager

            @ToolParserManager.register_module("raiser")
            class Raiser(JsonToolParser):
                @classmethod
                def get_tool_open_tag(cls):
                    return "<boom>"

                def _consume_stream_payload(self, text, deltas, final, pos):
                    raise RuntimeError("boom \\x1b[31m")
            """
        )
    )
    bad, good = tmp_path / "bad.txt", tmp_path / "good.txt"
    bad.write_text('<boom>{"name": "f"}')
    good.write_text("fine")
    command = [*COMMAND, "replay", "-t", "raiser", "--plugin", str(plugin), "--only", "content", str(bad), str(good)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert (ran.returncode, ran.stdout) == (2, "fine")
    assert "bad.txt: the parser raised RuntimeError: boom \\x1b[31m (raiser.py:" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_json_on_a_terminal_can_not_control_it(tmp_path: Path) -> None:
    text = "\x9b31m \x7f \u202e hi"
    file = tmp_path / "hostile.txt"
    file.write_text(text, encoding="utf-8")
    main, side = pty.openpty()
    subprocess.run([*COMMAND, "replay", "--mode", "final", "-o", "json", str(file)], stdout=side, check=True)
    os.close(side)
    shown = os.read(main, 65536).decode("utf-8")
    assert not set(shown) & set("\x9b\x7f\u202e")
    assert json.loads(shown)["message"]["content"] == text


def test_a_closed_standard_output_is_said() -> None:
    transcript = FIXTURES / "transcripts" / "qwen3.txt"
    ran = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m unspool.cli replay "{transcript}" >&-'],
        capture_output=True,
        encoding="utf-8",
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("unspool: error: standard output is closed")


@pytest.mark.parametrize("line", ["import sys; sys.exit(3)", "raise SystemExit('x')", "raise BaseException('b')"])
def test_a_plugin_that_exits_is_an_error(line: str, tmp_path: Path) -> None:
    plugin = tmp_path / "exits.py"
    plugin.write_text(line)
    ran = subprocess.run([*COMMAND, "parsers", "list", "--plugin", str(plugin)], capture_output=True, encoding="utf-8")
    assert ran.returncode == 2
    assert "exits.py:1" in ran.stderr
