"""``unspool parsers validate`` for people: one line a name, no colours, as its place is the log of a CI run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..validation import ours
from .visible import escape_line

if TYPE_CHECKING:
    from unspool.parsers.engine_names import EngineName

    from ..validation import Check


def verdict(check: Check) -> str:
    """One line on one name."""
    name = escape_line(check.name)
    if not check.registered:
        kind = f"{check.kind} parser" if check.kind else "parser of any kind"
        hint = f"; did you mean {' or '.join(map(repr, check.near))}?" if check.near else ""
        if check.elsewhere:
            hint = f"; {check.elsewhere}"
        return f"unknown  {name}: no {kind}{_at(check.engine)}{hint}"
    if check.engine:
        meaning = "; ".join(map(_engine_meaning, check.engine_names))
    else:
        meaning = ", ".join(f"{kind} parser {escape_line(entry.name)}" for kind, entry in check.entries)
    line = f"{'ok' if check.ok else 'unfit':<7}  {name}: {meaning}"
    if check.flaws:
        line += f"; it is broken: {escape_line('; '.join(check.flaws))}"
    if check.unwritable:
        line += f"; the tokenizer can't write {_listed(check.unwritable)}"
    return line


def _at(engine: str) -> str:
    from unspool.parsers.engine_names import ENGINES

    return f" at {ENGINES[engine]}" if engine else ""


def _engine_meaning(name: EngineName) -> str:
    """What an engine has under a name, and which of our parsers reads that."""
    from unspool.parsers.engine_names import ENGINES

    entry = ours(name)
    here = [f"here {name.parser_kind} parser {escape_line(entry.name)}"] if entry else []
    notes = [name.note] if name.note else []
    return f"{ENGINES[name.engine]} {name.kind} parser for {name.format} ({', '.join(here + notes) or 'not here yet'})"


def split_tags(check: Check) -> str:
    """A warning about tags of several tokens."""
    name, tags = escape_line(check.name), _listed(check.split)
    return f"{name}: not a single token in this tokenizer: {tags}; see `unspool parsers show {name} --tokenizer DIR`"


def _listed(tags: Iterable[str]) -> str:
    return ", ".join(map(escape_line, tags))
