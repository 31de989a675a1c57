"""Every hand-written case, whole and under every cut."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from oracle import CASE_FILES, Case, Outcome, cuts, load_cases, run, run_whole, same

from unspool.parsers import Boundaries
from unspool.parsers.diagnostics import CODES
from unspool.parsers.tokenization import IncrementalDecoder, TextTokenizer


def test_case(case: Case, tiny: TextTokenizer) -> None:
    whole = run(case.parser(), [case.raw])
    expect(whole, case)
    for chunks in cuts(case.raw, case.id):
        same(run(case.parser(), chunks), whole, chunks)
    for per_chunk in (1, 2, 3, 8):
        texts, ids = as_tokens(case.raw, tiny, per_chunk)
        assert "".join(texts) == case.raw
        same(run(case.parser(), texts, ids), whole, texts)
        same(run(case.parser(boundaries=Boundaries.tokens(tiny)), texts, ids), whole, texts)
    complete = run_whole(case.parser(), case.raw)
    assert complete == Outcome(whole.content, whole.reasoning_content, whole.tool_calls, (), whole.diagnostics), (
        "parse_complete differs from the stream"
    )


def expect(found: Outcome, case: Case) -> None:
    """Compare with what a person wrote down."""
    wanted = case.expected
    calls = wanted.get("tool_calls", [])
    shown = (found.reasoning_content, found.content, [(call.name, call.arguments) for call in found.tool_calls])
    assert shown == (
        wanted.get("reasoning_content"),
        wanted.get("content"),
        [(call["name"], call["arguments"]) for call in calls],
    ), case.why
    assert list(found.channels) == wanted["channels"], case.why
    assert found.codes == wanted["diagnostics"], f"{case.why}\n{found.diagnostics}"
    for call, want in zip(found.tool_calls, calls, strict=True):
        assert call.id == want.get("id", call.id), case.why


def as_tokens(text: str, tokenizer: TextTokenizer, per_chunk: int) -> tuple[list[str], list[list[int]]]:
    """Cut at every ``per_chunk`` tokens, as an engine would send them."""
    decoder, encoded = IncrementalDecoder(tokenizer), tokenizer.encode(text)
    ids = [encoded[start : start + per_chunk] for start in range(0, len(encoded), per_chunk)]
    texts = [decoder.step(chunk) for chunk in ids]
    return [*texts, decoder.flush()], [*ids, []]


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.stem)
class TestCaseFiles:
    """The data itself."""

    def test_is_complete(self, path: Path) -> None:
        cases = load_cases(path)
        assert len(cases) >= 12
        names = [case.name for case in cases]
        assert len(set(names)) == len(names)
        for case in cases:
            assert set(case.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-"), case.name
            assert case.why.endswith("."), case.name
            assert {"channels", "diagnostics"} <= set(case.expected), case.name
            known = {"content", "reasoning_content", "tool_calls", "channels", "diagnostics"}
            assert set(case.expected) <= known, case.name

    def test_expectations_are_consistent(self, path: Path) -> None:
        for case in load_cases(path):
            expected, channels = case.expected, case.expected["channels"]
            assert ("reasoning" in channels) == bool(expected.get("reasoning_content")), case.name
            assert ("content" in channels) == bool(expected.get("content")), case.name
            assert ("tool_calls" in channels) == bool(expected.get("tool_calls")), case.name
            assert all(a != b for a, b in pairwise(channels)), case.name
            assert expected["diagnostics"] == sorted(expected["diagnostics"]), case.name
            assert set(expected["diagnostics"]) <= set(CODES), case.name
