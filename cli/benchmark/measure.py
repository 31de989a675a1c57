"""Clocks: what a chunk costs, and how the cost grows with the text.

Owns how time is taken: of the processor, so that other programs don't count, the best of several passes, the floor in
the same breath, and never more than a few seconds. The floor is a loop that only builds one delta a chunk; nothing that
emits anything can be faster.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from unspool.parsers import DeltaMessage

from .transcripts import Case, NewParser, Sample

WHOLE = "whole"
"""What a report calls the whole text in one ``parse_complete``."""

GROWTH_CHUNK = 4
"""Characters a chunk where growth is measured."""

LONGEST = 4.0
"""Seconds after which a pass over a long text is stopped, or is not begun."""

QUADRATIC = 40.0
"""How many times the time 10 times the text must take to be called quadratic: linear is 10, quadratic 100, and noise
makes up to 25 of a linear one."""

# Windows counts the time of a process in ticks of 16 milliseconds.
_clock = time.perf_counter if sys.platform == "win32" else time.process_time

_ROUNDS = 5
_LEAST = 0.05  # seconds: short passes are repeated up to it
_MOST = 1.0
_MOST_ROUNDS = 200
_GROWTH_ROUNDS = 3
_MOST_GROWTH_ROUNDS = 8
_DOUBTING_ROUNDS = 4
_SHORT = 0.01  # seconds: such a pass also measures how cold the caches are, the next one doesn't
_BLOCK = 256  # chunks that are cut ahead: cutting is not timed, and a long list of chunks would leave the caches


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of cutting costs.

    Attributes:
        chunk: how the text is cut.
        chunks: how many that makes.
        size: bytes of the text in UTF-8.
        seconds: the best pass.
        floor: the best pass that only builds deltas; ``None`` for the whole text.
        times_floor: how many times what it costs to build the deltas, in the median of all rounds: a machine that is
            faster for a moment is faster for both.
    """

    chunk: str
    chunks: int
    size: int
    seconds: float
    floor: float | None = None
    times_floor: float | None = None

    @property
    def micros_per_chunk(self) -> float:
        """Microseconds a chunk."""
        return self.seconds / self.chunks * 1e6

    @property
    def megabytes_per_second(self) -> float:
        """Bytes of text, in millions a second."""
        return self.size / self.seconds / 1e6


@dataclass(slots=True)
class Point:
    """What a text of one length costs.

    Attributes:
        characters: of the text, or as far as the pass came.
        blocks: seconds of each stretch of the text, the best of all passes.
        complete: whether the text was not too long.
    """

    characters: int
    blocks: list[float] = field(default_factory=list)
    complete: bool = True

    @property
    def seconds(self) -> float:
        """Of the whole text."""
        return sum(self.blocks)

    @property
    def per_character(self) -> float:
        """Seconds a character."""
        return self.seconds / self.characters


@dataclass(frozen=True, slots=True)
class Growth:
    """How cost grows with the text.

    Attributes:
        chunk: how the text is cut.
        points: ascending; fewer than were wanted where a longer text would have taken too long.
        skipped: the length that was not tried, or 0.
    """

    chunk: str
    points: list[Point]
    skipped: int = 0

    @property
    def relative(self) -> list[float]:
        """The cost of a character at each length, relative to the shortest."""
        return [point.per_character / self.points[0].per_character for point in self.points]

    @property
    def tenfold(self) -> float:
        """How many times the time 10 times the text takes, where that grows most; 10 is linear."""
        steps = [10.0]
        for before, after in zip(self.points, self.points[1:], strict=False):
            if after.characters > 5 * before.characters:  # a shorter step says more of the clock than of the parser
                slope = math.log(after.seconds / before.seconds) / math.log(after.characters / before.characters)
                steps.append(10**slope)
        return max(steps)

    @property
    def is_quadratic(self) -> bool:
        """Whether the cost of a character grows with the text."""
        return self.tenfold > QUADRATIC


def cost(sample: Sample, chunk: str, chunks: Sequence[str]) -> Cost:
    """Measure one way of cutting."""
    with _no_collector():
        rounds = [(_time_floor(chunks), _time_chunks(sample.new_parser, chunks)) for _ in _rounds()]
    floor, best = map(min, zip(*rounds, strict=True))
    times = median(mine / lowest for lowest, mine in rounds)
    return Cost(chunk, len(chunks), len(sample.text.encode()), best, floor, times)


def whole_cost(sample: Sample) -> Cost:
    """Measure ``parse_complete``."""
    with _no_collector():
        best = min(_time_whole(sample) for _ in _rounds())
    return Cost(WHOLE, 1, len(sample.text.encode()), best)


def growth(case: Case, sizes: Sequence[int], *, whole: bool) -> Growth:
    """Measure longer and longer texts.

    Args:
        case: what to measure.
        sizes: characters, ascending.
        whole: in one ``parse_complete``, else in small chunks.
    """
    samples: list[Sample] = []
    points: list[Point] = []
    skipped = 0
    with _no_collector():
        for size in sizes:
            if whole and _expected(points, size) > LONGEST:
                skipped = size
                break
            samples.append(case.at(size))
            points.append(_pass(samples[-1], whole))
            if not points[-1].complete:
                break
        found = Growth(str(WHOLE if whole else GROWTH_CHUNK), points, skipped)
        start, rounds = _clock(), 1
        while rounds < _GROWTH_ROUNDS or (rounds < _MOST_GROWTH_ROUNDS and _clock() - start < _MOST):
            _again(points, samples, whole)
            rounds += 1
        for _ in range(_DOUBTING_ROUNDS if found.is_quadratic else 0):
            if found.is_quadratic:
                _again(points, samples, whole)
    return found


def _again(points: Sequence[Point], samples: Sequence[Sample], whole: bool) -> None:
    """Pass once more over all texts, as far as that can change much, and keep the best of each stretch."""
    for point, sample in zip(points, samples, strict=True):
        if point.complete and point.seconds < LONGEST / 2:
            for _ in range(3 if point.seconds < _SHORT else 1):
                point.blocks = list(map(min, point.blocks, _pass(sample, whole).blocks))


def _expected(points: Sequence[Point], size: int) -> float:
    """Seconds that a text of ``size`` characters should take, if cost goes on to grow as it did."""
    if not points:
        return 0.0
    slope = 1.0
    if len(points) > 1:
        before, last = points[-2:]
        slope = max(1.0, math.log(last.seconds / before.seconds) / math.log(last.characters / before.characters))
    return float(points[-1].seconds * (size / points[-1].characters) ** slope)


def _pass(sample: Sample, whole: bool) -> Point:
    if whole:
        return Point(len(sample.text), [_time_whole(sample)])
    text, parser, step = sample.text, sample.new_parser(), GROWTH_CHUNK * _BLOCK
    feed, blocks, spent = parser.stream_chunk, [], 0.0
    for at in range(0, len(text), step):
        chunks = cut(text[at : at + step], GROWTH_CHUNK)
        start = _clock()
        for chunk in chunks:
            feed(chunk, ())
        blocks.append(_clock() - start)
        spent += blocks[-1]
        if spent > LONGEST and at + step < len(text):
            return Point(at + step, blocks, complete=False)
    start = _clock()
    feed("", (), True)
    return Point(len(text), [*blocks, _clock() - start])


def cut(text: str, size: int) -> list[str]:
    """``text`` in chunks of ``size`` characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def _rounds() -> Iterator[None]:
    """Go round until the best pass is worth something, and not for too long."""
    start = _clock()
    for number in range(_MOST_ROUNDS):
        spent = _clock() - start
        if (number >= _ROUNDS and spent >= _LEAST) or spent >= _MOST:
            return
        yield


def _time_floor(chunks: Sequence[str]) -> float:
    start = _clock()
    for chunk in chunks:
        DeltaMessage(None, chunk)
    return _clock() - start


def _time_chunks(new_parser: NewParser, chunks: Sequence[str]) -> float:
    parser = new_parser()
    feed = parser.stream_chunk
    start = _clock()
    for chunk in chunks:
        feed(chunk, ())
    feed("", (), True)
    return _clock() - start


def _time_whole(sample: Sample) -> float:
    parser = sample.new_parser()
    start = _clock()
    parser.parse_complete(sample.text)
    return _clock() - start


@contextmanager
def _no_collector() -> Iterator[None]:
    """Keep the garbage collector out of the measurement, as it was before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
