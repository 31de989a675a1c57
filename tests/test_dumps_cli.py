"""Dumps through the command: what it prints, says and returns."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dump_tools import choice, sglang, sse
from oracle import FIXTURES
from transcript_tools import byte_level
from typer.testing import CliRunner, Result

from unspool.cli import app
from unspool.cli.transcript import ChunkSpec

DUMPS = FIXTURES / "dumps"
TINY = FIXTURES / "tokenizers" / "tiny"
QWEN = ("-r", "default", "-t", "qwen3")
N2 = DUMPS / "vllm-completions-n2.sse"
ALL = sorted(file.name for file in DUMPS.iterdir() if file.suffix in (".sse", ".jsonl", ".json", ".ndjson"))


def run(*args: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["replay", *map(str, args)], input=stdin)


def records(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n") if line]


class TestSeveralResponses:
    def test_deltas_take_turns_and_are_labelled(self) -> None:
        found = records(run(N2, *QWEN))
        labels = [record["choice"] for record in found]
        assert set(labels) == {"0", "1"}
        assert sum(a != b for a, b in pairwise(labels)) > 20
        for label, city in (("0", "Paris"), ("1", "Rome")):
            mine = [record for record in found if record["choice"] == label]
            assert [record["chunk"] for record in mine] == sorted(record["chunk"] for record in mine)
            alone = records(run(N2, *QWEN, "--choice", label))
            assert alone == [{key: value for key, value in record.items() if key != "choice"} for record in mine]
            assert city in "".join(record["delta"].get("reasoning_content", "") for record in alone)

    def test_one_message_each_in_order(self) -> None:
        found = records(run(N2, *QWEN, "--mode", "final"))
        assert [record["choice"] for record in found] == ["0", "1"]
        assert [("Paris" in json.dumps(r), "Rome" in json.dumps(r)) for r in found] == [(True, False), (False, True)]

    def test_one_response_has_no_label(self) -> None:
        for mode in ("chunk", "final"):
            assert all("choice" not in record for record in records(run(DUMPS / "tgi.sse", *QWEN, "--mode", mode)))

    def test_pretty_output(self) -> None:
        lines = run(N2, *QWEN, "-o", "pretty").stdout.splitlines()
        assert {line[:4] for line in lines} == {"[0] ", "[1] "}
        assert len([line for line in lines if line[4:].startswith("-- ")]) == 2
        blocks = run(N2, *QWEN, "-o", "pretty", "--mode", "final").stdout
        assert blocks.index("== choice 0\n") < blocks.index("Paris") < blocks.index("== choice 1\n")

    def test_text_of_a_channel_is_not_mixed(self) -> None:
        text = run(N2, *QWEN, "--only", "reasoning").stdout
        assert text == "".join(run(N2, *QWEN, "--only", "reasoning", "--choice", number).stdout for number in "01")
        calls = records(run(N2, *QWEN, "--only", "tool-calls"))
        assert sorted(call["choice"] for call in calls) == ["0", "1"]

    def test_an_api_gets_one_stream_after_the_other(self) -> None:
        events = records(run(N2, *QWEN, "-o", "anthropic"))
        starts = [number for number, event in enumerate(events) if event["type"] == "message_start"]
        stops = [number for number, event in enumerate(events) if event["type"] == "message_stop"]
        assert len(starts) == len(stops) == 2
        assert stops[0] < starts[1]

    def test_each_response_has_its_diagnostics(self) -> None:
        data = sse(choice("never closed"), choice("a</think>b", 1), choice(" at all"), choice("c", 1))
        result = run("-r", "default", "--strict", stdin=data)
        assert result.exit_code == 1
        assert result.stderr.startswith("<stdin> [0]: offset 0: reasoning-unterminated")
        assert result.stderr.count("\n") == 1

    def test_a_choice_that_is_not_there(self) -> None:
        result = run(N2, "--choice", "7")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "no response is '7'; there are: 0, 1" in result.stderr
        assert run("--choice", "1", stdin="plain text").exit_code == 2
        assert run("--choice", "0", stdin="plain text").exit_code == 0

    def test_a_hundred_responses_side_by_side(self) -> None:
        turns = [choice(f"{turn}.", 0, request=f"r{number}") for turn in range(5) for number in range(100)]
        found = records(run("--mode", "chunk", stdin=sse(*turns)))
        texts: dict[str, str] = {}
        for record in found:
            texts[record["choice"]] = texts.get(record["choice"], "") + record["delta"]["content"]
        assert texts == {f"r{number}": "0.1.2.3.4." for number in range(100)}

    @pytest.mark.parametrize("cut", ["tokens", "chars:3", "whole", "random:3", "lines", "at:5,9"])
    def test_each_is_cut_anew(self, cut: str) -> None:
        assert ChunkSpec.parse(cut)
        messages = [
            [(record["choice"], record["message"]) for record in records(run(N2, *QWEN, "-o", "json", *more))]
            for more in ((), ("--chunk", cut, "--tokenizer", TINY))
        ]
        assert messages[0] == messages[1]


class TestSavedStream:
    @pytest.mark.parametrize("name", [name for name in ALL if name != "openai-batch.jsonl"])
    @pytest.mark.parametrize("mode", ["chunk", "final"])
    def test_it_replays_to_the_same(self, name: str, mode: str, tmp_path: Path) -> None:
        saved = tmp_path / "saved.jsonl"
        options: list[str | Path] = [*QWEN, "--mode", mode]
        if name == "vllm-generate.sse":
            options += ["--tokenizer", TINY]
        first = run(DUMPS / name, *options, "--save-stream", saved)
        assert first.exit_code == 0
        again = run(saved, *options)
        assert (again.stdout, again.exit_code) == (first.stdout, 0)
        assert run(saved, *options, "-i", "jsonl").stdout == first.stdout

    def test_its_form(self, tmp_path: Path) -> None:
        saved = tmp_path / "saved.jsonl"
        assert run(DUMPS / "sglang-generate.sse", "--save-stream", saved).exit_code == 0
        lines = [json.loads(line) for line in saved.read_text().splitlines()]
        assert set(lines[0]) == {"text", "token_ids", "logprobs"}
        assert lines[-1]["finish_reason"] == "stop"
        assert all("choice" not in line for line in lines)

    def test_prompt_ids_and_choices_are_kept(self, tmp_path: Path) -> None:
        saved = tmp_path / "saved.jsonl"
        run(N2, "--save-stream", saved)
        lines = [json.loads(line) for line in saved.read_text().splitlines()]
        assert [line["choice"] for line in lines if "prompt_token_ids" in line] == ["0", "1"]

    def test_text_and_new_cuts_can_be_saved(self, tmp_path: Path) -> None:
        saved = tmp_path / "saved.jsonl"
        run("--save-stream", saved, "--chunk", "chars:2", stdin="abcd")
        assert [json.loads(line)["text"] for line in saved.read_text().splitlines()] == ["ab", "cd"]
        run(DUMPS / "ollama.ndjson", "--save-stream", saved, "--chunk", "whole")
        assert len(saved.read_text().splitlines()) == 1

    def test_what_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "in.jsonl"
        file.write_text('{"text": "a"}\n')
        assert run(file, "--save-stream", file).exit_code == 2
        assert file.read_text() == '{"text": "a"}\n'
        assert run(file, file, "--save-stream", tmp_path / "out.jsonl").exit_code == 2
        result = run(file, "--save-stream", tmp_path / "missing" / "out.jsonl")
        assert result.exit_code == 2
        assert "can't be written: No such file" in result.stderr


class TestTrouble:
    def test_an_error_in_the_stream(self) -> None:
        data = sse(choice("Hello"), {"error": {"message": "out of memory"}})
        result = run("--only", "content", stdin=data)
        assert (result.stdout, result.exit_code) == ("Hello", 2)
        assert result.stderr == "unspool: error: <stdin>:3: the server reported an error: out of memory\n"

    def test_only_an_error(self) -> None:
        result = run("-o", "json", stdin='{"error": {"message": "no such model", "code": 404}}')
        assert (result.stdout, result.exit_code) == ("", 2)
        assert "no such model (404)" in result.stderr

    def test_a_bad_line(self, tmp_path: Path) -> None:
        file = tmp_path / "dump.sse"
        file.write_text(sse(choice("a")) + "data: {oops\n\n" + sse(choice("b")))
        result = run(file, "--only", "content")
        assert (result.stdout, result.exit_code) == ("ab", 2)
        assert f"{file}:3: not JSON" in result.stderr

    def test_bad_lines_are_not_all_told(self, tmp_path: Path) -> None:
        file = tmp_path / "answer.txt"
        file.write_text("no JSON\n" * 7)
        for command in ("replay", "check"):
            result = CliRunner().invoke(app, [command, "-i", "jsonl", "-t", "qwen3", str(file)])
            assert (result.stdout, result.exit_code) == ("", 2)
            *told, more, hint = result.stderr.splitlines()
            assert [line.split(": ")[2] for line in told] == [f"{file}:{line}" for line in range(1, 6)]
            assert more == f"unspool: error: {file}: 2 more lines that can't be read"
            assert hint.startswith(f"unspool: error: {file}: nothing in it is jsonl; without --input-format")
        result = run("-i", "jsonl", "--only", "content", stdin=b'{"text": "a"}\n' + b"oops\n" * 6 + b'{"text": "b"}\n')
        assert (result.stdout, result.exit_code) == ("ab", 2)
        assert result.stderr.endswith("<stdin>: 1 more line that can't be read\n")

    def test_server_sent_events_of_no_known_shape(self) -> None:
        result = run(stdin="event: message_start\n" + sse({"type": "message_start", "message": {}}))
        assert (result.stdout, result.exit_code) == ("", 2)
        assert "keys type, message" in result.stderr
        assert "--input-format" in result.stderr

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"\x1f\x8b\x08" + bytes(50), "gzip"),
            ("<think>".encode("utf-16"), "UTF-16"),
            ("<think>some text".encode("utf-16-le"), "null bytes"),
            (bytes(range(128, 256)) * 9, "no UTF-8"),
            (b"GGUF\x03" + bytes(99), "GGUF"),
        ],
    )
    def test_what_is_no_text(self, data: bytes, words: str) -> None:
        result = run(stdin=data)
        assert (result.stdout, result.exit_code) == ("", 2)
        assert words in result.stderr
        assert "Traceback" not in result.stderr

    @pytest.mark.parametrize(
        "text",
        ["data: hello there\n", ":) hi\nyou", "id: 7\nname: x", "data", "{\n  not json", '{"a": 1}', "", "a\x00b"],
    )
    def test_what_is_text_all_the_same(self, text: str) -> None:
        result = run("--only", "content", stdin=text)
        assert (result.stdout, result.exit_code) == (text, 0)

    def test_a_difference_between_text_and_ids(self) -> None:
        ids = byte_level().encode("the weather")
        tokenizer = TINY / "tokenizer.json"
        result = run(
            "-o", "json", "--tokenizer", tokenizer, "--strict", stdin=sse(choice("the weather", token_ids=ids))
        )
        assert result.exit_code == 1
        (record,) = records(result)
        assert [found["code"] for found in record["diagnostics"]] == ["text-differs-from-ids"]
        assert result.stderr.count("text-differs-from-ids") == 1


class TestVerbose:
    def said(self, *args: str | Path, stdin: str | None = None) -> str:
        result = run(*args, "-v", stdin=stdin)
        assert result.exit_code == 0
        return result.stderr

    def test_what_was_detected_and_why(self) -> None:
        said = self.said(DUMPS / "sglang-generate.sse")
        assert "read as sglang-generate (SGLang /generate): text or output_ids beside meta_info" in said
        assert "cumulative" in said
        assert "deltas" in self.said(DUMPS / "sglang-generate-incremental.sse")
        assert "2 responses: 0, 1" in self.said(N2)
        assert "read as text: " in self.said(stdin="Hello")
        assert "read as jsonl " in self.said(stdin='{"text": "a"}')

    def test_an_object_that_is_longer_than_what_is_looked_at(self, tmp_path: Path) -> None:
        file = tmp_path / "long.json"
        body = choice("line\n" * 20_000, logprobs=None, finish_reason="stop")
        for indent in (None, 2):
            file.write_text(json.dumps(body, indent=indent))
            assert "read as openai-completions " in self.said(file)
        batch = [{"custom_id": name, "response": {"status_code": 200, "body": body}} for name in "pq"]
        file.write_text("".join(json.dumps(line) + "\n" for line in batch))
        assert "read as openai-batch " in self.said(file)
        assert [record["choice"] for record in records(run(file, "-o", "json"))] == ["p", "q"]

    def test_nothing_without_it(self) -> None:
        assert run(DUMPS / "sglang-generate.sse").stderr == ""


@pytest.mark.parametrize("name", ALL)
def test_the_format_can_be_named(name: str) -> None:
    if name == "vllm-generate.sse":
        pytest.skip("it has ids only")
    verbose = run(DUMPS / name, "-v").stderr
    shape = verbose.partition("read as ")[2].partition(" ")[0]
    named = run(DUMPS / name, "-i", shape)
    assert named.stdout == run(DUMPS / name).stdout


def test_sglang_can_be_told_to_be_read_as_deltas() -> None:
    data = sse(sglang("a", None, 1), sglang("ab", None, 2))
    assert run("--only", "content", "-i", "lmdeploy-generate", stdin=data).stdout == "aab"
    assert run("--only", "content", stdin=data).stdout == "ab"
