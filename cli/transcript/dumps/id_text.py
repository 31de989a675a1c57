"""The text of a response whose token ids are recorded.

Owns that ids decide where there is a tokenizer, and that the recorded text is checked against them. Special tokens that
the text leaves out are no difference, as engines are told to leave them out; neither is an end that the text lacks, as
engines hold back what may be a stop string and cut it off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from unspool.parsers.tokenization import IncrementalDecoder, TextTokenizer

_RECENT = 8  # ids kept as context for decoding those that follow
_LONGEST_LAG = 1 << 16  # characters that the text may be behind
_SHOWN = 20  # characters of each text in a message


class NoTokenizerError(ValueError):
    """There are ids without text, and nothing to decode them with."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the recorded text stops being what the ids decode to.

    Attributes:
        offset: in characters of the decoded text.
        message: what each of them goes on with.
    """

    offset: int
    message: str


class IdDecoder:
    """Decodes ids with a tokenizer, if there is one; shared by all responses of an input.

    Args:
        tokenizer: decodes the ids.
    """

    def __init__(self, tokenizer: TextTokenizer | None) -> None:
        self.tokenizer = tokenizer
        self.special = frozenset() if tokenizer is None else _special_ids(tokenizer)


class ResponseText:
    """Gives one response its text, from ids where it can.

    Args:
        decoder: decodes the ids.
        prompt_ids: the ids before the response, where known.

    Attributes:
        difference: the first difference between the ids and the recorded text.
        left_out: whether the recorded text lacks special tokens.
        has_ids: whether there were ids.
        has_text: whether there was any recorded text.
    """

    def __init__(self, decoder: IdDecoder, prompt_ids: Sequence[int] = ()) -> None:
        self.difference: Difference | None = None
        self.left_out = False
        self.has_ids = False
        self.has_text = False
        self._shared = decoder
        self._decoder: IncrementalDecoder | None = None
        self._recent = list(prompt_ids[-_RECENT:])
        self._checking = True
        self._held_recorded = True  # whether text was recorded with the ids that may end inside a character
        self._expected: deque[tuple[str, bool]] = deque()  # decoded, not seen in the text yet; whether special
        self._lag = 0  # characters in it
        self._surplus = ""  # recorded, not decoded yet
        self._offset = 0  # where in the decoded text `_expected` begins

    def feed(self, text: str | None, ids: list[int] | None, *, final: bool = False) -> str:
        """Take a piece.

        Args:
            text: as recorded; ``None`` where only ids are.
            ids: the ids behind it, perhaps ahead of it; ``None`` where they are not recorded.
            final: the response ends; what was held back is released.

        Raises:
            NoTokenizerError: there are only ids, and no tokenizer.
        """
        self.has_ids = self.has_ids or bool(ids)
        self.has_text = self.has_text or bool(text)
        tokenizer = self._shared.tokenizer
        if tokenizer is None:
            if text is None and ids:
                raise NoTokenizerError
            return text or ""
        shown: list[str] = []
        if ids:
            shown += self._decode(tokenizer, ids, recorded=text is not None)
        if text:
            checking = self._checking
            if checking:
                self._surplus += text
                self._match()
            if not ids:
                shown.append(self._text_without_ids() if checking else text if ids is None else "")
        if final:
            shown.append(self._end())
        return "".join(shown)

    def stop_checking(self) -> None:
        """The recorded text is not all that the model wrote; don't compare it."""
        self._checking = False
        self._expected.clear()
        self._surplus = ""

    def _decode(self, tokenizer: TextTokenizer, ids: list[int], *, recorded: bool) -> list[str]:
        decoder = self._decoder = self._decoder or IncrementalDecoder(tokenizer, self._recent)
        # One id at a time, so that only a character's own tokens are held back, however long the piece is.
        pieces = [decoder.step([number]) for number in ids]
        self._recent = [*self._recent, *ids][-_RECENT:]
        self._held_recorded = recorded
        if not recorded:
            self._offset += sum(map(len, pieces))
        elif self._checking:
            for number, piece in zip(ids, pieces, strict=True):
                self._expect(piece, special=number in self._shared.special)
            if self._lag > _LONGEST_LAG:
                # Where there was no text at all there is nothing to check.
                self._differs("ends here, the ids go on") if self.has_text else self.stop_checking()
        return pieces

    def _text_without_ids(self) -> str:
        """What a piece without ids adds: its text, unless that is the text of ids which came before."""
        if not self._surplus or self._expected:
            return ""
        held = self._flush()
        self._match()
        if self._expected or not self._checking:
            return held
        rest, self._surplus = self._surplus, ""
        self._offset += len(rest)
        return held + rest

    def _end(self) -> str:
        held = self._flush()
        if self._checking:
            self._match()
            while self._surplus and self._expected:  # the beginning of a special token was other text
                self.left_out = True
                self._offset += len(self._expected.popleft()[0])
                self._match()
            if self._surplus:
                self._differs(f"goes on with {_shown(self._surplus)}, the ids end here")
        return held

    def _flush(self) -> str:
        """Give up waiting for the rest of a character."""
        decoder, self._decoder = self._decoder, None
        held = decoder.flush() if decoder else ""
        if held and self._held_recorded and self._checking and (self._expected or self._surplus):
            self._expect(held, special=False)
        else:
            self._offset += len(held)
        return held

    def _expect(self, piece: str, *, special: bool) -> None:
        if piece:
            self._expected.append((piece, special))
            self._lag += len(piece)

    def _match(self) -> None:
        """Compare as much as there is of both."""
        while self._surplus and self._expected:
            piece, special = self._expected[0]
            if self._surplus.startswith(piece):
                self._surplus = self._surplus[len(piece) :]
            elif piece.startswith(self._surplus):
                if special:
                    return  # half a special token, or text after one that was left out: the next text tells
                done = len(self._surplus)
                self._expected[0] = (piece[done:], False)
                self._offset += done
                self._lag -= done
                self._surplus = ""
                return
            elif special:
                self.left_out = True
            else:
                self._differs(f"goes on with {_shown(self._surplus)}, the ids with {_shown(self._ahead())}")
                return
            self._expected.popleft()
            self._offset += len(piece)
            self._lag -= len(piece)

    def _ahead(self) -> str:
        ahead = ""
        for piece, _ in self._expected:
            ahead += piece
            if len(ahead) >= _SHOWN:
                break
        return ahead

    def _differs(self, what: str) -> None:
        common = 0
        for ours, theirs in zip(self._ahead(), self._surplus, strict=False):
            if ours != theirs:
                break
            common += 1
        self.difference = Difference(
            self._offset + common,
            f"the recorded text {what}; the ids were used. Is --tokenizer the model's own?",
        )
        self.stop_checking()


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def _special_ids(tokenizer: TextTokenizer) -> frozenset[int]:
    """Ids of the tokens that decoding can leave out."""
    backend = tokenizer.backend
    if hasattr(backend, "get_added_tokens_decoder"):
        added = backend.get_added_tokens_decoder()
    else:
        added = getattr(backend, "added_tokens_decoder", {})
    found = {number for number, token in added.items() if getattr(token, "special", False)}
    return frozenset(found | set(getattr(backend, "all_special_ids", ())))
