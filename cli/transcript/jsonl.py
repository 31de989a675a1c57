"""JSON lines to engine chunks, for a token stream of one response in our own normal form.

The form is ``dumps.record``'s, reading it ``dumps.reading``'s; this is the way in for lines that are known to be of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer

from .dumps import SHAPES, DumpOptions, read_dump
from .errors import BadLine

__all__ = ["BadLine", "read_records"]


def read_records(
    lines: Iterable[bytes],
    *,
    name: str,
    tokenizer: TextTokenizer | None,
    on_warning: Callable[[str], None],
    on_bad_line: Callable[[BadLine], None],
) -> Iterator[EngineOutput]:
    r"""Read records, each as soon as its line is there.

    Args:
        lines: the input's lines without ``\n``; blank ones are skipped, byte order marks and ``\r`` are tolerated.
        name: what messages call the input.
        tokenizer: decodes ids, special tokens spelled out; they decide where a record has text, too.
        on_warning: called where bytes or halves of characters had to be replaced, once for the input.
        on_bad_line: called with each line that is no record; the lines around it still count.

    Raises:
        TranscriptError: there are ids without text and no tokenizer.
    """
    options = DumpOptions(name, SHAPES["jsonl"], tokenizer, None, on_warning, on_bad_line)
    return (output for part in read_dump(lines, options) for output in part.outputs)
