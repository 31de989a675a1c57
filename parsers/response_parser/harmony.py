"""The response parser of OpenAI Harmony, the message protocol of gpt-oss (R6).

A response is messages, ``header <|message|> body end``, and only the header says whether a body is reasoning, content
or the arguments of a call. Owns where headers, bodies and ends begin, also where a model leaves one out or writes
about the protocol. What a header says is :mod:`.harmony_header`'s business; no tool parser takes part, because a body
is passed on as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from ..grammar.formats import Format
from ..grammar.harmony import harmony_format
from ..grammar.tool_choice import read_demand
from ..messages import DeltaMessage, DeltaToolCall
from ..reasoning_parser import ReasoningParser
from ..request import ChatRequest
from ..tool_parser import ToolParser
from ..tool_parser.writing import FunctionCalls, json_text
from .harmony_body import JsonBody
from .harmony_header import LIMIT, Header, function_name, may_be_header, read_beginning, read_header, says_something
from .harmony_tokens import CALL, CHANNEL, CONSTRAIN, END, ENDS, MESSAGE, RETURN, START, TOKENS, SpecialTokenReader
from .response_parser import Deltas, ParserSettings, ResponseParser, ResponseParserManager

# What a body is; the values are the kinds of a span.
CONTENT, REASONING, TOOL, DROPPED = "content", "reasoning", "call", "dropped"

# How the next chunk can be read outside bodies.
_HELD, _HEADER = "held", "header"

# A header that can't end yet: none of its tokens but `<|channel|>` and `<|constrain|>` is whole.
_UNFINISHED_HEADER = re.compile(r"(?:[^<]|<\|(?:channel|constrain)\|>)*+(?:<[^>]*)?").fullmatch


@ResponseParserManager.register_module("gpt-oss", "openai", "harmony")
class HarmonyResponseParser(ResponseParser):
    """Reads Harmony messages, from text with the special tokens in it or from token ids.

    Where ids come and the tokenizer knows Harmony's special tokens, the ids decide what is one, and the text beside
    them isn't read. Without ids a token in the text is taken for one unless what stands around it says that the
    model only wrote about it. See the base class for the arguments; the other two parsers are not used.
    """

    description = "gpt-oss: Harmony messages with channels and recipients"
    composes = False
    end_tokens = ENDS

    def __init__(self, request: ChatRequest, **settings: Unpack[ParserSettings]) -> None:
        # Every tag is a special token: an engine must not leave them out of the text.
        super().__init__(replace(request, skip_special_tokens=False), **settings)
        self._reader = SpecialTokenReader(settings.get("tokenizer"), settings.get("boundaries"))
        self._call_id = settings.get("call_id_factory") or _numbered
        self._reasoning_tokens = 0

        self._out: Deltas = []
        self._offset = 0  # characters read
        self._calls = 0
        self._first = True  # no message has begun
        self._ended = False
        self._fast = ""  # what a chunk without a token is: more of the body of this kind, or one of the above
        self._waiting = ""  # the text of a header that can't end yet, not looked at
        self._careful = False  # not only "<" in the next chunk matters: ids decide, or a token has begun

        self._kind = ""  # of the open body; "" between two
        self._body_at = 0
        self._json: JsonBody | None = None  # of a body that is for a tool
        self._is_analysis = False
        self._echo = False  # a call under `tool_choice: none`: its markup is content too

        # Between bodies, and where an open body may just have ended, text and tokens are held until they are
        # understood. While a body is open they can still turn out to be more of it.
        self._held: list[str] | None = []
        self._held_at = 0
        self._held_length = 0
        self._held_ids: list[int] = []  # where each held id begins
        self._words = ""  # the text held since the last token
        self._in_header = False  # the held pieces begin a header, with `<|start|>` or `<|channel|>`
        self._in_string = False  # the open body is within a JSON string: only the end of the input can end it

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        """Every special token of the protocol."""
        return TOKENS

    @classmethod
    def structural_tag_model(
        cls,
        request: ChatRequest,
        reasoning_parser: type[ReasoningParser] | None = None,
        tool_parser: type[ToolParser] | None = None,
    ) -> Format | None:
        """All of a response; see the base class."""
        return harmony_format(read_demand(request))

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens of the bodies on the analysis channel, calls there included (R18); ``None`` without ids."""
        return self._reasoning_tokens if self._reader.by_ids else None

    def write_response(self, reasoning: str = "", content: str = "", calls: FunctionCalls = ()) -> str:
        """Write a response as gpt-oss does; see the base class."""
        messages = [f"{CHANNEL}analysis{MESSAGE}{reasoning}{END}"] if reasoning else []
        if content:
            channel, end = ("commentary", END) if calls else ("final", RETURN)
            messages.append(f"{CHANNEL}{channel}{MESSAGE}{content}{end}")
        for name, arguments in calls:
            header = f"{CHANNEL}commentary to=functions.{name} {CONSTRAIN}json{MESSAGE}"
            messages.append(f"{header}{json_text(dict(arguments))}{CALL}")
        return f"{START}assistant".join(messages)

    def stream_chunk(self, delta_text: str, delta_token_ids: Sequence[int] = (), final: bool = False) -> Deltas:
        """Take the next piece of the response; see the base class."""
        fast = self._fast
        if not fast or final:
            return self._stream(delta_text, delta_token_ids, final)
        if fast == _HEADER:
            waiting = self._waiting + delta_text
            if self._held_length + len(waiting) > LIMIT or (">" in delta_text and not _UNFINISHED_HEADER(waiting)):
                return self._stream(delta_text, delta_token_ids, False)
            self._waiting = waiting
            return []
        text: str | None = delta_text
        if self._careful or "<" in delta_text:
            if fast == _HELD and len(delta_token_ids) > 1:  # the place of each id counts
                return self._stream(delta_text, delta_token_ids, False)
            reader = self._reader
            text = reader.plain(delta_text, delta_token_ids)
            if text is None:
                return self._stream(delta_text, delta_token_ids, False)
            self._careful = bool(reader.by_ids or reader.pending)
            if fast == _HELD:
                self._held_ids += [self._offset] * len(delta_token_ids)
            elif self._is_analysis:
                self._reasoning_tokens += len(delta_token_ids)
        if not text:
            return []
        if fast == _HELD:
            self._out = []
            self._take_text(text)
            self._look_ahead()
            return self._out
        self._offset += len(text)
        if fast == CONTENT:
            return [(DeltaMessage(None, text), False)]
        if fast == REASONING:
            return [(DeltaMessage(None, None, text), False)]
        assert self._json is not None
        if self._json.feed(text):
            self._report_no_object()
        return [(DeltaMessage(None, None, None, [DeltaToolCall(self._calls - 1, None, None, None, text)]), True)]

    def _stream(self, text: str, token_ids: Sequence[int], final: bool) -> Deltas:
        if self._ended:
            raise ValueError("this response has ended; a parser serves one response, make a new one")
        reader = self._reader
        self._out = []
        if self._waiting:
            text, self._waiting = self._waiting + text, ""
        for piece, special, ids in reader.read(text, token_ids, final):
            if special:
                self._take_token(piece)
                continue
            if self._held is None:
                self._reasoning_tokens += ids if self._is_analysis else 0
            elif ids:
                self._held_ids.append(self._offset)
            if piece:
                self._take_text(piece)
        if final:
            if reader.surplus > 0:
                self._report("text-differs-from-ids", self._offset, f"{reader.surplus} characters came without ids")
            self._finish()
            self._ended = True
        self._look_ahead()
        return self._out

    def _look_ahead(self) -> None:
        """Say how the next chunk can be read."""
        reader = self._reader
        if self._ended or self._echo or self.spans is not None or reader.by_ids is None:
            self._fast = ""
        elif self._held is None:
            self._fast = "" if self._kind == DROPPED else self._kind
        elif self._in_header and not (self._kind or reader.by_ids):
            self._fast = _HEADER
            self._waiting, reader.pending = reader.pending, ""
        else:
            self._fast = _HELD
        self._careful = bool(reader.by_ids or reader.pending)

    # -- from chunks to messages ---------------------------------------------------------------------------------------

    def _take_text(self, text: str) -> None:
        at = self._offset
        self._offset += len(text)
        if self._held is None:
            self._emit(text, at)
        else:
            self._hold_text(text)

    def _take_token(self, token: str) -> None:
        at = self._offset
        self._offset += len(token)
        if self._held is not None and self._kind and not self._continues(token):
            self._give_back()
        if self._held is None:
            self._token_in_body(token, at)
        elif self._in_header:
            self._token_in_header(token, at)
        else:
            self._token_between(token, at)

    # -- inside a body ------------------------------------------------------------------------------------------------

    def _token_in_body(self, token: str, at: int) -> None:
        json, by_ids = self._json, self._reader.by_ids
        in_string = json is not None and json.quoted and not by_ids
        if in_string and token not in ENDS:
            self._emit(token, at)
        elif token in (MESSAGE, CONSTRAIN):
            self._report("tag-without-payload", at, f"{token} stands inside a body and stayed text")
            self._emit(token, at)
        elif in_string or not (by_ids or (json is not None and json.is_json)):
            self._hold(token, at)
            self._in_string = in_string
        elif token in ENDS:
            self._close(token, at)
            self._hold("", self._offset)
        else:
            self._close_early(token, at)
            self._hold(token, at)

    def _emit(self, text: str, at: int) -> None:
        if not text:
            return
        json = self._json
        if json is not None and json.feed(text) and self._kind == TOOL:
            self._report_no_object()
        self._mark(at, at + len(text), self._kind)
        if self._kind == CONTENT:
            self._out.append((DeltaMessage(None, text), False))
        elif self._kind == REASONING:
            self._out.append((DeltaMessage(None, None, text), False))
        elif self._kind == TOOL:
            self._emit_call(DeltaToolCall(self._calls - 1, None, None, None, text))

    def _report_no_object(self) -> None:
        self._report("payload-malformed", self._body_at, "arguments are no JSON object; passed on verbatim")

    def _emit_call(self, call: DeltaToolCall) -> None:
        self._out.append((DeltaMessage(None, None, None, [call]), True))

    def _close(self, token: str, at: int) -> None:
        """End the open body at ``token``, or at ``""`` where no token ends it."""
        json = self._json
        if self._kind == TOOL and json is not None:
            if json.blank:
                self._emit_call(DeltaToolCall(self._calls - 1, None, None, None, "{}"))
            elif token and json.is_json and not json.complete:
                self._report("payload-malformed", at, "the arguments of this call end before their JSON does")
        if self._echo:
            self._json = None
            self._emit(token, at)
        else:
            self._mark(at, at + len(token), "markup")
        self._kind, self._json, self._echo, self._is_analysis = "", None, False, False

    def _close_early(self, token: str, at: int) -> None:
        self._report("close-tag-missing", at, f"{token} came before the end of the message")
        self._close("", at)

    # -- what is held -------------------------------------------------------------------------------------------------

    def _hold(self, token: str, at: int) -> None:
        """Begin to hold; ``token`` ends a body or begins a header, ``""`` does neither."""
        self._held = [token] if token else []
        self._held_at, self._held_length, self._held_ids, self._words = at, len(token), [], ""
        self._in_header = token in (START, CHANNEL)
        self._in_string = False

    def _hold_text(self, text: str) -> None:
        assert self._held is not None
        if self._in_header and not self._kind:
            # Cut at the limit, so that what the header says does not depend on how the text was cut.
            part = text[: max(LIMIT + 1 - self._held_length, 0)]
            self._held.append(part)
            self._held_length += len(part)
            if self._held_length > LIMIT:
                self._repair(ended=False)
                rest = text[len(part) :]
                self._offset -= len(rest)
                if rest:
                    self._take_text(rest)
            return
        self._held.append(text)
        self._words += text
        if self._in_string or not may_be_header(self._words):
            self._give_back()

    def _give_back(self) -> None:
        """What is held is no markup: more of the open body, or content where none is open."""
        assert self._held is not None
        text, at = "".join(self._held), self._held_at
        if self._kind and not self._in_string:
            self._report("tag-without-payload", at, f"{self._held[0]} is only mentioned here and stayed text")
        elif not self._kind:
            if self._in_header:
                self._report("tag-without-payload", at, "this is no header and stayed text")
            elif not self._first:
                self._report("open-tag-missing", at, "text without a header, taken as content")
            self._begin(CONTENT, at)
        self._held = None
        self._emit(text, at)

    def _settle_end(self) -> None:
        """A token ended the open body indeed; what came after it stays held."""
        if self._kind and self._held and not self._in_header:
            end = self._held[0]
            self._close(end, self._held_at)
            self._held_at += len(end)
            del self._held[0]

    def _continues(self, token: str) -> bool:
        """Whether ``token`` may follow what is held while the body before it is still open."""
        if self._in_string:
            return False
        if not self._in_header:
            return token in (START, CHANNEL) or token in ENDS or (token == MESSAGE and self._words.strip() != "")
        if token != MESSAGE:
            return token in (CHANNEL, CONSTRAIN)
        return says_something(read_header("".join(self._held or ()) + token, False))

    def _token_between(self, token: str, at: int) -> None:
        """A token after an end, or at the beginning of the response, where no header has begun."""
        self._settle_end()
        assert self._held is not None
        text = "".join(self._held)
        if token == MESSAGE:
            self._begin_message(read_header(text + token, self._first), self._held_at, text + token)
        elif token == CHANNEL or (token == CONSTRAIN and text.strip()):
            self._held.append(token)
            self._held_length, self._words, self._in_header = len(text) + len(token), "", True
        elif (self._first and text.strip() and token in ENDS) or token == CONSTRAIN:
            self._give_back()
            self._token_in_body(token, at)
        else:
            self._drop(text, self._held_at)
            if token in ENDS:
                self._report("stray-close-tag", at, f"{token} ends nothing")
                self._mark(at, self._offset, "markup")
            self._hold("" if token in ENDS else token, self._offset if token in ENDS else at)

    def _token_in_header(self, token: str, at: int) -> None:
        assert self._held is not None
        if token in (CHANNEL, CONSTRAIN):
            self._held.append(token)
            self._held_length, self._words = self._held_length + len(token), ""
        elif token == MESSAGE:
            text = "".join(self._held) + token
            if self._kind:
                self._close_early(self._held[0], self._held_at)
            self._begin_message(read_header(text, self._first), self._held_at, text)
        else:
            self._repair(ended=False)
            if self._kind:
                self._token_in_body(token, at)
            elif token == START:
                self._hold(token, at)
            else:
                self._mark(at, self._offset, "markup")
                self._hold("", self._offset)

    def _drop(self, text: str, at: int) -> None:
        """Filler between two messages; white space is no loss."""
        if text.strip():
            self._report("text-dropped", at, f"{text.strip()!r} stands between two messages")
        self._mark(at, at + len(text), "dropped" if text.strip() else "markup")

    # -- messages -----------------------------------------------------------------------------------------------------

    def _begin(self, kind: str, at: int) -> None:
        self._kind, self._body_at, self._held, self._first = kind, at, None, False

    def _begin_message(self, header: Header, at: int, text: str) -> None:
        """Open the body that ``header``, whose text stands at ``at``, announces."""
        body_at = at + len(text)
        if header.flaw:
            self._report("header-malformed", at, header.flaw)
        self._is_analysis = header.channel == "analysis"
        self._begin(REASONING if self._is_analysis else CONTENT, body_at)
        if header.recipient is None:
            self._mark(at, body_at, "markup")
            return
        # Harmony's own tools (python, browser.*, container.*) are calls like all others, named as their recipient:
        # somebody has to run them, and as text they would be lost in the reasoning or spoil the answer. Where the
        # request says which tools there are, it decides about these too (R25).
        name = function_name(header.recipient)
        exposed = self.request.exposed_names
        self._json = JsonBody()
        if self.request.tools_disabled:
            self._kind, self._echo = CONTENT, True
            self._out.append((DeltaMessage(None, text), False))
            self._mark(at, body_at, CONTENT)
            return
        self._kind = DROPPED
        if not name:
            self._report("call-without-name", at, f"the recipient {header.recipient!r} names no function")
        elif exposed is not None and name not in exposed:
            self._report("tool-call-rejected", at, f"the request has no tool {name!r}")
        else:
            self._kind = TOOL
            self._emit_call(DeltaToolCall(self._calls, self._call_id(self._calls, name), "function", name))
            self._calls += 1
        self._mark(at, body_at, "markup" if self._kind == TOOL else DROPPED)

    def _repair(self, ended: bool) -> None:
        """The held header has no ``<|message|>``, and none will come: find where its body begins."""
        assert self._held is not None
        text, at, ids = "".join(self._held), self._held_at, self._held_ids
        found = read_beginning(text)
        if found is None and not (ended and may_be_header(text.rpartition("|>")[2])):
            self._give_back()
            return
        header, begin = found or (Header("", None), len(text))
        if text[begin:].strip() or (header.recipient and not ended):
            self._begin_message(header, at, text[:begin])
            self._reasoning_tokens += self._is_analysis and sum(start >= at + begin for start in ids)
            self._emit(text[begin:], at + begin)
            return
        if header.recipient:  # its name may be cut off too, so that no call is made of it
            self._report("tool-block-unterminated", at, f"the output ended in a call's header, to {header.recipient!r}")
        else:
            self._report("header-malformed", at, "the header has no body")
        self._mark(at, at + len(text), "markup")
        self._hold("", at + len(text))

    def _finish(self) -> None:
        """The input has ended."""
        if self._held is not None:
            if self._in_header and not self._kind:
                self._repair(ended=True)
            elif self._in_header or (self._first and self._held):
                self._give_back()
            else:
                self._settle_end()
                self._drop("".join(self._held), self._held_at)
        json = self._json
        if self._kind == REASONING:
            self._report("reasoning-unterminated", self._body_at, "the output ended inside a message")
        elif self._kind == TOOL and json is not None and json.is_json and not json.complete:
            self._report("tool-block-unterminated", self._body_at, "the output ended inside the arguments of a call")
        if self._kind:
            self._close("", self._offset)


def _numbered(index: int, name: str) -> str:
    return f"call_{index}"
