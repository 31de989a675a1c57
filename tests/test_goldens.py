"""The command's output for the transcripts, as ``fixtures/transcripts/goldens.toml`` lists them.

``pytest tests/test_goldens.py --update-goldens`` writes them again; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from oracle import FIXTURES

from unspool.parsers.tokenization import TextTokenizer

TRANSCRIPTS = FIXTURES / "transcripts"
GOLDENS: list[dict[str, Any]] = tomllib.loads((TRANSCRIPTS / "goldens.toml").read_text(encoding="utf-8"))["golden"]
TEXTS = sorted(path for path in TRANSCRIPTS.glob("*.txt") if path.with_suffix(".jsonl").exists())


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden["output"])
def test_golden(golden: dict[str, Any], pytestconfig: pytest.Config) -> None:
    output = unspool(golden["command"], golden.get("stderr", ""))
    file = TRANSCRIPTS / golden["output"]
    if pytestconfig.getoption("update_goldens"):
        file.write_bytes(output)
    assert file.exists(), f"{file.name} is missing: run pytest tests/test_goldens.py --update-goldens"
    assert output.decode() == file.read_text(encoding="utf-8"), "if that is meant: --update-goldens"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
class TestTranscripts:
    """The data itself."""

    def test_has_goldens(self, text: Path) -> None:
        outputs = {golden["output"] for golden in GOLDENS}
        assert {f"{text.stem}.chunks.jsonl", f"{text.stem}.final.json"} <= outputs

    def test_stream_is_the_text(self, text: Path, tiny: TextTokenizer) -> None:
        records = read_jsonl(text.with_suffix(".jsonl"))
        ids = [token for record in records for token in record["token_ids"]]
        decoded = tiny.decode(ids)
        assert "".join(record["text"] for record in records) == decoded
        whole = text.read_bytes().decode()
        assert decoded in (whole, whole + "<|im_end|>")
        assert all(len(record["logprobs"]) == len(record["token_ids"]) for record in records)
        assert [record["finish_reason"] for record in records[-2:]] == [None, "stop"]

    def test_chunks_add_up_to_the_final_message(self, text: Path) -> None:
        message = json.loads(text.with_suffix(".final.json").read_bytes())["message"]
        deltas = [record["delta"] for record in read_jsonl(text.with_suffix(".chunks.jsonl"))]
        for channel in ("content", "reasoning_content"):
            assert "".join(delta.get(channel) or "" for delta in deltas) == (message[channel] or "")
        calls: list[dict[str, str]] = []
        for call in [call for delta in deltas for call in delta.get("tool_calls") or ()]:
            if call["index"] == len(calls):
                calls.append({"name": call["function"]["name"], "arguments": ""})
            calls[call["index"]]["arguments"] += call["function"].get("arguments") or ""
        assert calls == [call["function"] for call in message.get("tool_calls") or ()]
        for call in calls:
            json.loads(call["arguments"])


@pytest.mark.parametrize(
    ("name", "options"),
    [("qwen3", ["-r", "default", "-t", "qwen3"]), ("deepseek-v32-reasoning", ["-r", "deepseek-v32"])],
)
def test_usage_counts_the_recorded_ids(name: str, options: list[str], tiny: TextTokenizer) -> None:
    ids = [token for record in read_jsonl(TRANSCRIPTS / f"{name}.jsonl") for token in record["token_ids"]]
    opened, closed = tiny.token_id("<think>"), tiny.token_id("</think>")
    reasoning, inside = 0, False
    for token in ids:
        reasoning += inside and token != closed
        inside = token == opened or (inside and token != closed)
    command = ["replay", *options, "--tokenizer", "../tokenizers/tiny", "--mode", "final", "-o", "json"]
    usage = json.loads(unspool([*command, f"{name}.jsonl"], ""))["usage"]
    assert usage == {"completion_tokens": len(ids), "reasoning_tokens": reasoning}


def test_streams_are_in_step() -> None:
    ran = subprocess.run(
        [sys.executable, str(FIXTURES / "make.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def unspool(arguments: list[str], stderr: str) -> bytes:
    """Run the command in the transcripts' folder."""
    ran = subprocess.run(
        [sys.executable, "-m", "unspool.cli", *arguments],
        cwd=TRANSCRIPTS,
        capture_output=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert (ran.returncode, ran.stderr.decode()) == (0, stderr)
    return ran.stdout


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """One object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
