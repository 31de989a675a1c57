"""The command's output for the transcripts, as ``fixtures/transcripts/goldens.toml`` lists them.

``pytest tests/test_goldens.py --update-goldens`` writes them again; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from oracle import FIXTURES
from typer.testing import CliRunner

from unspool.cli import app
from unspool.parsers import RegistryEntry, ResponseParserManager, ToolParserManager
from unspool.parsers.tokenization import TextTokenizer

TRANSCRIPTS = FIXTURES / "transcripts"
GOLDENS: list[dict[str, Any]] = tomllib.loads((TRANSCRIPTS / "goldens.toml").read_text(encoding="utf-8"))["golden"]
COMMANDS: dict[str, list[str]] = {golden["output"]: golden["command"] for golden in GOLDENS}
TEXTS = sorted(TRANSCRIPTS.glob("*.txt"))
WITH_IDS = ["--tokenizer", "../tokenizers/tiny"]
AS_MESSAGE = ["--mode", "final", "-o", "json"]


@pytest.fixture(autouse=True)
def in_transcripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the command lines stand."""
    monkeypatch.chdir(TRANSCRIPTS)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden["output"])
def test_golden(golden: dict[str, Any], pytestconfig: pytest.Config) -> None:
    output = unspool(golden["command"], golden.get("stderr", ""))
    file = TRANSCRIPTS / golden["output"]
    if pytestconfig.getoption("update_goldens"):
        file.write_bytes(output)
    assert file.exists(), f"{file.name} is missing: run pytest tests/test_goldens.py --update-goldens"
    assert output.decode() == file.read_bytes().decode(), "if that is meant: --update-goldens"


def test_a_process_of_its_own_writes_the_same() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "unspool.cli", *COMMANDS["qwen3.chunks.jsonl"]],
        capture_output=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert (ran.returncode, ran.stderr.decode()) == (0, "")
    assert ran.stdout == (TRANSCRIPTS / "qwen3.chunks.jsonl").read_bytes()


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
class TestTranscripts:
    """The data itself."""

    def test_has_a_stream_and_a_golden(self, text: Path) -> None:
        assert text.with_suffix(".jsonl").exists(), "run python fixtures/make.py"
        assert COMMANDS[f"{text.stem}.final.json"][-5:] == [*AS_MESSAGE, text.name]

    def test_stream_is_the_text(self, text: Path, tiny: TextTokenizer) -> None:
        records = read_jsonl(text.with_suffix(".jsonl").read_bytes())
        ids = [token for record in records for token in record["token_ids"]]
        decoded = tiny.decode(ids)
        assert "".join(record["text"] for record in records) == decoded
        whole = text.read_bytes().decode()
        assert decoded in (whole, whole + "<|im_end|>")
        assert all(len(record["logprobs"]) == len(record["token_ids"]) for record in records)
        assert {record["finish_reason"] for record in records[:-1]} == {None}
        assert records[-1]["finish_reason"] == "stop"

    def test_final_message_is_clean(self, text: Path) -> None:
        golden = json.loads(text.with_suffix(".final.json").read_bytes())
        assert golden["diagnostics"] == []
        for call in golden["message"].get("tool_calls") or ():
            json.loads(call["function"]["arguments"])

    @pytest.mark.parametrize("boundaries", ["characters", "tokens"])
    def test_chunks_add_up_to_the_final_message(self, text: Path, boundaries: str) -> None:
        message = json.loads(text.with_suffix(".final.json").read_bytes())["message"]
        options = COMMANDS[f"{text.stem}.final.json"][: -len([*AS_MESSAGE, text.name])]
        command = [*options, *WITH_IDS, "--boundaries", boundaries, "-o", "jsonl", f"{text.stem}.jsonl"]
        deltas = [record["delta"] for record in read_jsonl(unspool(command))]
        for channel in ("content", "reasoning_content"):
            assert "".join(delta.get(channel) or "" for delta in deltas) == (message[channel] or "")
        calls: list[dict[str, str]] = []
        for call in [call for delta in deltas for call in delta.get("tool_calls") or ()]:
            if call["index"] == len(calls):
                calls.append({"name": call["function"]["name"], "arguments": ""})
            calls[call["index"]]["arguments"] += call["function"].get("arguments") or ""
        assert calls == [call["function"] for call in message.get("tool_calls") or ()]


@pytest.mark.parametrize("entry", ToolParserManager.entries(), ids=lambda entry: entry.name)
def test_tool_parser_has_a_transcript(entry: RegistryEntry[Any]) -> None:
    assert any(values_of("-t", command) & {entry.name, *entry.aliases} for command in COMMANDS.values())


@pytest.mark.parametrize("entry", ResponseParserManager.entries(), ids=lambda entry: entry.name)
def test_response_parser_has_a_transcript(entry: RegistryEntry[Any]) -> None:
    spelled = [values_of("--response-parser", command) or {"default"} for command in COMMANDS.values()]
    assert any(names & {entry.name, *entry.aliases} for names in spelled)


def test_no_file_is_left_over() -> None:
    known = {"goldens.toml", "request.json", "tools.json", *COMMANDS}
    known |= {name for text in TEXTS for name in (text.name, f"{text.stem}.jsonl")}
    assert {path.name for path in TRANSCRIPTS.iterdir()} - known == set()


@pytest.mark.parametrize(
    ("name", "options"),
    [("qwen3", ["-r", "default", "-t", "qwen3"]), ("deepseek-v32-reasoning", ["-r", "deepseek-v32"])],
)
def test_usage_counts_the_recorded_ids(name: str, options: list[str], tiny: TextTokenizer) -> None:
    records = read_jsonl((TRANSCRIPTS / f"{name}.jsonl").read_bytes())
    ids = [token for record in records for token in record["token_ids"]]
    opened, closed = tiny.token_id("<think>"), tiny.token_id("</think>")
    reasoning, inside = 0, False
    for token in ids:
        reasoning += inside and token != closed
        inside = token == opened or (inside and token != closed)
    usage = json.loads(unspool(["replay", *options, *WITH_IDS, *AS_MESSAGE, f"{name}.jsonl"]))["usage"]
    assert usage == {"completion_tokens": len(ids), "reasoning_tokens": reasoning}


def test_streams_are_in_step() -> None:
    ran = subprocess.run(
        [sys.executable, str(FIXTURES / "make.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def unspool(arguments: list[str], stderr: str = "") -> bytes:
    """What the command writes to stdout; it succeeds and has nothing else to say."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, stderr)
    return result.stdout_bytes


def values_of(option: str, command: list[str]) -> set[str]:
    """The values that a command line has for an option."""
    return {value for word, value in pairwise(command) if word == option}


def read_jsonl(data: bytes) -> list[dict[str, Any]]:
    """One object a line."""
    return [json.loads(line) for line in data.splitlines()]
