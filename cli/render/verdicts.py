"""``unspool parsers validate`` for people: one line a name, no colours, as its place is the log of a CI run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .visible import escape_line

if TYPE_CHECKING:
    from ..validation import Check


def verdict(check: Check) -> str:
    """One line on one name."""
    name = escape_line(check.name)
    if not check.registered:
        kind = f"{check.kind} parser" if check.kind else "parser of any kind"
        hint = f"; did you mean {' or '.join(map(repr, check.near))}?" if check.near else ""
        return f"unknown  {name}: no {kind}{hint}"
    meanings = [f"{kind} parser {escape_line(entry.name)}" for kind, entry in check.entries]
    line = f"{'ok' if check.ok else 'unfit':<7}  {name}: {', '.join(meanings)}"
    if check.unwritable:
        line += f"; the tokenizer can't write {_listed(check.unwritable)}"
    return line


def split_tags(check: Check) -> str:
    """A warning about tags of several tokens."""
    name, tags = escape_line(check.name), _listed(check.split)
    return f"{name}: not a single token in this tokenizer: {tags}; see `unspool parsers show {name} --tokenizer DIR`"


def _listed(tags: Iterable[str]) -> str:
    return ", ".join(map(escape_line, tags))
