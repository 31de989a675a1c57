"""The closed vocabulary of what can be wrong with a transcript.

Parsers never raise on what a model wrote: they recover and append a :class:`Diagnostic`, on cold paths only.
Nothing that the model wrote vanishes without one.
"""

from __future__ import annotations

from dataclasses import dataclass

CODES: dict[str, str] = {
    # The output ended too early.
    "reasoning-unterminated": "the output ended inside reasoning; everything after the opening was taken as reasoning",
    "reasoning-unopened": "the output closes reasoning that nothing opened; the tag and the text before it are content",
    "tool-block-unterminated": "the output ended inside a tool block; the call holds what was stable by then",
    # The call is not passed on.
    "tool-call-rejected": "the call names a function that is not among the request's tools",
    "call-without-name": "a tool block holds no function name, so no call could be made of it",
    "payload-malformed": "a tool block breaks its own grammar; what could be read was kept",
    # Markup that is not what it looks like.
    "tag-without-payload": "a tool tag is not followed by a payload and was kept as text",
    "close-tag-missing": "a tag is not closed where the grammar wants it; the next tag closed it",
    "open-tag-missing": "a payload came without its open tag and was taken all the same",
    "stray-close-tag": "a close tag stands where nothing is open and was dropped",
    "header-malformed": "a message header breaks its grammar; it was read as what it plainly meant",
    # A value is not as the model wrote it.
    "arguments-unwrapped": "arguments were given as a JSON string and replaced by the object in it",
    "field-substituted": "a field was written under the other of its two names",
    "value-unquoted": "a string value was a JSON string literal and replaced by the string in it",
    "value-uncoerced": "a value does not fit its declared type and stayed a string",
    "token-repaired": "a misspelt protocol token was read as the one that was meant",
    # Text that appears nowhere else.
    "text-dropped": "text was neither content, reasoning nor part of a call",
    # The transcript contradicts itself.
    "text-differs-from-ids": "the recorded text is not what the recorded token ids decode to",
}
"""Every code with the sentence that documents it."""


@dataclass(slots=True, frozen=True)
class Diagnostic:
    """One finding about a transcript.

    Attributes:
        code: a key of :data:`CODES`.
        offset: where, in characters from the start of the response.
        message: what happened there, for a person.
    """

    code: str
    offset: int
    message: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown diagnostic code {self.code!r}; add it to unspool.parsers.diagnostics.CODES")
