"""The text of a Python string becomes the JSON text of the same value, judged by Python and by json."""

from __future__ import annotations

import ast
import json

from hypothesis import given
from hypothesis import strategies as st

from unspool.parsers.tool_parser.literals import string_text

PIECES = ["a", "'", '"', r"\'", r"\"", r"\n", r"\\", r"\x41", r"\101", r"\u00e9", "é", " ", "\t"]


@given(st.sampled_from("'\""), st.lists(st.sampled_from(PIECES), max_size=30))
def test_value_of_a_literal(mark: str, pieces: list[str]) -> None:
    body = "".join(piece for piece in pieces if piece != mark)  # which would end the literal
    assert json.loads(f'"{string_text(body)}"') == ast.literal_eval(f"{mark}{body}{mark}")
