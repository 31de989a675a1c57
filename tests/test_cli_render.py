"""What the writers make of values, without a command around them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.cli.render.json_bytes import encode
from unspool.cli.render.json_layout import layout
from unspool.cli.render.visible import escape, escape_line, pieces


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcödé, 👩‍💻", "plain, ünïcödé, 👩‍💻"),
        ("a\nb\tc", "a\u23ceb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x00\x07\x7f\x9b\r", "\\x00\\x07\\x7f\\x9b\\r"),
        ("abc\u202edef\u2069", "abc\\u202edef\\u2069"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("\ud83d", "\\ud83d"),
        ("[/red][bold]:smile:", "[/red][bold]:smile:"),
    ],
)
def test_line_shows_what_a_terminal_would_act_on(text: str, shown: str) -> None:
    assert escape_line(text) == shown


def test_block_keeps_newlines_and_tabs() -> None:
    assert escape("a\n\tb\x1b") == "a\n\tb\\x1b"


@given(st.text(st.characters(codec=None)))
def test_nothing_is_lost_and_nothing_dangerous_is_left(text: str) -> None:
    shown = escape_line(text)
    assert shown.isprintable() or not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in shown)
    shown.encode("utf-8")
    kept = "".join(piece for piece, escaped in pieces(text, one_line=True) if not escaped)
    assert len(kept) + sum(escaped for _, escaped in pieces(text, one_line=True)) == len(text)


@pytest.mark.parametrize(
    "value", [{"a": [1, "é", None, True]}, {"half": "\ud83d"}, {"big": 10**40}, {"half": "\udc00", "big": [2**64]}]
)
def test_any_value_becomes_json(value: object) -> None:
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize("beside", [1, 2**70])
def test_what_json_has_no_number_for_is_null(beside: int) -> None:
    value = [beside, math.nan, {"x": -math.inf}]
    assert json.loads(encode(value)) == [beside, None, {"x": None}]


def text_of(source: str) -> str | None:
    tokens = layout(source)
    return None if tokens is None else "".join(token for token, _ in tokens)


def test_layout_indents() -> None:
    assert text_of('{"a":{"b":[1,2]},"c":[],"d":{ }}') == (
        '{\n  "a": {\n    "b": [\n      1,\n      2\n    ]\n  },\n  "c": [],\n  "d": {}\n}'
    )


@pytest.mark.parametrize(
    "source",
    ['{"a": 1, "a": 2}', '{"n": 1.10e5}', '{"n": 123456789012345678901234567890}', '{"s": "\\u00e9\\/ {,:}"}', '"x"'],
)
def test_layout_keeps_every_token(source: str) -> None:
    """Repeated keys, digits and escapes are what one looks for in a model's arguments."""
    shown = text_of(source)
    assert shown is not None
    assert "".join(shown.split()) == "".join(source.split())


@pytest.mark.parametrize("source", ["", '{"a": 1', "{'a': 1}", '{"a": NaN}', "{} {}", "[" * 100_000])
def test_what_is_no_json_has_no_layout(source: str) -> None:
    assert text_of(source) is None


def test_keys_are_told_from_strings() -> None:
    assert [(token, kind) for token, kind in layout('{"a": "b"}') or [] if token[0] == '"'] == [
        ('"a"', "key"),
        ('"b"', "string"),
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_layout_means_the_same(value: object) -> None:
    shown = text_of(json.dumps(value))
    assert shown is not None
    assert json.loads(shown) == value
