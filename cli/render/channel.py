"""``--only``: one channel and nothing else, for pipelines."""

from __future__ import annotations

from io import StringIO
from typing import Literal

from unspool.parsers import ChatRunner, ChatStreamChunk, ToolCall

from ..output import Output
from .json_bytes import encode_line
from .records import call_record, origin
from .visible import escape

Channel = Literal["reasoning", "content", "tool-calls"]


class ChannelText:
    """The raw text of one channel, as it comes.

    Args:
        output: where to; on a terminal, and only there, control characters are escaped.
        channel: which.
    """

    def __init__(self, output: Output, channel: Literal["reasoning", "content"]) -> None:
        self._output = output
        self._field = "reasoning_content" if channel == "reasoning" else "content"
        self._last = "\n"

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write the delta's text if it is of this channel."""
        text: str | None = getattr(chunk.delta, self._field)
        if not text:
            return
        self._last = text
        if self._output.is_terminal:
            self._output.text(escape(text))
        else:
            self._output.data(text.encode("utf-8", "backslashreplace"))

    def end(self, runner: ChatRunner) -> None:
        """Leave the shell's prompt on a line of its own; in a pipe the text ends as the model ended it."""
        if self._output.is_terminal and not self._last.endswith("\n"):
            self._output.text("\n")


class ChannelCalls:
    """One call a line as JSON, each as soon as it is complete.

    Args:
        output: where to.
        source: the input's name, where there are several.
    """

    def __init__(self, output: Output, source: str | None) -> None:
        self._output = output
        self._source = source
        self._choice: str | None = None
        self._call: ToolCall | None = None
        self._index = -1
        self._arguments = StringIO()

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Collect the pieces of a call; calls come one after the other, so whatever else comes ends it."""
        self._choice = chunk.choice
        if chunk.delta.content or chunk.delta.reasoning_content:
            self._complete()
        for piece in chunk.delta.tool_calls or ():
            if piece.index != self._index:
                self._complete()
                self._index = piece.index
                self._call = ToolCall(piece.id or "", piece.type or "function", piece.name or "", "")
            if piece.arguments:
                self._arguments.write(piece.arguments)

    def end(self, runner: ChatRunner) -> None:
        """Write the last call."""
        self._complete()

    def _complete(self) -> None:
        if self._call is None:
            return
        self._call.arguments = self._arguments.getvalue()
        self._output.json(encode_line(origin(self._source, self._choice) | call_record(self._call)))
        self._call = None
        self._arguments = StringIO()
