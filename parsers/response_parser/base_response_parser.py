"""Routes a response's text to content, reasoning and tool calls (R8 to R18).

Owns the unsettled suffix of the response, the mode it is in, and what stands between two tool blocks. What a tool
block holds is the tool parser's business.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Unpack

from ..grammar.formats import Format, sequence, text
from ..grammar.tool_choice import read_demand
from ..markers import Boundaries, marker_scanner
from ..messages import DeltaMessage, DeltaToolCall
from ..reasoning_parser import ReasoningParser
from ..request import ChatRequest
from ..token_count import ReasoningTokenCounter
from ..tokenization import as_text_tokenizer
from ..tool_parser import ToolParser
from ..tool_parser.undecided import Undecided
from ..tool_parser.writing import FunctionCalls
from .response_parser import Deltas, ParserSettings, ResponseParser, ResponseParserManager


class Mode(Enum):
    """Where the response is; ``TOOL`` remembers which of the others it suspended."""

    PLAIN = "content"
    REASONING = "reasoning"
    TOOL = "tool"


# Enum members cost two look-ups, and these are compared for every chunk.
PLAIN, REASONING, TOOL = Mode.PLAIN, Mode.REASONING, Mode.TOOL

_WHITE_SPACE = re.compile(r"\s*+")

Phase = Callable[[str, Deltas, bool, int], tuple[int, bool]]


@ResponseParserManager.register_module("default")
class BaseResponseParser(ResponseParser):
    """Composes a reasoning protocol and a tool protocol. See the base class for the arguments.

    Outside tool blocks the parser is in one of six phases, methods that consume text and return where they stopped
    and whether they need more text to go on: ``_text`` looks for the tags of the mode; ``_echo`` drops an open tag that
    the model repeats as reasoning begins; ``_start`` and ``_between`` stand where a call can come without its tag, and
    ``_between`` also holds the newlines that may only separate two tool blocks; ``_beginning`` and ``_answer`` serve
    reasoning protocols that mark where the output or its content begins.
    """

    description = "a reasoning parser and a tool parser, both optional"

    def __init__(self, request: ChatRequest, **settings: Unpack[ParserSettings]) -> None:
        super().__init__(request, **settings)
        reasoning_parser, tool_parser = settings.get("reasoning_parser"), settings.get("tool_parser")
        tokenizer = settings.get("tokenizer")
        self._boundaries = settings.get("boundaries") or Boundaries.characters()
        self._counter = None if tokenizer is None else ReasoningTokenCounter(as_text_tokenizer(tokenizer))
        self._pending = ""  # the suffix of the response whose meaning is not settled (R13)
        self._offset = 0  # where `_pending`, or the next chunk's text, stands in the response
        self._ended = False

        self._reasoning_opens: tuple[str, ...] = ()
        self._reasoning_closes: tuple[str, ...] = ()  # those that can end the reasoning that is open or would begin
        self._plain_tags: tuple[str, ...] = ()  # tags of the reasoning protocol that mean something in plain mode
        self._answer_close = ""  # the tag that ends the answer, while it is open
        opened_by_prompt = False
        if reasoning_parser is not None:
            self.reasoning = reasoning_parser(request)
            opened_by_prompt = self.reasoning.starts_in_reasoning_mode()
            if self.reasoning.separates:
                self._reasoning_opens = self.reasoning.all_open_tags()
                self._reasoning_closes = self.reasoning.all_close_tags()
                self._plain_tags = self._reasoning_opens + self.reasoning.stray_close_tags
        self._tool_openers: tuple[str, ...] = ()
        self._bare_openers: tuple[str, ...] = ()  # those that stand for a tag that the model left out
        if tool_parser is not None and not request.tools_disabled:
            self.tool = tool_parser(request, self._boundaries, settings.get("call_id_factory"))
            self.tool.diagnostics = self.diagnostics
            if self.spans is None:
                self.tool.join_blocks()
            self.request = self.tool.adjust_request(request)
            self._open_tool = self.tool  # the same, where it is known to be there
            self._bare_openers = self.tool.bare_openers
            self._tool_openers = self.tool.open_tags + self._bare_openers

        self._mode = PLAIN
        self._suspended = PLAIN  # the mode that the tool block returns to
        self._phase: Phase = self._text
        # What the next chunk meets, if it isn't the walk: at most one of these is set.
        self._waits: Undecided | None = None  # text that is to go on waiting, as long as this says so
        self._tool_at_hand: ToolParser | None = None  # an open block
        self._fast = False  # text that stays text, unless the chunk holds the beginning of a tag
        self._reasoning_offset = 0
        self._reasoning_tag = ""
        self._reasoned = False  # whether this reasoning has any text
        self._opened_by_prompt = opened_by_prompt
        self._block_tag = ""
        self._block_offset = 0
        self._separators: list[str] = []  # text after a block which only what follows can judge (R17)
        self._stray_close = ""  # the close tag that a block ended without, which may still come
        if opened_by_prompt:
            self._enter_reasoning(0)
        else:
            self._enter_plain(0)
            if self.reasoning is not None and (self.reasoning.content_prefix or self.reasoning.open_tags_at_start):
                self._phase = self._beginning
        self._keep("", 0)

    @classmethod
    def structural_tag_model(
        cls,
        request: ChatRequest,
        reasoning_parser: type[ReasoningParser] | None = None,
        tool_parser: type[ToolParser] | None = None,
    ) -> Format | None:
        """Reasoning, then what the tool parser's dialect allows; see the base class."""
        demand = read_demand(request)
        if tool_parser is None and demand.tools:
            raise ValueError(f"tool_choice {demand.spoken} needs a tool parser: name the one of the model's calls")
        openers = () if tool_parser is None else tool_parser.openers()
        excludes, before = list(openers), None
        if reasoning_parser is not None:
            reasoning = reasoning_parser(request)
            if reasoning.separates:
                excludes += (*reasoning.all_open_tags(), *reasoning.all_close_tags())
            before = reasoning.reasoning_structural_tag_model(openers)
        answer = text(excludes) if tool_parser is None else tool_parser.structural_tag_model(demand, excludes)
        return answer if answer is None or before is None else sequence(before, answer)

    def stream_chunk(self, delta_text: str, delta_token_ids: Sequence[int] = (), final: bool = False) -> Deltas:
        if self._counter is not None:
            self._counter.add(delta_token_ids, self._offset)
        if final:
            return self._stream(delta_text, True)
        tool = self._tool_at_hand
        if tool is not None:
            piece = tool.plain_piece(delta_text)
            if piece is not None:
                self._offset += len(delta_text)
            elif (first_part := tool.piece_before_tail(delta_text)) is not None:
                piece, end = first_part
                self._offset += end
                self._pending, self._waits, self._tool_at_hand = delta_text[end:], tool.undecided(), None
            else:
                return self._stream_block(delta_text)
            if not piece:
                return []
            call = DeltaToolCall(tool.call_index, None, None, None, piece)
            return [(DeltaMessage(None, None, None, [call]), True)]
        waits = self._waits
        if waits is not None:
            text = self._pending + delta_text
            if waits(text):
                self._pending = text
                return []
            if self._mode is TOOL:
                return self._stream_block(text)
            deltas: Deltas = []
            self._keep(text, self._consume(text, deltas, False, 0))
            return deltas
        if not self._fast:
            return self._stream(delta_text, False)
        for start in self._starts:
            if start in delta_text:
                return self._stream(delta_text, False)
        if not delta_text:
            return []
        self._offset += len(delta_text)
        if self._mode is PLAIN:
            return [(DeltaMessage(None, delta_text), False)]
        return [(DeltaMessage(None, None, delta_text), False)]

    def _stream_block(self, text: str) -> Deltas:
        """Go on in the open block with retained and new text, and after it where it ends."""
        tool = self._open_tool
        tool.base_offset = self._offset
        pieces: list[DeltaToolCall] = []
        end = tool.feed_tool_block(text, pieces, False, 0)
        deltas: Deltas = [(DeltaMessage(None, None, None, pieces), True)] if pieces else []
        if tool.block_closed or tool.block_rejected:
            self._settle_block(deltas, end)
            self._keep(text, self._consume(text, deltas, False, end))
            return deltas
        self._offset += end
        if end < len(text):
            self._pending = text[end:]
            self._waits = tool.undecided()
            self._tool_at_hand = None
        else:
            self._pending = ""
            self._waits = None
            self._tool_at_hand = tool
        return deltas

    @property
    def reasoning_tokens(self) -> int | None:
        if self._counter is None:
            return None
        if not self._ended:
            self._counter.settle(self._offset)
        return self._counter.count

    def write_response(self, reasoning: str = "", content: str = "", calls: FunctionCalls = ()) -> str:
        written = ""
        if self.reasoning is not None and self.reasoning.separates and (reasoning or self._opened_by_prompt):
            open_tag = "" if self._opened_by_prompt else self.reasoning.get_reasoning_open_tag()
            written = f"{open_tag}{reasoning}{self.reasoning.get_reasoning_close_tag()}"
        elif reasoning:
            raise NotImplementedError("no parser that tells reasoning from content")
        if not calls:
            return written + content
        if self.tool is None:
            raise NotImplementedError("no tool parser")
        block = self.tool.write_calls(calls)
        if content and not block.lstrip().startswith(self._tool_openers):
            raise NotImplementedError("calls without a tag stand where content begins, and nowhere else")
        return written + content + block

    def _stream(self, delta_text: str, final: bool) -> Deltas:
        if self._ended:
            raise ValueError("this response has ended; a parser serves one response, make a new one")
        text = self._pending + delta_text if self._pending else delta_text
        deltas: Deltas = []
        end = self._consume(text, deltas, final, 0)
        if final:
            self._finish(deltas, self._offset + end)
        self._keep(text, end)
        return deltas

    def _keep(self, text: str, end: int) -> None:
        """What begins at ``end`` waits for the next chunk."""
        self._pending = text[end:]
        self._offset += end
        self._waits = self._tool_at_hand = None
        self._fast = False
        if self._ended or self.spans is not None:
            return
        if self._pending:
            self._waits = self._undecided_text()
        elif self._mode is TOOL:
            self._tool_at_hand = self._open_tool
        elif self._phase == self._text:
            self._fast = self._mode is PLAIN or self._reasoned

    def _undecided_text(self) -> Undecided | None:
        """Which texts would only wait, if the pending one became one of them."""
        if self._mode is TOOL:
            return self._open_tool.undecided()
        if self._phase == self._text:
            return None if self._scanner is None else self._scanner.undecided
        return self._open_tool.undecided_opening(self._pending) if self._phase in (self._between, self._start) else None

    def _consume(self, text: str, deltas: Deltas, final: bool, pos: int) -> int:
        """Consume ``text`` from ``pos``; return where its unsettled suffix begins."""
        waiting = False
        while not waiting and (pos < len(text) or (final and self._mode is TOOL)):
            pos, waiting = (self._block if self._mode is TOOL else self._phase)(text, deltas, final, pos)
        return pos

    def _finish(self, deltas: Deltas, length: int) -> None:
        """The input has ended after ``length`` characters, and all of them are consumed."""
        self._ended = True
        if self._counter is not None:
            self._counter.settle(sys.maxsize)
        self._release_separators(deltas, length)
        if self._mode is not REASONING or not (self._reasoned or self._reasoning_offset):
            return
        if self._reasoning_offset:
            how = f"it was opened here by {self._reasoning_tag!r}"
        else:
            how = (
                "the output is taken to start inside reasoning; if this model did not reason, start in plain mode: "
                "--no-thinking (enable_thinking: false), or a reasoning parser that starts plain"
            )
        self._report(
            "reasoning-unterminated",
            self._reasoning_offset,
            f"no {self._reasoning_closes[0]!r} came, so all text from here on was taken as reasoning; {how}",
        )

    # -- modes --------------------------------------------------------------------------------------------------------

    def _enter_plain(self, offset: int) -> None:
        self._mode = PLAIN
        self._phase = self._answer if self.reasoning is not None and self.reasoning.answer_tags else self._plain_phase()
        self._count_reasoning(offset, False)
        self._look_for_tags()

    def _plain_phase(self) -> Phase:
        """Where content begins: whether a call can come there without its tag."""
        return self._start if self.tool is not None and self.tool.untagged_at_start else self._text

    def _enter_reasoning(self, offset: int, tag: str = "") -> None:
        """Reasoning begins at ``offset``, behind ``tag`` or where the prompt opened it."""
        self._mode = REASONING
        self._phase = self._echo
        self._reasoning_tag = tag
        if tag:
            self._pair(tag)
        self._reasoning_offset = offset
        self._reasoned = False
        self._count_reasoning(offset, True)
        self._look_for_tags()

    def _count_reasoning(self, offset: int, begins: bool) -> None:
        """The raw interval that counts as reasoning begins or ends here (R18)."""
        if self._counter is not None:
            self._counter.switch(offset, begins)

    def _look_for_tags(self) -> None:
        """Set up the scanner for the tags that mean something in this mode, and no others."""
        reasoning_tags = (*self._plain_tags, self._answer_close) if self._mode is PLAIN else self._reasoning_closes
        tags = tuple(filter(None, (*reasoning_tags, *self._tool_openers, self._stray_close)))
        self._scanner = marker_scanner(tags, self._boundaries) if tags else None
        self._starts = self._scanner.starts if self._scanner is not None else ""

    def _emit_text(self, text: str, offset: int, deltas: Deltas) -> None:
        if not text:
            return
        self._mark(offset, offset + len(text), self._mode.value)
        if self._mode is PLAIN:
            deltas.append((DeltaMessage(None, text), False))
        else:
            self._reasoned = self._reasoned or not text.isspace()
            deltas.append((DeltaMessage(None, None, text), False))

    # -- phases of text -----------------------------------------------------------------------------------------------

    def _text(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        match, begins = self._find_tag(text, final, pos)
        start = len(text) if match is None else match.start()
        self._emit_text(text[pos:start], self._offset + pos, deltas)
        if match is None or match.lastindex is None:
            return start, True
        tag = match.group()
        if tag in self._tool_openers:
            return self._tool_opener(tag, text, deltas, final, start, begins)
        self._text_tag(tag, self._offset + start)
        return match.end(), False

    def _find_tag(self, text: str, final: bool, pos: int) -> tuple[re.Match[str] | None, bool | None]:
        """The first tag from ``pos`` on, or what may become one at the end of the text.

        Returns:
            It, and whether a call without its tag begins there: ``None`` where more text must come to tell, ``False``
            where that was not asked.
        """
        scanner = self._scanner
        if scanner is None:
            return None, False
        search = scanner.search_final if final else scanner.search
        match = search(text, pos)
        if self._bare_openers and not self._separators:  # what only looks like a call is text like that around it
            while match is not None and match.lastindex is not None and match.group() in self._bare_openers:
                begins = self._open_tool.begins_untagged_call(text, match.start(), final)
                if begins is not False:
                    return match, begins
                match = search(text, match.end())
        return match, False

    def _text_tag(self, tag: str, offset: int) -> None:
        """A tag that is no tool opener stands at ``offset``."""
        end = offset + len(tag)
        self._mark(offset, end, "markup")
        if tag == self._stray_close:
            self._report("stray-close-tag", offset, f"{tag!r} closes a block that had already ended")
            self._stray_close = ""
            self._look_for_tags()
        elif self._mode is REASONING:
            self._enter_plain(offset)
        elif tag in self._reasoning_opens:
            self._enter_reasoning(end, tag)
        elif tag == self._answer_close:
            self._answer_close = ""
            self._look_for_tags()
        else:
            self._report("stray-close-tag", offset, f"{tag!r} closes reasoning where none is open")

    def _tool_opener(
        self, tag: str, text: str, deltas: Deltas, final: bool, start: int, begins: bool | None = False
    ) -> tuple[int, bool]:
        """A tool opener stands at ``start``; ``begins`` as :meth:`_find_tag` says."""
        tool = self._open_tool
        if tag in tool.open_tags:
            self._open_block(tag, self._offset + start)
            return start + len(tag), False
        if begins is False:
            begins = tool.begins_untagged_call(text, start, final)
        if begins is None:
            return start, True
        if begins:
            self._open_block("", self._offset + start)
            if not tool.tag_optional:
                self._report("open-tag-missing", self._offset + start, f"a call begins with {tag!r} and no open tag")
            return start, False
        self._release_separators(deltas, self._offset + start)
        self._emit_text(tag, self._offset + start, deltas)
        return start + len(tag), False

    def _echo(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        end = _end(_WHITE_SPACE, text, pos)
        self._emit_text(text[pos:end], self._offset + pos, deltas)
        tag = self._tag_at(self._reasoning_opens, text, final, end)
        if tag is None:
            return end, True
        if not tag:
            self._phase = self._text
            return end, False
        start = self._offset + end
        self._mark(start, start + len(tag), "markup")
        self._count_reasoning(start, False)
        self._count_reasoning(start + len(tag), True)
        self._pair(tag)
        self._look_for_tags()
        return end + len(tag), False

    def _pair(self, open_tag: str) -> None:
        """Only a spelling of the close tag that goes with ``open_tag`` ends this reasoning."""
        assert self.reasoning is not None
        if open_tag in self._reasoning_opens:
            self._reasoning_closes = self.reasoning.close_tags_of(open_tag)

    def _tag_at(self, tags: tuple[str, ...], text: str, final: bool, pos: int) -> str | None:
        """The one of ``tags`` that stands at ``pos``, ``""`` where none does, ``None`` where one still may."""
        if pos == len(text):
            return None
        scanner = marker_scanner(tags, self._boundaries)
        match = scanner.match_final(text, pos) if final else scanner.match(text, pos)
        if match is None:
            return ""
        return None if match.lastindex is None else match.group()

    def _beginning(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        reasoning = self.reasoning
        assert reasoning is not None
        tag = self._tag_at(reasoning.open_tags_at_start, text, final, pos) if reasoning.open_tags_at_start else ""
        if tag is None:
            return pos, True
        start = self._offset + pos
        if tag:
            self._mark(start, start + len(tag), "markup")
            self._report("open-tag-missing", start, f"the output begins with {tag!r}: taken as reasoning")
            self._enter_reasoning(start + len(tag), tag)
        else:
            self._enter_plain(start)
            if reasoning.content_prefix:
                deltas.append((DeltaMessage(None, reasoning.content_prefix), False))
        return pos + len(tag), False

    def _answer(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        assert self.reasoning is not None
        open_tag, close_tag = self.reasoning.answer_tags
        end = _end(_WHITE_SPACE, text, pos)
        self._emit_text(text[pos:end], self._offset + pos, deltas)
        tag = self._tag_at((open_tag,), text, final, end)
        if tag is None:
            return end, True
        self._phase = self._plain_phase()
        if tag:
            self._mark(self._offset + end, self._offset + end + len(tag), "markup")
            self._answer_close = close_tag
            self._look_for_tags()
        return end + len(tag), False

    def _start(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        tool = self._open_tool
        end = _end(_WHITE_SPACE, text, pos)
        self._emit_text(text[pos:end], self._offset + pos, deltas)
        begins = tool.begins_untagged_call(text, end, final) if end < len(text) else None
        if begins is None:
            return end, True
        if begins:
            self._open_block("", self._offset + end)
            if not tool.tag_optional:
                self._report("open-tag-missing", self._offset + end, f"a call without {tool.get_tool_open_tag()!r}")
        else:
            self._phase = self._text
        return end, False

    def _between(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        tool = self._open_tool
        end = _end(tool.separator, text, pos)
        if end > pos:
            self._separators.append(text[pos:end])
        if end == len(text):
            return end, True
        match = tool.opener_scanner.match_final(text, end) if final else tool.opener_scanner.match(text, end)
        if match is not None:
            if match.lastindex is None:
                return end, True
            self._phase = self._text
            return self._tool_opener(match.group(), text, deltas, final, end)
        begins = tool.begins_untagged_call(text, end, final, after_call=True) if tool.untagged_at_start else False
        if begins is None:
            return end, True
        if begins:
            self._open_block("", self._offset + end)
        else:
            self._release_separators(deltas, self._offset + end)
            self._phase = self._text
        return end, False

    def _release_separators(self, deltas: Deltas, end: int) -> None:
        """What was held separates nothing: it is text of the channel that the block had suspended (R17)."""
        text = "".join(self._separators)
        self._separators.clear()
        self._emit_text(text, end - len(text), deltas)

    # -- tool blocks --------------------------------------------------------------------------------------------------

    def _open_block(self, tag: str, offset: int) -> None:
        if self._stray_close:
            self._stray_close = ""
            self._look_for_tags()
        self._open_tool.open_block(offset, tag)
        self._suspended, self._mode = self._mode, TOOL
        self._block_tag, self._block_offset = tag, offset

    def _block(self, text: str, deltas: Deltas, final: bool, pos: int) -> tuple[int, bool]:
        tool = self._open_tool
        tool.base_offset = self._offset
        pieces: list[DeltaToolCall] = []
        end = tool.feed_tool_block(text, pieces, final, pos)
        if pieces:
            deltas.append((DeltaMessage(None, None, None, pieces), True))
        if not (tool.block_closed or tool.block_rejected):
            return end, True
        self._settle_block(deltas, end)
        return end, False

    def _settle_block(self, deltas: Deltas, end: int) -> None:
        """The tool parser is done with its block, which ends at ``end`` of the text."""
        tool = self._open_tool
        self._mode = self._suspended
        end += self._offset
        returned = tool.returned_text
        if tool.block_rejected:
            self._phase = self._text
            self._report(
                "tag-without-payload", self._block_offset, f"{self._block_tag!r} opens no tool call here: kept as text"
            )
            self._release_separators(deltas, self._block_offset)
            self._emit_text(self._block_tag + returned, self._block_offset, deltas)
        else:
            start = self._block_offset
            self._mark(start - sum(map(len, self._separators)), start + len(self._block_tag), "markup")
            self._mark(start + len(self._block_tag), end - len(returned), "call")
            self._phase = self._between
            self._separators = [returned] if returned else []
            if tool.missing_close_tag:
                self._stray_close = tool.missing_close_tag
                self._look_for_tags()
            if not tool.separator.fullmatch(returned):
                self._release_separators(deltas, end)
                self._phase = self._text


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Where a pattern that may match nothing stops."""
    match = pattern.match(text, pos)
    assert match is not None
    return match.end()
