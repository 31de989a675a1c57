"""Pieces of responses to engine chunks: one response each, with its text settled.

Owns the state of every response that has begun and is not over.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from unspool.parsers.chat_runner import EngineOutput

from ..surrogates import SurrogateJoiner
from .choices import Choices, Key, Response
from .cumulative import DeltaMaker
from .id_text import Difference, IdDecoder, NoTokenizerError, ResponseText
from .pieces import Growth, Piece, Shape


@dataclass(slots=True)
class Part:
    """Engine chunks of one response: those that arrived together, which are mostly one.

    Attributes:
        response: whose.
        outputs: the chunks.
        last: whether the response is over with them.
        difference: what was found to contradict itself here.
    """

    response: Response
    outputs: list[EngineOutput]
    last: bool = False
    difference: Difference | None = None


class Splitter:
    """Keeps responses apart and gives each its chunks.

    Args:
        shape: how the engine writes.
        choices: tells responses apart.
        decoder: decodes token ids.
        warn: called once for each kind of thing that may be other than meant.
        note: called with what was found out about the input.
    """

    def __init__(
        self,
        shape: Shape,
        choices: Choices,
        decoder: IdDecoder,
        *,
        warn: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        self.lossy = False  # whether text had to be replaced
        self._shape = shape
        self._choices = choices
        self._decoder = decoder
        self._warn = _once(warn)
        self._note = _once(note)
        self._open: dict[Key, _OpenResponse | None] = {}  # ``None``: not wanted
        self._over: set[Key] = set()
        self._prompt: tuple[str | None, list[int]] = (None, [])  # of the request that came last

    @property
    def plain_response(self) -> Response | None:
        """The response that gets the text and ids of pieces of no named request as they are; ``None`` at other times.

        Only where nothing of it depends on what else a piece says: see :meth:`_OpenResponse.is_plain`.
        """
        response = self._open.get((None, 0))
        return response.response if response is not None and response.is_plain else None

    def feed(self, piece: Piece) -> Iterator[Part]:
        """Take a piece.

        Raises:
            NoTokenizerError: it has only ids, and there is no tokenizer.
        """
        if piece.prompt_token_ids:
            self._prompt = (piece.request, piece.prompt_token_ids)
        key = self._choices.key(piece)
        if key not in self._open:
            if (self._shape.ends and piece.is_empty) or (key in self._over and not (piece.text or piece.token_ids)):
                return  # a role, a usage, an end told twice
            self._open[key] = self._begin(key)
        response = self._open[key]
        if response is not None:
            yield from response.feed(piece)
            self.lossy = self.lossy or response.lossy
        if piece.finish_reason is not None and self._choices.is_over(key):
            self._end(key)

    def done(self) -> Iterator[Part]:
        """A ``[DONE]``: where there is only one response, it is over."""
        if self._shape.ends and len(self._open) == 1:
            (key,) = self._open
            response = self._open[key]
            if response is not None:
                yield from response.finish()
            self._end(key)

    def finish(self) -> Iterator[Part]:
        """Give what the open responses held back at the end of the input."""
        for key in list(self._open):
            response = self._open[key]
            if response is not None:
                yield from response.finish()
                self.lossy = self.lossy or response.lossy
            self._end(key)

    def _begin(self, key: Key) -> _OpenResponse | None:
        response = self._choices.begin(key)
        if response is None:
            return None
        request, prompt = self._prompt
        if request == key[0] or key[0] is None:
            response.prompt_token_ids = prompt
        return _OpenResponse(
            response, self._shape.growth, self._decoder, self._warn, self._note, ends=self._choices.is_over(key)
        )

    def _end(self, key: Key) -> None:
        response = self._open.pop(key)
        self._over.add(key)
        if response is not None:
            response.report()


class _OpenResponse:
    """One response that is not over."""

    def __init__(
        self,
        response: Response,
        growth: Growth,
        decoder: IdDecoder,
        warn: Callable[[str, str], None],
        note: Callable[[str, str], None],
        *,
        ends: bool,
    ) -> None:
        self.response = response
        self._ends = ends
        self._decoder = decoder
        self._warn = warn
        self._note = note
        self._is_delta = growth is Growth.DELTA
        self._deltas = DeltaMaker(growth, lambda why: note("growth", why))
        self._text = ResponseText(decoder, response.prompt_token_ids)
        self._surrogates = SurrogateJoiner()
        self._token_text = codecs.getincrementaldecoder("utf-8")("replace")
        self._parsed: tuple[str, ...] = ()
        self._begun = False
        self._finished = False

    @property
    def is_plain(self) -> bool:
        """Whether whole characters come out as they go in, and nothing has to be known about them at the end."""
        return (
            self._is_delta
            and not (self._ends or self._parsed)
            and self._decoder.tokenizer is None
            and self._surrogates.is_idle
        )

    @property
    def lossy(self) -> bool:
        return self._surrogates.replaced

    def feed(self, piece: Piece) -> Iterator[Part]:
        for delta in self._deltas.feed(piece):
            yield from self._parts(delta)

    def finish(self) -> Iterator[Part]:
        for delta in self._deltas.finish():
            yield from self._parts(delta)
        rest = self._settle(self._token_text.decode(b"", True) or None, None, final=True)
        if rest or self._text.difference:
            yield self._part(EngineOutput(rest))

    def report(self) -> None:
        """Say what only the whole response tells."""
        if self._text.left_out:
            self._note("special", "the text leaves out special tokens; they come from the token ids")
        elif self._text.has_ids and self._decoder.tokenizer is not None:
            self._note("ids", "token ids and a tokenizer: the ids decide, and text is checked against them")
        all_empty = self._text.has_ids and not self._text.has_text and not self._parsed
        if all_empty and self._ends and self._decoder.tokenizer is None:
            self._warn("no text", "there are token ids, but all text is empty: pass --tokenizer DIR to decode them")

    def _parts(self, piece: Piece) -> Iterator[Part]:
        whole = not self._begun and piece.finish_reason is not None
        self._begun = True
        final = piece.finish_reason is not None
        if piece.tokens and (piece.tokens_are_text or whole):
            texts = [self._token_text.decode(token.data) for token in piece.tokens]
            if final and (rest := self._token_text.decode(b"", True)):
                texts[-1] += rest
            # Tokens of a part of a character can be recorded as U+FFFD each; then they don't tell the text.
            if piece.tokens_are_text or "".join(texts) == piece.text:
                if whole:
                    yield from self._token_parts(piece, texts)
                    return
                piece.text = "".join(texts)
                piece.parsed = ()
        text = piece.text
        if piece.parsed:
            text = self._look_at_parsed(piece)
        shown = self._settle(text, piece.token_ids, final=final)
        yield self._part(
            EngineOutput(shown, piece.token_ids or [], piece.logprobs, piece.finish_reason), last=final and self._ends
        )

    def _token_parts(self, piece: Piece, texts: list[str]) -> Iterator[Part]:
        """A whole response whose tokens are recorded: one chunk a token."""
        tokens = piece.tokens or []
        ids: list[int | None] = [token.token_id for token in tokens]
        if piece.token_ids is not None and len(piece.token_ids) == len(tokens):
            ids = list(piece.token_ids)
        last = len(tokens) - 1
        for position, (token, text, number) in enumerate(zip(tokens, texts, ids, strict=True)):
            final = position == last
            known = None if number is None else [number]
            shown = self._settle(text, known, final=final)
            reason = piece.finish_reason if final else None
            yield self._part(EngineOutput(shown, known or [], token.logprobs, reason), last=final and self._ends)

    def _look_at_parsed(self, piece: Piece) -> str | None:
        """Decide what to do with a message that the server has parsed: ids are still the raw output, text isn't."""
        new = tuple(name for name in piece.parsed if name not in self._parsed)
        if new and not self._parsed:
            self._text.stop_checking()
        self._parsed += new
        if piece.token_ids and self._decoder.tokenizer is not None:
            return None
        if new:
            raw = (
                "pass --tokenizer DIR, as its token ids are recorded"
                if piece.token_ids
                else "record /v1/completions, or switch the server's parsers off, or ask it for logprobs"
            )
            self._warn(
                "parsed",
                f"the server has already parsed this output ({' and '.join(new)} beside the content): only the content"
                " is replayed, as text, so leave out --reasoning-parser and --tool-parser;"
                f" to replay the raw output {raw}",
            )
        return piece.text

    def _settle(self, text: str | None, ids: list[int] | None, *, final: bool) -> str:
        if self._parsed and ids and self._decoder.tokenizer is not None:
            text = None
        try:
            shown = self._text.feed(text, ids, final=final)
        except NoTokenizerError:
            if not self._parsed:
                raise
            shown = ""  # what the ids say was reported as parsed
        return self._surrogates.feed(shown, final=final)

    def _part(self, output: EngineOutput, *, last: bool = False) -> Part:
        difference, self._text.difference = self._text.difference, None
        return Part(self.response, [output], last, difference)


def _once(say: Callable[[str], None]) -> Callable[[str, str], None]:
    """Say each kind of thing once."""
    said: set[str] = set()

    def say_once(kind: str, message: str) -> None:
        if kind not in said:
            said.add(kind)
            say(message)

    return say_once
