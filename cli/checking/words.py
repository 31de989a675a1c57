"""Looks for the words of a stretch of text in what came of it, without knowing the format.

Owns what counts as found: a format may spell a value in another way (a text becomes a JSON string, ``None`` becomes
``null``), but it may not lose one. Tags are asked of the parser; what it names in a diagnostic is not lost.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from unspool.parsers import Diagnostic, ResponseParser, Span

from .observe import Call

# Words that formats put around a call. Which of them a format has is its grammar's business.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "type", "function", "functions", "id", "call", "json"))

# From such a finding on, nothing is known of the rest of the block.
_GIVES_UP = frozenset(
    ("tool-call-rejected", "call-without-name", "payload-malformed", "text-dropped", "header-malformed")
)
# Such a finding explains the tag, or what should have been one, that it stands at.
_OF_TAGS = frozenset(("close-tag-missing", "open-tag-missing", "stray-close-tag", "token-repaired"))
_CUT_OFF = "tool-block-unterminated"

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_REST_OF_TAG = re.compile(r"[^<>\n]{0,256}>?")
_REPAIRED = re.compile(r"<[^<>\n]{0,64}>?|\w+")
_ATTRIBUTE = re.compile(r"""[\w-]+\s*=\s*(?=["'])|(["'])(?:true|false)\1""")
_CUT_TAG = re.compile(r"<[^<>]*\Z|\w+\W*\Z")
_STRING_PREFIX = re.compile(r"""\b[bfru]{1,2}(?=["'])""", re.IGNORECASE)  # of Python's strings
_ESCAPE = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL
)
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)|0+(?=\d)")
_SYNONYMS = {"none": "null"}
_SHOWN = 5


def tags_of(parser: ResponseParser) -> tuple[str, ...]:
    """Every tag that the parts of a parser declare, the longest first."""
    tags = set(parser.tags())
    reasoning, tool = parser.reasoning, parser.tool
    if reasoning is not None:
        tags |= {*reasoning.tags(), *reasoning.open_tags_at_start, *reasoning.stray_close_tags}
    if tool is not None:
        tags |= {*tool.tags(), *tool.open_tags, *tool.close_tags, *tool.bare_openers}
    return tuple(sorted(filter(None, tags), key=len, reverse=True))


class WordSearch:
    """Finds what of a text came out nowhere.

    Words are compared as often as they occur, in two spellings: as they stand, and with escapes resolved. Where that
    fails, their letters may still stand in the result one after the other: adjacent strings may have been joined.

    Args:
        parser: declares the tags, which need not come out.
        diagnostics: what is said of the text.
    """

    def __init__(self, parser: ResponseParser, diagnostics: Sequence[Diagnostic]) -> None:
        tags = tags_of(parser)
        self._tags = re.compile("|".join(map(re.escape, tags))) if tags else None
        # The text may end within a tag, which then is one as far as anybody can tell.
        beginnings = {tag[:end] for tag in tags for end in range(1, len(tag))}
        longest_first = sorted(beginnings, key=len, reverse=True)
        self._cut_off = re.compile(f"(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})\\Z")
        self._open_ended = {tag for tag in tags if tag[0] == "<" and tag[-1] not in ">]}"}
        self._diagnostics = diagnostics
        spellings = getattr(parser.tool, "argument_spellings", ())
        self._envelope = _ENVELOPE | {str(each).casefold() for each in spellings}

    def missing(self, text: str, span: Span, calls: Iterable[Call], known: Iterable[str]) -> str | None:
        """Name the words of a span that came out nowhere.

        Args:
            text: the response.
            span: part of it.
            calls: what came of the span.
            known: other texts that did.
        """
        payload = self._without_named(self._without_tags(text[span.start : span.end]), span, len(text))
        if span.end == len(text):
            payload = self._cut_off.sub("", payload)
        words = Counter(self._payload_words(payload))
        if not words:
            return None
        parts = [*known, *(part for call in calls for part in call)]
        found = _counted(parts)
        named = set(self._named(span))
        short = {word for word, number in words.items() if number > found[word] and word not in named}
        if not short:
            return None
        resolved = [word for word in self._payload_words(_resolve(payload)) if word not in named]
        if all(number <= found[word] for word, number in Counter(resolved).items()):
            return None
        if _stand_in_order(resolved, parts):
            return None
        return _lost(payload, span, short)

    def _payload_words(self, payload: str) -> Iterator[str]:
        for word in _words(_STRING_PREFIX.sub("", payload)):
            if word not in self._envelope:
                yield word

    def _without_tags(self, payload: str) -> str:
        if self._tags is None:
            return payload
        parts: list[str] = []
        end = 0
        for match in self._tags.finditer(payload):
            if match.start() < end:
                continue
            parts.append(payload[end : match.start()] + " " * len(match.group()))
            end = match.end()
            if match.group() in self._open_ended:  # its attributes' names and flags are markup, other values aren't
                rest = _REST_OF_TAG.match(payload, end)
                assert rest is not None
                parts.append(_ATTRIBUTE.sub(lambda found: " " * len(found.group()), rest.group()))
                end = rest.end()
        parts.append(payload[end:])
        return "".join(parts)

    def _without_named(self, payload: str, span: Span, length: int) -> str:
        """Blank what a diagnostic accounts for."""
        for finding in self._diagnostics:
            start, end = finding.offset - span.start, len(payload)
            if finding.code == _CUT_OFF and span.end == length:
                named = _CUT_TAG.search(payload)
            elif not 0 <= start < end:
                continue
            elif finding.code in _GIVES_UP:
                payload = payload[:start] + " " * (end - start)
                continue
            else:
                named = _REPAIRED.match(payload, start) if finding.code in _OF_TAGS else None
            if named is not None:
                payload = payload[: named.start()] + " " * len(named.group()) + payload[named.end() :]
        return payload

    def _named(self, span: Span) -> Iterator[str]:
        """Words that a diagnostic about the span quotes."""
        for finding in self._diagnostics:
            if span.start <= finding.offset <= span.end:
                for quoted in _QUOTED.findall(finding.message):
                    yield from _words(" ".join(quoted))


def _lost(payload: str, span: Span, short: set[str]) -> str:
    places = [match for match in _WORD.finditer(payload) if _folded(match.group()) in short]
    listed = ", ".join(f"{match.group()[:60]!r}" for match in places[:_SHOWN])
    more = ", ..." if len(places) > _SHOWN else ""
    where = "the response" if span.kind == "response" else f"the {span.kind} at {span.start}-{span.end}"
    what = {"call": "in none of its calls", "markup": "no tag"}.get(span.kind, "in nothing that came out")
    start = span.start + (places[0].start() if places else 0)
    return f"words of {where} are {what}, or not as often, and in no diagnostic: {listed}{more}, from offset {start} on"


def _counted(parts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, in the spelling in which it occurs more often."""
    plain: Counter[str] = Counter()
    resolved: Counter[str] = Counter()
    for part in parts:
        plain.update(_words(part))
        resolved.update(_words(_resolve(part)))
    return plain | resolved


def _stand_in_order(words: Iterable[str], parts: Iterable[str]) -> bool:
    """Whether the letters of ``words`` are all in ``parts``, in this order."""
    letters = iter("".join(_words(_resolve(" ".join(parts)))))
    return all(letter in letters for letter in "".join(words))


def _words(text: str) -> Iterator[str]:
    return map(_folded, _WORD.findall(text))


def _folded(word: str) -> str:
    """A word as it compares: numbers as JSON writes them, all else without case."""
    if word[0].isdigit():
        word = word.replace("_", "")
        number = _NUMBER.match(word)
        if number is not None:
            digits, rest = number.group(), word[number.end() :]
            word = str(int(digits, 0)) + rest if number[1] else rest
    word = word.casefold()
    return _SYNONYMS.get(word, word)


def _resolve(text: str) -> str:
    """``text`` with the escapes of JSON and of Python resolved wherever they stand, also in what is neither."""
    return _ESCAPE.sub(lambda match: _character(match.group()), text) if "\\" in text else text


def _character(escape: str) -> str:
    kind, digits = escape[1], escape[2:]
    if kind in "xU" and digits:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else escape
    if kind in "01234567":
        return chr(int(escape[1:], 8))
    if kind == "\n":
        return ""
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return escape
