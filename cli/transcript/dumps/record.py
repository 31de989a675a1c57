"""Our own normal form: one recorded chunk a line, or a bare list of token ids.

An object with any of ``text``, ``token_id``, ``token_ids``, ``logprobs`` and ``finish_reason``; ``choice`` names the
response among several, ``prompt_token_ids`` are the ids before it. Owns that format, in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from unspool.parsers.chat_runner import EngineOutput

from .fields import checked_ids, request_id, string, token_ids
from .pieces import Piece, Shape

KEYS = ("text", "token_id", "token_ids", "logprobs", "finish_reason")
"""Keys of which a record has at least one; others are ignored."""


def to_record(output: EngineOutput, choice: str | None, prompt_token_ids: list[int] | None) -> dict[str, Any]:
    """One chunk as a record.

    Args:
        output: the chunk.
        choice: the response's label, where there are several.
        prompt_token_ids: for the first chunk of a response only.
    """
    record: dict[str, Any] = {} if choice is None else {"choice": choice}
    if prompt_token_ids:
        record["prompt_token_ids"] = prompt_token_ids
    record["text"] = output.text
    if output.token_ids:
        record["token_ids"] = output.token_ids
    if output.logprobs is not None:
        record["logprobs"] = output.logprobs
    if output.finish_reason is not None:
        record["finish_reason"] = output.finish_reason
    return record


def read_plain(lines: list[bytes]) -> list[EngineOutput] | None:
    """Read lines that are records with text, perhaps ids and logprobs, and nothing else, as nearly all of a stream are.

    Returns:
        Their chunks; ``None`` where one line is anything else or wrong, which is for :data:`SHAPE` to say.
    """
    # One list is parsed faster than many objects. No string of JSON can hold the newline, so each line begins one; as
    # what is kept has none inside, these are the records, and each the only one of its line if the numbers agree.
    # Only lines made to fool this, with two halves of a record that repeat a key and two records in a third, get past.
    joined = b"[\n%b]" % b",\n".join(lines)
    if joined.count(b"\n{") != len(lines):
        return None
    outputs: list[EngineOutput] = []
    all_ids: list[Any] = []
    try:
        for value in orjson.loads(joined):
            if type(value) is not dict or type(text := value.get("text")) is not str:
                return None
            ids, logprobs = value.get("token_ids"), None
            read = 2  # members of the record that are read here
            if ids is None:
                ids = [] if (single := value.get("token_id")) is None else [single]
                read = 1 + len(ids)
            elif type(ids) is not list:
                return None
            if len(value) > read:
                logprobs = value.get("logprobs")
                if logprobs is not None:
                    read += 1
                if len(value) > read and _members(value) > read:
                    return None
            all_ids += ids
            outputs.append(EngineOutput(text, ids, logprobs))
        checked_ids(all_ids, "token_ids")  # in one go: there is mostly one a record
    except ValueError:
        return None
    return outputs if len(outputs) == len(lines) else None


def _members(value: dict[str, Any]) -> int:
    """How many members there are but for those that are null, as some write what there isn't."""
    return sum(member is not None for member in value.values())


def _fits(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(type(item) is int for item in value)
    return isinstance(value, dict) and any(key in value for key in KEYS)


def _read(value: Any) -> Iterator[Piece]:
    if isinstance(value, list):
        yield Piece(token_ids=checked_ids(value, "a bare list"))
        return
    if not any(key in value for key in KEYS):
        raise ValueError(f"none of the keys {', '.join(KEYS)} is there")
    yield Piece(
        string(value, "text"),
        _ids(value),
        value.get("logprobs"),
        string(value, "finish_reason"),
        request_id(value, "choice"),
        prompt_token_ids=token_ids(value, "prompt_token_ids"),
    )


def _ids(value: dict[str, Any]) -> list[int] | None:
    single = value.get("token_id")
    ids = token_ids(value, "token_ids")
    if single is None:
        return ids
    one = checked_ids([single], "token_id")
    if ids is not None and ids != one:
        raise ValueError("token_id and token_ids contradict each other")
    return one


SHAPE = Shape(
    "jsonl",
    "a token stream",
    ", ".join(KEYS[:-1]) + f" or {KEYS[-1]}",
    _fits,
    _read,
    one_line=True,
    ends=False,
    own_ids=True,
)
