"""Lines to JSON values, whatever the framing."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspool.cli.transcript.dumps.events import Done, Event, EventReader
from unspool.cli.transcript.errors import BadLine
from unspool.cli.transcript.json_text import complete_json, load_json, open_brackets


def read(text: str | bytes) -> list[Any]:
    """What comes of a text: values, ``"DONE"``, and numbers of lines that can't be read."""
    data = text.encode() if isinstance(text, str) else text
    reader = EventReader()
    items = list(chain.from_iterable(reader.feed(line) for line in data.split(b"\n"))) + reader.finish()
    return [
        item.value if isinstance(item, Event) else "DONE" if isinstance(item, Done) else item.line_number
        for item in items
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('data: {"a":1}\n\ndata: [DONE]\n\n', [{"a": 1}, "DONE"]),
        ('data:{"a":1}\n\n', [{"a": 1}]),
        ('data: {"a":1}\ndata: {"a":2}\n', [{"a": 1}, {"a": 2}]),  # blank lines were lost
        ('data: {"a":\ndata: 1}\n\n', [{"a": 1}]),
        (
            'data: {\ndata:   "a": {"b": 1},\ndata:   "c": [\ndata:     {"d": 2}\ndata:   ]\ndata: }\n\n',
            [{"a": {"b": 1}, "c": [{"d": 2}]}],
        ),
        ('event: x\nid: 7\nretry: 10\n: comment\ndata: {"a":1}\n\n', [{"a": 1}]),
        (": OPENROUTER PROCESSING\n\ndata:\n\ndata\n\n", []),
        ("\ufeffdata: {}\n\n", [{}]),
        ('data: {"a":1}\r\n\r\ndata: [DONE]\r\n', [{"a": 1}, "DONE"]),
        ('{"a":1}\n\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        ("[1, 2]\n[DONE]\n", [[1, 2], "DONE"]),
        ('[{"a":1},{"a":2}]\n', [{"a": 1}, {"a": 2}]),
        ('[\n{"a":1},\n{"a":2}\n]\n', [{"a": 1}, {"a": 2}]),
        ('{\n  "a": {\n    "b": "}"\n  }\n}\n{\n  "c": 1\n}\n', [{"a": {"b": "}"}}, {"c": 1}]),
        ('[\n  {\n    "a": 1\n  },\n  {\n    "a": 2\n  }\n]\n', [{"a": 1}, {"a": 2}]),
        ("[\n  1,\n  2\n]\n", [[1, 2]]),
        # A bad line costs itself only.
        ('data: {"a":1}\n\ndata: {"a":\n\ndata: {"a":2}\n\n', [{"a": 1}, 3, {"a": 2}]),
        ('data: {"a":\ndata: {"a":2}\n', [1, {"a": 2}]),
        ('{"a":1}\n{"a":\n{"a":2}\n', [{"a": 1}, 2, {"a": 2}]),
        ('{"a":1}\n{"a": "cut o\n{"a":2}\nnonsense\n', [{"a": 1}, 2, {"a": 2}, 4]),
        ('{"a": {"b": [\n{"a":2}\n', [1, {"a": 2}]),
        ('{\n  "a": 1,\n', [1]),
        ('data: {"a":1}\n\n{"b":2}\ndata: {"a":3}\n', [{"a": 1}, {"b": 2}, {"a": 3}]),
        ('data: {"cut\n{"b":2}\n', [1, {"b": 2}]),
        ("data: hello\n\n", [1]),
    ],
)
def test_framing(text: str, found: list[Any]) -> None:
    assert read(text) == found


def test_an_event_is_out_with_its_last_line() -> None:
    reader = EventReader()
    assert reader.feed(b'data: {"a":1}') == [Event(1, {"a": 1}, from_sse=True)]
    assert reader.feed(b"{") == []
    assert reader.feed(b' "b": 2') == []
    assert reader.feed(b"}") == [Event(2, {"b": 2}, lines=3)]


def test_an_event_has_the_name_before_it() -> None:
    reader = EventReader()
    items = [item for line in (b"event: error", b"data: {}", b"", b"data: {}") for item in reader.feed(line)]
    assert [item.name for item in items if isinstance(item, Event)] == ["error", ""]


def test_line_separators_inside_strings_are_text() -> None:
    value = "a\u2028b\x85c\x0cd"
    assert read(f"data: {json.dumps(value, ensure_ascii=False)}\n") == [value]


@given(st.lists(st.sampled_from(["data: ", "{", "}", '"a"', ":", "1", "[", "]", "\n", ",", " ", "[DONE]", "event: x"])))
def test_nothing_raises_and_each_line_is_told_once(parts: list[str]) -> None:
    reader = EventReader()
    items = list(chain.from_iterable(reader.feed(line) for line in "".join(parts).encode().split(b"\n")))
    items += reader.finish()
    bad = [item.line_number for item in items if isinstance(item, BadLine)]
    assert len(bad) == len(set(bad))


@given(st.lists(st.tuples(st.sampled_from(["sse", "line", "pretty", "bad"]), st.integers(0, 9)), max_size=8))
def test_good_values_survive_bad_ones(parts: list[tuple[str, int]]) -> None:
    forms = {"sse": "data: {v}\n\n", "line": "{v}\n", "bad": 'data: {{"x": \n\n', "pretty": "{p}\n"}
    text, wanted = "", []
    for form, number in parts:
        value = {"n": number, "s": '{["'}
        text += forms[form].format(v=json.dumps(value), p=json.dumps(value, indent=2))
        if form != "bad":
            wanted.append(value)
    assert [item for item in read(text) if isinstance(item, dict)] == wanted


class TestJson:
    def test_beyond_the_standard(self) -> None:
        assert load_json(b'{"a": 12345678901234567890123}') == {"a": 12345678901234567890123}
        assert str(load_json(b"[NaN, -Infinity, 1e400]")) == "[nan, -inf, inf]"
        assert load_json(rb'"\ud83d"') == "\ud83d"
        assert load_json(b'"\xff"') == "\ufffd"
        with pytest.raises(ValueError, match=r"not JSON: .* at character 5"):
            load_json(b'{"a"')

    @pytest.mark.parametrize(
        ("line", "count"), [(b"{", 1), (b'"}": {', 1), (b"}", -1), (b'{"a": "', None), (b'"\\"{": [1]', 0), (b"", 0)]
    )
    def test_open_brackets(self, line: bytes, count: int | None) -> None:
        assert open_brackets(line) == count

    @pytest.mark.parametrize(
        ("data", "value"),
        [
            (b'{"a": 1, "b": {"c": "xy', {"a": 1, "b": {"c": "xy"}}),
            (b'{"a": 1, "b": {"c": "x\\u00', {"a": 1, "b": {"c": "x"}}),
            (b'{"a": 1, "b', {"a": 1}),
            (b'{"a": [1, 2, 3', {"a": [1, 2]}),
            (b'[{"a": 1}, {"b"', [{"a": 1}, {}]),
            (b'{"a": 1}', {"a": 1}),
            (b"{]", None),
            (b"nonsense", None),
        ],
    )
    def test_a_value_that_is_cut_off(self, data: bytes, value: Any) -> None:
        assert complete_json(data) == value

    @settings(deadline=None)
    @given(
        st.recursive(
            st.integers() | st.text(max_size=9),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=6,
        )
    )
    def test_every_prefix_has_a_value_or_none(self, value: Any) -> None:
        data = json.dumps({"k": value}).encode()
        assert complete_json(data) == {"k": value}
        for end in range(len(data)):
            assert complete_json(data[:end]) is None or isinstance(complete_json(data[:end]), dict)
