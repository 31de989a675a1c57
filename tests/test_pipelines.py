"""The pipelines of the README, run by bash as they stand there, and a dump that is longer than memory should grow."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pytest

ROOT = Path(__file__).parent.parent
SERVER = "http://localhost:8000"

# As the README has them; only the server's address is replaced.
LIVE = f"""\
curl -sN {SERVER}/v1/completions -H 'Content-Type: application/json' \\
    -d '{{"prompt": "<|im_start|>user ...", "stream": true, "skip_special_tokens": false}}' |
  unspool replay -i auto -r default -t qwen3 -
"""
CALLS = """\
unspool replay -r default -t qwen3 --only tool-calls fixtures/transcripts/qwen3.txt |
  jq -r '.function | "\\(.name): \\(.arguments | fromjson | .city)"'
"""
CI_STEP = """\
unspool parsers validate -r default -t qwen3 &&
  unspool check -r default -t qwen3 --request fixtures/transcripts/request.json fixtures/transcripts/qwen3.txt
"""
PIPELINES = [LIVE, CALLS, CI_STEP]

ANSWER = [
    "<think>",
    "Hm.",
    "</think>",
    "It is ",
    "cold",
    ".\n",
    '<tool_call>{"name": "f", ',
    '"arguments": {}}</tool_call>',
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``unspool`` is this tree's, whatever is installed."""
    command = tmp_path / "bin" / "unspool"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m unspool.cli "$@"\n')
    command.chmod(0o755)
    return os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}", "NO_PROXY": "127.0.0.1"}


def bash(pipeline: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-o", "pipefail", "-c", pipeline]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


@contextmanager
def model_server() -> Iterator[tuple[str, threading.Event]]:
    """A server that streams :data:`ANSWER` as vLLM does; after the first pieces it waits for the event."""
    go_on = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert json.loads(self.rfile.read(int(self.headers["Content-Length"])))["stream"] is True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            for number, piece in enumerate(ANSWER):
                if number == 3 and not go_on.wait(60):
                    return
                self.event({"index": 0, "text": piece, "logprobs": None, "finish_reason": None, "stop_reason": None})
            self.event({"index": 0, "text": "", "logprobs": None, "finish_reason": "stop", "stop_reason": None})
            self.wfile.write(b"data: [DONE]\n\n")

        def event(self, choice: dict[str, Any]) -> None:
            envelope = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(envelope)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", go_on
    finally:
        go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_live_stream(environment: dict[str, str]) -> None:
    """Deltas come while the server still waits, so nothing on the way collects them."""
    need("curl")
    with model_server() as (url, go_on):
        command = ["bash", "-o", "pipefail", "-c", LIVE.replace(SERVER, url)]
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            records = [json.loads(process.stdout.readline())]
            assert records[0]["delta"] == {"reasoning_content": "Hm."}
            go_on.set()
            records += [json.loads(line) for line in process.stdout]
            assert process.stderr.read() == ""
        assert process.returncode == 0
    assert "".join(record["delta"].get("content", "") for record in records) == "It is cold.\n"
    [call] = [call for record in records for call in record["delta"].get("tool_calls", ()) if "id" in call]
    assert call["function"]["name"] == "f"
    assert records[-1]["finish_reason"] == "tool_calls"


def test_calls_into_jq(environment: dict[str, str]) -> None:
    need("jq")
    ran = bash(CALLS, environment)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "get_weather: Bergen\nget_weather: Stavanger\n"


class TestCiStep:
    def test_passes(self, environment: dict[str, str]) -> None:
        ran = bash(CI_STEP, environment)
        assert (ran.returncode, ran.stderr) == (0, "")

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            (("validate -r default -t qwen3", "validate -r default -t qwen33"), 1),
            (("transcripts/qwen3.txt", "transcripts/none.txt"), 2),
        ],
    )
    def test_fails_where_it_should(self, change: tuple[str, str], code: int, environment: dict[str, str]) -> None:
        ran = bash(CI_STEP.replace(*change), environment)
        assert ran.returncode == code
        assert ran.stdout + ran.stderr


def test_readme_has_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for pipeline in PIPELINES:
        assert pipeline in readme


# Peak memory of this process alone: what getrusage tells starts with the peak of the process that started it.
MEASURED = r"""
import re, sys
from pathlib import Path
from unspool.cli import app
try:
    app()
finally:
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print("peak", peak[1], file=sys.stderr)
"""
CHUNKS = 200_000
MOST = 8 << 10  # KiB; 200,000 of the smallest Python strings need more


def write_dump(file: IO[str], chunks: int) -> None:
    """A quarter reasoning, a quarter content, a quarter one call's arguments, a quarter many calls."""
    quarter = chunks // 4
    texts = [
        *["<think>", *(f" thought{number}" for number in range(quarter)), "</think>"],
        *(f" word{number}" for number in range(quarter)),
        *['<tool_call>{"name": "f", "arguments": {"a": "', *(f" value{number}" for number in range(quarter)), '"}}'],
        "</tool_call>",
    ]
    for number in range(quarter // 5):
        texts += ["\n<tool_call>", '{"name": "g', f'{number}", ', '"arguments": {"a": 1}}', "</tool_call>"]
    for number, text in enumerate(texts):
        reason = "stop" if number == len(texts) - 1 else None
        choice = {"index": 0, "text": text, "token_ids": [number], "finish_reason": reason}
        file.write(f'data: {{"id": "cmpl-1", "object": "text_completion", "choices": [{json.dumps(choice)}]}}\n\n')
    file.write("data: [DONE]\n\n")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
class TestMemory:
    @pytest.fixture(scope="class")
    @classmethod
    def dumps(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
        folder = tmp_path_factory.mktemp("dumps")
        files = folder / "short.sse", folder / "long.sse"
        for file, chunks in zip(files, (CHUNKS // 100, CHUNKS), strict=True):
            with file.open("w") as stream:
                write_dump(stream, chunks)
        return files

    @pytest.mark.parametrize("options", [("-o", "jsonl"), ("-o", "anthropic", "--sse")], ids=" ".join)
    def test_a_long_dump_needs_no_more_than_a_short_one(
        self, dumps: tuple[Path, Path], options: tuple[str, ...], tmp_path: Path
    ) -> None:
        peaks = []
        for dump in dumps:
            command = [sys.executable, "-c", MEASURED, "replay", "-r", "default", "-t", "qwen3", *options, str(dump)]
            with (tmp_path / "out").open("wb") as out:
                ran = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=True)
            found = re.fullmatch(r"peak (\d+)\n", ran.stderr)
            assert found, ran.stderr
            peaks.append(int(found[1]))
        assert (tmp_path / "out").stat().st_size > CHUNKS
        assert peaks[1] - peaks[0] < MOST
