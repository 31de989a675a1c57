"""Replays inputs one after the other and remembers what the exit code has to tell of them.

Owns the life of one input and of the responses in it: a fresh parser each, its chunks, its diagnostics, and that a bad
input doesn't stop the others.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

import typer

from unspool.parsers import ChatRunner, Diagnostic, EngineOutput, ResponseParser

from .console import error, say
from .exits import ExitCode
from .interleaving import Interleaver
from .options import spoken_name
from .output import Output
from .render.view import View
from .transcript import Part, Response, is_live

_BATCH = 256  # chunks whose output is written together where nobody waits for it


class ResponseReader(Protocol):
    """Reads inputs of any number of responses; both methods raise ``ValueError`` where that doesn't work."""

    def open(self, path: Path, report: Callable[[str], None]) -> Iterator[Part]:
        """Yield the chunks of all responses; ``report`` is called with each line that can't be read."""

    def prepare(
        self, response: Response, parser: ResponseParser, outputs: Iterator[EngineOutput]
    ) -> Iterator[EngineOutput]:
        """Turn the chunks of one response, as they were read, into those that the parser gets."""


class Session:
    """One run of the command over its inputs.

    Args:
        reader: reads the inputs.
        new_parser: makes the parser of one response.
        view: writes one response.
        output: where ``view`` writes to.
        take_turns: whether ``view`` can write several responses at the same time.
    """

    def __init__(
        self,
        reader: ResponseReader,
        new_parser: Callable[[], ResponseParser],
        view: View,
        output: Output,
        *,
        take_turns: bool = True,
    ) -> None:
        self._reader = reader
        self._new_parser = new_parser
        self._view = view
        self._output = output
        self._take_turns = take_turns
        self._unreadable = False
        self._found = False
        self._watched = True  # whether somebody may wait for what comes of a chunk

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
        run = partial(self._run, path, source)
        bad_lines: list[str] = []
        self._watched = self._output.is_terminal or is_live(path)
        try:
            responses = Interleaver(self._parts(path, bad_lines), run, take_turns=self._take_turns).run()
            if not responses and not bad_lines:
                run(Response(), iter(()))  # an empty input is an empty response
        except _UnreadableError as problem:
            self._report(str(problem))

    def _run(self, path: Path, source: str | None, response: Response, parts: Iterator[Part]) -> None:
        """Run one response and write it."""
        parser = self._new_parser()
        try:
            self._view(ChatRunner(parser, choice=response.label), self._chunks(response, parser, parts), source)
        except (typer.Exit, _UnreadableError):
            raise
        except Exception as problem:  # a plug-in's, or a fault of ours: either way the other inputs still count
            self._report(f"{spoken_name(path)}: the parser raised {_spoken(problem)}")
            for _ in parts:  # what is left of this response goes to no other parser
                pass
        finally:
            self._output.flush()
            name = spoken_name(path) + ("" if response.label is None else f" [{response.label}]")
            for diagnostic in parser.diagnostics:
                self._found = True
                say(f"{name}: offset {diagnostic.offset}: {diagnostic.code}: {diagnostic.message}")

    def _parts(self, path: Path, bad_lines: list[str]) -> Iterator[Part]:
        def report(message: str) -> None:
            bad_lines[:] = [message]
            self._report(message)

        try:
            yield from self._reader.open(path, report)
        except ValueError as problem:
            raise _UnreadableError(str(problem)) from problem

    def _chunks(self, response: Response, parser: ResponseParser, parts: Iterator[Part]) -> Iterator[EngineOutput]:
        """The response's chunks; what came of one is flushed before the next is waited for, if it may have to be."""

        def arrived() -> Iterator[list[EngineOutput]]:
            unflushed = 0
            for part in parts:
                if part.difference is not None:
                    found = part.difference
                    parser.diagnostics.append(Diagnostic("text-differs-from-ids", found.offset, found.message))
                yield part.outputs
                unflushed += len(part.outputs)
                if self._watched or unflushed >= _BATCH:
                    self._output.flush()
                    unflushed = 0

        try:
            return self._reader.prepare(response, parser, chain.from_iterable(arrived()))
        except ValueError as problem:
            raise _UnreadableError(str(problem)) from problem

    def _report(self, message: str) -> None:
        self._unreadable = True
        self._output.flush()
        error(message)


class _UnreadableError(Exception):
    """The reader gave up; told apart from a ``ValueError`` of a parser."""


def _spoken(problem: Exception) -> str:
    """An exception's type, message and the line that raised it."""
    where = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__}: {problem} ({Path(where.filename).name}:{where.lineno})"
