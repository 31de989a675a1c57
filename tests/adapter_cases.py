"""What the tests of all adapters share: fixtures as engine outputs, and a server on this machine that sends an answer.

Owns nothing of any API: the shapes are the tests' business, the expectations stand in ``fixtures/cases``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any

from oracle import CASE_FILES, Case, in_pieces, load_cases

from unspool.parsers import ChatRunner, EngineOutput
from unspool.parsers.adapters import Adapter, Event, sse

CUTS: list[tuple[int | None, str | None]] = [(None, None), (1, "stop"), (5, "length")]
"""Characters a chunk, and the finish reason that the engine gives."""


def one_per_format() -> list[Case]:
    """Of each file of cases, one with as many channels as there are."""
    return [max(load_cases(path), key=lambda case: len(case.expected["channels"])) for path in CASE_FILES]


def outputs(case: Case, size: int | None, finish_reason: str | None) -> list[EngineOutput]:
    """A case as an engine would have sent it; one id a chunk, so that there is something to count."""
    pieces = (in_pieces(case.raw, size) if size else [case.raw]) or [""]
    chunks = [EngineOutput(piece, [number]) for number, piece in enumerate(pieces)]
    chunks[-1].finish_reason = finish_reason
    return chunks


def events(adapter: Adapter, case: Case, size: int | None, finish_reason: str | None) -> list[Event]:
    """All events of a case."""
    return list(adapter.stream(ChatRunner(case.parser()), outputs(case, size, finish_reason)))


def as_sse(adapter: Adapter, of: list[Event]) -> bytes:
    """The bytes of a stream."""
    return b"".join(sse.frame(event) for event in of) + adapter.sse_end


def expected_calls(case: Case) -> list[tuple[str, str]]:
    """Name and arguments of each call."""
    return [(call["name"], call["arguments"]) for call in case.expected.get("tool_calls", [])]


def merged(channels: list[str]) -> list[str]:
    """Neighbours that are the same as one, as the cases have them."""
    return [channel for channel, _ in groupby(channels)]


class Loopback:
    """Answers every request with the same bytes.

    Attributes:
        url: where.
        body: the answer.
        content_type: what it says of itself.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.body = b""
        self.content_type = "text/event-stream"


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Serve on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answer = Loopback(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield answer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
