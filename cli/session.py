"""Replays inputs one after the other and remembers what the exit code has to tell of them.

Owns the life of one input: a fresh parser, its chunks, its diagnostics, and that a bad input doesn't stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from unspool.parsers import ChatRunner, EngineOutput, ResponseParser

from .console import error, say
from .exits import ExitCode
from .options import spoken_name
from .output import Output
from .render.view import View

Reader = Callable[[Path, ResponseParser, Callable[[str], None]], Iterable[EngineOutput]]
"""Takes an input, the parser that its text goes to, and where to report a line that can't be read."""


class Session:
    """One run of the command over its inputs.

    Args:
        read: yields an input's chunks; raises ``ValueError`` where it can't be read.
        new_parser: makes the parser of one response.
        view: writes one response.
        output: where ``view`` writes to.
    """

    def __init__(self, read: Reader, new_parser: Callable[[], ResponseParser], view: View, output: Output) -> None:
        self._read = read
        self._new_parser = new_parser
        self._view = view
        self._output = output
        self._unreadable = False
        self._found = False

    def run(self, inputs: list[Path]) -> None:
        """Replay every input; the writers learn their names where there are several."""
        for path in inputs:
            self._replay(path, str(path) if len(inputs) > 1 else None)

    def exit_code(self, *, strict: bool) -> ExitCode:
        """What to tell the shell; an unreadable input weighs more than a diagnostic."""
        if self._unreadable:
            return ExitCode.USAGE
        return ExitCode.FOUND if strict and self._found else ExitCode.OK

    def _replay(self, path: Path, source: str | None) -> None:
        parser = self._new_parser()
        try:
            self._view(ChatRunner(parser), self._chunks(path, parser), source)
        except _UnreadableError as problem:
            self._report(str(problem))
        self._output.flush()
        for diagnostic in parser.diagnostics:
            self._found = True
            say(f"{spoken_name(path)}: offset {diagnostic.offset}: {diagnostic.code}: {diagnostic.message}")

    def _chunks(self, path: Path, parser: ResponseParser) -> Iterator[EngineOutput]:
        """The input's chunks; what came of one is flushed before the next one is waited for."""
        try:
            for chunk in self._read(path, parser, self._report):
                yield chunk
                self._output.flush()
        except ValueError as problem:
            raise _UnreadableError(str(problem)) from problem

    def _report(self, message: str) -> None:
        self._unreadable = True
        error(message)


class _UnreadableError(Exception):
    """The reader gave up; told apart from a ``ValueError`` of our own, which is a bug and must show."""
