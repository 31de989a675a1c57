"""UTF-8 bytes to text, piece by piece.

Owns the encoding: characters cut over blocks, the byte order mark, and bytes that are no UTF-8. Line ends are the
model's and stay as they are.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator

BYTE_ORDER_MARK = "\ufeff"


def decode_utf8(blocks: Iterable[bytes], *, name: str, on_warning: Callable[[str], None]) -> Iterator[str]:
    """Decode blocks of bytes in constant memory.

    Args:
        blocks: the bytes, cut anywhere.
        name: what a warning calls the input.
        on_warning: called once at most, with the offset in bytes of the first that is no UTF-8; such bytes become
            U+FFFD.

    Yields:
        Pieces of text, none of them empty. A byte order mark at the very start is dropped.
    """
    errors = "strict"
    rest, offset = b"", 0  # an incomplete character, and where in the input it starts
    at_start = True
    for block, final in _with_end(blocks):
        data = rest + block
        try:
            text, used = codecs.utf_8_decode(data, errors, final)
        except UnicodeDecodeError as error:
            on_warning(f"{name}: byte {offset + error.start} is not UTF-8; such bytes are shown as U+FFFD")
            errors = "replace"
            text, used = codecs.utf_8_decode(data, errors, final)
        rest = data[used:]
        offset += used
        if at_start and text:
            text = text.removeprefix(BYTE_ORDER_MARK)
            at_start = False
        if text:
            yield text


def _with_end(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for block in blocks:
        yield block, False
    yield b"", True
