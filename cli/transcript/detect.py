"""Tells what an input is by its beginning.

Owns the guess and how little it waits for: no more than the first object, and no more than a bounded number of bytes.
Raw model output that happens to be JSON is text: only a recorder and an engine write their keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .dumps import Shape
from .dumps.events import Event, EventReader
from .dumps.formats import shape_of
from .dumps.server_errors import is_only_error
from .errors import TranscriptError
from .json_text import complete_json
from .source import ByteSource

_LIMIT = 1 << 16  # bytes looked at where the first object is longer, or of no known shape
_BEGINNING = 64  # bytes of a line that can tell what it is before its end is there
_TOLERATED = 4  # bytes that are no text in what may still be one; beyond that, one in twenty
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAY_BE_JSON = re.compile(rb"\[\s*(?:\d|\{\s*(?:\"|\Z)|\Z)|\{\s*(?:\"|\Z)")
_MAY_BE_SSE = re.compile(rb":|data:|(?:event|id|retry):")
_FIELDS = (b"data:", b"event:", b"id:", b"retry:")
_SSE_OBJECT = re.compile(rb"(?:\A|[\r\n])data:[ ]?(?:\{|\[DONE\])")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NO_KEYS = "its JSON has no keys of an engine's output"

# How files begin that are often met in place of a text.
_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"PK\x03\x04", "a zip archive"),
    (b"GGUF", "a GGUF model"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text, which must be UTF-8"),
    (b"\xfe\xff", "UTF-16 text, which must be UTF-8"),
)


@dataclass(frozen=True, slots=True)
class Detected:
    """What an input is.

    Attributes:
        is_dump: whether it is JSON objects of an engine, or else text.
        shape: the engine's; ``None`` where that is not known yet.
        why: what it was told by.
    """

    is_dump: bool
    shape: Shape | None
    why: str

    @property
    def name(self) -> str:
        """What ``--input-format`` calls it; ``auto`` where no object had a known shape yet."""
        if not self.is_dump:
            return "text"
        return self.shape.name if self.shape else "auto"


def detect(source: ByteSource) -> Detected:
    """Guess what an input is; nothing of it is lost.

    Args:
        source: the input, at its start.

    Raises:
        TranscriptError: it can't be read.
    """
    judged, ended = 0, False
    while True:
        data = source.peek()
        new = data[judged:]
        # Only the end of a line can tell more than the beginning of one does.
        if ended or len(data) < _BEGINNING or len(data) >= _LIMIT or b"\n" in new or b"\r" in new:
            found = _judge(data, ended)
            if found is not None:
                return found
            judged = len(data)
        ended = not source.read_ahead()


def detect_format(source: ByteSource) -> str:
    """The name of what :func:`detect` finds."""
    return detect(source).name


def check_is_text(data: bytes, name: str) -> None:
    """Refuse what can't be a model's text.

    Args:
        data: the beginning of the input.
        name: what the message calls the input.

    Raises:
        TranscriptError: it is binary data; the message says what was seen.
    """
    if not data:
        return
    sample = data[:_LIMIT]
    for magic, words in _MAGIC:
        if sample.startswith(magic):
            raise TranscriptError(f"{name}: this is {words}; no text, and no dump that is known")
    nulls = sample.count(0)
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd") - sample.count("\ufffd".encode())
    if nulls + broken > _TOLERATED and (nulls + broken) * 20 > len(text):
        start = " ".join(f"{byte:02x}" for byte in sample[:8])
        raise TranscriptError(
            f"{name}: neither text nor a dump that is known: {nulls} null bytes and {broken} that are no UTF-8 among"
            f" the first {len(sample)}, which begin with {start}; --input-format text reads it all the same"
        )


def _judge(data: bytes, ended: bool) -> Detected | None:
    """Say what ``data`` begins; ``None`` where that takes more of it."""
    start = data.removeprefix(_BYTE_ORDER_MARK).lstrip()
    long_enough = ended or len(data) >= _LIMIT
    if not start or _BYTE_ORDER_MARK.startswith(start):
        return Detected(False, None, "nothing but blank space") if long_enough else None
    if _MAY_BE_SSE.match(start) or _MAY_BE_JSON.match(start):
        return _judge_lines(start, ended, long_enough)
    if not long_enough and any(field.startswith(start) for field in _FIELDS):
        return None
    return Detected(False, None, "it does not begin like JSON or server-sent events")


def _judge_lines(start: bytes, ended: bool, long_enough: bool) -> Detected | None:
    """Judge what begins like JSON or like server-sent events."""
    reader = EventReader()
    *lines, rest = _LINE_END.split(start)
    if ended and rest:
        lines.append(rest)
        rest = b""
    may_be_sse = bool(_MAY_BE_SSE.match(start))
    is_dump = False
    for line in lines:
        for item in reader.feed(line):
            if not isinstance(item, Event):
                if not may_be_sse and not is_dump:
                    return Detected(False, None, "its first line is no JSON")
                continue
            shape = shape_of(item.value, lines=item.lines)
            if shape is not None:
                return Detected(True, shape, shape.marks)
            if not item.from_sse and not is_only_error(item.value) and not is_dump:
                return Detected(False, None, _NO_KEYS)
            is_dump = True  # an error, or an object that may come before those of a known shape
        if may_be_sse and not is_dump and line and not _MAY_BE_SSE.match(line):
            return Detected(False, None, "its lines only begin like server-sent events")
    if not long_enough:
        return None
    pending, count = b"\n".join([reader.pending, rest]).strip(), 1
    if rest.startswith(b"data:"):
        pending = rest[5:].strip()
    elif reader.pending:
        count = 2
    value = complete_json(pending) if pending[:1] in (b"{", b"[") and not ended else None
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    shape = None if value is None else shape_of(value, lines=count, cut_off=True)
    if shape is not None:
        return Detected(True, shape, shape.marks)
    if is_dump or (may_be_sse and _SSE_OBJECT.search(start)):
        return Detected(True, None, "JSON objects of no known shape so far")
    return Detected(False, None, _NO_KEYS)
