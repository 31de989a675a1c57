"""``unspool parsers`` for people: the list and the description of one parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from rich.style import Style

from .palette import FAINT, TITLE, Painter
from .visible import escape_line

_INDENT = "  "
_PLAIN = Style()
_LABEL_WIDTH = 16


def list_page(facts: list[dict[str, Any]], painter: Painter) -> str:
    """Parsers under a heading a kind."""
    width = max((len(escape_line(each["name"])) for each in facts), default=0)
    lines: list[str] = []
    for kind, group in groupby(facts, key=lambda each: each["kind"]):
        lines += ["", painter.paint(f"{kind.capitalize()} parsers", TITLE)]
        for each in group:
            name = painter.paint(escape_line(each["name"]).ljust(width), TITLE)
            lines.append(f"{_INDENT}{name}  {escape_line(each['description'])}".rstrip())
            under = " " * (len(_INDENT) + width + 2)
            lines += [under + painter.paint(line, FAINT) for line in _names_and_tags(each)]
    return "\n".join(lines[1:]) + "\n"


def show_page(facts: list[dict[str, Any]], painter: Painter) -> str:
    """One block a parser."""
    return "\n".join("".join(f"{line}\n" for line in _block(each, painter)) for each in facts)


def _names_and_tags(facts: dict[str, Any]) -> Iterator[str]:
    if facts["aliases"]:
        yield f"also {_listed(facts['aliases'])}"
    if facts["legacy_names"]:
        yield f"legacy names {_listed(facts['legacy_names'])}"
    if facts["engines"]:
        yield "at " + "; ".join(f"{engine} {names}" for engine, names in _engines(facts))
    if facts["tags"]:
        yield f"tags {_listed(facts['tags'])}"


def _engines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each serving engine that has the parser, with what it calls it."""
    from unspool.parsers.engine_names import ENGINES

    for engine, names in facts["engines"].items():
        yield ENGINES[engine], ", ".join(names)


def _block(facts: dict[str, Any], painter: Painter) -> Iterator[str]:
    yield painter.paint(f"{escape_line(facts['name'])}, a {facts['kind']} parser", TITLE)
    rows = [("what for", facts["description"] or "not said")]
    for label, key in (("aliases", "aliases"), ("legacy names", "legacy_names")):
        if facts[key]:
            rows.append((label, ", ".join(facts[key])))
    rows += [(f"at {engine}", names) for engine, names in _engines(facts)]
    for label, key in (("open tag", "open_tag"), ("close tag", "close_tag")):
        if key in facts:
            rows.append((label, "none" if facts[key] is None else facts[key]))
    further = [tag for tag in facts["tags"] if tag not in (facts.get("open_tag"), facts.get("close_tag"))]
    if further:
        rows.append(("further tags", ", ".join(further)))
    if facts.get("argument_field"):
        rows.append(("argument field", facts["argument_field"]))
    if "initial_mode" in facts:
        rows.append(("initial mode", facts["initial_mode"] or "not said"))
    for label, value in rows:
        yield _row(label, value, painter)
    if facts["example"]:
        yield _INDENT + painter.paint("for example", FAINT)
        for line in re.findall(r"[^\n]*\n|[^\n]+", facts["example"]):  # each with the newline that ends it
            yield _INDENT * 2 + painter.model_text(line, _PLAIN, one_line=True)
    if facts["hold_back"]:
        yield _INDENT + painter.paint("held back at the end of a chunk", FAINT)
    for tag, prefixes in facts["hold_back"].items():
        yield _INDENT * 2 + f"of {escape_line(tag)}: {_prefixes(tag, prefixes)}"
    if facts.get("tokens"):
        yield _INDENT + painter.paint("with this tokenizer", FAINT)
    for tag, spelled in facts.get("tokens", {}).items():
        yield _INDENT * 2 + f"{escape_line(tag)} is {_spelling(spelled)}"


def _row(label: str, value: str, painter: Painter) -> str:
    return _INDENT + painter.paint(label.ljust(_LABEL_WIDTH), FAINT) + escape_line(value)


def _prefixes(tag: str, prefixes: list[str]) -> str:
    if not prefixes:
        return "nothing"
    if len(prefixes) == len(tag) - 1 > 1:
        return f"every proper prefix, {escape_line(prefixes[-1])} to {escape_line(prefixes[0])}"
    return _listed(prefixes)


def _spelling(spelled: dict[str, Any]) -> str:
    if spelled["single_token"]:
        return f"one token, {spelled['ids'][0]}"
    if not spelled["round_trip"]:
        return "not writable: its tokens don't decode to it"
    return f"{len(spelled['ids'])} tokens: " + " ".join(f"[{escape_line(piece)}]" for piece in spelled["pieces"])


def _listed(tags: Iterable[str]) -> str:
    return ", ".join(map(escape_line, tags))
