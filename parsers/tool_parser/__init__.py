"""Tool protocols: the contract, the family bases and one module a dialect. Importing this package registers them."""

from __future__ import annotations

from . import (
    deepseek,
    deepseek_dsml,
    gemma4,
    gigachat,
    glm,
    glm45,
    granite,
    internlm,
    jamba,
    json_array,
    kimi,
    lfm2,
    llama,
    minimax,
    mistral,
    olmo3,
    phi,
    pythonic,
    qwen,
    qwen3coder,
    seed_oss,
    step3,
    tool_call_json,
    xlam,
)
from .bare_json_tool_parser import BareJsonToolParser
from .json_tool_parser import JsonToolParser
from .json_value_scanner import JsonValueScanner
from .section_tool_parser import Header, SectionToolParser
from .tool_parser import CallIdFactory, ToolParser, ToolParserManager
from .xml_tool_parser import XmlToolParser

__all__ = [
    "BareJsonToolParser",
    "CallIdFactory",
    "Header",
    "JsonToolParser",
    "JsonValueScanner",
    "SectionToolParser",
    "ToolParser",
    "ToolParserManager",
    "XmlToolParser",
    "deepseek",
    "deepseek_dsml",
    "gemma4",
    "gigachat",
    "glm",
    "glm45",
    "granite",
    "internlm",
    "jamba",
    "json_array",
    "kimi",
    "lfm2",
    "llama",
    "minimax",
    "mistral",
    "olmo3",
    "phi",
    "pythonic",
    "qwen",
    "qwen3coder",
    "seed_oss",
    "step3",
    "tool_call_json",
    "xlam",
]
