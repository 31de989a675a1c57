"""``unspool replay``: what each combination of options prints."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from unspool.cli import app

ANSWER = (
    "Let me look.\n</think>\n\nHere you go.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
)
CALL = {"id": "call_0", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
QWEN = ("-r", "default", "-t", "qwen")
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


def run(*args: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["replay", *map(str, args)], input=stdin)


def records(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n") if line]


def joined(deltas: list[Any], field: str) -> str:
    return "".join(record["delta"].get(field) or "" for record in deltas)


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    file = tmp_path / "answer.txt"
    file.write_bytes(ANSWER.encode())
    return file


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    """The same answer as a token stream: the ids are made up, as no tokenizer reads them here."""
    pieces = [ANSWER[start : start + 7] for start in range(0, len(ANSWER), 7)]
    lines: list[dict[str, Any]] = [{"text": piece, "token_id": index} for index, piece in enumerate(pieces)]
    lines[0]["logprobs"] = {"content": [{"token": "Let", "logprob": -0.5}]}
    lines[-1]["finish_reason"] = "stop"
    file = tmp_path / "answer.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


class TestDeltaRecords:
    def test_channels_are_separate_and_complete(self, answer: Path) -> None:
        result = run(answer, *QWEN)
        assert (result.exit_code, result.stderr) == (0, "")
        deltas = records(result)
        assert joined(deltas, "reasoning_content") == "Let me look.\n"
        assert joined(deltas, "content") == "\n\nHere you go.\n"
        assert all(set(record) == {"chunk", "delta", "tool_calls_emitted"} for record in deltas)
        assert [record["chunk"] for record in deltas] == sorted(record["chunk"] for record in deltas)

    def test_calls_have_the_shape_of_openai(self, answer: Path) -> None:
        pieces = [call for record in records(run(answer, *QWEN)) for call in record["delta"].get("tool_calls", ())]
        first, *rest = pieces
        assert (first["index"], first["id"], first["type"]) == (0, "call_0", "function")
        assert first["function"]["name"] == "get_weather"
        assert "arguments" in first["function"]
        assert rest
        assert all(set(piece) == {"index", "function"} and set(piece["function"]) == {"arguments"} for piece in rest)
        assert "".join(piece["function"]["arguments"] for piece in pieces) == '{"city": "Paris"}'

    def test_emitted_flag_marks_calls(self, answer: Path) -> None:
        for record in records(run(answer, *QWEN)):
            assert record["tool_calls_emitted"] is ("tool_calls" in record["delta"])

    def test_transport_data_is_on_the_last_delta_of_its_chunk(self, tokens: Path) -> None:
        deltas = records(run(tokens, *QWEN))
        carriers = [record for record in deltas if "token_ids" in record]
        assert [record["token_ids"] for record in carriers] == [[index] for index in range(len(carriers))]
        for record, following in pairwise(deltas):
            assert ("token_ids" in record) == (following["chunk"] != record["chunk"])
        assert deltas[-1]["finish_reason"] == "tool_calls"
        assert [record["chunk"] for record in deltas if "logprobs" in record] == [0]

    def test_several_inputs_are_named(self, answer: Path, tokens: Path) -> None:
        inputs = {record["input"] for record in records(run(answer, tokens, *QWEN))}
        assert inputs == {str(answer), str(tokens)}

    def test_without_parsers_all_is_content(self, answer: Path) -> None:
        assert joined(records(run(answer)), "content") == ANSWER

    @pytest.mark.parametrize("cut", ["chars:1", "chars:1000", "lines", "whole", "random:3"])
    def test_cut_does_not_change_the_message(self, answer: Path, cut: str) -> None:
        deltas = records(run(answer, *QWEN, "--chunk", cut))
        assert joined(deltas, "reasoning_content") == "Let me look.\n"
        assert joined(deltas, "content") == "\n\nHere you go.\n"

    def test_standard_input_is_the_default(self) -> None:
        expected = run("-", *QWEN, stdin=ANSWER)
        assert expected.exit_code == 0
        assert run(*QWEN, stdin=ANSWER).stdout == expected.stdout


class TestDeltaLines:
    def test_one_line_a_delta(self, answer: Path) -> None:
        lines = run(answer, *QWEN, "-o", "pretty", "--chunk", "whole").stdout.splitlines()
        assert lines[0].split() == ["0", "reasoning", "Let", "me", "look.\u23ce"]
        assert lines[1].split()[:3] == ["0", "content", "\u23ce\u23ceHere"]
        assert "tool call  #0 get_weather call_0" in lines[2]
        assert lines[-1].startswith("-- 1 chunk, ")
        assert "1 tool call" in lines[-1]

    def test_summary_tells_transport_data(self, tokens: Path) -> None:
        lines = run(tokens, *QWEN, "-o", "pretty").stdout.splitlines()
        assert "finish reason tool_calls" in lines[-1]
        assert " tokens" in lines[-1]

    def test_blank_at_the_end_can_be_seen(self) -> None:
        assert "content    a \u00b7\n" not in run("-o", "pretty", stdin="a  ").stdout
        assert "content    a\u00b7\u00b7\n" in run("-o", "pretty", stdin="a  ").stdout

    def test_several_inputs_have_titles(self, answer: Path, tokens: Path) -> None:
        out = run(answer, tokens, *QWEN, "-o", "pretty").stdout
        assert out.index(f"== {answer}\n") < out.index(f"== {tokens}\n")


class TestMessageRecord:
    def test_object(self, tokens: Path) -> None:
        result = run(tokens, *QWEN, "--mode", "final")
        assert records(result) == [
            {
                "message": {
                    "role": "assistant",
                    "content": "\n\nHere you go.\n",
                    "reasoning_content": "Let me look.\n",
                    "tool_calls": [CALL],
                },
                "finish_reason": "tool_calls",
                "usage": {"completion_tokens": len(tokens.read_text().splitlines()), "reasoning_tokens": None},
                "diagnostics": [],
            }
        ]

    def test_what_the_input_has_not_is_null(self, answer: Path) -> None:
        (record,) = records(run(answer, *QWEN, "--mode", "final"))
        assert record["finish_reason"] is None
        assert record["usage"] == {"completion_tokens": None, "reasoning_tokens": None}

    def test_json_means_final(self, answer: Path) -> None:
        assert run(answer, *QWEN, "-o", "json").stdout == run(answer, *QWEN, "--mode", "final").stdout
        assert run(answer, *QWEN, "-o", "json").stdout == run(answer, *QWEN, "--mode", "final", "-o", "jsonl").stdout

    def test_json_of_chunks_is_refused(self, answer: Path) -> None:
        assert run(answer, "-o", "json", "--mode", "chunk").exit_code == 2

    def test_several_inputs_are_a_line_each(self, answer: Path, tokens: Path) -> None:
        found = records(run(answer, tokens, *QWEN, "-o", "json"))
        assert [record["input"] for record in found] == [str(answer), str(tokens)]

    def test_diagnostics_are_in_the_object_and_on_stderr(self) -> None:
        result = run("-r", "default", "-o", "json", stdin="never closed")
        (record,) = records(result)
        (diagnostic,) = record["diagnostics"]
        assert diagnostic["code"] == "reasoning-unterminated"
        assert "--no-thinking" in diagnostic["message"]
        assert (
            result.stderr
            == f"<stdin>: offset {diagnostic['offset']}: reasoning-unterminated: {diagnostic['message']}\n"
        )
        assert result.exit_code == 0


class TestReasoningThatNothingOpened:
    """A close tag is text to a parser that starts plain; the user learns that he may have started in the wrong mode."""

    @pytest.mark.parametrize("chunk", ["whole", "chars:1", "chars:3", "chars:4"])
    @pytest.mark.parametrize("options", [("-r", "default", "--no-thinking"), ("-r", "deepseek-v3", "-t", "qwen3")])
    def test_says_how_to_start(self, options: tuple[str, ...], chunk: str) -> None:
        text = "Hm, a < b.\n</think>Hi. </think>"
        result = run(*options, "--chunk", chunk, "-o", "json", stdin=text)
        (record,) = records(result)
        assert record["message"]["content"] == text
        assert [(each["code"], each["offset"]) for each in record["diagnostics"]] == [("reasoning-unopened", 11)]
        assert "--thinking" in result.stderr
        assert run(*options, "--strict", stdin=text).exit_code == 1
        (record,) = records(run(*options, "--thinking", "-o", "json", stdin=text))
        assert record["message"]["reasoning_content"] == "Hm, a < b.\n"
        assert record["diagnostics"] == []

    @pytest.mark.parametrize(
        "text",
        [
            "<think>Hm.</think>Hi.</think>",
            '<tool_call>{"name": "f", "arguments": {"a": "</think>"}}</tool_call>',
            "Nothing but </thin",
        ],
    )
    def test_says_nothing_else(self, text: str) -> None:
        (record,) = records(run("-r", "default", "-t", "qwen3", "--no-thinking", "-o", "json", stdin=text))
        assert record["diagnostics"] == []

    def test_a_phrase_is_no_tag(self) -> None:
        assert run("-r", "granite", stdin="Sure. Here is my response: no.").stderr == ""


class TestMessageBlocks:
    def test_titles_and_indented_arguments(self, answer: Path) -> None:
        out = run(answer, *QWEN, "--mode", "final", "-o", "pretty").stdout
        assert [line for line in out.splitlines() if line.startswith("\u2500")] == [
            "\u2500\u2500 Reasoning \u2500\u2500",
            "\u2500\u2500 Content \u2500\u2500",
            "\u2500\u2500 Tool call #0 get_weather call_0 \u2500\u2500",
        ]
        assert '{\n  "city": "Paris"\n}\n' in out

    def test_arguments_that_are_no_json_stay_as_they_are(self) -> None:
        cut_off = '<tool_call>{"name": "f", "arguments": {"a": [1, '
        out = run("-t", "qwen", "--mode", "final", "-o", "pretty", stdin=cut_off).stdout
        assert '{"a": [1,' in out

    def test_empty_input_says_so(self) -> None:
        assert "an empty message" in run("--mode", "final", "-o", "pretty", stdin="").stdout


class TestOnly:
    @pytest.mark.parametrize("mode", ["chunk", "final"])
    @pytest.mark.parametrize(("channel", "text"), [("reasoning", "Let me look.\n"), ("content", "\n\nHere you go.\n")])
    def test_text_is_raw(self, answer: Path, channel: str, text: str, mode: str) -> None:
        assert run(answer, *QWEN, "--only", channel, "--mode", mode).stdout_bytes == text.encode()

    def test_calls_are_a_line_each(self) -> None:
        two = ANSWER + "\n" + ANSWER[ANSWER.index("<tool_call>") :].replace("Paris", "Rome")
        found = records(run(*QWEN, "--only", "tool-calls", stdin=two))
        rome = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
        assert found == [CALL, {"id": "call_1", "type": "function", "function": rome}]

    def test_calls_name_their_input_among_several(self, answer: Path, tokens: Path) -> None:
        found = records(run(answer, tokens, *QWEN, "--only", "tool-calls"))
        assert found == [{"input": str(file)} | CALL for file in (answer, tokens)]

    def test_no_calls_no_output(self) -> None:
        assert run("-t", "qwen", "--only", "tool-calls", stdin="hello").stdout_bytes == b""

    def test_output_beside_it_is_refused(self, answer: Path) -> None:
        assert run(answer, "--only", "content", "-o", "jsonl").exit_code == 2


class TestRequest:
    def content(self, *args: str | Path, stdin: str = ANSWER) -> str:
        result = run(*args, "-o", "json", stdin=stdin)
        assert result.exit_code == 0, result.stderr
        return str(records(result)[0]["message"]["content"])

    def test_no_thinking_starts_in_content(self) -> None:
        assert self.content("-r", "default", "--no-thinking", stdin="Hello") == "Hello"
        assert self.content("-r", "deepseek-v3", stdin="Hello") == "Hello"
        assert self.content("-r", "deepseek-v3", "--thinking", stdin="a</think>Hello") == "Hello"

    def test_template_kwarg(self) -> None:
        assert self.content("-r", "default", "--template-kwarg", "enable_thinking=false", stdin="Hello") == "Hello"

    @pytest.mark.parametrize("pair", ["enable_thinking", "=true", "effort=high", "effort="])
    def test_template_kwarg_that_is_none(self, pair: str) -> None:
        result = run("--template-kwarg", pair, stdin="")
        assert result.exit_code == 2
        assert result.stderr.startswith("unspool: error: --template-kwarg")

    def test_tool_choice_none_leaves_markup(self) -> None:
        assert "<tool_call>" in self.content(*QWEN, "--tool-choice", "none")

    def test_tool_choice_of_a_function(self, tmp_path: Path) -> None:
        tools = tmp_path / "tools.json"
        tools.write_text(json.dumps(TOOLS))
        chosen = run(*QWEN, "--tools", tools, "--tool-choice", "get_weather", "--only", "tool-calls", stdin=ANSWER)
        assert records(chosen) == [CALL]
        missing = run(*QWEN, "--tools", tools, "--tool-choice", "other", stdin=ANSWER)
        assert missing.exit_code == 2
        assert "'other'" in missing.stderr

    @pytest.mark.parametrize("shape", [[], {"model": "m", "tools": []}])
    def test_tools_filter(self, tmp_path: Path, shape: object) -> None:
        tools = tmp_path / "tools.json"
        tools.write_text(json.dumps(shape))
        result = run(*QWEN, "--tools", tools, "--only", "tool-calls", stdin=ANSWER)
        assert (result.stdout, result.exit_code) == ("", 0)
        assert "tool-call-rejected" in result.stderr

    def test_body_and_what_wins_over_it(self, tmp_path: Path) -> None:
        body = tmp_path / "body.json"
        body.write_text(json.dumps({"tools": TOOLS, "chat_template_kwargs": {"enable_thinking": False}}))
        assert self.content("-r", "default", "--request", body, stdin="Hello") == "Hello"
        assert self.content("-r", "default", "--request", body, "--thinking", stdin="a</think>Hello") == "Hello"

    @pytest.mark.parametrize("option", ["--request", "--tools"])
    @pytest.mark.parametrize("text", ["", "{", "3", '"x"', '{"tools": 3}', "[3]"])
    def test_file_that_is_no_request(self, tmp_path: Path, option: str, text: str) -> None:
        file = tmp_path / "bad.json"
        file.write_text(text)
        result = run(option, file, stdin="")
        assert result.exit_code == 2
        assert result.stderr.startswith("unspool: error: ")
        assert run(option, tmp_path / "missing.json", stdin="").exit_code == 2


class TestExitCodes:
    def test_strict(self) -> None:
        assert run("-r", "default", "--strict", stdin="never closed").exit_code == 1
        assert run("-r", "default", "--strict", stdin="a</think>b").exit_code == 0

    def test_missing_file_does_not_stop_the_others(self, tmp_path: Path, answer: Path) -> None:
        missing = tmp_path / "missing.txt"
        result = run(missing, answer, *QWEN, "--strict", "-o", "json")
        assert result.exit_code == 2
        assert str(missing) in result.stderr
        assert [record["input"] for record in records(result)] == [str(answer)]

    def test_folder_is_no_file(self, tmp_path: Path) -> None:
        assert run(tmp_path).exit_code == 2

    def test_bad_line_does_not_stop_the_others(self, tmp_path: Path) -> None:
        file = tmp_path / "stream.jsonl"
        file.write_text('{"text": "a"}\n{oops\n{"text": "b"}\n')
        result = run(file, "--only", "content")
        assert (result.stdout, result.exit_code) == ("ab", 2)
        assert f"{file}:2: " in result.stderr

    @pytest.mark.parametrize(
        "args",
        [
            ("-r", "defualt"),
            ("-t", "qwn3"),
            ("--response-parser", "defalt"),
        ],
    )
    def test_unknown_name_shows_near_ones(self, args: tuple[str, str]) -> None:
        result = run(*args, stdin="")
        assert result.exit_code == 2
        assert result.stderr.startswith("unspool: error: unknown ")
        assert "did you mean" in result.stderr

    @pytest.mark.parametrize(
        "args",
        [
            ("--chunk", "chars:0"),
            ("--chunk", "words"),
            ("--mode", "later"),
            ("--only", "all"),
            ("--boundaries", "tokens"),
            ("--tokenizer", "no-such-folder"),
            ("--plugin", "no-such-file.py"),
        ],
    )
    def test_wrong_option(self, args: tuple[str, str]) -> None:
        assert run(*args, stdin="").exit_code == 2

    def test_codes_are_documented(self) -> None:
        for command in ([], ["replay"]):
            result = CliRunner().invoke(app, [*command, "--help"])
            assert "Exit codes" in result.stdout
            assert "141" in result.stdout
