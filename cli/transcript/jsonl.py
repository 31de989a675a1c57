"""JSON lines to engine chunks: one recorded chunk a line.

A line is an object with any of ``text``, ``token_id``, ``token_ids``, ``logprobs`` and ``finish_reason``, or a bare
list of token ids. Owns that format and what is wrong with a line; the dump formats of engines are other readers'
business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import IncrementalDecoder, TextTokenizer

from .errors import TranscriptError
from .surrogates import SurrogateJoiner

KEYS = ("text", "token_id", "token_ids", "logprobs", "finish_reason")
"""Keys of which a record has at least one; others are ignored."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_ID = 2**32 - 1  # ids are unsigned 32 bit numbers in every tokenizer library
_PERHAPS_BEYOND_64_BIT = re.compile(rb"[\s:,\[-]\d{19}")  # orjson would make these floats
_RECENT = 8  # ids kept as context for decoding those that come without text


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read.

    Attributes:
        line_number: from one.
        reason: what is wrong with it, for a person.
    """

    line_number: int
    reason: str


class Record(NamedTuple):
    """One line, checked. ``None`` means that the line does not say."""

    text: str | None = None
    token_ids: list[int] | None = None
    logprobs: Any = None
    finish_reason: str | None = None


def load_json(line: bytes) -> Any:
    """Parse one line of JSON, also where it has NaN, halves of characters, bad UTF-8 or integers beyond 64 bit.

    Raises:
        ValueError: it is no JSON.
    """
    if not _PERHAPS_BEYOND_64_BIT.search(line):
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError:
            pass  # orjson is fast and strict; the standard library decides
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError("not readable: nested too deeply") from error


def parse_record(line: bytes) -> Record:
    """Read and check one line.

    Raises:
        ValueError: it is no record; the message says why.
    """
    value = load_json(line)
    if isinstance(value, list):
        return Record(token_ids=_ids(value, "a bare list"))
    if not isinstance(value, dict):
        raise ValueError(f"expected an object or a list of token ids, found {_shown(value)}")
    if not any(key in value for key in KEYS):
        raise ValueError(f"none of the keys {', '.join(KEYS)} is there")
    text, finish_reason = (_string(value, key) for key in ("text", "finish_reason"))
    return Record(text, _record_ids(value), value.get("logprobs"), finish_reason)


def read_records(
    lines: Iterable[bytes],
    *,
    name: str,
    tokenizer: TextTokenizer | None,
    on_warning: Callable[[str], None],
    on_bad_line: Callable[[BadLine], None],
) -> Iterator[EngineOutput]:
    r"""Read records, each as soon as its line is there.

    Args:
        lines: the input's lines without ``\n``; blank ones are skipped, byte order marks and ``\r`` are tolerated.
        name: what messages call the input.
        tokenizer: decodes ids that come without text, special tokens spelled out.
        on_warning: called where bytes or halves of characters had to be replaced, once for the input.
        on_bad_line: called with each line that is no record; the lines around it still count.

    Raises:
        TranscriptError: there are ids without text and no tokenizer.
    """
    decoder = _RecordDecoder(tokenizer)
    warned = False
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(_BYTE_ORDER_MARK).strip()
        if not line:
            continue
        try:
            record = parse_record(line)
        except ValueError as error:
            on_bad_line(BadLine(number, str(error)))
            continue
        if record.text is None and record.token_ids and tokenizer is None:
            raise TranscriptError(
                f"{name}:{number}: token ids without text: pass --tokenizer DIR to decode them, or --input-format text"
                " if this is no token stream"
            )
        output = decoder.decode(record)
        if not warned and (decoder.surrogates.replaced or not _is_utf8(line)):
            warned = True
            on_warning(f"{name}:{number}: text that is no valid Unicode; such characters are shown as U+FFFD")
        yield output
    if rest := decoder.flush():
        yield EngineOutput(rest)


class _RecordDecoder:
    """Gives every record its text.

    Recorded text wins over decoding; ids beside it still are the context for ids that come without.
    """

    def __init__(self, tokenizer: TextTokenizer | None) -> None:
        self.surrogates = SurrogateJoiner()
        self._tokenizer = tokenizer
        self._decoder: IncrementalDecoder | None = None
        self._recent: list[int] = []

    def decode(self, record: Record) -> EngineOutput:
        ids = record.token_ids or []
        if record.text is not None:
            text = self._end_decoding() + record.text
        elif ids and self._tokenizer is not None:
            self._decoder = self._decoder or IncrementalDecoder(self._tokenizer, self._recent)
            # One id at a time, so that only a character's own tokens are held back, however long the record is.
            text = "".join(self._decoder.step([token_id]) for token_id in ids)
        else:
            text = ""
        self._recent = [*self._recent, *ids][-_RECENT:]
        ended = record.finish_reason is not None
        if ended:  # text after the finish reason would come too late
            text += self._end_decoding()
        return EngineOutput(self.surrogates.feed(text, final=ended), ids, record.logprobs, record.finish_reason)

    def flush(self) -> str:
        return self.surrogates.feed(self._end_decoding(), final=True)

    def _end_decoding(self) -> str:
        decoder, self._decoder = self._decoder, None
        return decoder.flush() if decoder else ""


def _record_ids(value: dict[str, Any]) -> list[int] | None:
    single, several = value.get("token_id"), value.get("token_ids")
    if several is not None and not isinstance(several, list):
        raise ValueError(f"token_ids must be a list of token ids, found {_shown(several)}")
    ids = None if several is None else _ids(several, "token_ids")
    if single is None:
        return ids
    one = _ids([single], "token_id")
    if ids is not None and ids != one:
        raise ValueError("token_id and token_ids contradict each other")
    return one


def _ids(values: list[Any], where: str) -> list[int]:
    for value in values:
        if type(value) is not int or not 0 <= value <= _MAX_ID:  # bool is an int, but no id
            raise ValueError(f"{where} must have token ids (integers from 0), found {_shown(value)}")
    return values


def _string(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise ValueError(f"{key} must be a string, found {_shown(found)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
