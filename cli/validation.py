"""Whether names mean registered parsers, here or at a serving engine, and whether a tokenizer fits them.

Owns what counts as wrong: an unknown name, and a tag that the tokenizer can't write. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .parser_facts import entries_named, flaw, registries, spelling

if TYPE_CHECKING:
    from unspool.parsers import RegistryEntry, TextTokenizer
    from unspool.parsers.engine_names import EngineName


@dataclass
class Check:
    """One name and what was found out about it.

    Attributes:
        kind: of which kind the parser has to be; ``None`` if any will do.
        name: as it was given.
        entries: the parsers that the name means, with their kinds.
        near: names that look like it, where it means nothing.
        flaws: what is wrong with those of them that are no parsers.
        elsewhere: why a name that an engine registers means nothing here; ``""`` where there is nothing to say.
        tags: how the tokenizer spells each tag; ``None`` where no tokenizer was asked.
        engine: the serving engine that was asked instead of us, or ``""``.
        engine_names: what the name means to that engine.
    """

    kind: str | None
    name: str
    entries: list[tuple[str, RegistryEntry[Any]]]
    near: list[str]
    tags: dict[str, dict[str, Any]] | None = field(default=None)
    engine: str = ""
    engine_names: list[EngineName] = field(default_factory=list)
    elsewhere: str = ""
    flaws: list[str] = field(default_factory=list)

    @property
    def registered(self) -> bool:
        """Whether the name means a parser: one of the engine's if one was asked, else one of ours."""
        return bool(self.engine_names if self.engine else self.entries)

    @property
    def unwritable(self) -> list[str]:
        """Tags that the tokenizer can't write."""
        return [tag for tag, spelled in (self.tags or {}).items() if not spelled["round_trip"]]

    @property
    def split(self) -> list[str]:
        """Tags that the tokenizer writes as several tokens."""
        return [
            tag for tag, spelled in (self.tags or {}).items() if spelled["round_trip"] and not spelled["single_token"]
        ]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.registered and not self.unwritable and not self.flaws


def check_names(wanted: Iterable[tuple[str | None, str]]) -> list[Check]:
    """Look up names, each with the kind that it has to be of or ``None``."""
    return [_check_name(kind, name) for kind, name in wanted]


def check_engine_names(engine: str, wanted: Iterable[tuple[str | None, str]]) -> list[Check]:
    """Look up names as an engine would, which takes them only as it spells them.

    Args:
        engine: a key of ``ENGINES``.
        wanted: names, each with the kind that it has to be of or ``None``.
    """
    from unspool.parsers import engine_names

    checks = []
    for kind, name in wanted:
        found = engine_names.lookup(engine, name, kind)
        check = Check(kind, name, [], [] if found else engine_names.near(engine, name, kind))
        check.engine, check.engine_names = engine, found
        for each in found:
            entry = ours(each)
            if entry is not None and (each.parser_kind, entry) not in check.entries:
                check.entries.append((each.parser_kind, entry))
        checks.append(check)
    return checks


def ours(name: EngineName) -> RegistryEntry[Any] | None:
    """Our parser for what an engine registers, or ``None`` where we have none yet."""
    return registries()[name.parser_kind].find(name.parser) if name.parser else None


def check_tags(checks: Iterable[Check], tokenizer: TextTokenizer) -> None:
    """Ask a tokenizer about the tags of every parser that was found."""
    for check in checks:
        if check.registered and not check.flaws:
            tags = dict.fromkeys(tag for _, entry in check.entries for tag in entry.cls.tags())
            check.tags = {tag: spelling(tag, tokenizer) for tag in tags}


def _check_name(kind: str | None, name: str) -> Check:
    entries = entries_named(name, kind)
    for found, _ in entries:
        registries()[found].get(name)  # warns of a legacy name
    if entries:
        flaws = [problem for found, entry in entries if (problem := flaw(found, entry))]
        return Check(kind, name, entries, [], flaws=flaws)
    near = [match for each, registry in registries().items() if kind in (None, each) for match in registry.near(name)]
    check = Check(kind, name, [], list(dict.fromkeys(near)))
    reasons = (registry.elsewhere(name) for each, registry in registries().items() if kind in (None, each))
    check.elsewhere = next(filter(None, reasons), "")
    return check
