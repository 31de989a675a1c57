"""Which writer serves which options. A view runs one response and writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from unspool.parsers import ChatResult, ChatRunner, EngineOutput

from ..output import Output
from .channel import Channel, ChannelCalls, ChannelText
from .deltas import DeltaWriter, write_records
from .json_bytes import encode_line
from .records import message_record

if TYPE_CHECKING:
    from .api import Api

View = Callable[[ChatRunner, Iterable[EngineOutput], str | None], None]
"""Takes a fresh runner, the engine's chunks, and the input's name where there are several."""


def make_view(
    output: Output,
    *,
    mode: Literal["chunk", "final"],
    form: Literal["pretty", "json"],
    only: Channel | None,
    color: Literal["auto", "always", "never"],
) -> View:
    """Choose the writer.

    Args:
        output: where to.
        mode: delta by delta, or the message at the end.
        form: for people or for programs.
        only: one channel as raw text, whatever ``mode`` and ``form`` say: its text is the same in both modes.
        color: only pretty output has colours.
    """
    if only == "tool-calls":
        return partial(_stream, lambda source: ChannelCalls(output, source))
    if only is not None:
        return partial(_stream, lambda source: ChannelText(output, only))
    if form == "json":
        if mode == "chunk":
            return partial(write_records, output)
        return partial(_collect, lambda result, source: output.json(encode_line(message_record(result, source))))

    from .palette import Painter

    painter = Painter(color)
    if mode == "chunk":
        from .delta_lines import DeltaLines

        return partial(_stream, lambda source: DeltaLines(output, painter, source))
    from .message_blocks import write_blocks

    return partial(_collect, partial(write_blocks, output, painter))


def make_api_view(
    output: Output, *, mode: Literal["chunk", "final"], as_sse: bool, api: Api, **adapter_options: Any
) -> View:
    """Choose the writer of an API's shapes.

    Args:
        output: where to.
        mode: event by event, or one object at the end.
        as_sse: frame the events.
        api: whose shapes.
        adapter_options: see :func:`.api.adapter_factory`.
    """
    from .api import ApiEvents, adapter_factory, write_object

    new_adapter = adapter_factory(api, **adapter_options)
    if mode == "chunk":
        return partial(_stream, lambda source: ApiEvents(output, new_adapter(), as_sse=as_sse))
    return partial(write_object, output, new_adapter)


def _stream(
    writer_for: Callable[[str | None], DeltaWriter],
    runner: ChatRunner,
    outputs: Iterable[EngineOutput],
    source: str | None,
) -> None:
    writer = writer_for(source)
    write = writer.delta
    for chunk in runner.stream(outputs):
        write(chunk)
    writer.end(runner)


def _collect(
    write: Callable[[ChatResult, str | None], object],
    runner: ChatRunner,
    outputs: Iterable[EngineOutput],
    source: str | None,
) -> None:
    write(runner.collect(outputs), source)
