"""Drops the tokens that end a turn from the end of the output.

Owns the decision that needs the end of the input: only what is last ends the turn, the same token anywhere else is
text. It knows no grammar; tokens that belong to one are named by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from unspool.parsers.chat_runner import EngineOutput


class EndOfTurnFilter:
    """Holds back what may be the end of the turn: end tokens, white space after them, the beginning of one more.

    Work is linear in the text however it is cut: nothing that is held is looked at again, but for the beginning of a
    token.

    Args:
        tokens: what ends a turn; empty strings are ignored.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        # With no token at all the patterns must match nowhere.
        self._token = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        first = "".join({re.escape(token[0]) for token in longest_first})
        self._find_start = re.compile(f"[{first}]" if first else r"(?!)").search
        self._prefixes = {token[:end] for token in longest_first for end in range(1, len(token))}
        self._longest_prefix = max(map(len, self._prefixes), default=0)
        self._held: list[str] = []  # end tokens and the white space after them
        self._beginning = ""  # of a token, at the very end of the text so far

    def feed(self, text: str) -> str:
        """Return what is certain not to be the end of the turn: held text first, then more or less of ``text``."""
        if not self._held and not self._beginning and self._find_start(text) is None:
            return text
        text, self._beginning = self._beginning + text, ""
        certain: list[str] = []
        position = 0
        while position < len(text):
            if self._held:
                position = self._extend_held(text, position)
                if position == len(text) or self._beginning:
                    break
                certain.extend(self._held)  # neither space nor a token follows: it was text
                self._held.clear()
            position = self._skip_text(text, position, certain)
        return "".join(certain)

    def finish(self) -> str:
        """Return what is left at the end of the input and does not end the turn."""
        if not self._beginning:
            return ""
        rest = "".join(self._held) + self._beginning
        self._held.clear()
        self._beginning = ""
        return rest

    def _extend_held(self, text: str, position: int) -> int:
        """Hold white space and end tokens from ``position`` on; return where they stop."""
        while position < len(text):
            start = position
            if match := self._token.match(text, position):
                position = match.end()
            else:
                while position < len(text) and text[position].isspace():
                    position += 1
            if position == start:
                if len(text) - position <= self._longest_prefix and text[position:] in self._prefixes:
                    self._beginning = text[position:]
                break
            self._held.append(text[start:position])
        return position

    def _skip_text(self, text: str, position: int, certain: list[str]) -> int:
        """Pass text on up to the next end token, which is held; return where to go on."""
        if match := self._token.search(text, position):
            certain.append(text[position : match.start()])
            self._held.append(match.group())
            return match.end()
        for start in range(max(position, len(text) - self._longest_prefix), len(text)):
            if text[start:] in self._prefixes:
                self._beginning = text[start:]
                certain.append(text[position:start])
                return len(text)
        certain.append(text[position:])
        return len(text)


def drop_end_of_turn(
    outputs: Iterable[EngineOutput], tokens: Iterable[str], *, keep: Set[str] = frozenset()
) -> Iterator[EngineOutput]:
    """Drop end tokens, and white space after them, from the end of a response; all else passes verbatim.

    Chunks keep their number, ids, log probabilities and finish reason, also where all their text is dropped: an end
    token is a token that the model generated. Text that is held back comes with a later chunk.

    Args:
        outputs: the response.
        tokens: what ends a turn.
        keep: tokens among them that the response's grammar needs.
    """
    end_of_turn = EndOfTurnFilter(set(tokens) - keep)
    last: EngineOutput | None = None  # held where it has the finish reason, behind which no text may come
    for output in outputs:
        if last is not None:
            yield last
            last = None
        text = end_of_turn.feed(output.text)
        if text is not output.text:
            output = replace(output, text=text)
        if output.finish_reason is not None:
            last = output
        else:
            yield output
    rest = end_of_turn.finish()
    if last is not None:
        yield replace(last, text=last.text + rest) if rest else last
    elif rest:
        yield EngineOutput(rest)
