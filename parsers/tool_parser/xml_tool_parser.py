"""Calls written as tags: a function, then arguments whose values end at a closing tag (R32 to R35).

Owns the state of the walk, where values end, and the JSON object that they become. What a tag looks like is a dialect's
business: it recognises syntax through three hooks and keeps no state.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, Literal

from ..json_schema import argument_types
from ..json_string import quote
from ..markers import Boundaries, marker_scanner, tails, tails_pattern
from ..messages import DeltaToolCall
from .argument_value import ArgumentValue
from .tool_parser import ToolParser
from .undecided import NOTHING, Undecided

LOOKAHEAD = 1024
"""Characters that are held, at most, to judge one tag: what needs more is not what it looks like."""

_SPACES = ("", "\n", " ", "\r\n", "\n\n")
_WHITE_SPACE = re.compile(r"\s*+")
_MISSPELT_TAIL = re.compile(r"[^<>\s]{0,8}>")  # after a closing tag's name: `</parameter1>` means `</parameter>`
_UNFINISHED_TAIL = re.compile(r"[^<>\s]{0,8}")


@lru_cache(maxsize=256)
def _unfinished_tag(tags: tuple[str, ...], head: str, boundaries: Boundaries) -> Callable[..., object]:
    """Matches what may become one of ``tags``, or ``head``, where it has come as far as the end of the text."""
    return re.compile(rf"\s{{0,32}}+(?:{head}\Z|{tails_pattern(tags, boundaries)})").match


@lru_cache(maxsize=256)
def _unfinished_function(
    openers: tuple[str, ...], close_tags: tuple[str, ...], boundaries: Boundaries
) -> Callable[..., object]:
    """Matches what may become a function's head, or a tag that closes the block."""
    head = rf"(?:{'|'.join(map(re.escape, openers))})[^<>\n]{{0,128}}" if openers else NOTHING
    return _unfinished_tag(openers + close_tags, head, boundaries)


@lru_cache(maxsize=256)
def _unfinished_close(markers: tuple[str, ...], followers: tuple[str, ...], boundaries: Boundaries) -> Undecided:
    """True for what may become one of ``markers``, and for the first of them with what may become a follower of it.

    These are the usual ones, among which to look one up is faster than a pattern.
    """
    followed = ("", *tails(followers))  # what follows is judged at every character
    closes = (f"{markers[0]}>{space}{follower}" for space in _SPACES for follower in followed)
    return frozenset((*tails(markers, boundaries), markers[0], *closes)).__contains__


@lru_cache(maxsize=64)
def _value_close(
    tag: str, argument: str, end: str, followers: tuple[str, ...]
) -> Callable[[str, int], re.Match[str] | None]:
    """Matches a closing tag in the common case: what may follow it does, after a little white space.

    An argument in its usual form is matched up to its value, the function's end as the group ``end``, of other
    followers nothing.
    """
    usual, others = rf"{argument}|(?P<end>{end})", "|".join(map(re.escape, followers))
    return re.compile(rf"{re.escape(tag)}(?:\s{{0,64}}+(?:{usual})|(?=\s{{0,64}}+(?:{others})))").match


@lru_cache(maxsize=64)
def _usual_head(argument: str) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(rf"\s*+{argument}").match


class XmlParseState(Enum):
    """Where the walk is: function -> arg_start -> arg_name -> arg_value -> arg_start ... -> done."""

    FUNCTION = "function"
    ARG_START = "arg_start"
    ARG_NAME = "arg_name"
    ARG_VALUE = "arg_value"


FUNCTION, ARG_START, ARG_NAME, ARG_VALUE = XmlParseState

AfterFunction = tuple[int, str, Literal["arg_start", "done"]]
AfterArgStart = tuple[int, Literal["arg_start", "arg_name", "done"]]


class XmlToolParser(ToolParser):
    """Base of the function-first dialects whose values end at a closing tag.

    Each hook gets the text and a position where no white space stands, and returns what it read and where it stopped,
    or ``None`` where the text ends before that can be told. It must not need more than :data:`LOOKAHEAD` characters.

    Attributes:
        arg_value_close_tag: ends a value, where what follows is in :attr:`value_followers`.
        arg_value_close_prefixes: pieces of that tag that can end a chunk, where the author says so; they are checked.
        value_followers: what the grammar allows after a value, white space aside.
        value_breakers: tags that end a value whose own closing tag is missing, each with what must follow it.
        template_newlines: whether one newline on each side of a value is the template's and not the value's.
        several_functions: whether a block can hold more than one function.
        usual_argument: matches an argument's head, from its tag up to its value, with its name in the first group,
            where it is written as it should be: the hooks then see only what deviates.
        usual_end: a pattern of what ends a function after a value, where the hook would find nothing to report.
        unfinished_argument: matches what an argument may begin with, up to its value, as far as it has come; bounded.
            Such text waits at little cost. A pattern that matches nothing is right too, but slower.
    """

    arg_value_close_tag: ClassVar[str]
    arg_value_close_prefixes: ClassVar[tuple[str, ...] | None] = None
    value_followers: ClassVar[tuple[str, ...]] = ()
    value_breakers: ClassVar[dict[str, tuple[str, ...]]] = {}
    template_newlines: ClassVar[bool] = False
    several_functions: ClassVar[bool] = False
    usual_argument: ClassVar[str] = rf"{NOTHING}()"
    usual_end: ClassVar[str] = NOTHING
    unfinished_argument: ClassVar[str] = NOTHING

    def _set_up(self) -> None:
        super()._set_up()
        boundaries, close_tag, followers = self.boundaries, self.arg_value_close_tag, self.value_followers
        # without its last character, so that a misspelt closing tag is seen too
        markers = (close_tag[:-1], *self.value_breakers)
        self._value_scanner = marker_scanner(markers, boundaries)
        self._streams = self._value_scanner.starts == "<"
        self._value_close = _value_close(close_tag, self.usual_argument, self.usual_end, followers)
        self._unfinished_close = _unfinished_close(markers, followers, boundaries)
        tags = (*followers, close_tag, *self.close_tags)
        self._unfinished_argument = _unfinished_tag(tags, self.unfinished_argument, boundaries)
        self._unfinished_function = _unfinished_function(self.payload_openers, self.close_tags, boundaries)
        self._usual_head = _usual_head(self.usual_argument)
        self._parameters: Mapping[str, Any] = {}
        self._types: dict[str, frozenset[str]] = {}  # declared types of those arguments that have been looked up

    @abstractmethod
    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        """Read the function's head: ``(pos, name, "arg_start" | "done")``."""

    @abstractmethod
    def _consume_arg_start(self, payload: str, pos: int) -> AfterArgStart | None:
        """Read what comes before an argument's name, or the function's end: ``(pos, "arg_name" | "done")``.

        ``"arg_start"`` skips what should not be there; see :meth:`_skip_stray` and :meth:`_end_early`.
        """

    @abstractmethod
    def _consume_arg_name(self, payload: str, pos: int) -> tuple[int, str] | None:
        """Read an argument's name and what stands between it and the value: ``(pos, name)``; no name if broken."""

    @classmethod
    def tags_in_values(cls) -> tuple[str, ...]:
        """Tags that can end a value: in one they are data only where what follows says so."""
        return (cls.arg_value_close_tag[:-1], *cls.value_breakers)

    def _declared_prefixes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from super()._declared_prefixes()
        if self.arg_value_close_prefixes is not None:
            yield self.arg_value_close_tag, self.arg_value_close_prefixes

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _begin_payload(self) -> None:
        self._state = FUNCTION
        self._functions = 0
        self._object_open = False  # whether the opening brace of the arguments is out

    def _undecided_payload(self) -> Undecided | None:
        if self._state is ARG_VALUE:
            return self._unfinished_close
        return self._undecided_function if self._state is FUNCTION else self._unfinished_argument

    def piece_before_tail(self, text: str) -> tuple[str, int] | None:
        value = self._streamed
        if value is None or self.call_index < 0:
            return super().piece_before_tail(text)
        end = text.find("<")
        if end < 0 or not self._unfinished_close(text[end:]):
            return None
        return value.add(text[:end]) if end else "", end

    def _undecided_function(self, text: str) -> object:
        """Whether ``text`` may become another function of this block, or the next block."""
        return self._undecided_end(text) or self._unfinished_function(text)

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        waiting = False
        while not waiting and not self._payload_closed:
            if self._state is ARG_VALUE:
                pos, waiting = self._consume_value(text, deltas, final, pos)
            elif self._state is ARG_START and (head := self._usual_head(text, pos)) is not None:
                pos = head.end()
                self._begin_value(self._name_in(head), pos)
                waiting = pos == len(text) and not final
            elif self._state is ARG_START and not final and self._unfinished_argument(text, pos):
                waiting = True
            else:
                pos, waiting = self._consume_syntax(text, deltas, final, pos)
        if final and not self._payload_closed and self._passing is None:
            self._end_of_input(text, deltas, pos)
            return len(text)
        return pos

    def _name_in(self, head: re.Match[str]) -> str:
        """The name of the argument that :attr:`usual_argument` found."""
        return head[1]

    def _consume_syntax(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> tuple[int, bool]:
        """Read the tag at ``pos``; return where it ends and whether more text must come."""
        space = _WHITE_SPACE.match(text, pos)
        assert space is not None
        if self._state is FUNCTION and self._functions and space.end() > pos:
            self._held.append(space.group())  # after a function it may be the text's, if the block ends here
        pos = space.end()
        end = self._consume_tag(text, deltas, final, pos) if pos < len(text) else None
        return (pos, True) if end is None else (end, False)

    def _consume_tag(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int | None:
        """Read the tag at ``pos``, where no white space stands; ``None`` where more text must come."""
        if self._state is FUNCTION:
            return self._consume_head(text, deltas, final, pos)
        if self._state is ARG_START:
            started = self._consume_arg_start(text, pos)
            if started is None:
                return None
            end, following = started
            if following == "done":
                self._end_function(deltas)
            elif following == "arg_name":
                self._state = ARG_NAME
            return end
        named = self._consume_arg_name(text, pos)
        if named is None:
            return None
        end, argument = named
        if not argument:
            self._report("payload-malformed", pos, "no argument name here: its value was dropped")
        self._begin_value(argument, end)
        return end

    def _consume_head(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int | None:
        if self._functions:
            another = self._begins_payload(text, pos, final) if self.several_functions else False
            if another is None:
                return None
            if not another:
                if self._is_cut_tag(text, pos):
                    return None
                self._payload_closed = True
                return pos
            self._held.clear()
        head = self._consume_function(text, pos, final)
        if head is None:
            return None
        end, name, following = head
        self._begin_named(name, deltas, pos)
        if following == "done":
            self._end_function(deltas)
        return end

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        self._functions += 1
        self._object_open = False
        self._state = ARG_START
        parameters = self.request.parameters_of(name)
        if parameters is not self._parameters:
            self._parameters, self._types = parameters, {}
        if name:
            self._begin_call(name, deltas, pos)
        else:
            self.call_index = -1
            self._report("call-without-name", pos, "no function name here: the call was dropped")

    def _end_function(self, deltas: list[DeltaToolCall]) -> None:
        self._emit_delta(deltas, "}" if self._object_open else "{}")
        self._object_open = False
        self._state = FUNCTION
        if self.several_functions:
            self._close_before_next_block()
        else:
            self._payload_closed = True

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        """The text ends inside the payload: what was begun is closed, nothing is invented (R16)."""
        if self._state is ARG_VALUE:
            rest = self._argument.cut()
            if rest is None:
                self._report_at("text-dropped", self._value_offset, f"the value of {self._name!r} is not complete")
            else:
                self._emit_value(rest, deltas)
                self._report_finding()
                self._object_open = self._object_open or bool(self._name)
        elif pos < len(text) and not self._is_cut_tag(text, pos):
            if self._state is FUNCTION:
                self._report("call-without-name", pos, f"the function's name is not complete: {text[pos:]!r}")
            else:
                self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete tag")
        if self._object_open:
            self._emit_delta(deltas, "}")
        self._payload_closed = self._state is FUNCTION and pos == len(text)  # the functions are complete

    def _is_cut_tag(self, text: str, pos: int) -> bool:
        """Whether the text ends within a tag: where no more comes that is markup, neither text nor lost."""
        tags = (*self.close_tags, *self.payload_openers)
        if self._state is not FUNCTION:
            tags += self.value_followers
        rest = text[pos : pos + LOOKAHEAD]
        return any(tag.startswith(rest) and tag != rest for tag in tags)

    # -- for the hooks ------------------------------------------------------------------------------------------------

    def _tag_at(self, text: str, pos: int, tags: tuple[str, ...]) -> str | None:
        """Which of ``tags`` stands at ``pos``: ``""`` for none, ``None`` where one may yet."""
        for tag in tags:
            if text.startswith(tag, pos):
                return tag
        rest = text[pos : pos + LOOKAHEAD]
        return None if any(tag.startswith(rest) for tag in tags) else ""

    def _skip_stray(self, tag: str, pos: int) -> AfterArgStart:
        """A closing tag that closes nothing stands between arguments."""
        self._report("stray-close-tag", pos, f"{tag!r} closes nothing here")
        return pos + len(tag), "arg_start"

    def _end_early(self, tag: str, pos: int, expected: str) -> AfterArgStart:
        """The function ends without its own closing tag, at a tag that ends more than that, or at what is no tag."""
        if tag:
            self._report("close-tag-missing", pos, f"{expected!r} expected before {tag!r}")
        else:
            self._report("payload-malformed", pos, f"an argument or {expected!r} expected here")
        return pos, "done"

    # -- values -------------------------------------------------------------------------------------------------------

    def _argument_value(self, name: str, key: str) -> ArgumentValue:
        """What collects the value of an argument; a dialect that writes types on the wire overrides it."""
        return ArgumentValue(self._declared_types(name), self.template_newlines, key)

    def _declared_types(self, name: str) -> frozenset[str]:
        types = self._types.get(name)
        if types is None:
            types = self._types[name] = argument_types(self._parameters, name)
        return types

    def _begin_value(self, name: str, pos: int) -> None:
        self._state = ARG_VALUE
        self._name = name
        self._argument = self._argument_value(name, f"{', ' if self._object_open else '{'}{quote(name)}: ")
        self._value_offset = self.base_offset + pos
        self._streamed = self._argument if name and self._streams else None

    def _emit_value(self, piece: str, deltas: list[DeltaToolCall]) -> None:
        """Emit JSON text of the value at hand; that of an argument without a name is dropped."""
        if self._name:
            self._emit_delta(deltas, piece)

    def _consume_value(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> tuple[int, bool]:
        """Go on with the value at ``pos``; return where it stopped and whether more text must come."""
        if text.startswith(self.arg_value_close_tag, pos) and (close := self._value_close(text, pos)) is not None:
            start = close.end()
            self._end_value(deltas)
            if close.lastindex is None:  # what follows is a tag, but perhaps not all of it
                return start, not final and text.find(">", start) < 0
            if close.lastgroup == "end":
                self._end_function(deltas)
                return start, False
            self._begin_value(self._name_in(close), start)
            return start, not final and start == len(text)
        scanner = self._value_scanner
        match = scanner.search_final(text, pos) if final else scanner.search(text, pos)
        start = len(text) if match is None else match.start()
        if start > pos:
            piece = self._argument.add(text[pos:start])
            if piece:
                self._emit_value(piece, deltas)
        if match is None or match.lastindex is None:
            return start, True
        if start > pos:
            return start, False
        end = self._value_end(text, start, match.group(), final)
        if end is None:
            return start, True
        if end < 0:  # the tag is part of the value
            self._emit_value(self._argument.add(text[start]), deltas)
            return start + 1, False
        self._end_value(deltas)
        return end, False

    def _end_value(self, deltas: list[DeltaToolCall]) -> None:
        rest = self._argument.end()
        if self._name:
            self._emit_delta(deltas, rest)
            self._object_open = True
        self._state = ARG_START
        self._streamed = None
        if self._argument.finding:
            self._report_finding()

    def _report_finding(self) -> None:
        """Report what the end of the value at hand gave rise to."""
        finding = self._argument.finding
        if finding:
            self._report_at(finding, self._value_offset, _FINDINGS[finding].format(self._name))

    def _value_end(self, text: str, start: int, tag: str, final: bool) -> int | None:
        """Judge a tag inside a value that is not its closing tag in the common case.

        Returns:
            Where the walk goes on if the tag ends the value, ``-1`` if it is part of the value, ``None`` where more
            text must come.
        """
        window = text[start : start + LOOKAHEAD]
        at_limit = len(window) == LOOKAHEAD
        if tag in self.value_breakers:
            breaks = self._breaks_value(window, tag, final and not at_limit)
            if breaks is None:
                return -1 if at_limit else None
            if breaks:
                self._report("close-tag-missing", start, f"{self.arg_value_close_tag!r} expected before {tag!r}")
            return start if breaks else -1
        spelt = _MISSPELT_TAIL.match(window, len(tag))
        if spelt is None:
            unfinished = not final and _UNFINISHED_TAIL.fullmatch(window, len(tag))
            return None if unfinished else -1
        follows = self._follows(window, spelt.end(), self.value_followers, final and not at_limit)
        if follows is None:
            return -1 if at_limit else None
        if not follows:
            return -1
        if spelt.group() != ">":
            self._report("token-repaired", start, f"{window[: spelt.end()]!r} was read as {self.arg_value_close_tag!r}")
        return start + spelt.end()

    def _follows(self, window: str, pos: int, followers: tuple[str, ...], final: bool) -> bool | None:
        """Whether one of ``followers``, whole or up to the end of the input, comes at ``pos``, white space aside."""
        space = _WHITE_SPACE.match(window, pos)
        assert space is not None
        pos = space.end()
        if pos == len(window):
            return True if final else None
        if window.startswith(followers, pos):
            return True
        if any(follower.startswith(window[pos:]) for follower in followers):
            return True if final else None  # the input ends within it
        return False

    def _breaks_value(self, window: str, tag: str, final: bool) -> bool | None:
        """Whether ``tag``, with which ``window`` begins, ends a value whose closing tag is missing.

        By default it does where the input ends after it, or where what the grammar allows after it follows.
        """
        return self._follows(window, len(tag), self.value_breakers[tag], final)


_FINDINGS = {
    "arguments-unwrapped": "the value of {!r} was escaped as if it stood in a JSON string: the escapes were taken off",
    "text-dropped": "text after the JSON value of {!r} was dropped",
    "value-unquoted": "the value of {!r} was a JSON string literal: its quotes were taken off",
    "value-uncoerced": "the value of {!r} does not fit its declared type and stays a string",
}
