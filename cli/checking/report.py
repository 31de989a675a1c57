"""What a check found, as lines for a person and as one record for a program.

Owns the wording and the comparison of two results. Everything that a model or a plug-in wrote is quoted on one line and
harmless; where the lines go is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.style import Style

from unspool.parsers import Diagnostic, ToolCall

from ..render.palette import CONTENT, ESCAPE, FAINT, TITLE, Painter
from ..render.records import call_record
from ..render.summary import count
from .checker import Finding
from .inspection import Inspection, Shown
from .invariants import INVARIANTS
from .observe import Result
from .reproduce import chunk_spec

_PLAIN = Style()
_WIDTH = 96  # characters of a value that are shown
_BEFORE = 32  # of them before the first difference
_MOST_CHUNKS = 8
_MOST_PLACES = 40
_MOST_LINES = 24


def verdict(name: str, inspection: Inspection, painter: Painter) -> str:
    """The line on one input."""
    found = count(len(inspection.shown), "finding")
    word = painter.paint(found, ESCAPE + TITLE) if inspection.shown else painter.paint("ok", CONTENT)
    families = ", ".join(
        f"{family.name} {family.tried:,}" + (f" of {family.possible:,}" if family.possible > family.tried else "")
        for family in inspection.families
    )
    size = count(inspection.characters, "character")
    label = painter.model_text(name, TITLE, one_line=True)
    return f"{label}: {word}; {count(inspection.tried, 'cut')} of {size} ({families})\n"


def explanation(shown: Shown, tried: int, command: str | None, painter: Painter) -> str:
    """The lines on one finding."""
    finding = shown.finding
    lines = [
        f"  {painter.paint(finding.invariant, ESCAPE)}: {_one_line(painter, finding.violation.message)}",
        f"    broken by {finding.failed:,} of {count(tried, 'cut')}; promised: {INVARIANTS[finding.invariant]}",
        f"    {_cut_line(shown, painter)}",
    ]
    if not shown.original:
        lines.append(f"    smaller text: {_quoted(painter, finding.text, 0)}")
    lines += [f"    {line}" for line in _comparison(finding, painter)]
    if command is None:
        lines.append("    replay: the text is too long for a command line; --json has it")
    elif len(command) > 2000:
        lines.append("    replay: the cut is too long for a line; --json has the command")
    else:
        lines.append(f"    replay: {_one_line(painter, command)}")
    return "\n".join(lines) + "\n"


def record(
    name: str, choice: str | None, inspection: Inspection, seed: int, commands: list[str | None]
) -> dict[str, Any]:
    """The object on one response of an input; ``choice`` tells it from others in the same input."""
    return {
        "input": name,
        **({} if choice is None else {"choice": choice}),
        "ok": not inspection.shown,
        "characters": inspection.characters,
        "cuts": {
            "tried": inspection.tried,
            "seed": seed,
            "families": {
                family.name: {"tried": family.tried, "possible": family.possible} for family in inspection.families
            },
        },
        "findings": [_finding(shown, command) for shown, command in zip(inspection.shown, commands, strict=True)],
    }


def unreadable_record(name: str, problem: str) -> dict[str, Any]:
    """The object on an input that can't be read."""
    return {"input": name, "ok": False, "error": problem}


def _finding(shown: Shown, command: str | None) -> dict[str, Any]:
    finding, cut = shown.finding, shown.finding.cut
    pieces = _pieces(finding)
    return {
        "invariant": finding.invariant,
        "message": finding.violation.message,
        "failed_cuts": finding.failed,
        "cut": {
            "chunk": chunk_spec(shown),
            "places": None if cut.recorded else list(cut.places),
            "chunks": pieces if pieces is not None and len(pieces) <= _MOST_CHUNKS else None,
            "token_ids": shown.with_ids,
        },
        "text": None if shown.original else finding.text,
        "expected": _result(finding.expected),
        "found": _result(finding.found),
        "command": command,
    }


def _result(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "content": result.content,
        "reasoning_content": result.reasoning_content,
        "tool_calls": [call_record(ToolCall(call.id, "function", *call[1:])) for call in result.tool_calls],
        "diagnostics": [
            {"code": each.code, "offset": each.offset, "message": each.message} for each in result.diagnostics
        ],
    }


def _pieces(finding: Finding) -> list[str] | None:
    cut, text = finding.cut, finding.text
    if cut.recorded:
        return None
    return [text[start:end] for start, end in zip([0, *cut.places], [*cut.places, len(text)], strict=True)]


def _cut_line(shown: Shown, painter: Painter) -> str:
    """The cut, without the empty chunk in which the end usually comes."""
    ids = ", with token ids" if shown.with_ids else ""
    pieces = _pieces(shown.finding)
    if pieces is None:
        return f"smallest cut: the recorded chunks{ids}"
    alone = len(pieces) > 1 and not pieces[-1]
    ending = ""
    if alone:
        pieces.pop()
    if alone != shown.ends_alone:
        ending = ", the end in an empty one" if alone else ", the end with the last"
    label = f"smallest cut: {count(len(pieces), 'chunk')}{ending}{ids}"
    if len(pieces) > _MOST_CHUNKS:
        places = ",".join(map(str, shown.finding.cut.places[:_MOST_PLACES]))
        return f"{label}, at {places}{',...' if len(pieces) > _MOST_PLACES else ''}"
    first, *rest = pieces
    quoted = [_quoted(painter, first, len(first) if rest else 0), *(_quoted(painter, piece, 0) for piece in rest)]
    return f"{label}: {' | '.join(quoted)}"


def _comparison(finding: Finding, painter: Painter) -> Iterator[str]:
    """Both results, field under field: what differs with ``-`` (parse_complete) and ``+`` (this cut)."""
    found = dict(_fields(finding.found))
    expected = found if finding.expected is None else dict(_fields(finding.expected))
    labels = list(dict.fromkeys([*expected, *found]))
    if not labels:
        yield "nothing comes out"
    elif finding.expected is None:
        yield "parse_complete raises; this cut gives:"
    elif expected == found:
        yield "parse_complete and this cut both give:"
    else:
        yield painter.paint("- parse_complete", ESCAPE) + "  " + painter.paint("+ this cut", CONTENT)
    for number, label in enumerate(labels):
        if number == _MOST_LINES:
            yield f"  ... and {len(labels) - number} more"
            return
        before, after = expected.get(label), found.get(label)
        if before == after:
            yield f"  {label:<12} {_quoted(painter, before or '', 0)}"
            continue
        at = _difference(before or "", after or "")
        if before is not None:
            yield f"{painter.paint('-', ESCAPE)} {label:<12} {_quoted(painter, before, at)}"
        if after is not None:
            yield f"{painter.paint('+', CONTENT)} {label:<12} {_quoted(painter, after, at)}"


def _fields(result: Result) -> Iterator[tuple[str, str]]:
    if result.reasoning_content is not None:
        yield "reasoning", result.reasoning_content
    if result.content is not None:
        yield "content", result.content
    for number, call in enumerate(result.tool_calls):
        yield f"call {number}", f"{call.name} {call.id} {call.arguments}"
    for number, finding in enumerate(result.diagnostics):
        yield f"diagnostic {number}", _diagnostic(finding)


def _diagnostic(finding: Diagnostic) -> str:
    return f"{finding.code} at {finding.offset}: {finding.message}"


def _difference(one: str, other: str) -> int:
    """Where two texts begin to differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _quoted(painter: Painter, text: str, around: int) -> str:
    """``text`` in quotes, or of a long one as much as fits, with ``around`` in it."""
    start = max(0, min(around - _BEFORE, len(text) - _WIDTH))
    end = start + _WIDTH
    before = painter.paint("..." if start else "", FAINT)
    after = painter.paint(f"... {len(text) - end:,} more" if end < len(text) else "", FAINT)
    return f'{before}"{painter.model_text(text[start:end], _PLAIN, one_line=True)}"{after}'


def _one_line(painter: Painter, text: str) -> str:
    return painter.model_text(text, _PLAIN, one_line=True)
