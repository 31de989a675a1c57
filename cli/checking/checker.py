"""Puts a parser to the test on one text.

Owns what a cut is compared with, and that many failing cuts are one finding. Which cuts are tried is the caller's
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from unspool.parsers import EngineOutput

from ..transcript import ChunkSpec, recut
from .conservation import lost
from .cuts import Cut
from .invariants import INVARIANTS, Violation
from .observe import Call, Chunk, NewParser, Result, Run, observe, observe_complete

_FIELDS = {
    "content": "other content",
    "reasoning_content": "other reasoning",
    "tool_calls": "other calls",
    "diagnostics": "other diagnostics",
}

DEEP = 2000
"""Characters up to which what became of each character is looked at under every cut, and not only under some."""

_DEEP_EVERY = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise.

    Attributes:
        violation: which, and what happened under ``cut``.
        cut: of all the cuts that break it, one with the fewest chunks.
        failed: how many cuts break it.
        expected: what ``parse_complete`` makes of the text; ``None`` where it raises.
        found: what ``cut`` makes of it; as far as it came where the parser raised.
        text: what was cut.
    """

    violation: Violation
    cut: Cut
    failed: int
    expected: Result | None
    found: Result
    text: str

    @property
    def invariant(self) -> str:
        """The name of what is broken."""
        return self.violation.invariant


class Checker:
    """Knows what a parser makes of one text, and judges cuts of it.

    Args:
        new_parser: makes fresh parsers.
        text: what is cut.
        records: the same text as it was recorded, with token ids; cuts then carry the ids, which stay in order and go
            on the chunk in which their record's text begins.
    """

    def __init__(self, new_parser: NewParser, text: str, records: Sequence[EngineOutput] = ()) -> None:
        self.text = text
        self._new_parser = new_parser
        self._records = records
        self._conserved: tuple[Run, str | None] | None = None

    @property
    def expected(self) -> Result | None:
        """What ``parse_complete`` makes of the text; ``None`` where it raises."""
        return None if self.reference.raised else self.reference.result

    @cached_property
    def reference(self) -> Run:
        """The run of ``parse_complete``."""
        return observe_complete(self._new_parser, self.text, self._ids)

    def violations(self, cut: Cut, *, deep: bool = True) -> tuple[list[Violation], Result]:
        """Run one cut.

        Args:
            cut: the cut.
            deep: look at what became of each character, too, which takes a second run: recording it can't be free.

        Returns:
            What is wrong, at most one an invariant, and the result.
        """
        run = observe(self._new_parser, self.chunks(cut))
        found = dict(run.violations)
        whole = cut.places in ((), (len(self.text),)) and not cut.recorded
        if whole and self.reference.raised and not found:
            found |= self.reference.violations
        elif not run.raised:
            difference = self._difference(run)
            if difference:
                found["same-result"] = Violation("same-result", difference)
            if deep:
                missing = self._lost(cut)
                if missing:
                    found["conservation"] = Violation("conservation", missing)
        return [found[name] for name in INVARIANTS if name in found], run.result

    def chunks(self, cut: Cut) -> list[Chunk]:
        """The chunks of a cut; the last one is final."""
        if not self._records:
            ends = [*cut.places, len(self.text)]
            return [Chunk(self.text[start:end]) for start, end in zip([0, *cut.places], ends, strict=True)]
        outputs = (
            list(self._records) if cut.recorded else list(recut(self._records, ChunkSpec("at", places=cut.places)))
        )
        chunks = [Chunk(output.text, output.token_ids) for output in outputs]
        if cut.recorded:
            ends_alone = self._records[-1].finish_reason is None
        else:
            ends_alone = len(self.text) in cut.places and all(each.finish_reason is None for each in self._records)
        if ends_alone:
            chunks.append(Chunk(""))
        return chunks

    @cached_property
    def _ids(self) -> list[int] | None:
        return [token for record in self._records for token in record.token_ids] or None

    @cached_property
    def _whole(self) -> Run:
        return observe(self._new_parser, self.chunks(Cut()))

    @cached_property
    def _wanted(self) -> Result:
        """The result to compare with: the stream's in one piece where ``parse_complete`` raises."""
        return self._whole.result if self.reference.raised else self.reference.result

    @cached_property
    def _ids_vary(self) -> bool:
        """Whether the parser makes up call ids anew each time, so that they can't be compared."""
        again = observe_complete(self._new_parser, self.text, self._ids)
        return again.result != self.reference.result and _without_ids(again.result) == _without_ids(
            self.reference.result
        )

    def _difference(self, run: Run) -> str | None:
        """Say in which fields a run differs from what it should be."""
        wanted, found = self._wanted, run.result
        if wanted != found and self._ids_vary:
            wanted, found = _without_ids(wanted), _without_ids(found)
        fields = [words for name, words in _FIELDS.items() if getattr(wanted, name) != getattr(found, name)]
        if fields:
            return f"{' and '.join(fields)} than parse_complete gives"
        if run.order != self._whole.order and not self._whole.raised:
            return f"the channels come in another order: {', '.join(run.order)} for {', '.join(self._whole.order)}"
        return None

    def _lost(self, cut: Cut) -> str | None:
        """Whether text was lost; a run that shows what another one did is not looked through again."""
        run = observe(self._new_parser, self.chunks(cut), record_spans=True)
        if run.raised:
            return None
        if self._conserved is None or (self._conserved[0].result, self._conserved[0].spans) != (run.result, run.spans):
            self._conserved = (run, lost(self._new_parser, self.text, run))
        return self._conserved[1]


class Tally:
    """Adds up what many cuts show.

    Args:
        checker: judges them.
    """

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._findings: dict[str, Finding] = {}
        self.tried = 0

    def add(self, cut: Cut, *, deep: bool = True) -> None:
        """Try one more cut."""
        self.tried += 1
        violations, result = self._checker.violations(cut, deep=deep)
        for violation in violations:
            known = self._findings.get(violation.invariant)
            if known is None:
                finding = Finding(violation, cut, 1, self._checker.expected, result, self._checker.text)
            elif _size(cut) < _size(known.cut):
                finding = replace(known, violation=violation, cut=cut, found=result, failed=known.failed + 1)
            else:
                finding = replace(known, failed=known.failed + 1)
            self._findings[violation.invariant] = finding

    @property
    def findings(self) -> list[Finding]:
        """What was found, at most one an invariant."""
        return [self._findings[name] for name in INVARIANTS if name in self._findings]


def check_text(
    new_parser: NewParser,
    text: str,
    cuts: Iterable[Cut],
    *,
    records: Sequence[EngineOutput] = (),
    on_cut: Callable[[int], None] | None = None,
) -> list[Finding]:
    """Try cuts of a text and tell what is wrong.

    Args:
        new_parser: makes fresh parsers.
        text: what is cut.
        cuts: how.
        records: see :class:`Checker`.
        on_cut: called with the number of cuts so far.

    Returns:
        At most one finding an invariant, in the order of :data:`INVARIANTS`.
    """
    tally = Tally(Checker(new_parser, text, records))
    for cut in cuts:
        tally.add(cut, deep=len(text) <= DEEP or tally.tried % _DEEP_EVERY == 0)
        if on_cut is not None:
            on_cut(tally.tried)
    return tally.findings


def _size(cut: Cut) -> tuple[int, tuple[int, ...]]:
    """What makes a cut smaller than another: fewer chunks, then earlier places."""
    return (1 << 62 if cut.recorded else len(cut.places)), cut.places[:8]


def _without_ids(result: Result) -> Result:
    return replace(result, tool_calls=tuple(Call("", call.name, call.arguments) for call in result.tool_calls))
