"""Incremental parsers for what language models write: text in, deltas out.

    >>> from unspool.parsers import ChatRequest, build_response_parser
    >>> parser = build_response_parser(ChatRequest(), reasoning_parser="default", tool_parser="qwen3")
    >>> parser.parse_complete("Short.</think>Hello.")
    ParsedResponse(content='Hello.', tool_calls=[], reasoning_content='Short.')

Nothing here opens a file, prints, or imports a tokenizer library.
"""

from __future__ import annotations

from .chat_runner import ChatResult, ChatRunner, ChatStreamChunk, EngineOutput, Usage
from .diagnostics import CODES, Diagnostic
from .grammar.response_format import build_required_response_format
from .markers import Boundaries, MarkerScanner
from .messages import DeltaMessage, DeltaToolCall, MessageBuilder, ParsedResponse, ToolCall
from .reasoning_parser import ReasoningParser, ReasoningParserManager
from .registry import LegacyNameWarning, PluginError, Registry, RegistryEntry, load_entry_points, load_plugin
from .request import ChatRequest, ToolSpec
from .response_parser import (
    BaseResponseParser,
    HarmonyResponseParser,
    ResponseParser,
    ResponseParserManager,
    Span,
    build_response_parser,
)
from .tokenization import IncrementalDecoder, TextTokenizer, as_text_tokenizer
from .tool_parser import JsonToolParser, JsonValueScanner, ToolParser, ToolParserManager, XmlToolParser

__all__ = [
    "CODES",
    "BaseResponseParser",
    "Boundaries",
    "ChatRequest",
    "ChatResult",
    "ChatRunner",
    "ChatStreamChunk",
    "DeltaMessage",
    "DeltaToolCall",
    "Diagnostic",
    "EngineOutput",
    "HarmonyResponseParser",
    "IncrementalDecoder",
    "JsonToolParser",
    "JsonValueScanner",
    "LegacyNameWarning",
    "MarkerScanner",
    "MessageBuilder",
    "ParsedResponse",
    "PluginError",
    "ReasoningParser",
    "ReasoningParserManager",
    "Registry",
    "RegistryEntry",
    "ResponseParser",
    "ResponseParserManager",
    "Span",
    "TextTokenizer",
    "ToolCall",
    "ToolParser",
    "ToolParserManager",
    "ToolSpec",
    "Usage",
    "XmlToolParser",
    "as_text_tokenizer",
    "build_required_response_format",
    "build_response_parser",
    "load_entry_points",
    "load_plugin",
]
