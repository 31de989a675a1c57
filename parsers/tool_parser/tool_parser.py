"""The contract of every tool parser: one outer tool block, normalised calls (R4, R19 to R27).

Owns the block's delimiters, the identity and the filtering of calls. The grammar inside a block is a subclass's; what
stands around blocks is the response parser's.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from ..diagnostics import Diagnostic
from ..grammar.call_syntax import CallSyntax, calls_format
from ..grammar.formats import Format
from ..grammar.tool_choice import Demand
from ..markers import Boundaries, marker_scanner
from ..messages import DeltaToolCall
from ..registry import Registry
from ..request import ChatRequest
from .argument_value import ArgumentValue
from .json_value_scanner import JsonValueScanner
from .next_block import LONGEST_WAIT, NextBlock, UsualPayload, next_block
from .undecided import Undecided, unfinished
from .writing import FunctionCalls

_WHITE_SPACE = re.compile(r"\s*+")

CallIdFactory = Callable[[int, str], str]
"""Makes the id of a call from its output index and function name."""


class ToolParser(ABC):
    """Parses the tool blocks of one response.

    A subclass declares its tags and implements :meth:`_consume_stream_payload`. The response parser finds an open tag,
    calls :meth:`open_block` and then :meth:`feed_tool_block` until ``block_closed`` or ``block_rejected`` is set.

    Args:
        request: whose tools are exposed.
        boundaries: where chunks can end.
        call_id_factory: makes ids where the model wrote none.

    Attributes:
        description: what the format is for, in one line.
        open_tags: the spellings of the open tag; the first is :meth:`get_tool_open_tag`.
        close_tags: the spellings of the close tag; empty where the format has none.
        payload_openers: what a payload can begin with; an open tag that none of them follows is text.
        bare_openers: payload openers that begin a block anywhere in text, where the model left out the open tag.
        untagged_at_start: whether a call can come without tag where content begins and after another call.
        tag_optional: a call without tag is a usual form of the format, so that no tag is missing there.
        payload_filler: what may stand between open tag and payload.
        separator: what may stand between two blocks without being text (R17).
        usual_payload: how a payload usually begins, which :meth:`join_blocks` needs, along with :meth:`_begin_named`;
            ``None`` is right too, but slower.
        tool_close_prefixes: pieces of the close tag that can end a chunk, where the author says so; they are checked.
        diagnostics: where findings go; the response parser shares its own list.
        call_index: output index of the current call; negative where nothing of it may be emitted.
        base_offset: where the text handed to :meth:`feed_tool_block` stands in the response.
        block_closed: the whole outer block is consumed, or the end of input forced it shut.
        block_rejected: the open tag opened nothing.
        returned_text: what was consumed since the tag, or after the payload, and turned out to be text.
        missing_close_tag: the close tag that the last block ended without, else ``""``.
    """

    description: ClassVar[str] = ""
    open_tags: tuple[str, ...] = ()
    close_tags: tuple[str, ...] = ()
    payload_openers: tuple[str, ...] = ()
    bare_openers: tuple[str, ...] = ()
    untagged_at_start: bool = False
    tag_optional: bool = False
    payload_filler: re.Pattern[str] = re.compile(r"\s*+")
    separator: re.Pattern[str] = re.compile(r"[\r\n]*+")
    usual_payload: ClassVar[UsualPayload | None] = None
    tool_close_prefixes: ClassVar[tuple[str, ...] | None] = None

    def __init__(
        self,
        request: ChatRequest,
        boundaries: Boundaries | None = None,
        call_id_factory: CallIdFactory | None = None,
    ) -> None:
        self.request = request
        self.boundaries = boundaries or Boundaries.characters()
        self.diagnostics: list[Diagnostic] = []
        self.base_offset = 0
        self.block_closed = False
        self.block_rejected = False
        self.returned_text = ""
        self.missing_close_tag = ""
        self._call_id_factory = call_id_factory
        self._allowed_names = request.exposed_names
        self._opening = False  # between the open tag and the payload
        self._tagged = True  # the block has an open tag, so that it must have a close tag too
        self._payload_closed = False
        self._may_go_on = False  # a payload that is closed goes on, if no other block follows it at once
        self._held: list[str] = []  # consumed, but perhaps text after all
        self._block_offset = 0
        self._calls = 0  # accepted so far
        self.call_index = -1
        self._passing: JsonValueScanner | None = None  # walks over a JSON value that goes out verbatim as it comes
        self._streamed: ArgumentValue | None = None  # takes all text up to the next `<`
        if not self.open_tags:
            self.open_tags = (self.get_tool_open_tag(),)
        close_tag = self.get_tool_close_tag()
        if not self.close_tags and close_tag is not None:
            self.close_tags = (close_tag,)
        for tag, declared in self._declared_prefixes():
            self.boundaries.check(tag, declared)
        self.opener_scanner = marker_scanner(self.open_tags + self.bare_openers, self.boundaries)
        self._next_block: NextBlock | None = None  # what is read as part of this one, see join_blocks
        self._undecided_end = unfinished(self.close_tags, self.boundaries)  # which texts only wait behind a payload
        self._set_up()

    def _set_up(self) -> None:  # noqa: B027 - most dialects need nothing
        """Make what a family or a dialect needs; called once, when all of the above is there."""

    # -- what a dialect declares --------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def get_tool_open_tag(cls) -> str:
        """The tag that opens a tool block."""

    @classmethod
    def get_tool_close_tag(cls) -> str | None:
        """The tag that closes a tool block; ``None`` where the payload's own end does."""
        return None

    @classmethod
    def openers(cls) -> tuple[str, ...]:
        """What opens a block: the spellings of the open tag, and what a model writes where it forgot it."""
        return (*(cls.open_tags or (cls.get_tool_open_tag(),)), *cls.bare_openers)

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        """Every tag of the grammar, for people and for tests."""
        close_tag = cls.get_tool_close_tag()
        open_tags = cls.open_tags or (cls.get_tool_open_tag(),)
        close_tags = cls.close_tags or ((close_tag,) if close_tag else ())
        return tuple(dict.fromkeys((*open_tags, *close_tags)))

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        """Write calls as a model of this format does: for documentation, benchmarks and tests.

        Raises:
            NotImplementedError: the dialect doesn't say how.
        """
        raise NotImplementedError(f"{cls.__qualname__}.write_calls")

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        """The ways in which a model may be made to write calls (R42); none where the dialect has no grammar."""
        return ()

    @classmethod
    def structural_tag_model(cls, demand: Demand, excludes: Iterable[str] = ()) -> Format | None:
        """What a request lets the model write after its reasoning; ``None`` where the dialect has no grammar (R42).

        Args:
            demand: the request's tools and tool choice.
            excludes: strings that the text around calls must not hold.
        """
        syntaxes = cls.call_syntaxes()
        return calls_format(demand, syntaxes, excludes) if syntaxes else None

    def _declared_prefixes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Tags, each with the pieces of it that its author says can end a chunk (R36)."""
        close_tag = self.get_tool_close_tag()
        if close_tag is not None and self.tool_close_prefixes is not None:
            yield close_tag, self.tool_close_prefixes

    @abstractmethod
    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        """Consume the inner payload, never the outer close tag (R21).

        Args:
            text: what the response parser has; the payload goes on at ``pos``.
            deltas: append to it through :meth:`_emit_delta` and :meth:`_begin_call`.
            final: no more text will come: consume everything up to the end of ``text``.
            pos: characters of ``text`` before it are not the payload's.

        Returns:
            Where consumption stopped. Text from there on is handed in again, with more behind it. Set
            ``_payload_closed`` when the inner syntax ends. Where a JSON value begins that goes out verbatim as the
            current call's arguments, set ``_passing`` to the scanner that has begun it and return the value's position:
            the next call comes when the value is over.
        """

    def adjust_request(self, request: ChatRequest) -> ChatRequest:
        """Note which names the request exposes (R25); a dialect adds prompt settings here (R41)."""
        self.request = request
        self._allowed_names = request.exposed_names
        return request

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        """Whether a call without its open tag begins at ``pos``; ``None`` where more text must come to tell.

        The answer must not take unbounded text: everything from ``pos`` on is held until it is given.

        Args:
            text: the text.
            pos: where the call would begin.
            final: no more text will come.
            after_call: a call has just ended before ``pos``.
        """
        return False

    # -- the outer block ----------------------------------------------------------------------------------------------

    def open_block(self, offset: int, tag: str) -> None:
        """A block begins.

        Args:
            offset: where, in characters from the start of the response.
            tag: the open tag that was consumed; ``""`` where a payload stands here without one.
        """
        self.block_closed = self.block_rejected = self._payload_closed = self._may_go_on = False
        self.returned_text = self.missing_close_tag = ""
        self._opening = self._tagged = bool(tag)
        self._streamed = None
        self._block_offset = offset
        self.call_index = -1
        self._passing = None
        self._begin_payload()

    def join_blocks(self) -> None:
        """Read a block that follows another one at once as part of it, for callers that only want the calls.

        Much of what a response with many calls costs is leaving one block and finding the next. ``block_closed`` is
        then set where something else follows, or may.

        Raises:
            NotImplementedError: the dialect has a :attr:`usual_payload` and no :meth:`_begin_named`.
        """
        payload = self.usual_payload
        if payload is not None:
            if type(self)._begin_named is ToolParser._begin_named:
                raise NotImplementedError(f"{type(self).__qualname__} has a usual_payload, so it needs _begin_named")
            open_tags = ("",) if payload.bare else self.open_tags
            close_tags, separator = self._required_close_tags(), self.separator.pattern
            self._next_block = next_block(close_tags, separator, open_tags, payload, self.boundaries)
            self._undecided_end = self._next_block.undecided

    def _required_close_tags(self) -> tuple[str, ...]:
        """The close tags, if there has to be one before the next block."""
        return self.close_tags

    def _close_before_next_block(self) -> None:
        """The payload may be over here: it is if another block follows at once, else it goes on."""
        if self._next_block is not None:
            self._payload_closed = self._may_go_on = True

    def _find_next_block(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int | None:
        """Go on behind the function's name of a block that follows the payload which ends at ``pos``.

        Returns:
            Where it goes on; ``pos`` where more text must come to tell; ``None`` where no block follows at once.
        """
        if self._next_block is None or self.returned_text or self._holds_text():
            return None
        following = self._next_block.match(text, pos)
        if following is not None:
            self._held.clear()
            self.open_block(self.base_offset + following.start("open"), following["open"])
            self._opening = False
            self._begin_named(following["name"], deltas, following.start("payload"))
            return following.end()
        waits = not final and len(text) - pos < LONGEST_WAIT and self._next_block.undecided(text[pos:])
        return pos if waits else None

    def _holds_text(self) -> bool:
        """Whether the white space that is held behind a payload is text, unless a close tag comes."""
        return bool(self._held) and not self._required_close_tags()

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        """Go on in a payload of which the beginning was read as :attr:`usual_payload` says, with the name and its tail.

        Args:
            name: the function.
            deltas: the call's identity goes there, through :meth:`_begin_call`.
            pos: where in the current text the payload begins.
        """
        raise NotImplementedError

    def plain_piece(self, text: str) -> str | None:
        """Take text that lies within a string argument whole: the hot path before :meth:`feed_tool_block`.

        Args:
            text: new text, where none is retained.

        Returns:
            The piece of the current call's arguments that it becomes, perhaps ``""``. ``None`` where it may be more
            than that: nothing has been consumed.
        """
        if self.call_index < 0:
            return None
        passing = self._passing
        if passing is not None:
            # most chunks of a long string need no more than this, at a third of a pattern's price
            if passing.in_string and '"' not in text and "\\" not in text:
                return text
            return text if passing.passes(text) else None
        streamed = self._streamed
        if streamed is None or "<" in text:  # that could end the string
            return None
        return streamed.add(text) if text else ""

    def piece_before_tail(self, text: str) -> tuple[str, int] | None:
        """Take text up to a tail of it that waits, where that is all there is to do; else consume nothing.

        Args:
            text: new text, where none is retained and :meth:`plain_piece` has refused it.

        Returns:
            The piece of the current call's arguments that comes of it, perhaps ``""``, and where the tail begins.
        """
        undecided = self.undecided()
        return ("", 0) if text and undecided is not None and undecided(text) else None

    def undecided_opening(self, waiting: str) -> Undecided | None:
        """:meth:`undecided` where a call may begin and ``waiting`` doesn't tell yet."""
        return self.opener_scanner.undecided

    def undecided(self) -> Undecided | None:
        """Which texts would only wait, asked where :meth:`feed_tool_block` has left some.

        A text that waits is looked at again with every chunk, so the answer must hold for short texts only; and what
        comes of the response in the end must not depend on it.

        Returns:
            A function that is true for text that is to wait, with what comes behind it, and not to be handed in yet:
            nothing would come of it, save perhaps the news that it is malformed. ``None`` where none is known.
        """
        if self._payload_closed:
            return None if self._holds_text() else self._undecided_end
        if self._passing is not None:
            return None
        if self._opening:
            return unfinished(self.payload_openers, self.boundaries) if self.payload_openers else None
        return self._undecided_payload()

    def _undecided_payload(self) -> Undecided | None:
        """:meth:`undecided` inside the payload."""
        return None

    def feed_tool_block(self, text: str, deltas: list[DeltaToolCall], final: bool = False, pos: int = 0) -> int:
        """Take text of the open block, which may hold its close tag and what follows (R19).

        Args:
            text: retained and new text.
            deltas: normalised pieces are appended to it.
            final: no more text will come.
            pos: where in ``text`` the block goes on; what stands before has been consumed.

        Returns:
            How many leading characters of ``text`` can be dropped (``pos`` included).
        """
        while True:
            passing = self._passing
            if passing is not None:
                end = passing.feed(text, pos, final)
                if end > pos and self.call_index >= 0:
                    deltas.append(DeltaToolCall(self.call_index, None, None, None, text[pos:end]))
                pos = end
                if not (passing.done or passing.stopped):
                    if final:
                        self._end_of_input(text, deltas, pos)
                        break
                    return pos
                self._passing = None
            elif self._opening:
                pos = self._find_payload(text, final, pos)
                if self._opening or self.block_rejected:
                    return pos
            if not self._payload_closed:
                pos = self._consume_stream_payload(text, deltas, final, pos)
            if self._payload_closed:
                following = self._find_next_block(text, deltas, final, pos)
                if following is not None:
                    pos = following
                    if self._payload_closed:
                        return pos
                elif self._may_go_on:
                    self._payload_closed = self._may_go_on = False
                else:
                    return self._consume_close_tag(text, final, pos)
            elif self._passing is None:
                break
        if final:
            self._end_unterminated()
            return len(text)
        return pos

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:  # noqa: B027 - as below
        """The text ends inside the payload, ``pos`` characters of it consumed: emit what is stable, invent nothing."""

    def _begin_payload(self) -> None:  # noqa: B027 - a grammar without state needs none
        """Reset the state of the inner grammar; called once a block."""

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        """Whether a payload begins at ``pos``, where no filler stands; ``None`` where more text must come to tell."""
        if not self.payload_openers or text.startswith(self.payload_openers, pos):
            return True
        rest = text[pos : pos + max(map(len, self.payload_openers))]
        if not final and any(opener.startswith(rest) for opener in self.payload_openers):
            return None
        return False

    def _find_payload(self, text: str, final: bool, pos: int) -> int:
        filler = self.payload_filler.match(text, pos)
        assert filler is not None
        if filler.end() > pos:
            self._held.append(filler.group())
            pos = filler.end()
        begins = self._begins_payload(text, pos, final) if pos < len(text) else (False if final else None)
        if begins is None:
            return pos
        self._opening = False
        if not begins:
            self.block_rejected = True
            self.returned_text = "".join(self._held)
        self._held.clear()
        return pos

    def _consume_close_tag(self, text: str, final: bool, pos: int) -> int:
        if not self.close_tags:
            self.block_closed = True
            return pos
        space = _WHITE_SPACE.match(text, pos)
        assert space is not None
        end = space.end()
        for tag in self.close_tags:
            if text.startswith(tag, end):
                self.block_closed = True
                self._held.clear()
                return end + len(tag)
        if any(tag.startswith(text[end : end + len(tag)]) for tag in self.close_tags):  # or nothing is left
            if not final:
                self._held.append(text[pos:end])
                return end
            if self._tagged:  # its close tag must come, so what looks like the beginning of it is
                self._end_unterminated()
                return len(text)
        self.returned_text = "".join(self._held) + text[pos:end]
        self._held.clear()
        self.block_closed = True
        if self._tagged:
            self.missing_close_tag = self.close_tags[0]
            self._report("close-tag-missing", end - len(self.returned_text), f"{self.close_tags[0]!r} expected here")
        return end

    def _end_unterminated(self) -> None:
        """The input ends inside the block."""
        self._held.clear()
        self.block_closed = True
        if (self.close_tags and self._tagged) or not self._payload_closed:
            self._report_at(
                "tool-block-unterminated", self._block_offset, "the output ends inside the tool block that begins here"
            )

    # -- normalised calls ---------------------------------------------------------------------------------------------

    def _begin_call(self, name: str, deltas: list[DeltaToolCall], pos: int, call_id: str | None = None) -> bool:
        """Begin a call: its identity is the first thing that a client sees of it (R24).

        Args:
            name: the function.
            deltas: the identity is appended to it, unless the request does not expose the name (R25).
            pos: where in the current text the call stands, for the diagnostic.
            call_id: the model's own id.

        Returns:
            Whether the call is accepted; a rejected call's arguments are not emitted.
        """
        if self._allowed_names is not None and name not in self._allowed_names:
            self.call_index = -1
            self._report("tool-call-rejected", pos, f"{name!r} is not among the request's tools; the call was dropped")
            return False
        index = self.call_index = self._calls
        self._calls += 1
        if call_id is None:
            call_id = f"call_{index}" if self._call_id_factory is None else self._call_id_factory(index, name)
        deltas.append(DeltaToolCall(index, call_id, "function", name))
        return True

    def _emit_delta(self, deltas: list[DeltaToolCall], arguments: str) -> None:
        """Emit a piece of the current call's arguments; nothing where the call was rejected."""
        if self.call_index >= 0 and arguments:
            deltas.append(DeltaToolCall(self.call_index, None, None, None, arguments))

    def _report(self, code: str, pos: int, message: str) -> None:
        """Report a finding at ``pos`` of the current text."""
        self.diagnostics.append(Diagnostic(code, self.base_offset + pos, message))

    def _report_at(self, code: str, offset: int, message: str) -> None:
        """Report a finding at ``offset`` of the response."""
        self.diagnostics.append(Diagnostic(code, offset, message))


ToolParserManager: Registry[ToolParser] = Registry("tool parser")
