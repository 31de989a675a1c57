"""The promises that a check puts to the test, by the stable names that reports carry, and those of single deltas.

Owns what a sequence of deltas must look like, whatever the text. What the deltas add up to is ``observe``'s business,
what became of the text ``conservation``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from unspool.parsers import DeltaMessage, DeltaToolCall

INVARIANTS: dict[str, str] = {
    "never-raises": "the parser raises nothing, whatever the model wrote",
    "well-formed": "a delta has exactly one channel, something in it, and the right flag",
    "identity-first": "the first delta of a call has its id, type and name",
    "consecutive-indexes": "calls are numbered from 0 without a gap",
    "no-retraction": "what was sent stays sent: no identity or earlier call again, no delta or diagnostic changed",
    "same-result": "every cut gives the message and the diagnostics that parse_complete gives",
    "conservation": "every character is markup, reasoning, content, part of a call, or named in a diagnostic",
}
"""Every invariant with the sentence that documents it. A finding of one further up may explain those below."""

CHANNELS = ("reasoning", "content", "tool_calls")


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken promise.

    Attributes:
        invariant: a key of :data:`INVARIANTS`.
        message: what happened, for a person; it may quote the model.
    """

    invariant: str
    message: str


class DeltaRules:
    """Judges deltas one by one, in the order in which they come."""

    def __init__(self) -> None:
        self._known: set[int] = set()  # indexes of the calls so far
        self._current = -1  # index of the call that came last

    def judge(self, delta: Any, emitted: Any) -> Iterable[Violation]:
        """Say what is wrong with the next delta; quickly where it is text and nothing is."""
        if type(delta) is not DeltaMessage:
            if isinstance(delta, DeltaMessage):
                return self._judge_delta(delta, emitted)
            return (Violation("well-formed", f"no DeltaMessage: {_shown(delta)}"),)
        content, reasoning, calls = delta.content, delta.reasoning_content, delta.tool_calls
        if emitted is False and calls is None and (content is None) is not (reasoning is None):
            text = reasoning if content is None else content
            if text and type(text) is str:
                return ()
        return self._judge_delta(delta, emitted)

    def _judge_delta(self, delta: DeltaMessage, emitted: Any) -> Iterator[Violation]:
        values = dict(zip(CHANNELS, (delta.reasoning_content, delta.content, delta.tool_calls), strict=True))
        used = [name for name, value in values.items() if value is not None]
        if len(used) != 1:
            yield Violation("well-formed", f"not exactly one channel in {_shown(delta)}")
        for name in used:
            if not values[name]:
                yield Violation("well-formed", f"nothing in the {name} of {_shown(delta)}")
        if emitted is not bool(delta.tool_calls):
            yield Violation("well-formed", f"the flag of {_shown(delta)} is {_shown(emitted)}")
        for text in (delta.content, delta.reasoning_content):
            if not isinstance(text, str | None):
                yield Violation("well-formed", f"text that is no string in {_shown(delta)}")
        for call in delta.tool_calls or ():
            yield from self._judge_call(call)

    def _judge_call(self, call: Any) -> Iterator[Violation]:
        if not isinstance(call, DeltaToolCall):
            yield Violation("well-formed", f"no DeltaToolCall: {_shown(call)}")
            return
        arguments, index = call.arguments, call.index
        if arguments is not None and not isinstance(arguments, str):
            yield Violation("well-formed", f"arguments that are no string in {_shown(call)}")
        if not isinstance(index, int):
            yield Violation("consecutive-indexes", f"the index of {_shown(call)} is no number")
        elif index not in self._known:
            if index != len(self._known):
                yield Violation("consecutive-indexes", f"call {index} where {len(self._known)} comes next")
            self._known.add(index)
            self._current = index
            if not (_is_text(call.id) and _is_text(call.name) and call.type == "function"):
                yield Violation("identity-first", f"the first delta of a call is {_shown(call)}")
        else:
            if not (call.id is call.name is call.type is None):
                yield Violation("no-retraction", f"the identity of call {index} comes again: {_shown(call)}")
            elif not arguments:
                yield Violation("well-formed", f"nothing in {_shown(call)}")
            if index != self._current:
                yield Violation("no-retraction", f"call {index} goes on after call {self._current} has begun")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 160 else f"{shown[:157]}..."
