"""Response protocols: the contract, the one that composes two others, and Harmony. Importing registers them."""

from __future__ import annotations

from .base_response_parser import BaseResponseParser
from .build import build_response_parser
from .harmony import HarmonyResponseParser
from .response_parser import ParserSettings, ResponseParser, ResponseParserManager, Span

__all__ = [
    "BaseResponseParser",
    "HarmonyResponseParser",
    "ParserSettings",
    "ResponseParser",
    "ResponseParserManager",
    "Span",
    "build_response_parser",
]
