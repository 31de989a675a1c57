"""Whether what a parser reconstructs is right: the same for every cut, and what the transcript was made of.

Owns the comparison and its wording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from unspool.parsers import MessageBuilder, ParsedResponse

from .transcripts import Message, NewParser, Sample

_SHOWN = 40  # characters of a value, from where it differs


def find_wrong(sample: Sample, cuts: Mapping[str, Sequence[str]]) -> str:
    """Say what is wrong with the first reconstruction that is, or ``""``.

    Args:
        sample: the transcript.
        cuts: its chunks, by what a report calls the cut.
    """
    try:
        whole = sample.new_parser().parse_complete(sample.text)
    except Exception as problem:  # a plug-in's own
        return f"parse_complete raises {type(problem).__name__}: {problem}"
    difference = "" if sample.expected is None else _from_message(sample.expected, whole)
    if difference:
        return f"parse_complete gives another message than was written: {difference}"
    for name, chunks in cuts.items():
        try:
            streamed = _streamed(sample.new_parser, chunks)
        except Exception as problem:  # likewise
            return f"in chunks of {name} it raises {type(problem).__name__}: {problem}"
        difference = _first(_pairs(whole, streamed))
        if difference:
            return f"in chunks of {name} it gives another message than parse_complete: {difference}"
    return ""


def _streamed(new_parser: NewParser, chunks: Iterable[str]) -> ParsedResponse:
    parser, builder = new_parser(), MessageBuilder()
    for chunk in chunks:
        for delta, _ in parser.stream_chunk(chunk, ()):
            builder.add(delta)
    for delta, _ in parser.stream_chunk("", (), True):
        builder.add(delta)
    return builder.build()


def _from_message(expected: Message, found: ParsedResponse) -> str:
    difference = _first(
        [
            ("reasoning", expected.reasoning, found.reasoning_content or ""),
            ("content", expected.content, found.content or ""),
            ("calls", _names(name for name, _ in expected.calls), _names(call.name for call in found.tool_calls)),
        ]
    )
    if difference:
        return difference
    for number, ((_, arguments), call) in enumerate(zip(expected.calls, found.tool_calls, strict=True)):
        try:
            value = json.loads(call.arguments)
        except ValueError as problem:
            return f"the arguments of call {number} are no JSON: {problem}"
        if value != arguments:
            return _first([(f"arguments of call {number}", json.dumps(arguments), json.dumps(value))]) or "types differ"
    return ""


def _pairs(one: ParsedResponse, other: ParsedResponse) -> Iterator[tuple[str, str, str]]:
    yield "reasoning", one.reasoning_content or "", other.reasoning_content or ""
    yield "content", one.content or "", other.content or ""
    calls = [[f"{call.name} {call.id} {call.arguments}" for call in each.tool_calls] for each in (one, other)]
    yield "number of calls", str(len(calls[0])), str(len(calls[1]))
    for number, (before, after) in enumerate(zip(*calls, strict=False)):
        yield f"call {number}", before, after


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _first(pairs: Iterable[tuple[str, str, str]]) -> str:
    """The first difference in words, or ``""``."""
    for label, expected, found in pairs:
        if expected != found:
            letters = enumerate(zip(expected, found, strict=False))
            at = next((at for at, (a, b) in letters if a != b), min(len(expected), len(found)))
            wanted, got = expected[at : at + _SHOWN], found[at : at + _SHOWN]
            return f"{label} differs from character {at:,} on: {got!r} instead of {wanted!r}"
    return ""
