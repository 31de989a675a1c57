"""Chunk mode for people: one line a delta, and a summary.

Deltas come one by one and none is kept, so a transcript of any size needs no memory.
"""

from __future__ import annotations

from rich.style import Style

from unspool.parsers import ChatRunner, ChatStreamChunk, DeltaToolCall

from ..output import Output
from .palette import CONTENT, FAINT, NAME, REASONING, TITLE, TOOL_CALL, Painter
from .summary import count, transport
from .visible import escape_line


class DeltaLines:
    """One line a delta: chunk number, channel, text; then a summary.

    Args:
        output: where to.
        painter: gives each channel its colour.
        source: the input's name, where there are several.
    """

    def __init__(self, output: Output, painter: Painter, source: str | None) -> None:
        self._output = output
        self._painter = painter
        self._deltas = 0
        self._lengths = {"reasoning": 0, "content": 0}
        self._calls = 0
        self._source = source
        self._choice: str | None = None
        self._end = "\n"

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write the lines of one delta; one that has nothing to show has none."""
        delta = chunk.delta
        self._choice = chunk.choice
        if delta.reasoning_content:
            self._text(chunk.chunk, "reasoning", delta.reasoning_content, REASONING)
        if delta.content:
            self._text(chunk.chunk, "content", delta.content, CONTENT)
        for call in delta.tool_calls or ():
            self._call(chunk.chunk, call)

    def end(self, runner: ChatRunner) -> None:
        """Write the summary line."""
        self._choice = runner.choice
        self._title()
        parts = [count(runner.chunks, "chunk"), count(self._deltas, "delta")]
        parts += [f"{channel} {count(length, 'character')}" for channel, length in self._lengths.items() if length]
        if self._calls:
            parts.append(count(self._calls, "tool call"))
        parts += transport(runner.finish_reason, runner.usage)
        self._output.text(self._label() + self._painter.paint("-- " + ", ".join(parts), FAINT) + self._end)

    def _text(self, number: int, channel: str, text: str, style: Style) -> None:
        self._lengths[channel] += len(text)
        self._line(number, channel, self._model(text, style), style)

    def _call(self, number: int, call: DeltaToolCall) -> None:
        parts = [self._painter.paint(f"#{call.index}", TOOL_CALL)]
        if call.name is not None:
            self._calls += 1
            parts.append(self._painter.model_text(call.name, NAME, one_line=True))
            parts.append(self._painter.model_text(call.id or "", FAINT, one_line=True))
        if call.arguments:
            parts.append(self._model(call.arguments, TOOL_CALL))
        self._line(number, "tool call", " ".join(parts), TOOL_CALL)

    def _line(self, number: int, channel: str, text: str, style: Style) -> None:
        self._title()
        self._deltas += 1
        label = self._label() + self._painter.paint(f"{number:>5}", FAINT)
        label += "  " + self._painter.paint(f"{channel:<9}", style)
        self._output.text(f"{label}  {text}\n")

    def _label(self) -> str:
        """Which response a line belongs to: several can take turns."""
        return "" if self._choice is None else self._painter.paint(f"[{escape_line(self._choice)}]", TITLE) + " "

    def _title(self) -> None:
        """Name the input before its first line; one that can't be opened gets no title."""
        if self._source is not None:
            self._output.text(self._painter.paint(f"== {escape_line(self._source)}", TITLE) + "\n")
            self._source = None
            self._end = "\n\n"  # the next input's title stands apart

    def _model(self, text: str, style: Style) -> str:
        kept = text.rstrip(" ")
        # A blank at the end of a line can't be seen, and a delta may be nothing else.
        blanks = "\u00b7" * (len(text) - len(kept))
        return self._painter.model_text(kept, style, one_line=True) + self._painter.paint(blanks, FAINT)
