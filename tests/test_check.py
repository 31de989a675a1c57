"""``unspool check``: every promise can be broken, each break is shown at its smallest, and whole parsers pass."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from oracle import FIXTURES, Case
from typer.testing import CliRunner, Result

from unspool.cli import app
from unspool.cli.checking import (
    INVARIANTS,
    Checker,
    Cut,
    Deadline,
    Finding,
    Violation,
    check_text,
    cuts_of,
    observe,
    plan,
    shrink_cut,
    shrink_text,
)
from unspool.cli.checking import Result as Outcome
from unspool.cli.checking.inspection import Settings, Shown, inspect
from unspool.cli.checking.observe import Chunk
from unspool.cli.checking.progress import Progress
from unspool.cli.checking.reproduce import chunk_spec, command
from unspool.cli.transcript import ChunkSpec, recut
from unspool.parsers import EngineOutput, build_response_parser, load_plugin

TRANSCRIPTS = FIXTURES / "transcripts"
TINY = FIXTURES / "tokenizers" / "tiny"

BROKEN = """
from unspool.parsers import (
    BaseResponseParser, DeltaMessage, DeltaToolCall, ResponseParser, ResponseParserManager, ToolParserManager,
)

response, tool = ResponseParserManager.register_module, ToolParserManager.register_module
Qwen, Coder = ToolParserManager.get("qwen3"), ToolParserManager.get("qwen3coder")


class Changed(BaseResponseParser):
    def change(self, delta, flag):
        return delta, flag

    def stream_chunk(self, text, ids=(), final=False):
        return [self.change(*item) for item in super().stream_chunk(text, ids, final)]


def changed(name):
    def register(change):
        response(name)(type(name, (Changed,), {"change": change}))
        return change
    return register


@response("x-raises")
class Raises(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        if text.startswith("_call>"):
            raise KeyError("\\x1b[31mhalf a tag")
        return super().stream_chunk(text, ids, final)


@response("x-complete-raises")
class CompleteRaises(BaseResponseParser):
    def parse_complete(self, text, token_ids=None):
        raise RuntimeError("not implemented")


@response("x-none")
class Nothing(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return super().stream_chunk(text, ids, final) or None


@response("x-bare")
class Bare(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return [delta for delta, flag in super().stream_chunk(text, ids, final)]


@response("x-empty")
class Empty(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return super().stream_chunk(text, ids, final) or [(DeltaMessage(content=""), False)]


@changed("x-flag")
def flag(self, delta, flag):
    return delta, True


@changed("x-strange")
def strange(self, delta, flag):
    return {"content": delta.content}, flag


@changed("x-two-channels")
def two_channels(self, delta, flag):
    return DeltaMessage(None, delta.content, delta.content or "x", delta.tool_calls), flag


@changed("x-late")
def late(self, delta, flag):
    for call in delta.tool_calls or ():
        call.id = None
    return delta, flag


@changed("x-gap")
def gap(self, delta, flag):
    for call in delta.tool_calls or ():
        call.index *= 2
    return delta, flag


@changed("x-again")
def again(self, delta, flag):
    for call in delta.tool_calls or ():
        call.type = "function"
    return delta, flag


@changed("x-grows")
def grows(self, delta, flag):
    if delta.content is not None:
        if getattr(self, "kept", None) is not None:
            self.kept.content += delta.content
        self.kept = delta
    return delta, flag


@response("x-forgets")
class Forgets(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        deltas = super().stream_chunk(text, ids, final)
        if final:
            self.diagnostics.clear()
        return deltas


@response("x-goes-back")
class GoesBack(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        deltas = super().stream_chunk(text, ids, final)
        if final:
            deltas.append((DeltaMessage(tool_calls=[DeltaToolCall(0, arguments=" ")]), True))
        return deltas


@response("x-torn")
class Torn(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return super().stream_chunk(text.replace("Sure", "Fine"), ids, final)


@response("x-batch")
class Batch(BaseResponseParser):
    def parse_complete(self, text, token_ids=None):
        return super().parse_complete(text.replace("Done", "Over"), token_ids)


@response("x-ids")
class Ids(BaseResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return super().stream_chunk("" if len(ids) == 2 else text, ids, final)


@response("x-lossy")
class Lossy(BaseResponseParser):
    def _emit_text(self, text, offset, deltas):
        self._mark(offset, offset + len(text), self._mode.value)


@response("x-blind")
class Blind(BaseResponseParser):
    def _mark(self, start, end, kind):
        if kind != "markup":
            super()._mark(start, end, kind)


@response("x-all-markup")
class AllMarkup(BaseResponseParser):
    def _emit_text(self, text, offset, deltas):
        self._mark(offset, offset + len(text), "markup")


@response("x-drops")
class Drops(BaseResponseParser):
    def _emit_text(self, text, offset, deltas):
        self._mark(offset, offset + len(text), "dropped")


@response("x-own")
class Own(ResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        kept = text.replace("4", "")
        return [(DeltaMessage(content=kept), False)] if kept else []


@response("x-own-good")
class OwnGood(ResponseParser):
    def stream_chunk(self, text, ids=(), final=False):
        return [(DeltaMessage(content=text), False)] if text else []


@response("x-random-ids")
class RandomIds(BaseResponseParser):
    made = 0

    def __init__(self, *args, **options):
        super().__init__(*args, **{**options, "call_id_factory": self.make})

    def make(self, index, name):
        type(self).made += 1
        return f"id-{self.made}"


@tool("x-drops-argument")
class DropsArgument(Coder):
    def _begin_value(self, name, pos):
        super()._begin_value("" if name == "unit" else name, pos)


@tool("x-drops-half-a-value")
class DropsHalf(Coder):
    def feed_tool_block(self, text, deltas, final=False, pos=0):
        end = super().feed_tool_block(text, deltas, final, pos)
        for delta in deltas:
            delta.arguments = delta.arguments and delta.arguments.replace("warm", "?")
        return end


@tool("x-drops-call")
class DropsCall(Qwen):
    def _begin_call(self, name, deltas, pos, call_id=None):
        self.call_index = -1
        return False


@tool("x-drops-second-argument")
class DropsSecond(Qwen):
    def feed_tool_block(self, text, deltas, final=False, pos=0):
        end = super().feed_tool_block(text, deltas, final, pos)
        for delta in deltas:
            if delta.index == 1:
                delta.arguments = delta.arguments and delta.arguments.replace("Rome", "Paris")
        return end
"""

ANSWER = (
    "Sure, 42 degrees?\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "unit": "C"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_time", "arguments": {"city": "Rome"}}\n</tool_call>\nDone.'
)
TAGGED = (
    "Hi\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
    "<parameter=unit>\nlike warm celsius\n</parameter>\n</function>\n</tool_call>"
)
BREAKS = [
    ("x-raises", "never-raises"),
    ("x-complete-raises", "never-raises"),
    ("x-none", "well-formed"),
    ("x-bare", "well-formed"),
    ("x-empty", "well-formed"),
    ("x-flag", "well-formed"),
    ("x-strange", "well-formed"),
    ("x-two-channels", "well-formed"),
    ("x-late", "identity-first"),
    ("x-gap", "consecutive-indexes"),
    ("x-again", "no-retraction"),
    ("x-grows", "no-retraction"),
    ("x-goes-back", "no-retraction"),
    ("x-torn", "same-result"),
    ("x-batch", "same-result"),
    ("x-lossy", "conservation"),
    ("x-blind", "conservation"),
    ("x-all-markup", "conservation"),
    ("x-drops", "conservation"),
    ("x-own", "conservation"),
]


def run(*args: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, args)], input=stdin)


def reports(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n") if line]


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plugin") / "broken.py"
    file.write_text(BROKEN)
    load_plugin(file)
    return file


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    file = tmp_path / "an answer.txt"
    file.write_bytes(ANSWER.encode())
    return file


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    file = tmp_path / "tagged.txt"
    file.write_bytes(TAGGED.encode())
    return file


class TestGoodParsers:
    def test_every_case_passes(self, case: Case) -> None:
        """All cuts are tried by ``test_fixtures``; here nothing may raise a false alarm."""
        text = case.raw
        cuts = [Cut(), Cut((len(text),)), Cut(tuple(range(1, len(text)))), *cuts_of(plan(text, random_cuts=2))][:3]
        cuts += [Cut(tuple(range(7, len(text), 7))), Cut((len(text) // 2,))] if len(text) > 1 else []

        def new_parser(*, record_spans: bool = False) -> Any:
            return case.parser(record_spans=record_spans)

        assert check_text(new_parser, text, cuts) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "command",
        [
            golden["command"]
            for golden in tomllib.loads((TRANSCRIPTS / "goldens.toml").read_text(encoding="utf-8"))["golden"]
            if golden["command"][0] == "replay" and golden["command"][-1].endswith(".txt")
        ],
        ids=lambda command: command[-1],
    )
    def test_transcripts_pass(self, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(TRANSCRIPTS)
        options = [word for word in command[1:] if word not in ("--mode", "final", "-o", "json")]
        result = run(*options, "--random", "3")
        assert (result.exit_code, result.stderr) == (0, ""), result.stdout
        assert ": ok; " in result.stdout

    @pytest.mark.slow
    def test_token_stream_is_checked_with_and_without_ids(self) -> None:
        options = ("-r", "default", "-t", "qwen3", "--request", TRANSCRIPTS / "request.json", "--tokenizer", TINY)
        result = run(TRANSCRIPTS / "qwen3.jsonl", *options, "--random", "2", "--json")
        (report,) = reports(result)
        assert (result.exit_code, report["ok"]) == (0, True)
        families = report["cuts"]["families"]
        assert {"whole", "as-read", "two-way", "sizes", "tokens", "random"} <= set(families)
        assert {"whole-with-ids", "as-read-with-ids", "two-way-with-ids", "tokens-with-ids"} <= set(families)
        assert families["two-way"]["tried"] == 2 * (report["characters"] - 1)
        assert sum(family["tried"] for family in families.values()) == report["cuts"]["tried"]

    @pytest.mark.slow
    def test_token_boundaries_cut_only_at_tokens(self) -> None:
        result = run(
            TRANSCRIPTS / "default.jsonl", "-r", "default", "--tokenizer", TINY, "--boundaries", "tokens", "--json"
        )
        (report,) = reports(result)
        assert (result.exit_code, report["findings"]) == (0, [])
        assert set(report["cuts"]["families"]) == {"whole", "as-read", "two-way", "tokens", "random"}

    def test_empty_text(self) -> None:
        result = run("-", "-t", "qwen3", stdin="")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == "<stdin>: ok; 23 cuts of 0 characters (whole 2, as-read 1, random 20)\n" or (
            result.stdout == "<stdin>: ok; 3 cuts of 0 characters (whole 2, as-read 1)\n"
        )

    def test_ids_that_are_made_up_anew_are_not_compared(self, answer: Path, plugin: Path) -> None:
        result = run(answer, "-t", "qwen3", "--response-parser", "x-random-ids", "--plugin", plugin)
        assert result.exit_code == 0, result.stdout

    def test_parser_without_spans_is_asked_for_words(self, answer: Path, plugin: Path) -> None:
        assert run(answer, "--response-parser", "x-own-good", "--plugin", plugin).exit_code == 0


class TestBrokenParsers:
    @pytest.mark.parametrize(("name", "invariant"), BREAKS)
    def test_each_invariant_can_break(self, name: str, invariant: str, answer: Path, plugin: Path) -> None:
        result = run(answer, "-t", "qwen3", "--response-parser", name, "--plugin", plugin, "--json", "--random", "3")
        assert (result.exit_code, result.stderr) == (1, "")
        (report,) = reports(result)
        found = {finding["invariant"]: finding for finding in report["findings"]}
        assert not report["ok"]
        assert list(found) == [each for each in INVARIANTS if each in found], "in the documented order"
        assert invariant in found, found
        assert 0 < found[invariant]["failed_cuts"] <= report["cuts"]["tried"]
        assert found[invariant]["command"].startswith("unspool replay -t qwen3 --response-parser")

    def test_every_invariant_is_broken_above(self) -> None:
        assert {invariant for _, invariant in BREAKS} == set(INVARIANTS)

    def test_diagnostic_that_is_withdrawn(self, plugin: Path) -> None:
        text = '<tool_call>{"nam": "a"}</tool_call> b'
        new_parser = partial(build_response_parser, tool_parser="qwen3", response_parser="x-forgets")
        findings = check_text(new_parser, text, [Cut((len(text),))])
        assert "no-retraction" in [finding.invariant for finding in findings]

    @pytest.mark.parametrize(
        ("name", "text", "word"),
        [
            ("x-drops-argument", TAGGED, "'unit'"),
            ("x-drops-half-a-value", TAGGED, "'warm'"),
            ("x-drops-call", ANSWER, "without a call or a diagnostic"),
            ("x-drops-second-argument", ANSWER, "'Rome'"),
        ],
    )
    def test_lost_piece_of_a_call_is_named(self, name: str, text: str, word: str, plugin: Path, tmp_path: Path) -> None:
        file = tmp_path / "a.txt"
        file.write_text(text)
        (report,) = reports(run(file, "-t", name, "--plugin", plugin, "--json", "--random", "3"))
        finding = report["findings"][-1]
        assert finding["invariant"] == "conservation"
        assert word in finding["message"]
        assert finding["failed_cuts"] > report["cuts"]["tried"] * 0.7
        assert finding["expected"] == finding["found"]

    def test_smallest_cut_comes_first(self, answer: Path, plugin: Path) -> None:
        (report,) = reports(
            run(answer, "-t", "qwen3", "--response-parser", "x-torn", "--plugin", plugin, "--json", "--random", "3")
        )
        same_result = report["findings"][0]
        assert same_result["cut"] == {
            "chunk": "at:1",
            "places": [1, len(ANSWER)],
            "chunks": ["S", ANSWER[1:], ""],
            "token_ids": False,
        }
        assert same_result["expected"]["content"].startswith("Fine")
        assert same_result["found"]["content"].startswith("Sure")
        assert same_result["text"] is None

    def test_report_for_people(self, answer: Path, plugin: Path) -> None:
        result = run(answer, "-t", "qwen3", "--response-parser", "x-raises", "--plugin", plugin, "--random", "3")
        lines = result.stdout.splitlines()
        assert lines[0].startswith(f"{answer}: 1 finding; ")
        assert lines[1].startswith("  never-raises: KeyError: '\\x1b[31mhalf a tag' (broken.py:")
        assert '"Sure, 42 degrees?\u23ce<tool" | "_call>\u23ce{' in lines[3]
        assert lines[4] == "    - parse_complete  + this cut"
        assert lines[5] == '    - content      "Sure, 42 degrees?\u23ce\u23ceDone."'
        assert lines[6] == '    + content      "Sure, 42 degrees?\u23ce"'
        place = ANSWER.index("_call")
        options = f"-t qwen3 --response-parser x-raises --plugin {plugin}"
        assert lines[-1] == f"    replay: unspool replay {options} --chunk at:{place} '{answer}'"

    @pytest.mark.parametrize("text", ["\x1b[2Jx <tool_call>", "\u202e\u2028\x00\x9b31m Sure"])
    @pytest.mark.parametrize("name", ["x-torn", "x-raises", "x-strange", "x-lossy", "x-two-channels"])
    def test_text_never_controls_the_terminal(self, text: str, name: str, plugin: Path) -> None:
        options = ("-t", "qwen3", "--response-parser", name, "--plugin", plugin, "--shrink-text", "--random", "2")
        result = run("-", *options, stdin=text)
        assert not any(ord(char) < 32 and char != "\n" for char in result.stdout + result.stderr)
        assert not set(result.stdout + result.stderr) & set("\u202e\u2028\x9b\x7f")

    def test_broken_only_with_ids(self, plugin: Path, tmp_path: Path) -> None:
        pieces = [ANSWER[start : start + 7] for start in range(0, len(ANSWER), 7)]
        file = tmp_path / "a.jsonl"
        lines = [{"text": piece, "token_id": number} for number, piece in enumerate(pieces)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        options = (
            "-t",
            "qwen3",
            "--response-parser",
            "x-ids",
            "--plugin",
            plugin,
            "--tokenizer",
            TINY,
            "--random",
            "2",
        )
        result = run(file, *options, "--json")
        findings = [finding for finding in reports(result)[0]["findings"] if finding["invariant"] == "same-result"]
        assert [finding["cut"]["token_ids"] for finding in findings] == [True]
        assert "--tokenizer" in findings[0]["command"]
        replayed = replay(findings[0]["command"])
        assert replayed["content"] == findings[0]["found"]["content"] != findings[0]["expected"]["content"]


class TestShrinking:
    @pytest.mark.parametrize("name", ["x-torn", "x-raises"])
    def test_smaller_text_and_its_command(self, name: str, answer: Path, plugin: Path) -> None:
        options = ("-t", "qwen3", "--response-parser", name, "--plugin", plugin, "--random", "2")
        (report,) = reports(run(answer, *options, "--shrink-text", "--json"))
        finding = report["findings"][0]
        assert finding["text"] == {"x-torn": "Sure", "x-raises": "_call>"}[name]
        printed, piped, command = finding["command"].partition(" | ")
        assert piped
        shell = subprocess.run(["sh", "-c", printed], capture_output=True, check=True)
        assert shell.stdout.decode() == finding["text"]
        assert command.endswith("-i text -")

    @pytest.mark.parametrize(
        "text", ["a'b\"c\\d\\0e%s$x`y`\n\t\r\x1b[0m\x00", "d\u00fc\U0001f642\u202e\u2028\u4e2d !", "-n x"]
    )
    def test_text_survives_the_shell(self, text: str, plugin: Path) -> None:
        text += "Sure"
        new_parser = partial(build_response_parser, response_parser="x-torn")
        shown = inspect([EngineOutput(text)], new_parser, Settings(random_cuts=0)).shown[0]
        line = command(replace(shown, original=False), Path("x"), [])
        assert line is not None
        shell = subprocess.run(["sh", "-c", line.partition(" | ")[0]], capture_output=True, check=True)
        assert shell.stdout.decode() == text

    def test_cut_is_reduced_to_what_matters(self) -> None:
        def fails(cut: Cut) -> bool:
            return {5, 12} <= set(cut.places)

        smallest = shrink_cut(fails, Cut(tuple(range(1, 40))), 40, Deadline(10))
        assert smallest == Cut((5, 12, 40))
        only = shrink_cut(lambda cut: fails(cut) and 40 not in cut.places, Cut(tuple(range(1, 40))), 40, Deadline(10))
        assert only == Cut((5, 12))

    def test_text_is_reduced_and_the_cut_follows(self) -> None:
        def fails(text: str, cut: Cut) -> bool:
            return any(text[:place].endswith("ab") and text[place:].startswith("cd") for place in cut.places)

        text = "x" * 30 + "abcd" + "y" * 30
        assert shrink_text(fails, text, Cut((32, len(text))), Deadline(10)) == ("abcd", Cut((2, 4)))

    def test_deadline_ends_the_search(self) -> None:
        cut = Cut(tuple(range(1, 40)))
        assert len(shrink_cut(lambda cut: len(cut.places) > 3, cut, 40, Deadline(-1)).places) >= 39


def replay(command: str) -> dict[str, Any]:
    """Run a command that a check printed; return the message."""
    words = shlex.split(command)
    assert words[:2] == ["unspool", "replay"]
    result = CliRunner().invoke(app, [*words[1:], "-o", "json"])
    message: dict[str, Any] = json.loads(result.stdout)["message"]
    return message


class TestReplayingACut:
    def test_command_shows_what_was_found(self, answer: Path, plugin: Path) -> None:
        options = ("-t", "qwen3", "--response-parser", "x-torn", "--plugin", plugin, "--random", "2")
        (report,) = reports(run(answer, *options, "--json"))
        finding = report["findings"][0]
        assert replay(finding["command"])["content"] == finding["found"]["content"] != finding["expected"]["content"]

    @pytest.mark.parametrize("finish", [None, "stop"])
    @pytest.mark.parametrize(
        "places", [(), (0,), (3,), (3, 3), (1, 7, 9), (14,), (3, 14), (14, 14), (3, 14, 14), (0, 14), (2, 13)]
    )
    def test_every_cut_can_be_replayed_exactly(self, places: tuple[int, ...], finish: str | None) -> None:
        """What the check feeds is what replay feeds, the end of the turn and finish reasons considered."""
        text = "ab<tool_call>c"
        assert len(text) == 14
        records = [EngineOutput(text[:5]), EngineOutput(text[5:], finish_reason=finish)]
        checker = Checker(partial(build_response_parser, tool_parser="qwen3"), text)
        fed = [(chunk.text, False) for chunk in checker.chunks(Cut(places))]
        fed[-1] = (fed[-1][0], True)

        nothing = Finding(Violation("same-result", ""), Cut(places), 1, None, checker.expected or Outcome(), text)
        spec = chunk_spec(Shown(nothing, with_ids=False, ends_alone=finish is None))
        assert spec is not None
        outputs = list(recut(records, ChunkSpec.parse(spec)))
        replayed = [(output.text, False) for output in outputs]
        if outputs and outputs[-1].finish_reason is not None:
            replayed[-1] = (replayed[-1][0], True)
        else:
            replayed.append(("", True))
        assert replayed == fed

    def test_cut_in_what_may_end_the_turn(self, tmp_path: Path) -> None:
        """``<`` could begin an end-of-turn token, which is held back; an exact cut is exact all the same."""
        file = tmp_path / "a.txt"
        file.write_text("a<b")
        result = CliRunner().invoke(app, ["replay", str(file), "--chunk", "at:2", "-o", "jsonl"])
        assert [json.loads(line)["delta"] for line in result.stdout.splitlines()] == [
            {"content": "a<"},
            {"content": "b"},
        ]

    @pytest.mark.parametrize("spec", ["at:", "at:x", "at:3,1", "at:-1", "at:final,3", "at:3,", "at"])
    def test_bad_places(self, spec: str) -> None:
        with pytest.raises(ValueError, match="at:"):
            ChunkSpec.parse(spec)

    @pytest.mark.parametrize("spec", ["at:3", "at:0,3,3,17", "at:3,final", "at:final"])
    def test_places_are_spelled_as_they_were(self, spec: str) -> None:
        assert str(ChunkSpec.parse(spec)) == spec


class TestInputs:
    def test_several(self, answer: Path, tagged: Path) -> None:
        result = run(answer, tagged, "-t", "qwen3", "--random", "2")
        assert [line.partition(": ")[0] for line in result.stdout.splitlines()] == [str(answer), str(tagged)]
        named = reports(run(answer, tagged, "-t", "qwen3", "--random", "2", "--json"))
        assert [report["input"] for report in named] == [str(answer), str(tagged)]

    def test_unreadable_input_does_not_stop_the_others(self, answer: Path, tmp_path: Path) -> None:
        result = run(tmp_path / "none.txt", answer, "-t", "qwen3", "--random", "2", "--json")
        first, second = reports(result)
        assert result.exit_code == 2
        assert (first["ok"], second["ok"]) == (False, True)
        assert "No such file" in first["error"]
        assert "No such file" in result.stderr

    def test_bad_line_is_reported(self, tmp_path: Path) -> None:
        file = tmp_path / "a.jsonl"
        file.write_text('{"text": "a</think>b"}\n{"text": 3}\n{"text": "c"}\n')
        result = run(file, "-r", "default")
        assert result.exit_code == 2
        assert f"{file}:2: " in result.stderr
        assert ": ok; " in result.stdout

    def test_each_response_of_an_input(self, plugin: Path, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        choices = [{"index": index, "text": text, "finish_reason": "stop"} for index, text in enumerate(["a", "Sure"])]
        file.write_text(json.dumps({"object": "text_completion", "model": "m", "choices": choices}))
        result = run(file, "--response-parser", "x-torn", "--plugin", plugin, "--json", "--random", "0")
        assert [(report["choice"], report["ok"]) for report in reports(result)] == [("0", True), ("1", False)]
        finding = reports(result)[1]["findings"][0]
        assert replay(finding["command"])["content"] == finding["found"]["content"] == "Sure"

    def test_recorded_cut_is_one_more(self, plugin: Path, tmp_path: Path) -> None:
        file = tmp_path / "a.jsonl"
        file.write_text('{"text": "Su"}\n{"text": ""}\n{"text": "re", "finish_reason": "stop"}\n')
        (report,) = reports(run(file, "--response-parser", "x-torn", "--plugin", plugin, "--json", "--random", "0"))
        finding = report["findings"][0]
        assert report["cuts"]["families"]["as-read"]["tried"] == 1
        assert finding["cut"]["chunk"] == "at:1"
        assert replay(finding["command"])["content"] == "Sure"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ([], "nothing to check"),
            (["-t", "qwen33"], "did you mean"),
            (["-t", "qwen3", "--random", "-1"], "--random"),
            (["-t", "qwen3", "--boundaries", "tokens"], "--tokenizer"),
            (["-t", "qwen3", "--tokenizer", "no-such-folder"], "no such folder"),
            (["-t", "qwen3", "--plugin", "no-such-file.py"], "no such file"),
            (["-t", "qwen3", "--request", "no-such-file.json"], "--request"),
        ],
    )
    def test_usage_errors(self, options: list[str], message: str) -> None:
        result = run("-", *options, stdin="a")
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Traceback" not in result.output
        assert result.stdout == ""

    def test_same_seed_same_cuts(self) -> None:
        text = "<a>" * 5000
        cuts = [list(cuts_of(plan(text, tags=("<a>",), random_cuts=3, seed=seed))) for seed in (1, 1, 2)]
        assert cuts[0] == cuts[1] != cuts[2]


class TestPlan:
    @pytest.mark.parametrize("length", [0, 1, 2, 3, 70, 1999, 2001, 25_000])
    @pytest.mark.parametrize("all_cuts", [False, True])
    def test_counts_are_true(self, length: int, all_cuts: bool) -> None:
        if all_cuts and length > 3000:
            pytest.skip("takes long and shows nothing new")
        families = plan("x" * length, token_places=range(0, length, 3), random_cuts=2, all_cuts=all_cuts)
        for family in families:
            cuts = list(family.cuts())
            assert len(cuts) == family.tried <= family.possible, family.name
            for cut in cuts:
                assert list(cut.places) == sorted(cut.places)
                assert all(0 <= place <= length for place in cut.places)
        if all_cuts or length < 2000:
            assert all(family.tried == family.possible for family in families)

    def test_long_text_is_cut_at_its_markup(self) -> None:
        text = "x" * 30_000 + "<tool_call>" + "y" * 30_000
        (two_way,) = [family for family in plan(text, tags=("<tool_call>",)) if family.name == "two-way"]
        places = {place for cut in two_way.cuts() for place in cut.places if place < len(text)}
        inside = [place for place in places if 30_000 - 1 <= place <= 30_000 + 12]
        assert len(inside) >= 10
        assert len(places) == two_way.tried < 100

    def test_last_chunk_is_final(self) -> None:
        run = observe(partial(build_response_parser, tool_parser="qwen3"), [Chunk("a<tool"), Chunk("")])
        assert run.result.content == "a<tool"


class TestProgress:
    class Terminal:
        def __init__(self, is_terminal: bool) -> None:
            self.written: list[str] = []
            self._is_terminal = is_terminal

        def isatty(self) -> bool:
            return self._is_terminal

        def write(self, text: str) -> None:
            self.written.append(text)

        def flush(self) -> None:
            """Nothing is buffered."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
        now = [0.0]
        monkeypatch.setattr("unspool.cli.checking.progress.time.monotonic", lambda: now[0])
        yield now

    @pytest.mark.parametrize("is_terminal", [True, False])
    def test_only_a_terminal_sees_it(
        self, is_terminal: bool, clock: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        terminal = self.Terminal(is_terminal)
        monkeypatch.setattr(sys, "stderr", terminal)
        progress = Progress("a\x1b[0m")
        progress.show(1, 9)
        assert not terminal.written, "what is quick needs no progress"
        clock[0] = 2
        progress.show(2, 9)
        progress.show(3, 9)
        progress.end()
        assert terminal.written == (["\r\x1b[Ka\\x1b[0m: 2 of 9 cuts", "\r\x1b[K"] if is_terminal else [])


@pytest.mark.slow
def test_huge_input_ends_soon(tmp_path: Path) -> None:
    file = tmp_path / "huge.txt"
    call = '<tool_call>\n{"name": "f", "arguments": {"x": "hello world"}}\n</tool_call>\n'
    long = '<tool_call>\n{"name": "f", "arguments": {"x": "' + "hello world " * 8000 + '"}}\n</tool_call>\n'
    file.write_text("Hm.</think>" + (call + "some text\n") * 1300 + long)
    assert file.stat().st_size > 200_000
    started = time.process_time()  # the machine may have other things to do
    result = run(file, "-r", "default", "-t", "qwen3", "--json")
    assert time.process_time() - started < 20
    (report,) = reports(result)
    assert (result.exit_code, report["ok"]) == (0, True)
    two_way = report["cuts"]["families"]["two-way"]
    assert two_way["tried"] < 50 < 400_000 < two_way["possible"]
