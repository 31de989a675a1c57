"""What a registered parser says of itself, as plain values.

Owns where to look: the three managers, the parser classes' own descriptions, and a tokenizer's view of their tags.
Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool.parsers import Boundaries, Registry, RegistryEntry, TextTokenizer

KINDS = ("reasoning", "tool", "response")
_CALL = ("get_weather", {"city": "Bergen", "days": 4})
_TEXTS = ("description", "argument_field", "initial_mode_rule")  # what a class says of itself beside its tags


def registries() -> dict[str, Registry[Any]]:
    """The managers by kind, in the order in which a reader thinks of them."""
    from unspool.parsers import ReasoningParserManager, ResponseParserManager, ToolParserManager

    return dict(zip(KINDS, (ReasoningParserManager, ToolParserManager, ResponseParserManager), strict=True))


def all_entries() -> Iterator[tuple[str, RegistryEntry[Any]]]:
    """Every registered parser with its kind."""
    for kind, registry in registries().items():
        for entry in registry.entries():
            yield kind, entry


def entries_named(name: str, kind: str | None = None) -> list[tuple[str, RegistryEntry[Any]]]:
    """The parsers, of one kind or of any, that a name means; one name can mean a parser of each kind."""
    found = ((each, registry.find(name)) for each, registry in registries().items() if kind in (None, each))
    return [(each, entry) for each, entry in found if entry is not None]


def flaw(kind: str, entry: RegistryEntry[Any]) -> str:
    """Why a registered class is no parser, or ``""`` where it is one: a plug-in can register anything."""
    from unspool.parsers import build_response_parser

    cls = entry.cls
    try:
        for tag in cls.tags():
            if not isinstance(tag, str):
                return f"its tag {tag!r} is no text"
        for name in _TEXTS:
            text = getattr(cls, name, None)
            if not isinstance(text, str | None):
                return f"its {name} {text!r} is no text"
        wanted: dict[str, Any] = {f"{kind}_parser": cls}
        build_response_parser(**wanted)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return ""


def summary(kind: str, entry: RegistryEntry[Any]) -> dict[str, Any]:
    """What ``parsers list`` tells."""
    from unspool.parsers.engine_names import spellings

    return {
        "kind": kind,
        "name": entry.name,
        "aliases": list(entry.aliases),
        "legacy_names": list(entry.legacy),
        "engines": spellings(kind, entry.name),
        "tags": list(entry.cls.tags()),
        "description": entry.cls.description,
    }


def details(
    kind: str, entry: RegistryEntry[Any], boundaries: Boundaries, tokenizer: TextTokenizer | None
) -> dict[str, Any]:
    """What ``parsers show`` tells.

    Args:
        kind: the parser's kind.
        entry: the parser.
        boundaries: decides the hold-back prefixes.
        tokenizer: says how it spells each tag.
    """
    cls = entry.cls
    facts = summary(kind, entry)
    if kind == "reasoning":
        facts["open_tag"] = cls.get_reasoning_open_tag()
        facts["close_tag"] = cls.get_reasoning_close_tag()
        facts["initial_mode"] = cls.initial_mode_rule
    elif kind == "tool":
        facts["open_tag"] = cls.get_tool_open_tag()
        facts["close_tag"] = cls.get_tool_close_tag()
        facts["argument_field"] = getattr(cls, "argument_field", None)
    facts["hold_back"] = {tag: list(boundaries.prefixes(tag)) for tag in cls.tags()}
    facts["example"] = _example(kind, cls)
    if tokenizer is not None:
        facts["tokens"] = {tag: spelling(tag, tokenizer) for tag in cls.tags()}
    return facts


def _example(kind: str, cls: type[Any]) -> str | None:
    """What a model of this format writes; ``None`` where the class does not say, or composes others."""
    from unspool.parsers import build_response_parser

    if kind == "response" and cls.composes:
        return None
    parsers: dict[str, Any] = {f"{kind}_parser": cls}
    has_text, has_calls = kind != "tool", kind != "reasoning"
    try:
        written = build_response_parser(**parsers).write_response(
            "It may rain." if has_text else "", "Take a coat." if has_text else "", [_CALL] if has_calls else ()
        )
    except Exception:  # most often NotImplementedError; whether a plug-in writes well is for `bench` to find out
        return None
    return written if isinstance(written, str) else None


def spelling(tag: str, tokenizer: TextTokenizer) -> dict[str, Any]:
    """How a tokenizer spells a tag: its ids, their texts, and whether they decode to the tag again."""
    ids = tokenizer.encode(tag)
    return {
        "ids": ids,
        "pieces": [tokenizer.decode([token]) for token in ids],
        "single_token": len(ids) == 1 and tokenizer.decode(ids) == tag,
        "round_trip": tokenizer.decode(ids) == tag,
    }
