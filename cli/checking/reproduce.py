"""The command that shows a finding again.

Owns how a cut is spelled for ``unspool replay --chunk``, and a text for the shell. Nothing is run here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from .inspection import Shown

_LONGEST_TEXT = 2000  # characters of a smaller text that are put into a command
_NOT_PLAIN = re.compile(r"[^ -~\u00a1-\u167f\u3041-\ud7ff\U0001f300-\U0001faff]|[\\'\u061c]")


def chunk_spec(shown: Shown) -> str | None:
    """What ``--chunk`` has to say; ``None`` where nothing, since the chunks are those that replay makes by itself."""
    cut, length = shown.finding.cut, len(shown.finding.text)
    if cut.recorded:
        return None
    inner = [place for place in cut.places if place < length]
    if length not in cut.places:
        words = [*map(str, inner), *(["final"] if shown.ends_alone or not inner else [])]
    else:
        # Replay lets the end come alone where no finish reason says otherwise; only empty chunks before it need saying.
        usual = shown.ends_alone and inner and len(cut.places) == len(inner) + 1
        words = list(map(str, inner if usual else cut.places))
    return "at:" + ",".join(words)


def command(shown: Shown, path: Path, options: Sequence[str]) -> str | None:
    """A line for a POSIX shell; ``None`` where the text is no file's and too long for a line.

    Args:
        shown: what to show again.
        path: the input.
        options: those of the parsers, the request and the reading.
    """
    words = ["unspool", "replay", *options]
    spec = chunk_spec(shown)
    if spec is not None:
        words += ["--chunk", spec]
    if shown.original:
        return shlex.join([*words, str(path)])
    text = shown.finding.text
    if len(text) > _LONGEST_TEXT:
        return None
    return f"printf '%b' '{_for_printf(text)}' | {shlex.join([*words, '-i', 'text', '-'])}"


def _for_printf(text: str) -> str:
    """``text`` as an argument of ``printf '%b'``, without anything that a shell or a terminal would act on."""
    return _NOT_PLAIN.sub(lambda match: _escaped(match.group()), text)


def _escaped(character: str) -> str:
    if character == "\n":
        return "\\n"
    if character == "\\":
        return "\\\\"
    return "".join(f"\\0{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))
