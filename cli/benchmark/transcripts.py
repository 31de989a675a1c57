"""Transcripts to measure with, written in a parser's own grammar by the parser itself.

Owns what the responses hold and how long they are. How a format spells them is the parser's ``write_response``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from typing import Any

from unspool.parsers import ChatRequest, ResponseParser

NewParser = Callable[[], ResponseParser]
NewParserFor = Callable[[ChatRequest], NewParser]

_PROBE = 4_000  # characters of the values that tell how much a format adds to them
_ROUND = 8_000  # characters of a usual response

_PROSE = (
    "The question is which of three towns stays dry on Saturday, so I need a forecast for each of them.\n\n"
    "If the first one has rain < 1 mm I can stop there; else I compare the others [they lie on the coast], "
    'and "dry" means less than 3 mm a day. The train takes 4 hours and 10 minutes, which is fine for a day trip. '
    "Nothing was said about the way back; I will mention the last departure, as far as the timetable has it.\n"
)
_CODE = (
    "def report(rows, limit=100):\n"
    "    total = sum(row.amount for row in rows)\n"
    '    if total < limit and rows[0].name == "Oslo":\n'
    "        return {'total': total, 'late': [row for row in rows if row.late]}\n"
    "    for row in sorted(rows, key=lambda row: row.day):\n"
    '        print(f"{row.day}: {row.amount:>8} {row.name}")\n'
    "    return None\n\n"
)
_VALUES = ("Oslo", 17, True, "2026-03-01", 2.5, "a note of a few words")
_WORDS = ("rain", "train", "9:40", "north side", "Bodø", "a < b", "return ticket", "")
_PLACES = ("Oslo", "Bergen", "Bodø", "Voss")
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}


@dataclass(frozen=True, slots=True)
class Message:
    """What has to come out of a parser."""

    reasoning: str = ""
    content: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A transcript.

    Attributes:
        text: what the model wrote.
        new_parser: makes the parser for it; its request has the tools.
        expected: what comes out; ``None`` where nobody knows.
    """

    text: str
    new_parser: NewParser
    expected: Message | None


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of response, of any length.

    Attributes:
        name: what a report calls it.
        make: a response whose texts and values have about so many characters.
    """

    name: str
    make: Callable[[int], Message]


def _filled(block: str, size: int) -> str:
    """``block`` over and over, ``size`` characters that end in no white space."""
    return (block * (size // len(block) + 1))[: max(size - 1, 0)] + "."


def _response(size: int) -> Message:
    """What models answer in an agent: they think, say a little, make small calls and write a file."""
    rounds = max(size // _ROUND, 1)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_weather", {"city": "Bodø", "days": 3, "unit": "celsius"}),
        ("record", dict(zip(("title", "count", "done", "day"), _VALUES, strict=False))),
        ("write_file", {"path": "report.py", "text": _filled(_CODE, size // rounds * 5 // 16)}),
    ]
    return Message(_filled(_PROSE, size * 3 // 8), _filled(_PROSE, size // 8), calls * rounds)


def _short_values(size: int) -> Message:
    names = (f"field_{number}" for number in range(max(size // 10, 1)))
    return Message(calls=[("record", dict(zip(names, cycle(_VALUES), strict=False)))])


def _short_strings(size: int) -> Message:
    return Message(calls=[("tag", {"words": list(islice(cycle(_WORDS), max(size // 6, 1)))})])


def _many_calls(size: int) -> Message:
    days = range(1, max(size // 10, 1) + 1)
    return Message(calls=[("get_weather", {"city": _PLACES[day % 4], "days": day % 14}) for day in days])


SHAPES = (
    Shape("response", _response),
    Shape("content", lambda size: Message(content=_filled(_PROSE, size))),
    Shape("long reasoning", lambda size: Message(reasoning=_filled(_PROSE, size), content="It stays dry in Voss.")),
    Shape("short values", _short_values),
    Shape("long value", lambda size: Message(calls=[("write_file", {"path": "a.py", "text": _filled(_CODE, size)})])),
    Shape("many short strings", _short_strings),
    Shape("many calls", _many_calls),
)


def written(shape: Shape, size: int, new_parser_for: NewParserFor) -> Sample:
    """A transcript of about ``size`` characters, markup included.

    Raises:
        NotImplementedError: the format has no such responses, or doesn't say how it writes them.
    """
    probe = len(_write(shape.make(_PROBE), new_parser_for).text)
    return _write(shape.make(max(size * _PROBE // probe, 1)), new_parser_for)


def _write(message: Message, new_parser_for: NewParserFor) -> Sample:
    new_parser = new_parser_for(ChatRequest(tools=_tools(message)))
    parser = new_parser()
    text, message = _written(message, parser)
    if message.content and parser.reasoning is not None and parser.reasoning.content_prefix:
        message = Message(message.reasoning, parser.reasoning.content_prefix + message.content, message.calls)
    return Sample(text, new_parser, message)


def _written(message: Message, parser: ResponseParser) -> tuple[str, Message]:
    """The text of a message; of one that has everything as much as the parser can read."""
    ways = [message]
    if message.reasoning and message.calls:
        ways += [
            replace(message, reasoning=""),
            replace(message, content=""),
            replace(message, reasoning="", content=""),
            replace(message, calls=()),
        ]
    *ways, last = ways
    for way in ways:
        with suppress(NotImplementedError):
            return parser.write_response(way.reasoning, way.content, way.calls), way
    return parser.write_response(last.reasoning, last.content, last.calls), last


def _tools(message: Message) -> list[dict[str, Any]]:
    """Tools whose schemas fit the calls."""
    found = dict(message.calls)
    return [
        {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": _TYPES[type(value)]} for key, value in arguments.items()},
            },
        }
        for name, arguments in found.items()
    ]


@dataclass(frozen=True, slots=True)
class Case:
    """One transcript to measure, at any length.

    Attributes:
        name: of its shape.
        base: what is verified and measured in every chunk size.
        at: the like of it with so many characters.
    """

    name: str
    base: Sample
    at: Callable[[int], Sample]


def written_case(shape: Shape, size: int, new_parser_for: NewParserFor) -> Case:
    """A case that the parser writes; raises as :func:`written` does."""
    return Case(
        shape.name, written(shape, size, new_parser_for), partial(written, shape, new_parser_for=new_parser_for)
    )


def given_case(name: str, text: str, new_parser_for: NewParserFor) -> Case:
    """A case of a given text, which grows by being repeated: what comes out is unknown then, but not the cost."""
    new_parser = new_parser_for(ChatRequest())

    def at(size: int) -> Sample:
        return Sample((text * (size // len(text) + 1))[:size], new_parser, None)

    return Case(name, Sample(text, new_parser, None), at)
