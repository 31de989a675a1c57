"""Checks one input: with its text alone, and with token ids where there are some.

Owns which cuts an input is worth, and that what is found comes out as small as it can be shown. Nothing is read or
printed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from unspool.parsers import EngineOutput, TextTokenizer

from ..transcript import ChunkSpec, drop_end_of_turn, recut
from .checker import Checker, Finding, check_text
from .cuts import Cut, Family, cuts_of, plan
from .observe import NewParser, Result
from .shrink import Deadline, shrink_cut, shrink_text
from .words import tags_of

_SECONDS_FOR_CUTS = 5.0
_SECONDS_FOR_TEXT = 15.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a check shall do.

    Attributes:
        random_cuts: how many; as many as are worth their time by default.
        seed: of all random choices.
        all_cuts: leave none out on a long text.
        only_tokens: the parser relies on chunks that end where tokens do.
        shrink_text: look for a smaller text that fails as well.
    """

    random_cuts: int | None = None
    seed: int = 0
    all_cuts: bool = False
    only_tokens: bool = False
    shrink_text: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding in its smallest form.

    Attributes:
        finding: with the smallest cut that was found.
        with_ids: token ids came with the text.
        ends_alone: whether, where nobody says so, the end comes in an empty chunk of its own.
        original: the text is the input's own, and not a smaller one.
    """

    finding: Finding
    with_ids: bool
    ends_alone: bool
    original: bool = True


@dataclass(frozen=True, slots=True)
class Inspection:
    """What became of an input.

    Attributes:
        characters: of the text.
        families: the cuts that were tried.
        shown: what was found.
    """

    characters: int
    families: list[Family]
    shown: list[Shown]

    @property
    def tried(self) -> int:
        """How many cuts."""
        return sum(family.tried for family in self.families)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a parser gets of an input: the text alone, or also the ids."""

    new_parser: NewParser
    records: Sequence[EngineOutput]
    families: list[Family]


def inspect(
    records: Sequence[EngineOutput],
    new_parser: NewParser,
    settings: Settings,
    *,
    tokenizer: TextTokenizer | None = None,
    new_parser_for_ids: NewParser | None = None,
    end_tokens: frozenset[str] = frozenset(),
    on_cut: Callable[[int, int], None] | None = None,
) -> Inspection:
    """Check an input.

    Args:
        records: its chunks.
        new_parser: makes parsers for the text alone.
        settings: what to do.
        tokenizer: says where tokens end.
        new_parser_for_ids: makes parsers that can read token ids.
        end_tokens: what can't stand at the end of a text, as reading it would drop it.
        on_cut: called with the number of cuts so far and of all.
    """
    text = "".join(record.text for record in records)
    ends_alone = all(record.finish_reason is None for record in records)
    evidence = list(_evidence(text, records, new_parser, new_parser_for_ids, tokenizer, settings, ends_alone))
    families = [family for each in evidence for family in each.families]
    total = sum(family.tried for family in families)
    shown: list[Shown] = []
    done = 0
    for each in evidence:

        def count(tried: int, before: int = done) -> None:
            if on_cut is not None:
                on_cut(before + tried, total)

        findings = check_text(each.new_parser, text, cuts_of(each.families), records=each.records, on_cut=count)
        for finding in findings:
            small = Shown(finding, bool(each.records), ends_alone)
            shown.append(_smallest(small, each, settings.shrink_text, end_tokens))
        done += sum(family.tried for family in each.families)
    return Inspection(len(text), families, shown)


def _evidence(
    text: str,
    records: Sequence[EngineOutput],
    new_parser: NewParser,
    new_parser_for_ids: NewParser | None,
    tokenizer: TextTokenizer | None,
    settings: Settings,
    ends_alone: bool,
) -> list[_Evidence]:
    tags = tags_of(new_parser())
    tokens = None
    if tokenizer is not None:
        tokens = _ends(list(recut(records, ChunkSpec("tokens"), tokenizer)))
    as_read = Cut((*_ends(records[:-1]), len(text)) if ends_alone else _ends(records[:-1]))
    if records and ends_alone:
        as_read = Cut(_ends(records))
    with_ids = new_parser_for_ids is not None and any(record.token_ids for record in records)

    def families(token_places: Sequence[int] | None, cut: Cut, only_tokens: bool) -> list[Family]:
        return plan(
            text,
            tags=tags,
            token_places=token_places,
            only_tokens=only_tokens,
            as_read=cut,
            random_cuts=settings.random_cuts,
            seed=settings.seed,
            all_cuts=settings.all_cuts,
        )

    found = []
    if not (settings.only_tokens and with_ids):
        found.append(_Evidence(new_parser, (), families(tokens, as_read, settings.only_tokens)))
    if with_ids and new_parser_for_ids is not None:
        cuts = families(_ends(records), Cut(recorded=True), True)
        named = cuts if settings.only_tokens else [replace(family, name=f"{family.name}-with-ids") for family in cuts]
        found.append(_Evidence(new_parser_for_ids, records, named))
    return found


def _ends(records: Sequence[EngineOutput]) -> tuple[int, ...]:
    return tuple(accumulate(len(record.text) for record in records))


def _smallest(shown: Shown, evidence: _Evidence, also_text: bool, end_tokens: frozenset[str]) -> Shown:
    """Make a finding small: its cut, and its text where that is wanted."""
    shown = _with_smallest_cut(shown, evidence)
    if not also_text or shown.with_ids:
        return shown
    before = shown.finding
    codes = _codes(before.expected) | _codes(before.found)

    def fails(text: str, cut: Cut) -> bool:
        """Whether a text fails likewise: not because it is broken in another way than the input is."""
        if end_tokens and "".join(out.text for out in drop_end_of_turn([EngineOutput(text)], end_tokens)) != text:
            return False
        checker = Checker(evidence.new_parser, text)
        return _codes(checker.expected) <= codes and before.invariant in _names(checker, cut)

    text, cut = shrink_text(fails, before.text, before.cut, Deadline(_SECONDS_FOR_TEXT))
    if text == before.text:
        return shown
    smaller = replace(shown, finding=replace(before, text=text, cut=cut), original=False)
    return _with_smallest_cut(smaller, evidence)


def _with_smallest_cut(shown: Shown, evidence: _Evidence) -> Shown:
    finding = shown.finding
    checker = Checker(evidence.new_parser, finding.text, evidence.records)

    def fails(cut: Cut) -> bool:
        return finding.invariant in _names(checker, cut)

    deadline = Deadline(_SECONDS_FOR_CUTS)
    cut = shrink_cut(fails, finding.cut, len(finding.text), deadline, end_alone=shown.ends_alone)
    violations, result = checker.violations(cut)
    for violation in violations:
        if violation.invariant == finding.invariant:
            finding = replace(finding, violation=violation, cut=cut, expected=checker.expected, found=result)
            return replace(shown, finding=finding)
    return shown  # the parser does not do the same twice


def _codes(result: Result | None) -> set[str]:
    return set() if result is None else {finding.code for finding in result.diagnostics}


def _names(checker: Checker, cut: Cut) -> set[str]:
    return {violation.invariant for violation in checker.violations(cut)[0]}
