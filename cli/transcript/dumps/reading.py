"""A dump to the chunks of its responses.

Owns the order of the stages and what is reported on the way: lines that can't be read, errors of the server, objects of
no known shape. Everything streams; only the first objects that have already arrived are looked at together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from unspool.parsers.tokenization import TextTokenizer

from ..errors import BadLine, TranscriptError
from .choices import Choices, Response
from .events import Done, Event, EventReader, Item
from .fields import shown
from .formats import shape_of
from .id_text import IdDecoder, NoTokenizerError
from .pieces import Piece, Shape
from .record import SHAPE as RECORD
from .record import read_plain
from .responses import Part, Splitter
from .server_errors import error_message

_AHEAD = 1024  # pieces that are looked at together at first, where they are there
_UNKNOWN_REPORTED = 3  # objects of no known shape that are reported one by one


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """What reading a dump takes besides its lines.

    Attributes:
        name: what messages call the input.
        shape: the engine's; ``None`` to take that of the first object which has one.
        tokenizer: decodes ids.
        choice: an index, a request's id or a label of the responses that are wanted; ``None`` for all.
        on_warning: called with a sentence where something about the whole input is odd.
        on_bad_line: called with each line that could not be read.
        on_note: called with what was found out about the input, for those who want to know.
    """

    name: str
    shape: Shape | None
    tokenizer: TextTokenizer | None
    choice: str | None
    on_warning: Callable[[str], None]
    on_bad_line: Callable[[BadLine], None]
    on_note: Callable[[str], None] = lambda _: None


def read_dump(
    lines: Iterable[bytes],
    options: DumpOptions,
    *,
    line_ready: Callable[[], bool] = lambda: False,
    arrived: Callable[[], list[bytes]] = list,
) -> Iterator[Part]:
    r"""Read a dump, each chunk as soon as its line is there.

    Args:
        lines: the input's lines without their ends.
        options: see there.
        line_ready: whether the next line can be had without waiting for it.
        arrived: takes those of the next lines that can be had without waiting.

    Raises:
        TranscriptError: the input can't be read, none of it has a known shape, no response is the wanted one, or there
            are ids without text and no tokenizer.
    """
    return _DumpReader(options).read(lines, line_ready, arrived)


class _DumpReader:
    def __init__(self, options: DumpOptions) -> None:
        self._options = options
        self._shape = options.shape
        self._events = EventReader()
        self._splitter: Splitter | None = None
        self._choices: Choices | None = None
        self._warned = False
        self._unknown = 0
        self._unknown_keys = ""

    def read(
        self, lines: Iterable[bytes], line_ready: Callable[[], bool], arrived: Callable[[], list[bytes]]
    ) -> Iterator[Part]:
        failure: TranscriptError | None = None
        looking = True
        ahead: list[tuple[int, Piece | None]] = []  # ``None``: a [DONE]
        lines = iter(lines)
        while looking:
            try:
                line = next(lines, None)
            except TranscriptError as problem:  # what came before is still shown
                failure = problem
                break
            ahead += self._pieces(self._events.finish() if line is None else self._events.feed(line))
            looking = line is not None and (not ahead or (len(ahead) < _AHEAD and line_ready()))
        if any(piece is not None for _, piece in ahead):
            self._start([piece for _, piece in ahead if piece is not None])
        yield from self._parts(ahead)
        if failure is not None:
            raise failure
        for line in lines:
            yield from self._read_lines([line, *arrived()])
        yield from self._parts(self._pieces(self._events.finish()))
        yield from self._finish()

    def _read_lines(self, lines: list[bytes]) -> Iterator[Part]:
        """Read lines that are all there: together if they are plain records, else one by one."""
        plain = self._plain_response()
        if plain is not None and (outputs := read_plain(lines)) is not None:
            self._events.line += len(lines)
            yield Part(plain, outputs)
            return
        for line in lines:
            if plain is not None and len(lines) > 1 and (outputs := read_plain([line])) is not None:
                self._events.line += 1
                yield Part(plain, outputs)
            else:
                yield from self._parts(self._pieces(self._events.feed(line)))
                plain = self._plain_response()

    def _plain_response(self) -> Response | None:
        """Whose chunk the next line is if it is a plain record; ``None`` where that takes all stages to say."""
        if self._shape is not RECORD or self._splitter is None or not self._events.is_idle:
            return None
        return self._splitter.plain_response

    def _pieces(self, items: list[Item]) -> list[tuple[int, Piece | None]]:
        found: list[tuple[int, Piece | None]] = []
        for item in items:
            if isinstance(item, Event):
                try:
                    found += [(item.line, piece) for piece in self._read_event(item)]
                except ValueError as problem:
                    self._bad(item.line, str(problem))
            elif isinstance(item, Done):
                found.append((item.line, None))
            else:
                self._bad(item.line_number, item.reason)
        return found

    def _read_event(self, event: Event) -> Iterable[Piece]:
        value = event.value
        if event.lossy:
            self._warn_of_loss(event.line)
        if not isinstance(value, dict) and not (isinstance(value, list) and self._takes_lists()):
            raise ValueError(f"expected an object or a list of token ids, found {shown(value)}")
        shape = self._shape or shape_of(value, lines=event.lines)
        problem = error_message(value, event.name)
        if problem is not None and not (shape is not None and shape.name == "openai-batch"):
            self._bad(event.line, f"the server reported an error: {problem}")
            if shape is None or not shape.accepts(value):
                return ()
        if shape is None:
            keys = "keys " + (", ".join(list(value)[:8]) or "none") if isinstance(value, dict) else shown(value)
            self._unknown += 1
            self._unknown_keys = self._unknown_keys or keys
            if self._unknown <= _UNKNOWN_REPORTED:
                self._bad(event.line, f"JSON of no known shape: {keys}")
            return ()
        self._shape = shape
        if not shape.accepts(value) and shape.name != "jsonl" and not _is_side_event(value):
            raise ValueError(f"not of the shape {shape.name}, which has {shape.marks}")
        return list(shape.read(value))

    def _takes_lists(self) -> bool:
        return self._shape is None or self._shape.name == "jsonl"

    def _start(self, pieces: list[Piece]) -> None:
        assert self._shape is not None
        options = self._options
        self._choices = Choices(options.choice, own_ids=self._shape.own_ids, ends=self._shape.ends)
        self._choices.look_ahead(pieces)
        self._splitter = Splitter(
            self._shape,
            self._choices,
            IdDecoder(options.tokenizer),
            warn=lambda message: options.on_warning(f"{options.name}: {message}"),
            note=lambda message: options.on_note(f"{options.name}: {message}"),
        )

    def _parts(self, pieces: Iterable[tuple[int, Piece | None]]) -> Iterator[Part]:
        for line, piece in pieces:
            if self._splitter is None:
                if piece is None:
                    continue
                self._start([piece])
            assert self._splitter is not None
            try:
                yield from self._splitter.done() if piece is None else self._splitter.feed(piece)
            except NoTokenizerError:
                raise TranscriptError(
                    f"{self._options.name}:{line}: token ids without text: pass --tokenizer DIR to decode them, or"
                    " --input-format text if this is no token stream"
                ) from None
            if self._splitter.lossy:
                self._warn_of_loss(line)

    def _finish(self) -> Iterator[Part]:
        name = self._options.name
        if self._splitter is not None and self._choices is not None:
            yield from self._splitter.finish()
            if self._splitter.lossy:
                self._warn_of_loss(self._events.line)
            if self._choices.count > 1:
                self._options.on_note(f"{name}: {self._choices.count} responses: {self._choices.names}")
            if self._options.choice is not None and not self._choices.matched:
                raise TranscriptError(
                    f"{name}: no response is {self._options.choice!r}; there are: {self._choices.names}"
                )
        elif self._unknown:
            raise TranscriptError(
                f"{name}: {self._unknown} JSON objects, and none has a known shape (the first: {self._unknown_keys});"
                " name its format with --input-format, or pass --input-format text"
            )

    def _bad(self, line: int, reason: str) -> None:
        self._options.on_bad_line(BadLine(line, reason))

    def _warn_of_loss(self, line: int) -> None:
        if not self._warned:
            self._warned = True
            self._options.on_warning(
                f"{self._options.name}:{line}: text that is no valid Unicode; such characters are shown as U+FFFD"
            )


def _is_side_event(value: Any) -> bool:
    """Whether an object carries nothing of a response, such as the usage at the end."""
    return value.get("choices") == [] or ("usage" in value and "choices" not in value)
