"""``unspool replay``: transcripts in, deltas or messages out.

Owns the options and how the stages are put together. Reading, parsing and writing are others' business.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .. import plugins, tokenizer_option
from ..api_options import AsServerSentEvents, Created, ModelName, ReasoningFieldName, ResponseId, api_choice
from ..console import plain_warnings, say
from ..options import (
    READING_PANEL,
    STDIN,
    Choice,
    ChunkEnds,
    InputFormat,
    Inputs,
    Plugin,
    ReasoningParserName,
    RequestFile,
    ResponseParserName,
    TemplateKwarg,
    Thinking,
    Tokenizer,
    ToolChoice,
    ToolParserName,
    ToolsFile,
)
from ..output import Output

if TYPE_CHECKING:
    from ..transcript import ChunkSpec

Mode = Literal["chunk", "final"]
OutputForm = Literal["pretty", "jsonl", "json", "openai", "anthropic", "responses"]
Channel = Literal["reasoning", "content", "tool-calls"]

_WRITING = "Writing"


def replay(
    inputs: Inputs = None,
    reasoning_parser: ReasoningParserName = None,
    tool_parser: ToolParserName = None,
    response_parser: ResponseParserName = "default",
    tokenizer: Tokenizer = None,
    boundaries: ChunkEnds = "characters",
    plugin: Plugin = None,
    request_file: RequestFile = None,
    tools_file: ToolsFile = None,
    tool_choice: ToolChoice = None,
    thinking: Thinking = None,
    template_kwarg: TemplateKwarg = None,
    input_format: InputFormat = "auto",
    chunk: Annotated[
        str | None,
        typer.Option(
            "--chunk",
            metavar="CUT",
            rich_help_panel=READING_PANEL,
            show_default=False,
            help="How the text is cut: tokens, chars:N, lines, whole, random:SEED or at:PLACE,PLACE,... By default a "
            "token stream keeps its chunks, and text is cut into tokens with --tokenizer, else chars:4.",
        ),
    ] = None,
    choice: Choice = None,
    save_stream: Annotated[
        Path | None,
        typer.Option(
            "--save-stream",
            metavar="FILE.jsonl",
            rich_help_panel=READING_PANEL,
            help="Write the chunks that are replayed to a file, as a token stream that replays to the same.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", rich_help_panel=READING_PANEL, help="Say on stderr what the inputs are, and why."
        ),
    ] = False,
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
            help="For people; one JSON record a line; one JSON message an input, which means --mode final; or what "
            "clients of Chat Completions, Messages or Responses read: events, or with --mode final one object.",
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
    sse: AsServerSentEvents = False,
    reasoning_field: ReasoningFieldName = None,
    model: ModelName = None,
    response_id: ResponseId = None,
    created: Created = None,
) -> None:
    """Replay raw model output and print its reasoning, content and tool calls.

    Data goes to stdout; what is wrong with a transcript goes to stderr, as `FILE: offset N: code: what happened`.
    """
    out = Output()
    mode, form = _mode_and_form(mode, output, only, out)
    api = api_choice(
        output,
        mode,
        sse=sse,
        reasoning_field=reasoning_field,
        model=model,
        response_id=response_id,
        created=created,
    )
    spec = None if chunk is None else _chunk_spec(chunk)
    if boundaries == "tokens":
        _check_token_boundaries(tokenizer, spec)
    inputs = inputs or [STDIN]
    if save_stream is not None:
        _check_save_stream(save_stream, inputs)

    from ..render.view import make_api_view, make_view
    from ..request_options import build_request
    from ..saved_stream import SavedStream
    from ..session import Session
    from ..stages import Opener, parser_factory

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
        saved = None if save_stream is None else SavedStream(save_stream)
        opener = Opener(input_format, spec, tokenizer, text_tokenizer, choice=choice, verbose=verbose, saved=saved)

        if STDIN in inputs and sys.stdin is not None and sys.stdin.isatty():
            say("unspool: reading standard input; end it with Ctrl-D")
        if api is None:
            view = make_view(out, mode=mode, form=form, only=only, color=color)
        else:
            view = make_api_view(out, mode=mode, as_sse=api.sse, **api.adapter)
        # The text of one channel, and the events of an API, can't be mixed with those of another response; messages
        # come in the order in which their responses began.
        take_turns = api is None and (only == "tool-calls" or (only is None and mode == "chunk"))
        session = Session(opener, new_parser, view, out, take_turns=take_turns)
        gc.freeze()  # what start-up made stays: to look for garbage in it again and again costs a long replay a tenth
        try:
            session.run(inputs)
        finally:
            if saved is not None:
                saved.close()
    raise typer.Exit(session.exit_code(strict=strict))


def _mode_and_form(
    mode: Mode | None, output: OutputForm | None, only: Channel | None, out: Output
) -> tuple[Mode, Literal["pretty", "json"]]:
    """Fill in what the options leave open, and refuse what contradicts itself."""
    if only is not None and output is not None:
        raise typer.BadParameter("it prints raw text; leave out --output", param_hint="--only")
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


def _check_save_stream(file: Path, inputs: list[Path]) -> None:
    if len(inputs) > 1:
        raise typer.BadParameter("one file keeps one input", param_hint="--save-stream")
    if inputs[0] != STDIN and file.exists() and inputs[0].exists() and file.samefile(inputs[0]):
        raise typer.BadParameter(f"{file} is the input itself", param_hint="--save-stream")


def _check_token_boundaries(tokenizer: Path | None, spec: ChunkSpec | None) -> None:
    if tokenizer is None:
        raise typer.BadParameter("tokens needs --tokenizer", param_hint="--boundaries")
    if spec is not None and spec.kind in ("chars", "random"):
        raise typer.BadParameter(
            f"tokens is wrong for --chunk {spec}, which cuts inside tokens and would lose tags",
            param_hint="--boundaries",
        )
