"""What a benchmark says: a table on a terminal, aligned text in a pipe, a record for programs.

Owns the wording and the columns. Names that a plug-in chose are made harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..render.visible import escape_line
from .measure import LONGEST, Cost, Growth
from .results import CaseResult, Plan

_NUMBERS = 2  # the columns before it are words


def headers(sizes: Sequence[int]) -> list[str]:
    """The columns."""
    return ["shape", "chunk", "µs/chunk", "MB/s", "× floor", *(f"at {_thousands(size)}" for size in sizes[1:])]


def rows(result: CaseResult, sizes: Sequence[int]) -> Iterator[list[str]]:
    """One row for each way of cutting."""
    growth = {each.chunk: each for each in result.growth}
    shown = {each.chunk for each in result.costs}
    for each in result.costs:
        yield [result.name, each.chunk, *_numbers(each), *_relative(growth.get(each.chunk), sizes)]
    for found in result.growth:  # in chunks whose costs nobody asked for
        if found.chunk not in shown:
            yield [result.name, found.chunk, "", "", "", *_relative(found, sizes)]


def title(plan: Plan, results: Sequence[CaseResult]) -> str:
    """What was measured, and what the floor was."""
    floors = [each.floor / each.chunks for result in results for each in result.costs if each.floor is not None]
    floor = f"; floor {min(floors) * 1e6:.2f} µs a chunk" if floors else ""
    length = max((result.characters for result in results), default=0)
    return escape_line(f"{plan.target.label}: {length:,} characters{floor}")


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Aligned columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            escape_line(cell).ljust(width) if at < _NUMBERS else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )


def rich_table(plan: Plan, results: Sequence[CaseResult], sizes: Sequence[int]) -> Any:
    """The same for a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=Text(title(plan, results), style="bold"), title_justify="left", pad_edge=False)
    for at, header in enumerate(headers(sizes)):
        table.add_column(Text(header), justify="left" if at < _NUMBERS else "right", no_wrap=True)
    for result in results:
        for number, row in enumerate(rows(result, sizes)):
            first = "" if number else row[0]  # said once
            table.add_row(*(Text(escape_line(cell)) for cell in (first, *row[1:])))
        table.add_section()
    return table


def verdicts(plan: Plan, results: Sequence[CaseResult]) -> Iterator[str]:
    """One line for all that is bad, and for all that was left out."""
    if plan.problem:
        yield f"wrong: {plan.problem}"
    for result in results:
        if result.wrong:
            yield f"wrong: {result.name}: {result.wrong}"
        for growth in result.growth:
            where = f"{result.name}, {_spoken(growth)}"
            if growth.is_quadratic:
                yield f"quadratic: {where}: 10 times the text takes {growth.tenfold:.0f} times the time"
            last = growth.points[-1]
            if growth.skipped:
                yield f"left out: {where}: {growth.skipped:,} characters would take more than {LONGEST:g} seconds"
            elif not last.complete:
                yield f"stopped: {where}: {LONGEST:g} seconds were over after {last.characters:,} characters"


def record(plan: Plan, results: Sequence[CaseResult]) -> dict[str, Any]:
    """The object on one parser."""
    target = plan.target
    return {
        "reasoning_parser": target.reasoning,
        "tool_parser": target.tool,
        "response_parser": target.response,
        "ok": not is_bad(plan, results),
        "problem": plan.problem or None,
        "unwritten": list(plan.unwritten),
        "shapes": [
            {
                "shape": result.name,
                "characters": result.characters,
                "wrong": result.wrong or None,
                "costs": [_cost(each) for each in result.costs],
                "growth": [_growth(each) for each in result.growth],
            }
            for result in results
        ],
    }


def is_bad(plan: Plan, results: Sequence[CaseResult]) -> bool:
    """Whether a parser is wrong or quadratic."""
    return bool(plan.problem) or any(result.wrong or result.quadratic for result in results)


def _numbers(cost: Cost) -> list[str]:
    times = "" if cost.times_floor is None else f"{cost.times_floor:.1f}"
    speed = cost.megabytes_per_second
    return [f"{cost.micros_per_chunk:,.2f}", f"{speed:,.1f}" if speed < 100 else f"{speed:,.0f}", times]


def _relative(growth: Growth | None, sizes: Sequence[int]) -> list[str]:
    """The cost of a character at each length but the shortest, relative to that; ``+``: stopped on the way."""
    if growth is None:
        return [""] * (len(sizes) - 1)
    cells = [
        f"{relative:.2f}{'' if point.complete else '+'}"
        for relative, point in zip(growth.relative[1:], growth.points[1:], strict=True)
    ]
    return cells + ["-"] * (len(sizes) - 1 - len(cells))


def _spoken(growth: Growth) -> str:
    return f"in chunks of {growth.chunk}" if growth.chunk.isdecimal() else growth.chunk


def _thousands(size: int) -> str:
    return f"{size // 1000:,}k" if size % 1000 == 0 else f"{size:,}"


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "chunk": cost.chunk,
        "chunks": cost.chunks,
        "us_per_chunk": round(cost.micros_per_chunk, 4),
        "mb_per_second": round(cost.megabytes_per_second, 3),
        "floor_us_per_chunk": None if cost.floor is None else round(cost.floor / cost.chunks * 1e6, 4),
        "times_floor": None if cost.times_floor is None else round(cost.times_floor, 2),
    }


def _growth(growth: Growth) -> dict[str, Any]:
    return {
        "chunk": growth.chunk,
        "quadratic": growth.is_quadratic,
        "time_for_10_times_the_text": round(growth.tenfold, 2),
        "left_out": growth.skipped or None,
        "points": [
            {
                "characters": point.characters,
                "seconds": round(point.seconds, 6),
                "relative": round(relative, 3),
                "complete": point.complete,
            }
            for point, relative in zip(growth.points, growth.relative, strict=True)
        ],
    }
