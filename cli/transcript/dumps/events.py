r"""Lines of a dump to JSON values: server-sent events, JSON lines, and JSON laid out over several lines, in any mix.

Owns framing. Each value is out as soon as its last line is there; a line that can't be read costs only itself. It
knows no keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import BadLine
from ..json_text import load_json, open_brackets

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_FIELD = re.compile(rb"(event|id|retry)(?::[ ]?(.*))?\Z", re.DOTALL)
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Event:
    """One JSON value.

    Attributes:
        line: number of its first line.
        value: the value.
        name: what the ``event:`` line before it said.
        from_sse: whether it came as ``data:``.
        lines: how many lines it took.
        lossy: whether bytes of it were no UTF-8.
    """

    line: int
    value: Any
    name: str = ""
    from_sse: bool = False
    lines: int = 1
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """A ``[DONE]``."""

    line: int


Item = Event | Done | BadLine
_Lines = list[tuple[int, bytes]]


class EventReader:
    """Takes lines, gives what they complete.

    Several ``data:`` lines up to a blank one are one event, as the standard says; one that is JSON by itself is an
    event at once, as dumps lose blank lines and a live stream must not wait for one.

    Attributes:
        is_sse: whether there was a ``data:`` line.
        line: the number of the line that was read last; whoever reads one himself counts it here.
    """

    def __init__(self) -> None:
        self.is_sse = False
        self.line = 0
        self._name = ""
        self._data: _Lines = []  # `data:` lines that are no JSON yet
        self._document: _Lines = []  # lines of a value whose brackets are still open
        self._problem = ""  # what was wrong with its first line alone
        self._depth = 0
        self._in_array = False  # a line `[` came: what follows are its items

    @property
    def is_idle(self) -> bool:
        """Whether the next line is read by itself, whatever came before it."""
        return not (self._data or self._document or self._in_array or self._name)

    @property
    def pending(self) -> bytes:
        """The lines of a value that is not complete yet."""
        return b"\n".join(line for _, line in self._data or self._document)

    def feed(self, raw: bytes) -> list[Item]:
        """Take the next line, without its end."""
        self.line += 1
        line = raw.removeprefix(_BYTE_ORDER_MARK)
        if line.startswith(b"data") and line[4:5] in (b":", b""):
            self.is_sse = True
            return self._interrupted() + self._take_data(line[5:].removeprefix(b" "))
        stripped = line.strip()
        if not stripped:
            found = self._end_of_data()
            self._name = ""
            return found
        if line.startswith(b":"):
            return []
        if self._document:
            return self._extend_document(line, stripped)
        if match := _OTHER_FIELD.match(line):
            if match[1] == b"event":
                self._name = (match[2] or b"").decode("utf-8", "replace").strip()
            return []
        return self._end_of_data() + self._take_json(line, stripped)

    def finish(self) -> list[Item]:
        """Return what is left at the end of the input."""
        return self._end_of_data() + self._interrupted()

    def _take_data(self, payload: bytes) -> list[Item]:
        stripped = payload.strip()
        if stripped == _DONE:
            return [*self._end_of_data(), Done(self.line)]
        if not stripped and not self._data:
            return []  # keeps a connection alive
        # Inside a value of several lines only lines that are not indented can be events of their own.
        if not self._data or payload.startswith(b"{"):
            try:
                event = self._event(self.line, stripped, from_sse=True)
            except ValueError:
                pass
            else:
                return [*self._end_of_data(), event]
        self._data.append((self.line, payload))
        return []

    def _end_of_data(self) -> list[Item]:
        """Read the ``data:`` lines so far as one event; where they are none, those that are one by themselves."""
        if not self._data:
            return []
        lines, self._data = self._data, []
        if len(lines) > 1:
            try:
                return [
                    self._event(lines[0][0], b"\n".join(line for _, line in lines), from_sse=True, lines=len(lines))
                ]
            except ValueError:
                pass
        return [self._one(number, line, from_sse=True) for number, line in lines if line.strip()]

    def _take_json(self, line: bytes, stripped: bytes) -> list[Item]:
        number = self.line
        if stripped == _DONE:
            return [Done(number)]
        if self._in_array and stripped in (b"]", b"],"):
            self._in_array = False
            return []
        if stripped == b"[":
            self._in_array = True
            return []
        if self._in_array and not stripped.startswith(b"{"):  # no list of objects after all
            self._in_array = False
            return self._open_document([(number, b"["), (number, line)], "not JSON: a list that is cut off")
        try:
            return self._items(self._event(number, stripped.removesuffix(b",") if self._in_array else stripped))
        except ValueError as error:
            problem = str(error)
        opened = open_brackets(stripped) if stripped[:1] in (b"{", b"[") else None
        if opened is not None and opened > 0:
            return self._open_document([(number, line)], problem)
        return [BadLine(number, problem)]

    def _open_document(self, lines: _Lines, problem: str) -> list[Item]:
        self._document, self._problem = lines, problem
        self._depth = sum(open_brackets(line) or 0 for _, line in lines)
        return []

    def _extend_document(self, line: bytes, stripped: bytes) -> list[Item]:
        if line.startswith(b"{"):  # inside a value lines are indented, unless this is the next value
            try:
                event = self._event(self.line, stripped)
            except ValueError:
                pass
            else:
                return [*self._interrupted(), event]
        self._document.append((self.line, line))
        opened = open_brackets(stripped)
        if opened is None:
            return self._interrupted()  # a string never goes on in the next line
        self._depth += opened
        if self._depth > 0:
            return []
        lines, self._document = self._document, []
        text = b"\n".join(line for _, line in lines).strip()
        if self._in_array:
            text = text.removesuffix(b",")
        try:
            return self._items(self._event(lines[0][0], text, lines=len(lines)))
        except ValueError as error:
            return [BadLine(lines[0][0], str(error))]

    def _interrupted(self) -> list[Item]:
        """Give up a value whose brackets never closed."""
        if not self._document:
            return []
        lines, self._document = self._document, []
        self._in_array = False
        cut_off = f"not JSON: it is cut off after line {lines[-1][0]}"
        return [BadLine(lines[0][0], self._problem if len(lines) == 1 else cut_off)]

    def _items(self, event: Event) -> list[Item]:
        """A list of objects is one event an object."""
        value = event.value
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return [Event(event.line, item, event.name, event.from_sse, event.lines, event.lossy) for item in value]
        return [event]

    def _one(self, number: int, line: bytes, *, from_sse: bool) -> Item:
        try:
            return self._event(number, line.strip(), from_sse=from_sse)
        except ValueError as error:
            return BadLine(number, str(error))

    def _event(self, number: int, text: bytes, *, from_sse: bool = False, lines: int = 1) -> Event:
        value = load_json(text)
        name, self._name = self._name, ""
        return Event(number, value, name, from_sse, lines, not text.isascii() and not _is_utf8(text))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
