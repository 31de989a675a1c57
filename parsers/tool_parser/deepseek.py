"""DeepSeek V3, R1 and V3.1: a section of calls, each with its name before its arguments."""

from __future__ import annotations

import re

from .section_tool_parser import Header, SectionToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls, json_text

_SEPARATOR = "<｜tool▁sep｜>"
_FENCED_HEADER = re.compile(rf"(?:\w*+\s*+{_SEPARATOR})?\s*+([^\s`<]++)\s*+(?:```\w*+)?\s*+")


class DeepSeekToolParser(SectionToolParser):
    """Base of both: the tags, which are special tokens, and a header that is the name."""

    open_tags = ("<｜tool▁calls▁begin｜>",)
    close_tags = ("<｜tool▁calls▁end｜>",)
    call_open_tag = "<｜tool▁call▁begin｜>"
    call_close_tag = "<｜tool▁call▁end｜>"
    bare_openers = (call_open_tag,)

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]


@ToolParserManager.register_module("deepseek_v31")
class DeepSeekV31ToolParser(DeepSeekToolParser):
    """The name, a separator, the arguments.

    The form is::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{...}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
    """

    description = "a section of names with JSON arguments: DeepSeek V3.1, V3.1-Terminus"
    argument_tag = _SEPARATOR

    def _read_header(self, text: str, pos: int) -> Header | None:
        return Header(text) if text else None


@ToolParserManager.register_module("deepseek_v3")
class DeepSeekV3ToolParser(DeepSeekToolParser):
    """A type word, the name on the rest of the line, the arguments in a Markdown fence; newlines between calls.

    The form is::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME
    ```json
    {...}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
    """

    description = "a section of calls with fenced JSON arguments: DeepSeek V3, V3-0324, R1, R1-0528"
    argument_tag = "```json"
    header_proof = _SEPARATOR
    body_margin = re.compile(r"[\s`]*+")

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), _SEPARATOR)

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        written = "\n".join(
            f"{cls.call_open_tag}function{_SEPARATOR}{name}\n```json\n{json_text(dict(arguments))}\n```{cls.call_close_tag}"
            for name, arguments in calls
        )
        return f"{cls.get_tool_open_tag()}{written}{cls.get_tool_close_tag()}"

    def _read_header(self, text: str, pos: int) -> Header | None:
        header = _FENCED_HEADER.fullmatch(text)
        return Header(header[1]) if header else None
