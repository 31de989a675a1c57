"""Builds the :class:`ChatRequest` of a command from files and options.

Owns which option wins over which part of a request body. What a body may look like is ``ChatRequest``'s business.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exits import fail

if TYPE_CHECKING:
    from unspool.parsers import ChatRequest

# Templates disagree on the name of the switch; parsers look at the one that their models know.
_THINKING_SWITCHES = ("enable_thinking", "thinking")


def build_request(
    *,
    body_file: Path | None,
    tools_file: Path | None,
    tool_choice: str | None,
    thinking: bool | None,
    template_kwargs: Iterable[str] | None,
) -> ChatRequest:
    """Read the request that led to the transcript; options win over the body.

    Args:
        body_file: a request body.
        tools_file: a list of tools, or a body that holds one.
        tool_choice: ``auto``, ``none``, ``required`` or a function's name.
        thinking: switches the template's thinking on or off.
        template_kwargs: ``KEY=JSON`` each.
    """
    from unspool.parsers import ChatRequest

    body: dict[str, Any] = {}
    if body_file is not None:
        loaded = _load(body_file, "--request")
        if not isinstance(loaded, dict):
            fail(f"--request {body_file}: a request body is a JSON object")
        body = loaded
    if tools_file is not None:
        loaded = _load(tools_file, "--tools")
        tools = loaded.get("tools") if isinstance(loaded, dict) else loaded
        if not isinstance(tools, list):
            fail(f"--tools {tools_file}: neither a JSON list of tools nor a request body that holds one")
        body["tools"] = tools
    if tool_choice is not None:
        keyword = tool_choice in ("auto", "none", "required")
        body["tool_choice"] = tool_choice if keyword else {"type": "function", "function": {"name": tool_choice}}
    switches: dict[str, Any] = {}
    if thinking is not None:
        switches = dict.fromkeys(_THINKING_SWITCHES, thinking)
    for pair in template_kwargs or ():
        key, value = _template_kwarg(pair)
        switches[key] = value
    try:
        request = ChatRequest.from_body(body)
        request.chat_template_kwargs = {**request.chat_template_kwargs, **switches}
    except ValueError as problem:
        fail(f"the request: {problem}")
    return request


def _load(path: Path, option: str) -> Any:
    import json

    try:
        return json.loads(path.read_bytes())
    except OSError as problem:
        fail(f"{option} {path}: {problem.strerror or problem}")
    except ValueError as problem:
        fail(f"{option} {path}: not JSON: {problem}")
    except RecursionError:
        fail(f"{option} {path}: its JSON is nested too deeply")


def _template_kwarg(pair: str) -> tuple[str, Any]:
    import json

    key, equals, text = pair.partition("=")
    if not (key and equals):
        fail(f"--template-kwarg {pair}: write KEY=JSON, such as enable_thinking=false")
    try:
        return key, json.loads(text)
    except (ValueError, RecursionError):
        meant = {"True": "true", "False": "false", "None": "null"}.get(text, f'"{text}"')
        fail(f"--template-kwarg {pair}: {text!r} is not JSON; write '{key}={meant}'")
