"""The real command as a process: pipes, streams, colours, hostile text, what gets imported."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "unspool.cli"]
ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")

# What a model can write to take over a terminal, to break a renderer or to break a line.
HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J \x00 \r \x7f [/red] [bold]x[/bold] [/] :smile: "
    "\u202egnp.exe\u202c line\u2028break 👩‍💻 " + "long " * 100
)


def environment(**extra: str) -> dict[str, str]:
    """The environment without what decides about colours."""
    ours = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    kept = {key: value for key, value in os.environ.items() if key not in ours}
    return kept | {"TERM": "xterm-256color"} | extra


def run(*args: str | Path, stdin: bytes = b"", **extra: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *map(str, args)], input=stdin, capture_output=True, env=environment(**extra), timeout=60, check=False
    )


def run_on_terminal(*args: str | Path, **extra: str) -> bytes:
    """Standard output of the command where that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment(**extra),
    ):
        os.close(theirs)
        output = b""
        try:
            while piece := os.read(ours, 65536):
                output += piece
        except OSError:  # Linux says EIO where the last writer has closed a terminal
            pass
        os.close(ours)
    return output.replace(b"\r\n", b"\n")


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    file = tmp_path / "answer.txt"
    file.write_bytes(b'hm </think>Hi <tool_call>{"name": "f", "arguments": {"a": [1, "x"]}}</tool_call>')
    return file


QWEN = ("-r", "default", "-t", "qwen")


class TestPipes:
    def test_reads_a_pipe_and_writes_json_lines(self) -> None:
        result = run("replay", "-", stdin=b"Hello\r\n\n")
        assert (result.returncode, result.stderr) == (0, b"")
        deltas = [json.loads(line) for line in result.stdout.splitlines()]
        assert "".join(record["delta"]["content"] for record in deltas) == "Hello\r\n\n"

    @pytest.mark.parametrize("options", [(), ("-o", "pretty"), ("--only", "content")])
    def test_reader_that_goes_away_is_no_error(self, tmp_path: Path, options: tuple[str, ...]) -> None:
        file = tmp_path / "long.txt"
        file.write_bytes(b"word\n" * 100_000)
        command = [*COMMAND, "replay", str(file), *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141

    def test_reader_that_is_gone_before_the_end_of_a_short_output(self, answer: Path) -> None:
        shell = f"'{sys.executable}' -m unspool.cli replay '{answer}' | true"
        result = subprocess.run(["sh", "-c", shell], capture_output=True, env=environment(), check=False)
        assert result.stderr == b""

    @pytest.mark.parametrize("columns", ["40", "100"])
    @pytest.mark.parametrize("args", [("--help",), ("replay", "--help"), ("parsers", "list"), ("--version",)])
    def test_reader_of_a_page_that_goes_away(self, args: tuple[str, ...], columns: str) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = subprocess.run(
                [*COMMAND, *args],
                stdout=writer,
                stderr=subprocess.PIPE,
                env=environment(COLUMNS=columns),
                check=False,
            )
        finally:
            os.close(writer)
        assert (result.returncode, result.stderr) == (141, b"")

    def test_full_disk_is_reported(self, answer: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with Path("/dev/full").open("wb") as full:
            result = subprocess.run(
                [*COMMAND, "replay", str(answer)], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
            )
        assert result.returncode == 2
        assert result.stderr.startswith(b"unspool: error: the output can't be written")
        assert b"Traceback" not in result.stderr

    def test_deltas_come_as_soon_as_their_chunk(self) -> None:
        command = [*COMMAND, "replay", "-i", "jsonl", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for number in range(3):
                process.stdin.write(json.dumps({"text": f"piece {number}"}).encode() + b"\n")
                process.stdin.flush()
                ready, _, _ = select.select([process.stdout], [], [], 30)
                assert ready, "the delta was not there before the next chunk"
                assert json.loads(process.stdout.readline())["delta"] == {"content": f"piece {number}"}
            process.stdin.close()
        assert process.returncode == 0

    def test_errors_stand_where_they_were_found_in_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "in.jsonl"
        file.write_bytes(b'{"text": "a"}\n' * 1100 + b"{\n" + b'{"text": "b"}\n')
        command = [*COMMAND, "replay", "-o", "jsonl", str(file)]
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), timeout=60, check=False
        )
        lines = result.stdout.splitlines()
        assert [number for number, line in enumerate(lines) if not line.startswith(b'{"chunk":')] == [1100]
        assert len(lines) == 1102

    def test_interrupt(self) -> None:
        command = [*COMMAND, "replay", "-i", "jsonl", "-"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.write(b'{"text": "a"}\n')
            process.stdin.flush()
            assert process.stdout.readline()
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            assert b"Traceback" not in process.stderr.read()


class TestColours:
    def test_none_in_a_pipe(self, answer: Path) -> None:
        for mode in ("chunk", "final"):
            assert b"\x1b" not in run("replay", answer, *QWEN, "-o", "pretty", "--mode", mode).stdout

    def test_always(self, answer: Path) -> None:
        plain = run("replay", answer, *QWEN, "-o", "pretty").stdout
        for name, value in (("LANG", "C"), ("NO_COLOR", "1"), ("TERM", "dumb")):
            command = ("replay", answer, *QWEN, "-o", "pretty", "--color", "always")
            coloured = run(*command, stdin=b"", **{name: value}).stdout
            assert b"\x1b[35m" in coloured
            assert ESCAPES.sub(b"", coloured) == plain

    def test_terminal_gets_pretty_and_colours(self, answer: Path) -> None:
        output = run_on_terminal("replay", answer, *QWEN)
        assert b"\x1b[32m" in output
        assert ESCAPES.sub(b"", output) == run("replay", answer, *QWEN, "-o", "pretty").stdout

    def test_terminal_without_colours(self, answer: Path) -> None:
        plain = run("replay", answer, *QWEN, "-o", "pretty").stdout
        assert run_on_terminal("replay", answer, *QWEN, NO_COLOR="1") == plain
        assert run_on_terminal("replay", answer, *QWEN, TERM="dumb") == plain
        assert run_on_terminal("replay", answer, *QWEN, "--color", "never") == plain

    def test_records_have_none(self, answer: Path) -> None:
        assert b"\x1b" not in run("replay", answer, "-o", "jsonl", "--color", "always").stdout


class TestHostileText:
    @pytest.mark.parametrize("mode", ["chunk", "final"])
    @pytest.mark.parametrize("color", ["always", "never"])
    def test_pretty_output_is_harmless(self, mode: str, color: str) -> None:
        call = (
            '<tool_call>{"name": "f\\u001b", "arguments": {"k\\u009b": "'
            + HOSTILE.replace("\x00", "")
            + '"}}</tool_call>'
        )
        stdin = f"{HOSTILE}</think>{HOSTILE}{call}".encode()
        result = run("replay", *QWEN, "--mode", mode, "-o", "pretty", "--color", color, "--chunk", "whole", stdin=stdin)
        assert result.returncode == 0
        shown = ESCAPES.sub(b"", result.stdout) if color == "always" else result.stdout
        text = shown.decode()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
        assert "\\x1b[31mred" in text
        assert "[/red] [bold]x[/bold] [/] :smile:" in text
        assert "long " * 99 in text, "a long line must not be wrapped"

    def test_diagnostics_are_harmless(self, tmp_path: Path) -> None:
        tools = tmp_path / "tools.json"
        tools.write_text("[]")
        stdin = '<tool_call>{"name": "\x1b[31m\u202e[/red]\x9b\\n", "arguments": {}}</tool_call>'.encode()
        result = run("replay", "-t", "qwen", "--tools", tools, stdin=stdin)
        assert result.returncode == 0
        assert b"tool-call-rejected" in result.stderr
        assert result.stderr.count(b"\n") == len(result.stderr.splitlines())
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.stderr.decode())

    def test_file_names_are_harmless(self, tmp_path: Path) -> None:
        result = run("replay", tmp_path / "a\x1b[31m\n[/red]")
        assert result.returncode == 2
        assert result.stderr.count(b"\n") == 1
        assert b"\x1b" not in result.stderr

    def test_raw_channel_is_verbatim_in_a_pipe_only(self, tmp_path: Path) -> None:
        file = tmp_path / "hostile.txt"
        file.write_bytes(HOSTILE.encode())
        assert run("replay", file, "--only", "content").stdout == HOSTILE.encode()
        assert b"\x1b" not in run_on_terminal("replay", file, "--only", "content")

    @pytest.mark.parametrize("options", [(), ("-o", "pretty"), ("--only", "content"), ("-o", "json")])
    def test_lone_surrogates(self, options: tuple[str, ...]) -> None:
        lines = [
            {"text": "a\ud83d"},
            {"text": "b\udc00", "logprobs": {"token": "\ud83d"}, "finish_reason": "stop\ud83d"},
        ]
        stdin = "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")
        result = run("replay", "-i", "jsonl", *options, stdin=stdin)
        assert result.returncode == 0, result.stderr
        result.stdout.decode("utf-8")

    def test_numbers_of_any_size(self) -> None:
        stdin = b'{"text": "a", "logprobs": [123456789012345678901234567890, NaN, -Infinity]}\n'
        result = run("replay", "-i", "jsonl", stdin=stdin)
        assert json.loads(result.stdout)["logprobs"] == [123456789012345678901234567890, None, None]

    def test_line_separators_do_not_break_records(self) -> None:
        text = "a\u2028b\x85c\x1cd\x00"
        result = run("replay", "--chunk", "whole", stdin=text.encode())
        assert result.stdout.count(b"\n") == 1
        assert json.loads(result.stdout)["delta"] == {"content": text}

    def test_bytes_that_are_no_text(self) -> None:
        result = run("replay", "--only", "content", stdin=b"a\xff\xfeb")
        assert result.stdout.startswith(b"a")
        assert result.stdout.endswith(b"b")

    def test_terminal_that_can_write_ascii_only(self) -> None:
        result = run("replay", "-o", "pretty", stdin="é\n".encode(), PYTHONIOENCODING="ascii")
        assert result.returncode == 0
        assert b"\\xe9\\u23ce" in result.stdout


class TestPlugins:
    PLUGIN = """
from unspool.parsers import ReasoningParser, ReasoningParserManager

@ReasoningParserManager.register_module("square")
class Square(ReasoningParser):
    description = "for a test"
    initial_mode_rule = "starts plain"

    @classmethod
    def get_reasoning_open_tag(cls):
        return "[THINK]"

    @classmethod
    def get_reasoning_close_tag(cls):
        return "[/THINK]"

    def starts_in_reasoning_mode(self):
        return False
"""

    def test_plugin_parser_is_used(self, tmp_path: Path) -> None:
        plugin = tmp_path / "square.py"
        plugin.write_text(self.PLUGIN)
        result = run("replay", "-r", "square", "--plugin", plugin, "--only", "reasoning", stdin=b"a[THINK]b[/THINK]c")
        assert (result.stdout, result.returncode) == (b"b", 0)
        for command in (("list",), ("show", "square"), ("validate", "square")):
            shown = run("parsers", *command, "--plugin", plugin)
            assert (shown.returncode, b"square" in shown.stdout) == (0, True)

    @pytest.mark.parametrize("source", ["import nothing_of_this_name", "def broken(:", "x = 1\nraise ValueError('no')"])
    @pytest.mark.parametrize("command", [("replay",), ("parsers", "list"), ("parsers", "validate", "default")])
    def test_broken_plugin_is_named(self, tmp_path: Path, source: str, command: tuple[str, ...]) -> None:
        plugin = tmp_path / "broken.py"
        plugin.write_text(source)
        result = run(*command, "--plugin", plugin)
        assert result.returncode == 2
        assert f"{plugin}:{len(source.splitlines())}".encode() in result.stderr
        assert b"Traceback" not in result.stderr


class TestLegacyNames:
    @pytest.mark.parametrize("name", ["qwen-qwq", "intern-s1", "deepseek-r1"])
    def test_warns_once_in_one_line(self, answer: Path, name: str) -> None:
        result = run("replay", answer, answer, "-r", name, "-t", "qwen")
        assert result.returncode == 0
        lines = result.stderr.decode().splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("unspool: warning: ")
        assert name in lines[0]


class TestImports:
    """Modules, not seconds: a slow machine must not fail a build."""

    def imported(self, *args: str) -> set[str]:
        result = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "unspool.cli", *args],
            capture_output=True,
            env=environment(),
            text=True,
            check=False,
        )
        return {line.rpartition("|")[2].strip() for line in result.stderr.splitlines() if "|" in line}

    SLOW = ("transformers", "tokenizers", "numpy", "huggingface_hub")

    @pytest.mark.parametrize(
        "args", [("--help",), ("replay", "--help"), ("parsers", "list"), ("parsers", "show", "qwen")]
    )
    def test_no_tokenizer_library(self, args: tuple[str, ...]) -> None:
        assert not self.imported(*args) & set(self.SLOW)

    @pytest.mark.parametrize(
        "args",
        [
            ("replay", "-r", "default", "-t", "qwen3", "-o", "jsonl", "--no-thinking", "-", "no such file"),
            ("check", "-t", "qwen3", "-"),
            ("grammar", "-r", "default"),
            ("parsers", "list", "--json"),
            ("parsers", "show", "qwen"),
        ],
    )
    def test_typer_converts_nothing(self, args: tuple[str, ...]) -> None:
        """Which is what Typer has pydantic for; it takes longer to import than all the rest."""
        assert "pydantic" not in self.imported(*args)

    def test_help_imports_no_parsers(self) -> None:
        imported = self.imported("--help")
        assert "typer" in imported
        assert not any(name.startswith(("unspool.parsers", "orjson")) for name in imported)

    @pytest.mark.parametrize("args", [("parsers", "validate", "default", "qwen")])
    def test_validate_imports_little(self, args: tuple[str, ...]) -> None:
        assert not self.imported(*args) & {*self.SLOW, "rich", "orjson"}


def test_version() -> None:
    from unspool import __version__

    assert run("--version").stdout.decode().split() == ["unspool", __version__]


def test_replay_of_tokens_uses_a_tokenizer(tmp_path: Path) -> None:
    """Ids without text, a cut at tokens, and the count of reasoning tokens: all need the tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    words: dict[str, int] = {word: index for index, word in enumerate(("[UNK]", "a", "b", "</think>", "c"))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = tokenizers.decoders.Fuse()
    tokenizer.add_special_tokens(["</think>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    stream = b'{"token_ids": [1, 2]}\n[3]\n{"token_id": 4, "finish_reason": "stop"}\n'
    result = run("replay", "-r", "default", "--tokenizer", tmp_path, "-o", "json", stdin=stream)
    assert result.returncode == 0, result.stderr
    record: dict[str, Any] = json.loads(result.stdout)
    assert record["usage"] == {"completion_tokens": 4, "reasoning_tokens": 2}
    assert record["message"]["content"] == "c"


class TestUsage:
    @pytest.mark.parametrize("command", [(), ("replay",), ("check",), ("grammar",), ("parsers", "validate")])
    def test_help_on_a_narrow_terminal_cuts_nothing_off(self, command: tuple[str, ...]) -> None:
        for columns in ("40", "71", "72", "80"):
            page = run(*command, "--help", COLUMNS=columns).stdout.decode()
            assert "…" not in page
            assert ("╭" in page) is (columns in ("72", "80"))
            if command != ("parsers", "validate"):
                assert "130  interrupted" in map(str.strip, page.splitlines())
            assert "\b" not in page

    @pytest.mark.parametrize(
        ("command", "message", "page"),
        [
            (("rplay",), "no such command 'rplay'. Did you mean 'replay'?", "unspool"),
            (("replay", "-t"), "option '-t' requires an argument", "unspool replay"),
            (("replay", "--mode", "\x1b[31m"), "'\\x1b[31m' is not one of 'chunk', 'final'", "unspool replay"),
            (("check", "x"), "invalid value for --tool-parser: without a parser", "unspool check"),
            (("parsers", "show"), "missing argument 'NAME'", "unspool parsers show"),
        ],
    )
    @pytest.mark.parametrize("columns", ["40", "80"])
    def test_mistakes_are_errors_like_all_others(
        self, command: tuple[str, ...], message: str, page: str, columns: str
    ) -> None:
        result = run(*command, COLUMNS=columns)
        first, second = result.stderr.decode().splitlines()
        assert (result.returncode, result.stdout) == (2, b"")
        assert first.startswith("unspool: error: ")
        assert message in first
        assert second == f"unspool: see `{page} --help`"

    def test_nothing_at_all_is_a_question(self) -> None:
        result = run()
        assert result.returncode == 2
        assert b"Usage: " in result.stdout
        assert b"error" not in result.stderr

    @pytest.mark.parametrize("args", [("--help",), ("--version",), ("replay", "--help"), ("parsers", "list")])
    @pytest.mark.parametrize("columns", ["40", "80"])
    def test_a_full_disk_is_said(self, args: tuple[str, ...], columns: str) -> None:
        with Path("/dev/full").open("wb") as full:
            result = subprocess.run(
                [*COMMAND, *args], stdout=full, stderr=subprocess.PIPE, env=environment(COLUMNS=columns), check=False
            )
        assert result.returncode == 2
        assert result.stderr == b"unspool: error: the output can't be written: No space left on device\n"
