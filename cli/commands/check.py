"""``unspool check``: whether a parser gives the same for every way of cutting a transcript, and loses nothing.

Owns the options, the life of one input and the exit code. What is checked is ``checking``'s business.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import plugins, tokenizer_option
from ..console import error, plain_warnings, say
from ..exits import ExitCode
from ..options import (
    STDIN,
    AsJson,
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
    spoken_name,
)
from ..output import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unspool.parsers import EngineOutput, ResponseParser

    from ..checking.inspection import Inspection
    from ..session import ResponseReader
    from ..transcript import Response

_CUTS = "Cuts"


def check(
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
    choice: Choice = None,
    random_cuts: Annotated[
        int | None,
        typer.Option(
            "--random",
            metavar="N",
            min=0,
            rich_help_panel=_CUTS,
            show_default="20, or 4 where the text is long",
            help="How many cuts into many chunks at random places.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", rich_help_panel=_CUTS, help="Of all random choices.")] = 0,
    all_cuts: Annotated[
        bool,
        typer.Option("--all-cuts", rich_help_panel=_CUTS, help="Leave no two-way cut out, however long the text is."),
    ] = False,
    shrink_text: Annotated[
        bool,
        typer.Option("--shrink-text", rich_help_panel=_CUTS, help="Also look for a smaller text that fails the same."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that a parser gives the same however a transcript is cut, and that no text gets lost.

    Tries the text whole, every cut in two, chunks of 1 to 64 characters, tokens with --tokenizer, and random cuts.

    A finding comes with the smallest cut that shows it, both results and the command that replays it.
    """
    if reasoning_parser is None and tool_parser is None and response_parser == "default":
        raise typer.BadParameter(
            "without a parser there is nothing to check: name one, as in -t qwen3", param_hint="--tool-parser"
        )
    if boundaries == "tokens" and tokenizer is None:
        raise typer.BadParameter("tokens needs --tokenizer", param_hint="--boundaries")

    from ..checking.inspection import Settings, inspect
    from ..checking.progress import Progress
    from ..checking.reproduce import command
    from ..request_options import build_request
    from ..stages import Opener, parser_factory
    from ..transcript import end_tokens

    only_tokens = boundaries == "tokens"
    for_parsers = _spoken(
        ("-r", reasoning_parser),
        ("-t", tool_parser),
        ("--response-parser", None if response_parser == "default" else response_parser),
        *(("--plugin", file) for file in plugin or ()),
        ("--request", request_file),
        ("--tools", tools_file),
        ("--tool-choice", tool_choice),
        *(("--template-kwarg", pair) for pair in template_kwarg or ()),
        ("-i", None if input_format == "auto" else input_format),
    )
    if thinking is not None:
        for_parsers.append("--thinking" if thinking else "--no-thinking")
    for_tokens = _spoken(("--tokenizer", tokenizer), ("--boundaries", "tokens" if only_tokens else None))

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
            token_boundaries=only_tokens,
        )
        # Without a tokenizer a parser reads no ids: the same text without them.
        for_text = new_parser if only_tokens else partial(new_parser, tokenizer=None)
        opener = Opener(input_format, None, tokenizer, text_tokenizer, choice=choice)
        settings = Settings(random_cuts, seed, all_cuts, only_tokens, shrink_text)
        ends = end_tokens(tokenizer, text_tokenizer)
        report = _Report(as_json, seed)
        inputs = inputs or [STDIN]
        if STDIN in inputs and sys.stdin is not None and sys.stdin.isatty():
            say("unspool: reading standard input; end it with Ctrl-D")
        for path, response, records in report.read_all(inputs, opener, new_parser):
            progress = Progress(_spoken_name(path, response))
            try:
                inspection = inspect(
                    records,
                    for_text,
                    settings,
                    tokenizer=text_tokenizer,
                    new_parser_for_ids=None if text_tokenizer is None else new_parser,
                    end_tokens=ends - new_parser().end_tokens,
                    on_cut=progress.show,
                )
            finally:
                progress.end()
            choosing = _spoken(("--choice", response.label or choice))
            commands = [
                command(shown, path, for_parsers + choosing + (for_tokens if only_tokens or shown.with_ids else []))
                for shown in inspection.shown
            ]
            report.write(path, response, inspection, commands)
    raise typer.Exit(report.exit_code)


class _Report:
    """Writes what becomes of each input, and remembers what the exit code has to tell."""

    def __init__(self, as_json: bool, seed: int) -> None:
        from ..render.palette import Painter

        self._as_json = as_json
        self._seed = seed
        self._output = Output()
        self._painter = Painter("auto")
        self._unreadable = False
        self._found = False

    @property
    def exit_code(self) -> ExitCode:
        """An unreadable input weighs more than a finding."""
        if self._unreadable:
            return ExitCode.USAGE
        return ExitCode.FOUND if self._found else ExitCode.OK

    def read_all(
        self, inputs: list[Path], reader: ResponseReader, new_parser: Callable[[], ResponseParser]
    ) -> Iterator[tuple[Path, Response, list[EngineOutput]]]:
        """Yield the responses of the inputs; one that can't be read is told of, and the others still come."""
        for path in inputs:
            try:
                found = list(self._read(path, reader, new_parser))
            except ValueError as problem:
                self._unreadable = True
                error(str(problem))
                if self._as_json:
                    from ..checking.report import unreadable_record

                    self._write_json(unreadable_record(str(path), str(problem)))
                continue
            for response, records in found:
                yield path, response, records

    def _read(
        self, path: Path, reader: ResponseReader, new_parser: Callable[[], ResponseParser]
    ) -> Iterator[tuple[Response, list[EngineOutput]]]:
        from ..transcript import Response

        responses: dict[Response, list[EngineOutput]] = {}
        bad_lines: list[str] = []
        for part in reader.open(path, bad_lines.append):
            responses.setdefault(part.response, []).extend(part.outputs)
        for line in bad_lines:
            self._unreadable = True
            error(line)
        if not responses and not bad_lines:
            responses[Response()] = []  # an empty input is an empty response
        for response, outputs in responses.items():
            yield response, list(reader.prepare(response, new_parser(), iter(outputs)))

    def write(self, path: Path, response: Response, inspection: Inspection, commands: list[str | None]) -> None:
        """Write what was found in a response."""
        from ..checking.report import explanation, record, verdict

        self._found = self._found or bool(inspection.shown)
        if self._as_json:
            self._write_json(record(str(path), response.label, inspection, self._seed, commands))
            return
        self._output.text(verdict(_spoken_name(path, response), inspection, self._painter))
        for shown, command in zip(inspection.shown, commands, strict=True):
            self._output.text(explanation(shown, inspection.tried, command, self._painter))
        self._output.flush()

    def _write_json(self, value: object) -> None:
        from ..render.json_bytes import encode_line

        self._output.json(encode_line(value))
        self._output.flush()


def _spoken_name(path: Path, response: Response) -> str:
    return spoken_name(path) + ("" if response.label is None else f" [{response.label}]")


def _spoken(*options: tuple[str, object]) -> list[str]:
    """Options as they are written, without those that have no value."""
    return [word for name, value in options if value is not None for word in (name, str(value))]
