"""Completions with ``choices[].text``: vLLM, SGLang, LMDeploy, TensorRT-LLM, OpenAI and whoever imitates them.

Owns the members that tell these apart; all are read alike, streamed or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .fields import finish_reason, index, mapping, objects, request_id, string, token_ids
from .logprobs import content_ids, content_tokens, legacy_ids, legacy_tokens
from .pieces import Object, Piece, Shape


def first_choice(value: Any) -> Object | None:
    """The first of an object's ``choices``."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return None


def is_completion(value: Any) -> bool:
    """Whether this is a text completion, or a piece of one."""
    choice = first_choice(value)
    if choice is None:
        return isinstance(value, dict) and value.get("choices") == [] and value.get("object") == "text_completion"
    if "delta" in choice or "message" in choice or not ("text" in choice or "token_ids" in choice):
        return False
    return "index" in choice or value.get("object") == "text_completion"


def read(value: Object) -> Iterator[Piece]:
    """Read one object."""
    request = request_id(value, "id", "request_id")
    for choice in objects(value, "choices"):
        logprobs = mapping(choice, "logprobs")
        content = logprobs.get("content")
        ids = token_ids(choice, "token_ids")
        yield Piece(
            string(choice, "text"),
            ids if ids is not None else content_ids(content) or legacy_ids(logprobs),
            choice.get("logprobs"),
            finish_reason(choice.get("finish_reason")),
            request,
            index(choice),
            token_ids(choice, "prompt_token_ids") or token_ids(value, "prompt_token_ids"),
            content_tokens(content) or legacy_tokens(logprobs),
        )


def _with(*keys: str) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        choice = first_choice(value) or {}
        return is_completion(value) and any(key in choice for key in keys)

    return fits


def _bare(value: Any) -> bool:
    choice = first_choice(value)
    return choice is not None and is_completion(value) and "logprobs" not in choice and "finish_reason" not in choice


def _shape(
    name: str,
    source: str,
    marks: str,
    fits: Callable[[Any], bool],
    *,
    own_ids: bool | None = None,
    by_absence: bool = False,
) -> Shape:
    return Shape(name, source, marks, fits, read, own_ids=own_ids, by_absence=by_absence, family=is_completion)


SGLANG = _shape(
    "sglang-completions", "SGLang /v1/completions", "choices[].text beside matched_stop", _with("matched_stop")
)
TRTLLM = _shape(
    "trtllm-completions",
    "TensorRT-LLM /v1/completions",
    "choices[].text beside avg_decoded_tokens_per_iter",
    _with("avg_decoded_tokens_per_iter"),
    own_ids=False,  # it makes up one for every object
)
VLLM = _shape(
    "vllm-completions",
    "vLLM /v1/completions",
    "choices[].text beside stop_reason or token_ids",
    _with("stop_reason", "token_ids", "prompt_token_ids"),
)
LMDEPLOY = _shape(
    "lmdeploy-completions",
    "LMDeploy /v1/completions",
    "choices[].text without finish_reason and logprobs",
    _bare,
    by_absence=True,
)
OPENAI = _shape("openai-completions", "an OpenAI-compatible completions endpoint", "choices[].text", is_completion)
