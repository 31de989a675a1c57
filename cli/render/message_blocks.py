"""Final mode for people: the channels of a message as titled blocks."""

from __future__ import annotations

from rich.style import Style

from unspool.parsers import ChatResult, ToolCall

from ..output import Output
from .json_layout import Kind, layout
from .palette import CONTENT, FAINT, NAME, REASONING, TITLE, TOOL_CALL, Painter
from .summary import transport
from .visible import escape_line

_RULE = "\u2500\u2500"
_JSON_STYLES: dict[Kind, Style] = {
    "key": Style(color="blue", bold=True),
    "string": Style(color="green"),
    "number": Style(color="cyan"),
    "literal": Style(color="magenta"),
    "punctuation": Style(),
}


def write_blocks(output: Output, painter: Painter, result: ChatResult, source: str | None) -> None:
    """The channels as titled blocks, in the order of the aggregated message: reasoning, content, calls."""
    message = result.message
    sections = []
    title = ", ".join(filter(None, (source, None if result.choice is None else f"choice {result.choice}")))
    if title:
        sections.append(painter.paint(f"== {escape_line(title)}", TITLE))
    if message.reasoning_content is not None:
        sections.append(_block(_title(painter, "Reasoning", REASONING), message.reasoning_content, painter))
    if message.content is not None:
        sections.append(_block(_title(painter, "Content", CONTENT), message.content, painter))
    for index, call in enumerate(message.tool_calls):
        sections.append(f"{_call_title(painter, index, call)}\n{_arguments(painter, call.arguments)}")
    facts = transport(result.finish_reason, result.usage)
    if message == (None, [], None):
        facts.insert(0, "an empty message")
    if facts:
        sections.append(painter.paint("-- " + ", ".join(facts), FAINT))
    output.text("\n\n".join(sections) + ("\n\n" if title else "\n"))


def _block(title: str, text: str, painter: Painter) -> str:
    return title + "\n" + painter.model_text(text.removesuffix("\n"), Style())


def _title(painter: Painter, text: str, style: Style) -> str:
    return painter.paint(f"{_RULE} {text} {_RULE}", style + TITLE)


def _call_title(painter: Painter, index: int, call: ToolCall) -> str:
    label = painter.paint(f"{_RULE} Tool call #{index}", TOOL_CALL + TITLE)
    name = painter.model_text(call.name, NAME, one_line=True)
    identity = painter.model_text(call.id, FAINT, one_line=True)
    return f"{label} {name} {identity} {painter.paint(_RULE, TOOL_CALL + TITLE)}"


def _arguments(painter: Painter, arguments: str) -> str:
    """Arguments for a person: indented and highlighted where they are JSON, else exactly as they came."""
    tokens = layout(arguments)
    if tokens is None:
        return painter.model_text(arguments, Style())
    return "".join(painter.model_text(token, _JSON_STYLES[kind]) for token, kind in tokens)
