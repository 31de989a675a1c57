"""Runs the responses of one input side by side, each as if it were alone.

Owns whose turn it is. A response is run by pulling its chunks, and its chunks come in between those of others; so one
that begins while another runs gets a thread of its own, which only ever runs while the other waits for it. There is no
parallelism, and no thread at all where responses come one after the other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from .transcript import Part, Response

Run = Callable[[Response, Iterator[Part]], None]
"""Runs one response to its end."""


class Interleaver:
    """Runs all responses of an input.

    Args:
        parts: the chunks of all responses, as they come.
        run: runs one response; it pulls its chunks until there are no more.
        take_turns: show responses as they come. Otherwise one that begins while another runs waits for it to end, with
            its chunks in memory: some outputs can't be mixed.
    """

    def __init__(self, parts: Iterator[Part], run: Run, *, take_turns: bool) -> None:
        self._parts = parts
        self._run = run
        self._take_turns = take_turns
        self._lanes: dict[Response, _Lane] = {}
        self._waiting: dict[Response, deque[Part]] = {}

    def run(self) -> int:
        """Run every response to its end.

        Returns:
            How many there were.
        """
        count = 0
        try:
            while (start := self._next()) is not None:
                count += 1
                self._run(*start)
            for lane in self._lanes.values():
                count += 1
                lane.close()
            self._lanes.clear()
        finally:
            for lane in self._lanes.values():
                lane.abandon()
        return count

    def _next(self) -> tuple[Response, Iterator[Part]] | None:
        """The next response to run here, where no other is running."""
        for response in self._waiting:
            return response, self._parts_of(response, self._waiting.pop(response))
        for part in self._parts:
            if part.response in self._lanes:
                self._pass_on(part)
            else:
                return part.response, self._parts_of(part.response, deque([part]))
        return None

    def _parts_of(self, response: Response, known: deque[Part]) -> Iterator[Part]:
        while known:
            part = known.popleft()
            yield part
            if part.last:
                return
        for part in self._parts:
            if part.response is not response:
                self._pass_on(part)
                continue
            yield part
            if part.last:
                return

    def _pass_on(self, part: Part) -> None:
        """Give a chunk to its response while another one runs."""
        response = part.response
        if not self._take_turns:
            self._waiting.setdefault(response, deque()).append(part)
            return
        lane = self._lanes.get(response)
        if lane is None:
            lane = self._lanes[response] = _Lane(lambda parts: self._run(response, parts))
        lane.push(part)
        if part.last:
            del self._lanes[response]


class _Lane:
    """A thread that runs one response, and waits for its chunks."""

    def __init__(self, target: Callable[[Iterator[Part]], None]) -> None:
        self._target = target
        self._part: Part | None = None
        self._turn = threading.Semaphore(0)
        self._waits = threading.Semaphore(0)
        self._failure: BaseException | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()

    def push(self, part: Part) -> None:
        """Let the response run until it waits for the next chunk, or ends with this one."""
        self._part = part
        self._let_run()

    def close(self) -> None:
        """Let the response run to its end: no more chunks will come."""
        self._part = None
        self._let_run()

    def abandon(self) -> None:
        """Stop where it is."""
        self._abandoned = True
        self._turn.release()

    def _let_run(self) -> None:
        self._turn.release()
        self._waits.acquire()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _main(self) -> None:
        self._turn.acquire()
        try:
            if not self._abandoned:
                self._target(self._parts())
        except _AbandonedError:
            pass
        except BaseException as failure:  # whoever pushes must see it, an exit as well
            self._failure = failure
        finally:
            self._waits.release()

    def _parts(self) -> Iterator[Part]:
        while (part := self._part) is not None:
            yield part
            if part.last:
                return
            self._waits.release()
            self._turn.acquire()
            if self._abandoned:
                raise _AbandonedError


class _AbandonedError(BaseException):
    """Unwinds a response that nobody waits for any more."""
