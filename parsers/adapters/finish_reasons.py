"""Why a response ended: what engines say, and the closed sets of words that the clients of each API accept.

Owns the mapping only. A client that meets an unknown word refuses the whole response, so every word must map.
"""

from __future__ import annotations

from typing import Literal

Ending = Literal["stop", "length", "tool_calls", "function_call", "content_filter", "broken"]
"""What the engines' words come down to; ``broken`` is whatever ended a response that neither the model nor a limit
ended: an abort, an error, a word that nobody knows."""

# Of vLLM, SGLang, LMDeploy, TGI, llama.cpp, Ollama and the three APIs themselves.
_ENDINGS: dict[str, Ending] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "completed": "stop",
    "stop_sequence": "stop",
    "word": "stop",
    "pause_turn": "stop",
    "length": "length",
    "limit": "length",
    "max_tokens": "length",
    "max_new_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "function_call",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}
_ANTHROPIC: dict[Ending, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
    "broken": "max_tokens",
}
_ANTHROPIC_ONLY = ("pause_turn", "model_context_window_exceeded")


def ending(reason: str | None, *, called: bool) -> Ending:
    """What an engine's word comes down to.

    Args:
        reason: the word. ``None``, in raw text for instance, counts as the model's own end.
        called: whether the response has a call. It makes ``tool_calls`` of every end that is the model's own, but not
            of the word ``stop``: that was already looked at by :class:`ChatRunner`, which knows the request.
    """
    found = "stop" if reason is None else _ENDINGS.get(reason.lower(), "broken")
    if found == "stop" and called and reason != "stop":
        return "tool_calls"
    return found


def openai_finish_reason(reason: str | None, *, called: bool) -> str:
    """``finish_reason`` of a chat completion's choice.

    A broken response is told as ``length``: of the words there are, it is the one by which a client knows that the
    answer isn't complete.
    """
    found = ending(reason, called=called)
    return "length" if found == "broken" else found


def anthropic_stop_reason(reason: str | None, *, called: bool) -> str:
    """``stop_reason`` of a message; a broken response is told as ``max_tokens``, for the same reason."""
    if reason in _ANTHROPIC_ONLY:
        return reason
    if reason in ("stop_sequence", "word") and not called:
        return "stop_sequence"
    return _ANTHROPIC[ending(reason, called=called)]


def responses_status(reason: str | None, *, called: bool) -> tuple[str, dict[str, str | None] | None]:
    """``status`` and ``incomplete_details`` of a response; a broken one is incomplete for no reason that has a word."""
    found = ending(reason, called=called)
    if found == "length":
        return "incomplete", {"reason": "max_output_tokens"}
    if found == "content_filter":
        return "incomplete", {"reason": "content_filter"}
    if found == "broken":
        return "incomplete", {"reason": None}
    return "completed", None
