"""One parser's benchmark: which transcripts, what they cost, and what is wrong with it.

Owns the order in which things are done: nothing is measured that does not read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .measure import Cost, Growth, cost, growth, whole_cost
from .transcripts import SHAPES, Case, NewParserFor, given_case, written_case
from .verification import find_wrong

Cut = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Target:
    """A parser, or two that work together.

    Attributes:
        reasoning: name of the reasoning parser, or ``None``.
        tool: name of the tool parser, or ``None``.
        response: name of the response parser.
    """

    reasoning: str | None = None
    tool: str | None = None
    response: str = "default"

    @property
    def label(self) -> str:
        """What a report calls it."""
        parts = [f"reasoning parser {self.reasoning}"] if self.reasoning is not None else []
        parts += [f"tool parser {self.tool}"] if self.tool is not None else []
        parts += [f"response parser {self.response}"] if self.response != "default" or not parts else []
        return ", ".join(parts)


@dataclass(slots=True)
class CaseResult:
    """What was found out about one transcript; no costs where it is wrong."""

    name: str
    characters: int
    wrong: str = ""
    costs: list[Cost] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)

    @property
    def quadratic(self) -> list[Growth]:
        """The ways of cutting in which the cost of a character grows."""
        return [each for each in self.growth if each.is_quadratic]


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be measured of a parser.

    Attributes:
        target: the parser.
        cases: its transcripts.
        problem: what is wrong with its writing, or ``""``.
        unwritten: names of the calls' shapes that a tool parser doesn't say how to write.
    """

    target: Target
    cases: list[Case]
    problem: str = ""
    unwritten: tuple[str, ...] = ()


def plan_written(target: Target, size: int, new_parser_for: NewParserFor) -> Plan:
    """Let a parser write its transcripts."""
    cases: list[Case] = []
    unwritten = []
    for shape in SHAPES:
        try:
            cases.append(written_case(shape, size, new_parser_for))
        except NotImplementedError:
            if target.tool is not None and shape.make(1).calls:
                unwritten.append(shape.name)
        except Exception as problem:  # a plug-in's own
            return Plan(target, [], f"writing the sample '{shape.name}' raises {type(problem).__name__}: {problem}")
    return Plan(target, cases, "", tuple(unwritten))


def plan_given(target: Target, texts: Mapping[str, str], new_parser_for: NewParserFor) -> Plan:
    """Use transcripts that a user has."""
    return Plan(target, [given_case(name, text, new_parser_for) for name, text in texts.items()])


def steps(plan: Plan, cuts: Mapping[str, Cut]) -> int:
    """How many steps :func:`measured` goes, for a progress bar."""
    return len(plan.cases) * (len(cuts) + 4)


def measured(
    plan: Plan, cuts: Mapping[str, Cut], sizes: Sequence[int], on_step: Callable[[], None]
) -> Iterator[CaseResult]:
    """Verify and measure the cases of a plan.

    Args:
        plan: the parser and its transcripts.
        cuts: ways of cutting, by what a report calls them.
        sizes: lengths, ascending, at which growth is measured.
        on_step: called after each step.
    """
    for case in plan.cases:
        sample = case.base
        chunks = {name: cut(sample.text) for name, cut in cuts.items()}
        result = CaseResult(case.name, len(sample.text), find_wrong(sample, chunks))
        on_step()
        for name, pieces in chunks.items():
            if not result.wrong:
                result.costs.append(cost(sample, name, pieces))
            on_step()
        if not result.wrong:
            result.costs.append(whole_cost(sample))
        on_step()
        for whole in (False, True):
            if not result.wrong:
                result.growth.append(growth(case, sizes, whole=whole))
            on_step()
        yield result
