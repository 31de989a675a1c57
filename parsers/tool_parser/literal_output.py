"""The JSON text of a call's arguments, written while its brackets are still being read.

Owns the open containers, commas and keys. It knows no wire syntax but which bracket closes what.
"""

from __future__ import annotations

from collections.abc import Callable
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
        add: takes more of the value that has begun.
    """

    def __init__(self, kind: Kind, closer: str) -> None:
        self.key = ""
        self.kind = kind
        self.closer = closer
        self._out: list[str] = []
        self.add: Callable[[str], None] = self._out.append
        self._frames: list[tuple[Kind, str]] = []  # around the innermost container
        self._open: dict[str, int] = {}  # how many of them each bracket ends
        self._comma = ""  # stands before the next value
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
        self._out.append(f"{self._comma}{self.key}: {value}" if self.kind in OBJECTS else self._comma + value)
        self._comma = ", "

    # -- containers ---------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """Containers in which the innermost stands; the call's own brackets have 0."""
        return len(self._frames)

    def closes(self, closer: str) -> bool:
        """Whether a bracket closes any container."""
        return closer == self.closer or self._open.get(closer, 0) > 0

    def push(self, kind: Kind, closer: str) -> None:
        """A value of the innermost container opens a container."""
        if kind is not SPLAT:
            self._pending.append(f"{self._comma}{self.key}: " if self.kind in OBJECTS else self._comma)
            self._comma = ""
            if kind not in UNDECIDED:
                self._pending.append(_opening(kind))
        self._frames.append((self.kind, self.closer))
        self._open[self.closer] = self._open.get(self.closer, 0) + 1
        self.kind, self.closer = kind, closer

    def decide(self, kind: Kind) -> None:
        """It is known now what the innermost bracket opened; nothing of it was written."""
        self.kind = kind
        self._pending.append(_opening(kind))

    def pop(self) -> bool:
        """Close the innermost container; return whether it was the call's own."""
        kind = self.kind
        if kind in UNDECIDED:  # nothing was in it
            kind = DICT if kind is BRACE else LIST
            self.decide(kind)
        if kind is not SPLAT:
            self._write(_closing(kind))
        return self._leave()

    def ungroup(self, value: str) -> None:
        """The innermost brackets stand round one value, and mean nothing."""
        self._leave()
        self._write(value)

    def cut(self) -> bool:
        """Close all that is open and was written; return whether a container is lost that was not."""
        kinds = [*(kind for kind, _ in self._frames), self.kind]
        self._out += [_closing(kind) for kind in reversed(kinds[: self._shown])]
        return any(kind is not SPLAT for kind in kinds[max(self._shown, 1) :])

    def _write(self, text: str) -> None:
        """The end of a value that had no comma of its own."""
        if self._pending:
            self._flush()
        self._out.append(text)
        self._comma = ", "

    def _flush(self) -> None:
        self._out += self._pending
        self._pending.clear()
        self._shown = len(self._frames) + 1

    def _leave(self) -> bool:
        self._shown = min(self._shown, len(self._frames))
        if not self._frames:
            return True
        self.kind, self.closer = self._frames.pop()
        self._open[self.closer] -= 1
        return False


def _opening(kind: Kind) -> str:
    return "[" if kind is LIST else "{"


def _closing(kind: Kind) -> str:
    return "]" if kind is LIST else "" if kind is SPLAT else "}"
