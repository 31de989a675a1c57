"""Dumps that never end, and dumps that come while they are read."""

from __future__ import annotations

import json
import resource
import select
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest
from dump_tools import Dump, choice, joined, sse
from test_cli_process import COMMAND, environment

from unspool.cli.interleaving import Interleaver
from unspool.cli.transcript import Part, Response
from unspool.cli.transcript.dumps import read_dump
from unspool.parsers import EngineOutput


class Server(ThreadingHTTPServer):
    """Serves one event a step; a step is taken by ``go``."""

    daemon_threads = True

    def __init__(self, events: list[bytes]) -> None:
        self.events = events
        self.go = threading.Semaphore(0)
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in self.server.events:
            assert self.server.go.acquire(timeout=60)
            self.wfile.write(event)
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    events = [sse(choice(f"piece {number}", number % 2)).encode() for number in range(6)]
    server = Server([*events, b"data: [DONE]\n\n"])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


CURL = """
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1]) as response:
    while data := response.read1():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
"""


def test_deltas_are_there_before_the_stream_ends(server: Server) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    client = ["curl", "-sN", url] if shutil.which("curl") else [sys.executable, "-c", CURL, url]
    with (
        subprocess.Popen(client, stdout=subprocess.PIPE) as curl,
        subprocess.Popen(
            [*COMMAND, "replay", "-"], stdin=curl.stdout, stdout=subprocess.PIPE, env=environment()
        ) as replay,
    ):
        assert replay.stdout is not None
        found = []
        for number in range(6):
            server.go.release()
            ready, _, _ = select.select([replay.stdout], [], [], 60)
            assert ready, "the delta was not there before the next event"
            found.append(json.loads(replay.stdout.readline()))
            assert found[-1]["delta"] == {"content": f"piece {number}"}
        server.go.release()
        assert replay.stdout.read() == b""
    assert [record.get("choice") for record in found] == [None, "1", None, "1", None, "1"]
    assert replay.returncode == 0


def long_dump(choices: int) -> Iterator[bytes]:
    for number in range(200_000):
        yield sse(choice(f"word{number % 1000} ", number % choices, token_ids=[number % 500])).encode()
    yield b"data: [DONE]\n\n"


REPLAY = """
import resource, subprocess, sys
command = [sys.executable, "-m", "unspool.cli", "replay", *sys.argv[1:]]
code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak(data: Iterator[bytes], *options: str) -> int:
    """Kilobytes that a replay of ``data`` takes."""
    with subprocess.Popen(
        [sys.executable, "-c", REPLAY, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for block in data:
            process.stdin.write(block)
        process.stdin.close()
        code, kilobytes = process.stdout.read().split()
    assert code == b"0"
    return int(kilobytes) // (1024 if sys.platform == "darwin" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("choices", [1, 3])
def test_memory_is_constant(choices: int) -> None:
    assert resource.RUSAGE_CHILDREN
    little = peak(iter([sse(*(choice("a", number, token_ids=[1]) for number in range(choices))).encode()]))
    assert peak(long_dump(choices)) - little < 12_000


def test_an_event_is_out_before_the_next_line_is_read() -> None:
    read = count()

    def lines() -> Iterator[bytes]:
        for text in "abc":
            next(read)
            yield sse(choice(text)).encode().split(b"\n")[0]

    parts = read_dump(lines(), Dump().options)
    for number, text in enumerate("abc", start=1):
        assert joined(next(parts)) == text
        assert next(read) == number * 2 - 1


class TestInterleaver:
    def parts(self, order: str, last: bool = True) -> Iterator[Part]:
        """A chunk a letter; capital letters end their response."""
        responses: dict[str, Response] = {}
        for letter in order:
            response = responses.setdefault(letter.lower(), Response(letter.lower()))
            yield Part(response, [EngineOutput(letter)], last=last and letter.isupper())

    def run(self, order: str, *, take_turns: bool, last: bool = True) -> tuple[list[str], dict[str, str]]:
        seen: list[str] = []
        texts: dict[str, str] = {}

        def view(response: Response, parts: Iterator[Part]) -> None:
            texts[str(response.label)] = ""
            for part in parts:
                seen.append(joined(part))
                texts[str(response.label)] += joined(part)
            seen.append(f"end {response.label}")

        assert Interleaver(self.parts(order, last), view, take_turns=take_turns).run() >= 0
        return seen, texts

    @pytest.mark.parametrize("order", ["aA", "abAB", "abBA", "aAbB", "abcabcABC", "abBcCA", "ab", "abA", "abB", ""])
    def test_every_response_is_whole(self, order: str) -> None:
        wanted = {label: "".join(c for c in order if c.lower() == label) for label in dict.fromkeys(order.lower())}
        before = threading.active_count()
        for take_turns in (True, False):
            for last in (True, False):
                seen, texts = self.run(order, take_turns=take_turns, last=last)
                assert texts == wanted
                letters = [text for text in seen if len(text) == 1]
                assert letters == (list(order) if take_turns else [c for text in wanted.values() for c in text])
                assert sorted(text for text in seen if len(text) > 1) == [f"end {label}" for label in sorted(wanted)]
        assert threading.active_count() == before

    def test_a_response_ends_as_soon_as_it_is_over(self) -> None:
        seen, _ = self.run("abBaA", take_turns=True)
        assert seen == ["a", "b", "B", "end b", "a", "A", "end a"]

    @pytest.mark.parametrize("place", ["first", "second"])
    def test_a_failure_comes_out_wherever_it_is(self, place: str) -> None:
        def view(response: Response, parts: Iterator[Part]) -> None:
            for part in parts:
                if joined(part) == ("a" if place == "first" else "b"):
                    raise SystemExit(5)

        before = threading.active_count()
        with pytest.raises(SystemExit):
            Interleaver(self.parts("cabABC"), view, take_turns=True).run()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and thread.daemon:
                thread.join(5)
        assert threading.active_count() <= before
