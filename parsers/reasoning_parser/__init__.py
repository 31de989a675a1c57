"""Reasoning protocols, one small module a model family. Importing this package registers all of them."""

from __future__ import annotations

from . import (
    deepseek,
    ernie,
    gemma,
    gigachat,
    glm,
    granite,
    hunyuan,
    kimi,
    mimo,
    minimax,
    mistral,
    nemotron,
    olmo,
    qwen,
    seed,
    step,
    think_tags,
)
from .reasoning_parser import ReasoningParser, ReasoningParserManager

__all__ = [
    "ReasoningParser",
    "ReasoningParserManager",
    "deepseek",
    "ernie",
    "gemma",
    "gigachat",
    "glm",
    "granite",
    "hunyuan",
    "kimi",
    "mimo",
    "minimax",
    "mistral",
    "nemotron",
    "olmo",
    "qwen",
    "seed",
    "step",
    "think_tags",
]
