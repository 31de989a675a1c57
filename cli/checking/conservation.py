"""What became of each character of a text, as far as that can be known without a grammar.

Owns the three questions: do the spans tile the text, does the text of a channel come out as it stands, and is every
word of a tool block found again in its calls. It knows no format: tags are asked of the parser, and what a parser names
in a diagnostic is not lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from unspool.parsers import BaseResponseParser, Span

from .observe import Call, Chunk, NewParser, Run, observe
from .words import WordSearch

KINDS = ("markup", "content", "reasoning", "call", "dropped")

_IDS_DECIDE = "text-differs-from-ids"


def lost(new_parser: NewParser, text: str, run: Run) -> str | None:
    """Say what of ``text`` was lost in a run that recorded spans; ``None`` where all is accounted for."""
    result = run.result
    if any(finding.code == _IDS_DECIDE for finding in result.diagnostics):
        return None  # the text beside the ids is not what was parsed
    parser = new_parser()
    words = WordSearch(parser, result.diagnostics)
    if run.spans is None:  # a parser of another make: ask the whole text at once
        known = [result.content or "", result.reasoning_content or ""]
        return words.missing(text, Span(0, len(text), "response"), result.tool_calls, known) if text else None
    prefix = parser.reasoning.content_prefix if parser.reasoning is not None else ""
    return next(
        filter(
            None,
            (
                _gap(text, run.spans),
                _changed("content", text, run.spans, result.content, prefix),
                _changed("reasoning", text, run.spans, result.reasoning_content, ""),
                _unnamed(text, run),
                _lost_calls(new_parser, text, run, words),
                _lost_markup(text, run, words) if isinstance(parser, BaseResponseParser) else None,
            ),
        ),
        None,
    )


def _gap(text: str, spans: Sequence[Span]) -> str | None:
    """Whether the spans tile the text."""
    end = 0
    for span in spans:
        if span.kind not in KINDS:
            return f"a span of the unknown kind {span.kind!r}"
        if span.start != end or span.end <= span.start:
            return f"characters {_range(text, min(end, span.start), max(end, span.start))} are in {_spans(end, span)}"
        end = span.end
    if end != len(text):
        return f"characters {_range(text, min(end, len(text)), max(end, len(text)))} are in no span or beyond the text"
    return None


def _spans(end: int, span: Span) -> str:
    return "no span" if span.start > end else "two spans"


def _changed(kind: str, text: str, spans: Sequence[Span], emitted: str | None, prefix: str) -> str | None:
    """Whether a channel came out as its spans stand in the text."""
    found = (emitted or "").removeprefix(prefix)  # what the prompt wrote, and a protocol puts before the content
    wanted = "".join(text[span.start : span.end] for span in spans if span.kind == kind)
    if wanted == found:
        return None
    at = next(
        (at for at, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b), min(len(wanted), len(found))
    )
    return (
        f"the {kind} is not the text that is said to be it: from character {at} on it should go on"
        f" {wanted[at : at + 40]!r} and goes on {found[at : at + 40]!r}"
    )


def _unnamed(text: str, run: Run) -> str | None:
    """Whether all text that was dropped is named."""
    for span in run.spans or ():
        if span.kind == "dropped" and not any(
            span.start <= finding.offset <= span.end for finding in run.result.diagnostics
        ):
            return f"characters {_range(text, span.start, span.end)} were dropped, and no diagnostic names them"
    return None


def _lost_markup(text: str, run: Run, words: WordSearch) -> str | None:
    """Whether what is said to be markup is made of tags."""
    for span in run.spans or ():
        if span.kind == "markup":
            missing = words.missing(text, span, (), ())
            if missing:
                return missing
    return None


def _lost_calls(new_parser: NewParser, text: str, run: Run, words: WordSearch) -> str | None:
    """Whether every tool block came to a call or a diagnostic, and its words with it."""
    spans = run.spans or ()
    owners = _owners(new_parser, text, run)
    opened = 0  # where the markup before the block begins, to which some findings about it point
    for span in spans:
        if span.kind == "call":
            calls = run.result.tool_calls if owners is None else owners.get(span, [])
            named = any(opened <= finding.offset <= span.end for finding in run.result.diagnostics)
            if not calls and not named:
                return (
                    f"characters {_range(text, span.start, span.end)} are a tool block without a call or a diagnostic"
                )
            missing = words.missing(text, span, calls, ())
            if missing:
                return missing
        opened = span.start
    return None


def _owners(new_parser: NewParser, text: str, run: Run) -> dict[Span, list[Call]] | None:
    """Which calls came of which block, seen by cutting at the blocks' ends; ``None`` where that tells nothing.

    A call is the block's in which the last of it comes, or the one's before where it comes between two.
    """
    blocks = [span for span in run.spans or () if span.kind == "call"]
    if len(blocks) < 2:
        return None
    places = sorted({place for span in blocks for place in (span.start, span.end)} | {len(text)})
    starts = [0, *places]
    again = observe(new_parser, [Chunk(text[a:b]) for a, b in zip(starts, [*places, len(text)], strict=True)])
    if again.result.tool_calls != run.result.tool_calls:
        return None  # the cut matters, which is another finding
    owners: dict[Span, list[Call]] = {}
    for call, number in zip(again.result.tool_calls, again.call_chunks, strict=True):
        block = bisect_right(blocks, starts[number], key=lambda span: span.start)
        owners.setdefault(blocks[max(0, block - 1)], []).append(call)
    return owners


def _range(text: str, start: int, end: int) -> str:
    shown = text[start:end]
    return f"{start}-{end} ({shown[:40]!r}{'...' if len(shown) > 40 else ''})"
