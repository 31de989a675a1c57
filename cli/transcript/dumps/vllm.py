"""vLLM beside its OpenAI endpoints: ``/inference/v1/generate``, and what ``LLM.generate`` returns, dumped as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import completions
from .completions import first_choice
from .fields import finish_reason, index, objects, request_id, string, token_ids
from .pieces import Object, Piece, Shape, Token


def _is_generate(value: Any) -> bool:
    choice = first_choice(value)
    return choice is not None and "request_id" in value and ("token_ids" in choice or "text" in choice)


def _is_output(value: Any) -> bool:
    return isinstance(value, dict) and (
        "cumulative_logprob" in value or ("stop_reason" in value and "token_ids" in value)
    )


def _is_request_output(value: Any) -> bool:
    outputs = value.get("outputs") if isinstance(value, dict) else None
    if not isinstance(outputs, list) or not outputs or not isinstance(outputs[0], dict):
        return False
    return "request_id" in value or "prompt_token_ids" in value or _is_output(outputs[0])


def _read_offline(value: Object) -> Iterator[Piece]:
    outputs = objects(value, "outputs") if "outputs" in value else [value]
    for output in outputs:
        ids = token_ids(output, "token_ids")
        logprobs = output.get("logprobs")
        yield Piece(
            string(output, "text"),
            ids,
            logprobs,
            finish_reason(output.get("finish_reason")) or ("stop" if value.get("finished") is True else None),
            request_id(value, "request_id"),
            index(output),
            token_ids(value, "prompt_token_ids"),
            _tokens(ids or [], logprobs),
        )


def _tokens(ids: list[int], logprobs: Any) -> list[Token] | None:
    """Tokens of ``[{id: {"decoded_token": ...}}, ...]``."""
    if not isinstance(logprobs, list) or not ids or len(logprobs) != len(ids):
        return None
    tokens = []
    for number, candidates in zip(ids, logprobs, strict=True):
        chosen = candidates.get(str(number)) if isinstance(candidates, dict) else None
        text = chosen.get("decoded_token") if isinstance(chosen, dict) else None
        if not isinstance(text, str):
            return None
        tokens.append(Token(text.encode("utf-8", "replace"), number, [candidates]))
    return tokens


GENERATE = Shape(
    "vllm-generate", "vLLM /inference/v1/generate", "request_id and choices[].token_ids", _is_generate, completions.read
)
OFFLINE = Shape(
    "vllm-offline",
    "vLLM RequestOutput or CompletionOutput",
    "outputs[].token_ids, or token_ids beside cumulative_logprob",
    lambda value: _is_request_output(value) or _is_output(value),
    _read_offline,
)
