r"""Halves of a character in JSON strings.

JSON written by a language with UTF-16 strings can cut one character into ``"\ud83d"`` and ``"\ude00"``, in two
records. Owns joining them; what stays a half becomes U+FFFD, as no output could hold it.
"""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALF_AT_END = re.compile("[\ud800-\udbff]\\Z")


class SurrogateJoiner:
    """Joins halves over the pieces of one stream.

    Attributes:
        replaced: whether a half had no other half.
    """

    def __init__(self) -> None:
        self.replaced = False
        self._held = ""

    @property
    def is_idle(self) -> bool:
        """Whether no half waits for its other half."""
        return not self._held

    def feed(self, text: str, *, final: bool = False) -> str:
        """Return the text with whole characters only.

        Args:
            text: the next piece.
            final: no more will come; a half at the end is not held back.
        """
        if not self._held and not _HALF.search(text):
            return text
        text, self._held = self._held + text, ""
        if not final and _FIRST_HALF_AT_END.search(text):
            text, self._held = text[:-1], text[-1]
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        self.replaced = self.replaced or bool(_HALF.search(joined))
        return _HALF.sub("\ufffd", joined)
