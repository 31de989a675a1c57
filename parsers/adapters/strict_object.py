"""Passes a call's arguments on so that a client which decodes them as they come never fails.

Clients of the Messages API decode the joined arguments after every piece, as an object that may still be cut off, and
raise where that can't work. A model may write anything. Owns how far the text is such an object, and what is sent in
place of the rest.

The member that carries what isn't JSON is the one that Anthropic's documentation suggests (*Fine-grained tool
streaming*, "Handling invalid JSON in tool responses").
"""

from __future__ import annotations

import json
import math
import re
from enum import Enum
from io import StringIO
from typing import Any

INVALID_JSON = "INVALID_JSON"
"""The member that holds arguments which aren't a JSON object, as the text that the model wrote."""

_MAX_DEPTH = 100  # the parsers of several clients give up at 128
_MAX_DIGITS = 1000  # those written in Python give up at 4,300

_HEX = "[0-9a-fA-F]"
_HIGH = rf"[dD][89abAB]{_HEX}{{2}}"
_LOW = rf"[dD][c-fC-F]{_HEX}{{2}}"
# Half a surrogate pair is no character, so strict parsers refuse it.
_ESCAPE = rf'\\(?:["\\/bfnrt]|u(?:{_HIGH}\\u{_LOW}|(?![dD][89a-fA-F]){_HEX}{{4}}))'
_in_string = re.compile(rf'(?:[^"\\\x00-\x1f]++|{_ESCAPE})*+').match
_unfinished_escape = re.compile(
    rf"\\(?:u(?:{_HEX}{{0,3}}|{_HIGH}(?:\\(?:u(?:[dD](?:[c-fC-F]{_HEX}?)?)?)?)?)?)?"
).fullmatch
_space = re.compile(r"[ \t\n\r]*+").match
_in_scalar = re.compile(r"[-+.0-9A-Za-z]*+").match
_scalar = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?|true|false|null", re.ASCII).fullmatch
_unfinished_number = re.compile(
    r"-?(?:(?:0|[1-9]\d*+)(?:\.\d*+|(?:\.\d++)?(?:[eE](?:[-+]?\d*+))?)?)?", re.ASCII
).fullmatch


class _Want(Enum):
    """What has to come next."""

    OBJECT = "the opening brace"
    FIRST_KEY = "a key or the end of an empty object"
    KEY = "a key"
    IN_KEY = "the rest of a key"
    COLON = "a colon"
    FIRST_VALUE = "a value or the end of an empty list"
    VALUE = "a value"
    IN_STRING = "the rest of a string"
    IN_SCALAR = "the rest of a number or literal"
    NEXT = "a comma or the end of a container"
    NOTHING = "the end of the text"


class StrictObject:
    """Passes on the arguments of one call.

    What is passed on can always be made a whole object by closing what is open: keys and numbers wait until they are
    complete. Where the text turns out not to be an object, the open containers are closed and a last member,
    :data:`INVALID_JSON`, has the whole text. A text that is only cut off is passed on as it is.
    """

    def __init__(self) -> None:
        self._all = StringIO()
        self._held: list[str] = []  # looked at, but not to be sent yet
        self._rest = ""  # not looked at: an escape that may go on
        self._want = _Want.OBJECT
        self._open: list[str] = []  # what closes the open containers
        self._scalar: list[str] = []
        self._has_members = False
        self._broken = False

    @property
    def complete(self) -> bool:
        """Whether the text so far is one object."""
        return self._want is _Want.NOTHING and not self._broken

    def feed(self, piece: str) -> str:
        """Take the next piece of the arguments and return what to send."""
        self._all.write(piece)
        if self._broken:
            return ""
        text, self._rest = self._rest + piece, ""
        stop, safe = self._scan(text)
        if safe is None:
            self._held.append(text[:stop])
            ready = ""
        else:
            ready = "".join(self._held) + text[:safe]
            self._held = [text[safe:stop]]
        self._rest = text[stop:]
        return ready

    def finish(self) -> str:
        """Return what to send last."""
        if not self._broken and self._want is _Want.IN_SCALAR and not _may_go_on("".join(self._scalar)):
            self._broken = True
        if self._broken:
            return self._closing()
        if self._want is _Want.OBJECT:
            return ""  # nothing but white space
        return "".join(self._held) + self._rest

    def _closing(self) -> str:
        member = f'"{INVALID_JSON}": {json.dumps(self._all.getvalue(), ensure_ascii=False)}}}'
        if self._want is _Want.OBJECT:
            return "{" + member
        quote = '"' if self._want is _Want.IN_STRING else ""
        return quote + "".join(reversed(self._open[1:])) + (", " if self._has_members else "") + member

    def _scan(self, text: str) -> tuple[int, int | None]:
        """Walk over ``text``; return how far it went, and up to where the text may be sent, if anywhere."""
        pos, length = 0, len(text)
        safe: int | None = None
        while True:
            want = self._want
            if want is _Want.IN_STRING or want is _Want.IN_KEY:
                pos = _end(_in_string(text, pos))
                if want is _Want.IN_STRING:
                    safe = pos
                if pos == length or _unfinished_escape(text, pos):
                    return pos, safe
                if text[pos] != '"':
                    break
                pos += 1
                if want is _Want.IN_STRING:
                    self._want, safe = _Want.NEXT, pos
                else:
                    self._want = _Want.COLON
                continue
            if want is _Want.IN_SCALAR:
                start, pos = pos, _end(_in_scalar(text, pos))
                self._scalar.append(text[start:pos])
                if pos == length:
                    return pos, safe
                if not _is_scalar("".join(self._scalar)):
                    break
                self._scalar.clear()
                self._want, safe = _Want.NEXT, pos
                self._has_members = True
                continue
            pos = _end(_space(text, pos))
            if pos == length:
                return pos, safe
            char = text[pos]
            if not self._step(char):
                break
            if self._want is _Want.IN_SCALAR:
                continue  # its first character belongs to it
            pos += 1
            if self._want is not _Want.NOTHING and (char in "{[]}" or self._want is _Want.IN_STRING):
                safe = pos
        self._broken = True
        return pos, safe

    def _step(self, char: str) -> bool:
        """Take the character of a token outside strings, numbers and literals; return whether it may stand here."""
        want = self._want
        if want in (_Want.VALUE, _Want.FIRST_VALUE) and not (char == "]" and want is _Want.FIRST_VALUE):
            return self._begin_value(char)
        if want is _Want.OBJECT and char == "{":
            return self._begin_container(_Want.FIRST_KEY, "}")
        if want in (_Want.KEY, _Want.FIRST_KEY) and char == '"':
            self._want = _Want.IN_KEY
        elif want is _Want.COLON and char == ":":
            self._want = _Want.VALUE
        elif want is _Want.NEXT and char == ",":
            self._want = _Want.KEY if self._open[-1] == "}" else _Want.VALUE
        elif want in (_Want.NEXT, _Want.FIRST_KEY, _Want.FIRST_VALUE) and char == self._open[-1]:
            if len(self._open) == 1:
                self._want = _Want.NOTHING  # the last brace waits: another member may have to come
            else:
                self._open.pop()
                self._want = _Want.NEXT
        else:
            return False
        return True

    def _begin_value(self, char: str) -> bool:
        if char == '"':
            self._want = _Want.IN_STRING
            self._has_members = True
            return True
        if char == "{":
            return self._begin_container(_Want.FIRST_KEY, "}")
        if char == "[":
            return self._begin_container(_Want.FIRST_VALUE, "]")
        self._want = _Want.IN_SCALAR
        return char.isascii() and (char.isalnum() or char == "-")

    def _begin_container(self, want: _Want, closer: str) -> bool:
        if len(self._open) == _MAX_DEPTH:
            return False
        self._has_members = bool(self._open)
        self._open.append(closer)
        self._want = want
        return True


def tool_input(joined: str) -> dict[str, Any]:
    """Decode the arguments of a call, joined from what :class:`StrictObject` sent.

    A client wants an object. Where the model wrote none, or one that is cut off, the text as it wrote it is the only
    member, :data:`INVALID_JSON`: with the members that could be read beside it, a tool would run with half of its
    arguments. No text at all is an empty object.
    """
    if not joined.strip(" \t\n\r"):
        return {}
    try:
        value = _decode(joined)
    except (ValueError, RecursionError):
        return {INVALID_JSON: joined}
    text = value.get(INVALID_JSON)
    if isinstance(text, str) and _sent_for(text) == joined:
        return {INVALID_JSON: text}
    return value


def _decode(text: str) -> dict[str, Any]:
    checker = StrictObject()
    checker.feed(text)
    if not checker.complete:
        raise ValueError("not one JSON object")
    value: dict[str, Any] = json.loads(text, parse_float=_finite)
    return value


def _sent_for(text: str) -> str:
    sender = StrictObject()
    return sender.feed(text) + sender.finish()


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is beyond what a JSON encoder can write again")
    return number


def _is_scalar(text: str) -> bool:
    return len(text) <= _MAX_DIGITS and _scalar(text) is not None


def _may_go_on(scalar: str) -> bool:
    if _unfinished_number(scalar):
        return len(scalar) <= _MAX_DIGITS
    return any(word.startswith(scalar) for word in ("true", "false", "null"))


def _end(found: re.Match[str] | None) -> int:
    assert found is not None  # the pattern matches the empty text
    return found.end()
