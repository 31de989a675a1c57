"""Makes text from a model harmless and visible on a terminal.

Owns the question which characters a terminal would act on instead of showing: control characters (C0, C1), those that
reorder or break lines, and lone surrogates, which can't be written at all. Knows nothing of colours.
"""

from __future__ import annotations

import re

NEWLINE = "\u23ce"

_NEVER_SHOWN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_ACTS = re.compile(f"[{_NEVER_SHOWN}]")
_ACTS_OR_BREAKS = re.compile(f"[{_NEVER_SHOWN}\t\n]")
_SHORT = {"\t": "\\t", "\n": NEWLINE, "\r": "\\r"}


def _name(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def pieces(text: str, *, one_line: bool) -> list[tuple[str, bool]]:
    """Split ``text`` into what can be shown as it is and escapes for what can't.

    Args:
        text: anything that a model wrote.
        one_line: newlines and tabs are escaped too.

    Returns:
        Pairs of a printable piece and whether it is an escape.
    """
    pattern = _ACTS_OR_BREAKS if one_line else _ACTS
    found: list[tuple[str, bool]] = []
    position = 0
    for match in pattern.finditer(text):
        if match.start() > position:
            found.append((text[position : match.start()], False))
        found.append((_name(match.group()), True))
        position = match.end()
    if position < len(text):
        found.append((text[position:], False))
    return found


def escape(text: str) -> str:
    """``text`` for a terminal, newlines and tabs kept."""
    return _ACTS.sub(lambda match: _name(match.group()), text)


def escape_line(text: str) -> str:
    """``text`` for a terminal, on one line."""
    return _ACTS_OR_BREAKS.sub(lambda match: _name(match.group()), text)


def escape_json(text: str) -> str:
    """JSON for a terminal: the same value, its strings escaped."""
    return _ACTS.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
