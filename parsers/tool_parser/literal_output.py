"""The JSON text of a call's arguments, written while its brackets are still being read.

Owns the open containers, commas and keys. It knows no wire syntax but which bracket closes what.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a bracket opened."""

    CALL = "arguments with names"
    DICT = "keys and values"
    SPLAT = "keys and values that are arguments of the call around them"
    LIST = "elements"
    BRACE = "a dict or a set: what follows the first element tells"
    PAREN = "a tuple or one value: what follows it tells"


CALL, DICT, SPLAT, LIST, BRACE, PAREN = Kind
OBJECTS = (CALL, DICT, SPLAT)
UNDECIDED = (BRACE, PAREN)


class ArgumentsOutput:
    """Writes one arguments object at a time; the text comes out through :meth:`take`.

    Nothing is written of a container or a key before what it holds: where the input ends, nothing is made up.

    Args:
        kind: of the call's own brackets.
        closer: the bracket that ends the call.

    Attributes:
        key: JSON text of the key of the member at hand.
        kind: of the innermost container.
        closer: the bracket that ends it.
    """

    def __init__(self, kind: Kind, closer: str) -> None:
        self.key = ""
        self.kind = kind
        self.closer = closer
        self._out: list[str] = []
        self._frames: list[tuple[Kind, str]] = []  # around the innermost container
        self._open = {")": 0, "]": 0, "}": 0, closer: 1}
        self._empty = [True]  # of each container
        self._pending = ["{"]  # brackets and keys that wait for what they hold
        self._shown = 0  # containers whose bracket is out

    def take(self) -> str:
        """What was written since the last time."""
        text = "".join(self._out)
        self._out.clear()
        return text

    # -- values -------------------------------------------------------------------------------------------------------

    def emit(self, value: str) -> None:
        """A value, or its beginning."""
        if self._pending:
            self._flush()
        comma = "" if self._empty[-1] else ", "
        self._empty[-1] = False
        self._out.append(f"{comma}{self.key}: {value}" if self.kind in OBJECTS else comma + value)

    def add(self, piece: str) -> None:
        """More of the value that has begun."""
        self._out.append(piece)

    # -- containers ---------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """Containers in which the innermost stands; the call's own brackets have 0."""
        return len(self._frames)

    def closes(self, closer: str) -> bool:
        """Whether a bracket closes any container."""
        return self._open[closer] > 0

    def push(self, kind: Kind, closer: str) -> None:
        """A value of the innermost container opens a container."""
        if kind is SPLAT:
            self._empty.append(self._empty[-1])
        else:
            self._pending.append(self._lead())
            self._empty.append(True)
            if kind not in UNDECIDED:
                self._pending.append(_opening(kind))
        self._frames.append((self.kind, self.closer))
        self.kind, self.closer = kind, closer
        self._open[closer] += 1

    def decide(self, kind: Kind) -> None:
        """It is known now what the innermost bracket opened; nothing of it was written."""
        self.kind = kind
        self._pending.append(_opening(kind))

    def pop(self) -> bool:
        """Close the innermost container; return whether it was the call's own."""
        if self.kind in UNDECIDED:  # nothing was in it
            self.decide(DICT if self.kind is BRACE else LIST)
        if self.kind is not SPLAT:
            self._flush()
        self._out.append(_closing(self.kind))
        return self._leave()

    def ungroup(self, value: str) -> None:
        """The innermost brackets stand round one value, and mean nothing."""
        self._leave()
        self._flush()
        self._out.append(value)

    def cut(self) -> bool:
        """Close all that is open and was written; return whether a container is lost that was not."""
        kinds = [*(kind for kind, _ in self._frames), self.kind]
        self._out += [_closing(kind) for kind in reversed(kinds[: self._shown])]
        return any(kind is not SPLAT for kind in kinds[max(self._shown, 1) :])

    def _leave(self) -> bool:
        kind = self.kind
        empty = self._empty.pop()
        self._open[self.closer] -= 1
        self._shown = min(self._shown, len(self._frames))
        if not self._frames:
            return True
        self.kind, self.closer = self._frames.pop()
        if kind is SPLAT:
            self._empty[-1] = empty
        return False

    def _lead(self) -> str:
        """What stands before the value at hand: a comma, and its key."""
        comma = "" if self._empty[-1] else ", "
        self._empty[-1] = False
        return f"{comma}{self.key}: " if self.kind in OBJECTS else comma

    def _flush(self) -> None:
        if self._pending:
            self._out += self._pending
            self._pending.clear()
            self._shown = len(self._frames) + 1


def _opening(kind: Kind) -> str:
    return "[" if kind is LIST else "{"


def _closing(kind: Kind) -> str:
    return "]" if kind is LIST else "" if kind is SPLAT else "}"
