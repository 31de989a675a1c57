"""Chat completions, streamed or not, whose content is the model's raw text, or whose tokens are recorded beside it.

Owns which parts of a message a server has parsed already, and that recorded tokens are the raw text all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .completions import first_choice
from .fields import finish_reason, index, mapping, objects, request_id, string, token_ids
from .logprobs import content_ids, content_tokens
from .pieces import Object, Piece, Shape

_PARSED = ("reasoning_content", "reasoning", "tool_calls", "function_call")
_REPLACEMENT = "\ufffd".encode()


def read(value: Object) -> Iterator[Piece]:
    """Read one object."""
    request = request_id(value, "id")
    for choice in objects(value, "choices"):
        whole = "message" in choice
        message = mapping(choice, "message" if whole else "delta")
        logprobs = mapping(choice, "logprobs")
        entries = logprobs.get("content")
        text = string(message, "content")
        parsed = tuple(key for key in _PARSED if message.get(key))
        tokens = content_tokens(entries)
        if tokens and whole and text is not None and not parsed:
            # Some servers record a part of a character as U+FFFD; then the content is the better text.
            lossy = any(_REPLACEMENT in token.data for token in tokens) and "\ufffd" not in text
            tokens = None if lossy else tokens
        ids = token_ids(choice, "token_ids")
        yield Piece(
            text,
            ids if ids is not None else content_ids(entries),
            choice.get("logprobs"),
            finish_reason(choice.get("finish_reason")),
            request,
            index(choice),
            token_ids(choice, "prompt_token_ids") or token_ids(value, "prompt_token_ids"),
            tokens,
            tokens_are_text=True,
            parsed=parsed,
        )


def _fits(value: Any) -> bool:
    choice = first_choice(value)
    if choice is None:
        kind = value.get("object") if isinstance(value, dict) and value.get("choices") == [] else None
        return kind in ("chat.completion.chunk", "chat.completion")
    return isinstance(choice.get("delta", choice.get("message")), dict)


def _fits_vllm(value: Any) -> bool:
    choice = first_choice(value)
    return choice is not None and _fits(value) and ("token_ids" in choice or "prompt_token_ids" in value)


VLLM = Shape(
    "vllm-chat",
    "vLLM /v1/chat/completions with return_token_ids",
    "choices[].delta or choices[].message beside token_ids",
    _fits_vllm,
    read,
    family=_fits,
)
OPENAI = Shape("openai-chat", "an OpenAI-compatible chat endpoint", "choices[].delta or choices[].message", _fits, read)
