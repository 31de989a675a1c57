"""Which parser writes calls in which way."""

from __future__ import annotations

from ..tool_parser import ToolParser, XmlToolParser
from ..tool_parser.deepseek_dsml import DsmlToolParser
from ..tool_parser.glm import Glm47ToolParser
from ..tool_parser.internlm import InternLMToolParser
from ..tool_parser.kimi import KimiK2ToolParser
from ..tool_parser.llama import LlamaToolParser
from ..tool_parser.qwen import QwenToolParser
from ..tool_parser.qwen3coder import Qwen3CoderToolParser
from .call_syntax import CallSyntax, json_envelope

_LLAMA = r"[\s;,]*"


def call_syntaxes(parser: type[ToolParser]) -> tuple[CallSyntax, ...]:
    """The ways in which a dialect writes calls; none where it has no grammar.

    A class answers with a class method ``call_syntaxes`` of its own, else it is known here.
    """
    own = getattr(parser, "call_syntaxes", None)
    if own is not None:
        return tuple(own())
    if issubclass(parser, LlamaToolParser):
        bare = CallSyntax(
            '{"name"', r'\s*:\s*"NAME"\s*,\s*"parameters"\s*:\s*', r"\s*", "}", between=_LLAMA, quoted=True
        )
        return (json_envelope("<|python_tag|>", None, "parameters", _LLAMA), bare)
    if issubclass(parser, (QwenToolParser, InternLMToolParser)):
        return (json_envelope(parser.get_tool_open_tag(), parser.get_tool_close_tag(), parser.argument_field),)
    if issubclass(parser, Qwen3CoderToolParser):
        head, tail = r"\s*<function=NAME>\s*", r"\s*<\/function>\s*"
        return (CallSyntax("<tool_call>", head, tail, "</tool_call>", "qwen_xml", _ambiguous(parser)),)
    if issubclass(parser, Glm47ToolParser):
        return (CallSyntax("<tool_call>", r"\s*NAME\s*", r"\s*", "</tool_call>", "glm_xml", _ambiguous(parser)),)
    if issubclass(parser, DsmlToolParser):
        block = (f"<｜DSML｜{parser.block}>", f"</｜DSML｜{parser.block}>")
        head, end = r' name="NAME">\s*', "</｜DSML｜invoke>"
        return (CallSyntax("<｜DSML｜invoke", head, r"\s*", end, "deepseek_xml", _ambiguous(parser), block),)
    if issubclass(parser, KimiK2ToolParser):
        head = r"\s*functions\.NAME:\d+\s*<\|tool_call_argument_begin\|>\s*"
        return (
            CallSyntax(
                "<|tool_call_begin|>",
                head,
                r"\s*",
                "<|tool_call_end|>",
                block=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
            ),
        )
    return ()


def _ambiguous(parser: type[XmlToolParser]) -> tuple[str, ...]:
    """Tags that can end a value: in one they are data only where what follows says so."""
    return (parser.arg_value_close_tag[:-1], *parser.value_breakers)
