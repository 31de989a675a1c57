"""JSON envelopes that a model also writes without any tag.

Owns telling such a call from an answer that is plain JSON. What an envelope holds is its base class's business.
"""

from __future__ import annotations

import re
from typing import ClassVar

from ..messages import DeltaToolCall
from .json_call_head import LONGEST_HEAD, begins_call
from .json_tool_parser import SHORT_KEY, UNFINISHED_FIELD, JsonToolParser
from .next_block import UsualPayload
from .undecided import Undecided

_BEGINNING = r"[\s\[]{0,32}+\{"
_FIRST_FIELD = rf'{_BEGINNING}{SHORT_KEY}"\s{{0,32}}+:{SHORT_KEY}"\s{{0,32}}+,'
_past_first_field = re.compile(_FIRST_FIELD).match
_unfinished_first_field = re.compile(_BEGINNING + UNFINISHED_FIELD).match
_unfinished_second_key = re.compile(rf'{_FIRST_FIELD}(?:{SHORT_KEY}(?:"\s{{0,32}}+)?|\s{{0,32}}+)\Z').match


class BareJsonToolParser(JsonToolParser):
    """Base of the JSON dialects whose tag is optional: an object or an array where content begins may be a call.

    Without its tag a call has to name a function that the request exposes, where its tools are known. Right after a
    call no answer is to be expected, and any name will do.

    Attributes:
        bare_prefix: markup that may stand before JSON without tag; at the end of the text also what may become it.
    """

    untagged_at_start = True
    usual_payload: ClassVar[UsualPayload | None] = None  # a name alone doesn't make a call
    bare_prefix: ClassVar[re.Pattern[str]] = re.compile("")

    def undecided_opening(self, waiting: str) -> Undecided | None:
        as_opener = super().undecided_opening(waiting)
        if as_opener is not None and as_opener(waiting):
            return as_opener
        return _unfinished_second_key if _past_first_field(waiting) else _unfinished_first_field

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        head = text[pos : pos + LONGEST_HEAD]
        prefix = self.bare_prefix.match(head)
        names = None if after_call else self._allowed_names
        begins = begins_call(head[prefix.end() :] if prefix else head, self.argument_spellings, names)
        return False if begins is None and (final or len(head) == LONGEST_HEAD) else begins

    def _start(self, text: str, deltas: list[DeltaToolCall], pos: int) -> int:
        prefix = self.bare_prefix.match(text, pos)
        return pos if prefix is None else prefix.end()
