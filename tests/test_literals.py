"""The text of a Python string becomes the JSON text of the same value, judged by Python and by json."""

from __future__ import annotations

import ast
import json

from hypothesis import given
from hypothesis import strategies as st

from unspool.parsers import MessageBuilder, build_response_parser
from unspool.parsers.tool_parser.literals import string_text

PIECES = ["a", "'", '"', r"\'", r"\"", r"\n", r"\\", r"\x41", r"\101", r"\u00e9", "é", " ", "\t"]


@given(st.sampled_from("'\""), st.lists(st.sampled_from(PIECES), max_size=30))
def test_value_of_a_literal(mark: str, pieces: list[str]) -> None:
    body = "".join(piece for piece in pieces if piece != mark)  # which would end the literal
    assert json.loads(f'"{string_text(body)}"') == ast.literal_eval(f"{mark}{body}{mark}")


@given(
    st.booleans(), st.sampled_from("'\""), st.lists(st.sampled_from([*PIECES, "\\"]), max_size=12), st.integers(1, 6)
)
def test_value_of_a_stream(raw: bool, mark: str, pieces: list[str], size: int) -> None:
    body = "".join(piece for piece in pieces if piece != mark)
    try:
        value = ast.literal_eval(f"{'r' * raw}{mark}{body}{mark}")
    except SyntaxError:  # the last backslash escapes the quote
        return
    parser, builder = build_response_parser(tool_parser="pythonic"), MessageBuilder()
    text = f"[f(x={'r' * raw}{mark}_{body}{mark})]"
    for start in range(0, len(text), size):
        for delta, _ in parser.stream_chunk(text[start : start + size]):
            builder.add(delta)
    (call,) = builder.build().tool_calls
    assert json.loads(call.arguments) == {"x": f"_{value}"}


def test_a_raw_string_that_is_cut_after_a_backslash() -> None:
    parser = build_response_parser(tool_parser="pythonic")
    pieces = [delta for text in ("[f(x=r'_", "\\n\\", "t')]") for delta, _ in parser.stream_chunk(text)]
    arguments = "".join(call.arguments or "" for delta in pieces for call in delta.tool_calls or ())
    assert json.loads(arguments) == {"x": r"_\n\t"}
