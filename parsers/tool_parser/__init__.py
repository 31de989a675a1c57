"""Tool protocols: the contract, the family bases and one module a dialect. Importing this package registers them."""

from __future__ import annotations

from . import deepseek_dsml, glm, internlm, kimi, llama, qwen, qwen3coder
from .json_tool_parser import JsonToolParser
from .json_value_scanner import JsonValueScanner
from .tool_parser import CallIdFactory, ToolParser, ToolParserManager
from .xml_tool_parser import XmlToolParser

__all__ = [
    "CallIdFactory",
    "JsonToolParser",
    "JsonValueScanner",
    "ToolParser",
    "ToolParserManager",
    "XmlToolParser",
    "deepseek_dsml",
    "glm",
    "internlm",
    "kimi",
    "llama",
    "qwen",
    "qwen3coder",
]
