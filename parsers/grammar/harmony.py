"""Harmony messages: analysis, preambles, calls and the final one, in the order that a tool choice allows."""

from __future__ import annotations

from ..request import ToolSpec
from ..response_parser.harmony_tokens import TOKENS
from .formats import Format, arguments, const, either, escape, optional, regex, repeated, sequence, star, tag, text
from .tool_choice import Demand

_START = const("<|start|>assistant")
_CHANNEL = r"<\|channel\|>(commentary|analysis)"
_CONTENT_TYPE = r"((\s*<\|constrain\|>\s*|\s+)json)?\s*<\|message\|>\s*"


def harmony_format(demand: Demand) -> Format:
    """A whole response that does what ``demand`` says."""
    thoughts = [_message("analysis", "<|end|>"), _message("commentary", "<|end|>")]
    calls = [call for tool in demand.tools for call in _calls(tool)]
    if not demand.required:
        answers = [_message("final", "<|return|>"), _message("final", "<|end|>")]
        return sequence(optional(_START), repeated(either([*thoughts, *calls, *answers]), _START))
    before = star(sequence(either(thoughts), _START))
    after = [] if demand.single else [star(sequence(_START, either([*thoughts, *calls])))]
    return sequence(optional(_START), before, either(calls), *after)


def _message(channel: str, end: str) -> Format:
    return tag(f"<|channel|>{channel}<|message|>", text(TOKENS), end)


def _calls(tool: ToolSpec) -> list[Format]:
    """The recipient may stand on either side of the channel; a call ends the turn with a token of its own."""
    recipient = rf" to=functions\.{escape(tool.name)}"
    return [
        tag(begin, sequence(regex(head + _CONTENT_TYPE), arguments(tool.parameters), regex(r"\s*")), "<|call|>")
        for begin, head in (
            ("<|channel|>", rf"(commentary|analysis){recipient}"),
            (" to=functions.", rf"{escape(tool.name)}{_CHANNEL}"),
        )
    ]
