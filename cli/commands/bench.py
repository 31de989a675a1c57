"""``unspool bench``: what a parser costs, whether its cost grows with the text, and whether it is right.

Owns the options, the progress bar and the exit code. What is measured is ``benchmark``'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import plugins, tokenizer_option
from ..console import error, plain_warnings, warn
from ..exits import ExitCode, fail
from ..options import AsJson, Plugin, ReasoningParserName, ResponseParserName, Tokenizer, ToolParserName, spoken_name
from ..output import Output

if TYPE_CHECKING:
    from unspool.parsers import ResponseParser, TextTokenizer

    from ..benchmark.results import CaseResult, Cut, Plan, Target

_SIZES = "20000,200000,2000000"


def bench(
    reasoning_parser: ReasoningParserName = None,
    tool_parser: ToolParserName = None,
    response_parser: ResponseParserName = "default",
    tokenizer: Tokenizer = None,
    plugin: Plugin = None,
    chunk_sizes: Annotated[
        str | None,
        typer.Option(
            "--chunk-sizes",
            metavar="N,N,...",
            show_default="1,4,8,16,256, and tokens with --tokenizer",
            help="Characters a chunk; the word tokens cuts at the tokens of --tokenizer. The whole text always comes "
            "last.",
        ),
    ] = None,
    input_file: Annotated[
        Path | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Measure this transcript, in any format that `unspool replay` reads, and not what a parser writes.",
        ),
    ] = None,
    sizes: Annotated[str, typer.Option("--sizes", hidden=True, help="Lengths at which growth is measured.")] = _SIZES,
    as_json: AsJson = False,
) -> None:
    """Measure parsers: time a chunk, speed, and whether the cost of a character grows with the text.

    Without a name all registered parsers are measured, which takes some minutes.

    A parser writes its own transcripts, and each has to read back before it is measured. Exits with 1 if one doesn't,
    or if a parser is quadratic.
    """
    lengths = _numbers(sizes, "--sizes")
    cuts = _cuts(chunk_sizes, tokenizer)

    with plain_warnings():
        plugins.load_files(plugin)
        text_tokenizer = None if tokenizer is None else tokenizer_option.load(tokenizer)
        ways = {name: _way(name, text_tokenizer) for name in cuts}
        named = reasoning_parser is not None or tool_parser is not None or response_parser != "default"
        texts = None if input_file is None else _read(input_file, tokenizer, text_tokenizer)
        plans = [
            _plan(target, lengths[0], texts)
            for target in ([_named(reasoning_parser, tool_parser, response_parser)] if named else _all_targets())
        ]
        found = _run(plans, ways, lengths, as_json)
    raise typer.Exit(found)


def _numbers(spec: str, option: str) -> list[int]:
    words = spec.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise typer.BadParameter(f"'{spec}' is no list of numbers from 1, as in 4,16", param_hint=option)
    return sorted(set(map(int, words)))


def _cuts(spec: str | None, tokenizer: Path | None) -> list[str]:
    if spec is None:
        return ["1", "4", "8", "16", "256", *(["tokens"] if tokenizer is not None else [])]
    words = spec.split(",")
    if "tokens" in words and tokenizer is None:
        raise typer.BadParameter("tokens needs --tokenizer", param_hint="--chunk-sizes")
    numbers = [word for word in words if word != "tokens"]
    sizes = _numbers(",".join(numbers), "--chunk-sizes") if numbers else []
    return [*map(str, sizes), *(["tokens"] if "tokens" in words else [])]


def _way(name: str, tokenizer: TextTokenizer | None) -> Cut:
    from ..benchmark.measure import cut
    from ..transcript.chunking import ChunkSpec, cut_text

    if name == "tokens":
        return lambda text: [chunk.text for chunk in cut_text([text], ChunkSpec("tokens"), tokenizer)]
    return partial(cut, size=int(name))


def _named(reasoning: str | None, tool: str | None, response: str) -> Target:
    from ..benchmark.results import Target

    return Target(reasoning, tool, response)


def _all_targets() -> list[Target]:
    from ..benchmark.results import Target
    from ..parser_facts import all_entries

    plugins.load_packages()
    return [
        Target(**{kind: entry.name})
        for kind, entry in plugins.sound(all_entries())
        if (kind, entry.name) != ("response", "default")
    ]


def _read(path: Path, folder: Path | None, tokenizer: TextTokenizer | None) -> dict[str, str]:
    """The texts of the responses in an input, without the end of the model's turn."""
    from unspool.parsers import EngineOutput, build_response_parser

    from ..stages import Opener
    from ..transcript import Response

    opener = Opener("auto", None, folder, tokenizer)
    outputs: dict[Response, list[EngineOutput]] = {}
    bad_lines: list[str] = []
    try:
        for part in opener.open(path, bad_lines.append):
            outputs.setdefault(part.response, []).extend(part.outputs)
        texts = {
            "input" if response.label is None else f"input {response.label}": "".join(
                output.text for output in opener.prepare(response, build_response_parser(), iter(found))
            )
            for response, found in outputs.items()
        }
    except ValueError as problem:
        fail(str(problem))
    for line in bad_lines:
        error(line)
    if bad_lines:
        raise typer.Exit(ExitCode.USAGE)
    texts = {name: text for name, text in texts.items() if text}
    return texts or fail(f"{spoken_name(path)}: there is no text to measure")


def _plan(target: Target, size: int, texts: dict[str, str] | None) -> Plan:
    from unspool.parsers import ChatRequest

    from ..benchmark.results import plan_given, plan_written
    from ..stages import parser_factory

    # A name that means nothing ends the command here.
    known = parser_factory(
        ChatRequest(),
        reasoning_parser=target.reasoning,
        tool_parser=target.tool,
        response_parser=target.response,
        tokenizer=None,
        token_boundaries=False,
    )

    def new_parser_for(request: ChatRequest) -> Callable[[], ResponseParser]:
        return partial(known.func, request, **known.keywords)

    return plan_written(target, size, new_parser_for) if texts is None else plan_given(target, texts, new_parser_for)


def _run(plans: Sequence[Plan], ways: dict[str, Cut], sizes: Sequence[int], as_json: bool) -> ExitCode:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ..benchmark.report import is_bad
    from ..benchmark.results import measured, steps
    from ..render.visible import escape_line

    stderr = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # A redirected stdout would send the report to stderr.
    progress = Progress(
        *columns,
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = progress.add_task("", total=sum(steps(plan, ways) for plan in plans))
    measurable = [plan for plan in plans if plan.cases or plan.problem]
    code = ExitCode.OK if measurable else ExitCode.USAGE
    for plan in plans:
        _name_left_out(plan)
    for plan in measurable:
        progress.update(task, description=escape_line(plan.target.label))
        progress.start()
        try:
            results = list(measured(plan, ways, sizes, partial(progress.advance, task)))
        finally:
            progress.stop()  # so that it isn't in the way of what is printed
        _print(plan, results, sizes, as_json=as_json, first=plan is measurable[0])
        if is_bad(plan, results):
            code = ExitCode.FOUND
    return code


def _name_left_out(plan: Plan) -> None:
    """Say what can't be measured, and what to do about it."""
    advice = "give a transcript with --input FILE"
    if not plan.cases and not plan.problem:
        error(f"{plan.target.label}: this parser writes no sample: {advice}")
    elif plan.unwritten:
        warn(f"{plan.target.label}: this parser writes no sample of its calls, so only text is measured: {advice}")


def _print(plan: Plan, results: Sequence[CaseResult], sizes: Sequence[int], *, as_json: bool, first: bool) -> None:
    from ..benchmark.report import headers, record, rich_table, rows, text_table, title, verdicts
    from ..render.json_bytes import encode_line
    from ..render.visible import escape_line

    output = Output()
    if as_json:
        output.json(encode_line(record(plan, results)))
        output.flush()
        return
    output.text("" if first else "\n")
    if output.is_terminal:
        from rich.console import Console

        console = Console()
        with console.capture() as capture:
            console.print(rich_table(plan, results, sizes))
        output.text(capture.get())
    else:
        lines = [row for result in results for row in rows(result, sizes)]
        output.text(f"{title(plan, results)}\n")
        output.text(text_table([headers(sizes), *lines]) if lines else "")
    for line in verdicts(plan, results):
        output.text(f"{escape_line(line)}\n")
    output.flush()
