"""``unspool replay``: transcripts in, deltas or messages out.

Owns the options and how the stages are put together. Reading, parsing and writing are others' business.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .. import plugins, tokenizer_option
from ..console import plain_warnings, say
from ..options import PARSERS_PANEL, STDIN, Plugin, Tokenizer
from ..output import Output

if TYPE_CHECKING:
    from ..transcript import ChunkSpec

Mode = Literal["chunk", "final"]
OutputForm = Literal["pretty", "jsonl", "json"]
Channel = Literal["reasoning", "content", "tool-calls"]

_REQUEST = "The request that led to the output"
_READING = "Reading"
_WRITING = "Writing"


def replay(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="INPUT", help="Transcripts; - is standard input, which is the default."),
    ] = None,
    reasoning_parser: Annotated[
        str | None,
        typer.Option(
            "-r",
            "--reasoning-parser",
            metavar="NAME",
            rich_help_panel=PARSERS_PANEL,
            help="How reasoning is marked; without it nothing is reasoning. `unspool parsers list` shows the names.",
        ),
    ] = None,
    tool_parser: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tool-parser",
            metavar="NAME",
            rich_help_panel=PARSERS_PANEL,
            help="How tool calls are written; without it nothing is a call.",
        ),
    ] = None,
    response_parser: Annotated[
        str,
        typer.Option("--response-parser", metavar="NAME", rich_help_panel=PARSERS_PANEL, help="What joins the two."),
    ] = "default",
    tokenizer: Tokenizer = None,
    boundaries: Annotated[
        Literal["characters", "tokens"],
        typer.Option(
            "--boundaries",
            rich_help_panel=PARSERS_PANEL,
            help="Where a chunk can end inside a tag: anywhere, or only where tokens of --tokenizer end, which emits "
            "earlier, as a serving engine does.",
        ),
    ] = "characters",
    plugin: Plugin = None,
    request_file: Annotated[
        Path | None,
        typer.Option(
            "--request",
            metavar="FILE",
            rich_help_panel=_REQUEST,
            help="Request body: Chat Completions, Responses or Messages.",
        ),
    ] = None,
    tools_file: Annotated[
        Path | None,
        typer.Option(
            "--tools",
            metavar="FILE",
            rich_help_panel=_REQUEST,
            help="JSON list of tools, or a body that holds one. Calls of other tools are rejected.",
        ),
    ] = None,
    tool_choice: Annotated[
        str | None,
        typer.Option(
            "--tool-choice",
            metavar="CHOICE",
            rich_help_panel=_REQUEST,
            help="auto, none, required or a function's name. With none, tool markup is plain text.",
        ),
    ] = None,
    thinking: Annotated[
        bool | None,
        typer.Option(
            "--thinking/--no-thinking",
            rich_help_panel=_REQUEST,
            help="Whether the prompt asked for reasoning; most reasoning parsers then start inside it.",
        ),
    ] = None,
    template_kwarg: Annotated[
        list[str] | None,
        typer.Option(
            "--template-kwarg",
            metavar="KEY=JSON",
            rich_help_panel=_REQUEST,
            help="One of the request's chat_template_kwargs. Repeatable; wins over --thinking.",
        ),
    ] = None,
    input_format: Annotated[
        Literal["auto", "text", "jsonl"],
        typer.Option(
            "-i", "--input-format", rich_help_panel=_READING, help="Raw text, or a token stream as JSON Lines."
        ),
    ] = "auto",
    chunk: Annotated[
        str | None,
        typer.Option(
            "--chunk",
            metavar="CUT",
            rich_help_panel=_READING,
            show_default=False,
            help="How the text is cut: tokens, chars:N, lines, whole or random:SEED. By default a token stream keeps "
            "its chunks, and text is cut into tokens with --tokenizer, else chars:4.",
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            rich_help_panel=_WRITING,
            show_default="chunk",
            help="Each delta as it comes, or one message at the end.",
        ),
    ] = None,
    output: Annotated[
        OutputForm | None,
        typer.Option(
            "-o",
            "--output",
            rich_help_panel=_WRITING,
            show_default="pretty on a terminal, else JSON",
            help="For people; one JSON record a line; one JSON message an input, which means --mode final.",
        ),
    ] = None,
    only: Annotated[
        Channel | None,
        typer.Option(
            "--only",
            rich_help_panel=_WRITING,
            help="One channel as raw text, or the tool calls as one JSON object a line; in place of --output.",
        ),
    ] = None,
    color: Annotated[
        Literal["auto", "always", "never"],
        typer.Option("--color", rich_help_panel=_WRITING, help="Colours of pretty output; auto honours NO_COLOR."),
    ] = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", rich_help_panel=_WRITING, help="Exit with 1 if there is any diagnostic.")
    ] = False,
) -> None:
    """Replay raw model output and print its reasoning, content and tool calls.

    Data goes to stdout; what is wrong with a transcript goes to stderr, as `FILE: offset N: code: what happened`.
    """
    out = Output()
    mode, form = _mode_and_form(mode, output, only, out)
    spec = None if chunk is None else _chunk_spec(chunk)
    if boundaries == "tokens":
        _check_token_boundaries(tokenizer, spec)
    inputs = inputs or [STDIN]

    from ..render.view import make_view
    from ..request_options import build_request
    from ..session import Session
    from ..stages import parser_factory, reader

    with plain_warnings():
        plugins.load_files(plugin)
        request = build_request(
            body_file=request_file,
            tools_file=tools_file,
            tool_choice=tool_choice,
            thinking=thinking,
            template_kwargs=template_kwarg,
        )
        text_tokenizer = None if tokenizer is None else tokenizer_option.load(tokenizer)
        new_parser = parser_factory(
            request,
            reasoning_parser=reasoning_parser,
            tool_parser=tool_parser,
            response_parser=response_parser,
            tokenizer=text_tokenizer,
            token_boundaries=boundaries == "tokens",
        )
        read = reader(input_format, spec, tokenizer, text_tokenizer)

        if STDIN in inputs and sys.stdin is not None and sys.stdin.isatty():
            say("unspool: reading standard input; end it with Ctrl-D")
        session = Session(read, new_parser, make_view(out, mode=mode, form=form, only=only, color=color), out)
        session.run(inputs)
    raise typer.Exit(session.exit_code(strict=strict))


def _mode_and_form(
    mode: Mode | None, output: OutputForm | None, only: Channel | None, out: Output
) -> tuple[Mode, Literal["pretty", "json"]]:
    """Fill in what the options leave open, and refuse what contradicts itself."""
    if only is not None and output is not None:
        raise typer.BadParameter("--only prints raw text; leave out --output", param_hint="--only")
    if output == "json":
        if mode == "chunk":
            raise typer.BadParameter(
                "json is one message an input and needs --mode final; for deltas take jsonl", param_hint="--output"
            )
        mode = "final"
    if output is None:
        output = "pretty" if out.is_terminal else "jsonl"
    return mode or "chunk", "pretty" if output == "pretty" else "json"


def _chunk_spec(chunk: str) -> ChunkSpec:
    from ..transcript import ChunkSpec

    try:
        return ChunkSpec.parse(chunk)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--chunk") from None


def _check_token_boundaries(tokenizer: Path | None, spec: ChunkSpec | None) -> None:
    if tokenizer is None:
        raise typer.BadParameter("tokens needs --tokenizer", param_hint="--boundaries")
    if spec is not None and spec.kind in ("chars", "random"):
        raise typer.BadParameter(
            f"tokens is wrong for --chunk {spec}, which cuts inside tokens and would lose tags",
            param_hint="--boundaries",
        )
