"""Dropping what ends the turn, and nothing else."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_tools import joined, pieces_of

from unspool.cli.transcript.end_of_turn import EndOfTurnFilter, drop_end_of_turn
from unspool.parsers.chat_runner import EngineOutput

TOKENS = ["<|im_end|>", "</s>", "<|endoftext|>"]


def dropped(text: str, size: int = 1, tokens: list[str] | None = None) -> str:
    chunks = [EngineOutput(text[start : start + size]) for start in range(0, len(text), size)]
    return joined(drop_end_of_turn(chunks, TOKENS if tokens is None else tokens))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("hello", "hello"),
        ("hello\n\n", "hello\n\n"),
        ("hello<|im_end|>", "hello"),
        ("hello \n<|im_end|>\n", "hello \n"),
        ("hello<|im_end|> \n</s><|endoftext|>\n\n", "hello"),
        ("<|im_end|>", ""),
        ("a<|im_end|>b", "a<|im_end|>b"),
        ("a<|im_end|>\n\nb</s>", "a<|im_end|>\n\nb"),
        ("a<|im_end|>\n<|im_e", "a<|im_end|>\n<|im_e"),
        ("a<|im_e", "a<|im_e"),
        ("a<", "a<"),
        ("<<<</s></s>", "<<<"),
        ("<|im_<|im_end|>", "<|im_"),
        ("a<|im_end|>\n<|im_x</s>", "a<|im_end|>\n<|im_x"),
        ("a</s", "a</s"),
        ("<s>x</s>.", "<s>x</s>."),
    ],
)
def test_only_the_end_is_dropped(text: str, expected: str, size: int) -> None:
    assert dropped(text, size) == expected


@given(
    st.lists(st.sampled_from([*TOKENS, " ", "\n", "a", "<", "<|", "</", "|>", "<|im_end"])).map("".join), st.integers()
)
def test_any_cut_gives_what_a_pattern_on_the_whole_gives(text: str, seed: int) -> None:
    either = "|".join(map(re.escape, TOKENS))
    expected = re.sub(rf"(?:(?:{either})\s*)+\Z", "", text)
    outputs = [EngineOutput(piece) for piece in pieces_of(text, seed, 6)]
    assert joined(drop_end_of_turn(outputs, TOKENS)) == expected


def test_no_more_is_held_back_than_may_end_the_turn() -> None:
    end_of_turn = EndOfTurnFilter(TOKENS)
    said = [end_of_turn.feed(text) for text in ["a \n", "b<", "i>", "<|im_end|", ">", " ", "x", "</s>"]]
    assert said == ["a \n", "b", "<i>", "", "", "", "<|im_end|> x", ""]
    assert end_of_turn.finish() == ""


def test_no_tokens_at_all() -> None:
    assert dropped("a<|im_end|>", tokens=[]) == "a<|im_end|>"
    assert dropped("a<|im_end|>", tokens=[""]) == "a<|im_end|>"


def test_tokens_of_the_grammar_stay() -> None:
    outputs = [EngineOutput("a<|call|></s>")]
    assert joined(drop_end_of_turn(outputs, ["<|call|>", "</s>"], keep={"<|call|>"})) == "a<|call|>"


def test_chunks_keep_their_ids_log_probabilities_and_finish_reason() -> None:
    outputs = [
        EngineOutput("a", [1], "p1"),
        EngineOutput("<|im", [2], "p2"),
        EngineOutput("_end|>", [3], "p3"),
        EngineOutput("\n", [4], "p4", "stop"),
    ]
    assert list(drop_end_of_turn(outputs, TOKENS)) == [
        EngineOutput("a", [1], "p1"),
        EngineOutput("", [2], "p2"),
        EngineOutput("", [3], "p3"),
        EngineOutput("", [4], "p4", "stop"),
    ]
    assert outputs[1].text == "<|im", "the input is not changed"


def test_no_text_comes_after_the_finish_reason() -> None:
    outputs = [EngineOutput("a<|im", [1], None, "length")]
    assert list(drop_end_of_turn(outputs, TOKENS)) == outputs
    outputs = [EngineOutput("a<", [1], None, "length"), EngineOutput("b", [2])]
    assert [output.text for output in drop_end_of_turn(outputs, TOKENS)] == ["a", "<b"]


def test_text_held_at_the_end_is_released_without_a_finish_reason() -> None:
    assert [output.text for output in drop_end_of_turn([EngineOutput("a<|im")], TOKENS)] == ["a", "<|im"]


@pytest.mark.parametrize("unit", ["\n", "<", "<|im_end|>", "<|im_end", "<|im_end|>\n<", "</s>\n"])
def test_time_is_linear(unit: str) -> None:
    def seconds(times: int) -> float:
        text = "</s>" + unit * (times // len(unit))
        outputs = [EngineOutput(character) for character in text]
        start = time.perf_counter()
        kept = joined(drop_end_of_turn(outputs, TOKENS))
        assert len(kept) <= len(text)
        return time.perf_counter() - start

    seconds(1000)
    # Ten times the text: ten times the time, with as much again and more for a busy machine.
    assert seconds(100_000) < 30 * max(seconds(10_000), 1e-3)
