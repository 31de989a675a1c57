"""Seed-OSS: the tags of Qwen3-Coder in ``<seed:tool_call>``."""

from __future__ import annotations

from .qwen3coder import FunctionTagsToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("seed_oss")
class SeedOssToolParser(FunctionTagsToolParser):
    """The block is ``seed:tool_call``, and values stand on the line of their tags."""

    description = "tags <function=..> and <parameter=..> in <seed:tool_call>: Seed-OSS"
    open_tags = ("<seed:tool_call>",)
    close_tags = ("</seed:tool_call>",)
    value_margin = ""
