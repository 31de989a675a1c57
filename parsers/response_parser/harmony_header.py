"""The header of a Harmony message: what it says, and what it plainly meant to say.

Owns the grammar between the end of one message and the body of the next, as pure functions over the header's text
with its special tokens spelled out. When a header ends, and what becomes of the body, is the response parser's
business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LIMIT = 256
"""Characters of the longest header. One whose `<|message|>` has not come by then never had it."""

_WORDS = ("assistant", "analysis", "commentary", "final", "json", "code", "to=")

# Recipients that are no tool: such a message is text for whom it names.
_PEOPLE = frozenset(("assistant", "user", "all", "system", "developer"))

_TO = r"to=([^\s<{]+)"
_CHANNEL_WORD = r"<\|channel\|>\s*(analysis|commentary|final)\b"

# Both orders of recipient and channel are Harmony's own; so is a content type without `<|constrain|>`.
_WELL_FORMED = re.compile(
    rf"(<\|start\|>)?\s*(?:assistant)?(?:\s+{_TO})?\s*(?:{_CHANNEL_WORD}(?:\s+{_TO})?)?"
    r"(?:\s*<\|constrain\|>\s*[^\s<]*|\s+\w+)?\s*<\|message\|>"
)

# As much of a header without `<|message|>` as surely is one. The blank that ends its last word goes with it.
_BEGINNING = re.compile(
    rf"(?:<\|start\|>)?\s*(?:assistant\b)?(?:\s*{_TO})?\s*(?:{_CHANNEL_WORD}(?:\s*{_TO})?\s*?)*+"
    r"(?:\s*<\|constrain\|>\s*(?:json\b|code\b)?|\s+(?:json|code)\b)?\s?"
)
_ROLE = re.compile(r"<\|start\|>\s*([^\s<]+)")
_ANY_TO = re.compile(_TO)
_ANY_CHANNEL = re.compile(_CHANNEL_WORD)
_BARE_CHANNEL = re.compile(r"\b(analysis|commentary|final)\b")
_TOKEN = re.compile(r"<\|\w+\|>")


@dataclass(slots=True, frozen=True)
class Header:
    """What a header says.

    Attributes:
        channel: ``analysis``, ``commentary``, ``final``, or ``""`` where it names none of them.
        recipient: the tool that the body is for; ``None`` where it is for people.
        flaw: how it breaks the grammar, for a person; ``""`` for a clean one.
    """

    channel: str
    recipient: str | None
    flaw: str = ""


def read_header(text: str, first: bool) -> Header:
    """Read a header that ends in ``<|message|>``.

    Args:
        text: all of it.
        first: it opens the response, whose ``<|start|>assistant`` usually stands in the prompt.
    """
    match = _WELL_FORMED.fullmatch(text)
    if match is not None and not (match[2] and match[4]):
        flaw = "" if match[1] or first else "the header does not begin with <|start|>"
        return Header(match[3] or "", _tool(match[2] or match[4]), flaw)
    return _read_loosely(text, "the header is not a Harmony header")


def read_beginning(text: str) -> tuple[Header, int] | None:
    """Read a header that never got its ``<|message|>``.

    Returns:
        What it says and where the body begins; ``None`` where nothing tells that this is a header at all.
    """
    match = _BEGINNING.match(text)
    assert match is not None  # it can match nothing
    known = _TOKEN.sub("", match.group()).strip()
    return (_read_loosely(match.group(), "the header has no <|message|>"), match.end()) if known else None


def may_be_header(text: str) -> bool:
    """Whether ``text``, without special tokens, is words of a header or can still become such."""
    if len(text) > LIMIT:
        return False
    words = text.split()
    if not words:
        return True
    whole = words if text[-1].isspace() else words[:-1]
    if not all(word in _WORDS or word.startswith("to=") for word in whole):
        return False
    return words[-1].startswith("to=") or any(word.startswith(words[-1]) for word in _WORDS)


def says_something(header: Header) -> bool:
    """Whether a header has a channel or a recipient, so that it is more than a mention of a token."""
    return bool(header.channel or header.recipient)


def function_name(recipient: str) -> str:
    """Name of the function that a recipient is; ``functions.a.b`` is ``a.b``."""
    return recipient.removeprefix("functions.")


def _read_loosely(text: str, flaw: str) -> Header:
    """Read whatever says something, wherever it stands: the last channel, the first recipient."""
    channels: list[str] = _ANY_CHANNEL.findall(text) or _BARE_CHANNEL.findall(_ANY_TO.sub("", text))
    recipients: list[str] = _ANY_TO.findall(text)
    recipient = _tool(recipients[0] if recipients else None)
    role = _ROLE.match(text)
    if role is not None and role[1] not in _WORDS and not role[1].startswith("to=") and recipient is None:
        return Header("", None, f"a message of role {role[1]!r} is not the model's; taken as content")
    return Header(channels[-1] if channels else "", recipient, flaw)


def _tool(recipient: str | None) -> str | None:
    return None if recipient is None or recipient in _PEOPLE else recipient
