"""Cuts at the boundaries of real tokens.

Owns where a token ends in the text. The text always comes from the input, never from decoding: not every tokenizer
gives back what it was given. It knows no grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import IncrementalDecoder, TextTokenizer

_BLOCK = 1 << 16  # characters without a safe boundary after which they are cut all the same
_CONTEXT = 64  # characters encoded again before new ones: a tokenizer may treat the start of a text specially
_LOOKAHEAD = 32  # characters encoded beyond a cut: a tag that has a space in it, or takes in the space behind it
_DROPPED = 8  # characters that decoding may leave out before a token


class TokenSpan(NamedTuple):
    """One token and the characters ``start`` to ``end`` that it covers, at least in part."""

    token_id: int
    start: int
    end: int


def token_spans(tokenizer: TextTokenizer, text: str) -> list[TokenSpan]:
    """Encode ``text`` and say which characters each token covers; no begin or end token is added."""
    backend = tokenizer.backend
    if getattr(backend, "is_fast", False):  # a transformers tokenizer that keeps offsets
        encoded = backend(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [TokenSpan(i, *span) for i, span in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]
    encoding = backend.encode(text, add_special_tokens=False)
    if hasattr(encoding, "offsets"):
        return [TokenSpan(i, *span) for i, span in zip(encoding.ids, encoding.offsets, strict=True)]
    return _spans_by_decoding(tokenizer, list(getattr(encoding, "ids", encoding)), text)


def cut_at_tokens(pieces: Iterable[str], tokenizer: TextTokenizer) -> Iterator[EngineOutput]:
    """Cut a text into its tokens, in constant memory.

    Text is encoded up to the last place where no token can reach across, as soon as it is there, so that a pipe is
    shown as it comes. A token that ends inside a character has no text of its own: the one that completes the
    character has it.

    Args:
        pieces: the text, in pieces of any size.
        tokenizer: what to cut with.

    Yields:
        One chunk a token; their texts join to the whole text.
    """
    window = ""  # some text that is out already, for context, and all that is not
    done = 0  # where in it the text begins that is not out
    searched = 1  # no safe boundary before this one is left
    for piece in pieces:
        window += piece
        limit = len(window) - _LOOKAHEAD
        cut = _last_boundary(window, searched, limit)
        searched = max(searched, limit)
        forced = cut is None and limit - done >= _BLOCK
        if cut is None and not forced:
            continue
        outputs, done = _emit(window, done, limit if cut is None else cut, tokenizer)
        if forced and not outputs:
            outputs, done = _emit(window, done, len(window), tokenizer)
        yield from outputs
        gone = max(done - _CONTEXT, 0)
        window = window[gone:]
        done -= gone
        searched = max(searched - gone, 1)
    outputs, done = _emit(window, done, len(window), tokenizer)
    rest = window[done:]  # what the tokenizer has no token for
    if rest and outputs:
        outputs[-1].text += rest
    elif rest:
        outputs.append(EngineOutput(rest))
    yield from outputs


def split_records(records: Iterable[EngineOutput], tokenizer: TextTokenizer) -> Iterator[EngineOutput]:
    """Cut recorded chunks into tokens: at the recorded ids where there are any, else by encoding the text.

    A record whose text is not what its ids decode to stays whole, as its text has no known boundaries. Log
    probabilities and the finish reason go on the last token of their record; without ids there is no token to give
    log probabilities to.

    Args:
        records: the stream as it was recorded.
        tokenizer: what to cut with.
    """
    decoder = IncrementalDecoder(tokenizer)
    for has_ids, group in groupby(records, key=lambda record: bool(record.token_ids)):
        if has_ids:
            for record in group:
                yield from _split_at_ids(record, decoder)
        else:
            yield from _split_texts(group, tokenizer)


def _split_at_ids(record: EngineOutput, decoder: IncrementalDecoder) -> Iterator[EngineOutput]:
    texts = [decoder.step([token_id]) for token_id in record.token_ids]
    if len(texts) == 1 or "".join(texts) != record.text:
        yield record
        return
    *before, last = zip(texts, record.token_ids, strict=True)
    for text, token_id in before:
        yield EngineOutput(text, [token_id])
    yield EngineOutput(last[0], [last[1]], record.logprobs, record.finish_reason)


def _split_texts(records: Iterable[EngineOutput], tokenizer: TextTokenizer) -> Iterator[EngineOutput]:
    finish_reason: str | None = None

    def texts() -> Iterator[str]:
        nonlocal finish_reason
        for record in records:
            finish_reason = record.finish_reason or finish_reason
            yield record.text

    last: EngineOutput | None = None  # held by one, as only the last chunk has the finish reason
    for output in cut_at_tokens(texts(), tokenizer):
        if last is not None:
            yield last
        last = output
    last = last or EngineOutput()
    last.finish_reason = finish_reason
    if last.text or last.token_ids or last.finish_reason:
        yield last


def _emit(window: str, done: int, cut: int, tokenizer: TextTokenizer) -> tuple[list[EngineOutput], int]:
    """Give the tokens of ``window`` that end after ``done`` and not after ``cut``, and where their text ends."""
    spans = token_spans(tokenizer, window)
    outputs: list[EngineOutput] = []
    for index, (token_id, _, end) in enumerate(spans):
        if done and not outputs and end <= done:
            continue  # context
        if end > cut:
            break
        # Where the next token begins before this one ends, both are parts of one character. A gap before a token is
        # the token's: some tokenizers leave leading spaces out of its offsets.
        following = spans[index + 1].start if index + 1 < len(spans) else end
        stop = max(done, min(end, following))
        outputs.append(EngineOutput(window[done:stop], [token_id]))
        done = stop
    return outputs, done


def _last_boundary(text: str, start: int, stop: int) -> int | None:
    """Find the last place from ``start`` to before ``stop`` that no token reaches across.

    These are the places before a single space and after the last of some newlines: words begin with the space before
    them, and neither joins what is on the other side.
    """
    for index in range(stop - 1, start - 1, -1):
        character, before = text[index], text[index - 1]
        if character == " ":
            if not before.isspace() and not text[index + 1].isspace():
                return index
        elif before == "\n" and not character.isspace():
            return index
    return None


def _spans_by_decoding(tokenizer: TextTokenizer, ids: list[int], text: str) -> list[TokenSpan]:
    """Find the spans for a tokenizer that keeps no offsets; what decodes to other text shares the next span's end."""
    decoder = IncrementalDecoder(tokenizer)
    starts, ends = [], []
    position = 0
    for token_id in ids:
        piece = decoder.step([token_id])
        starts.append(position)
        # Decoding may not give back a space before a token.
        found = text.find(piece, position, position + len(piece) + _DROPPED) if piece else -1
        if found >= 0:
            position = found + len(piece)
        ends.append(position)
    end = len(text)
    for index in range(len(ids) - 1, -1, -1):
        end = ends[index] = ends[index] if ends[index] > starts[index] else end
    return [TokenSpan(*span) for span in zip(ids, starts, ends, strict=True)]
