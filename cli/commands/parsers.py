"""``unspool parsers``: which parsers there are, what they recognise, and whether a configuration names real ones."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import plugins, tokenizer_option
from ..console import plain_warnings, warn
from ..exits import ExitCode, fail
from ..options import AsJson, Plugin, Tokenizer
from ..output import Output
from ..parser_facts import all_entries, entries_named, registries
from ..plain_values import PlainCommand, PlainGroup
from ..usage import MARKUP

if TYPE_CHECKING:
    from unspool.parsers.engine_names import EngineName

    from ..render.palette import Painter
    from ..validation import Check

app = typer.Typer(
    cls=PlainGroup, help="List, describe and validate parsers.", no_args_is_help=True, rich_markup_mode=MARKUP
)


class Engine(StrEnum):
    """A serving engine whose names ``validate`` knows."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LMDEPLOY = "lmdeploy"


@app.command("list", cls=PlainCommand)
def list_parsers(as_json: AsJson = False, plugin: Plugin = None) -> None:
    """List every registered parser with its names here and at the engines, its tags and what it is for."""
    from ..parser_facts import summary
    from ..render.parser_pages import list_page

    plugins.load_files(plugin)
    plugins.load_packages()
    found = [summary(kind, entry) for kind, entry in plugins.sound(all_entries())]
    _print(found, as_json, list_page)


@app.command("show", cls=PlainCommand)
def show_parser(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A parser's name or one of its aliases.")],
    tokenizer: Tokenizer = None,
    as_json: AsJson = False,
    plugin: Plugin = None,
) -> None:
    """Describe a parser: its tags, how it starts, what a model writes, and which pieces of a tag are held back.

    A name can mean a parser of several kinds; all are shown.

    With --tokenizer, only pieces that a chunk can end in with that tokenizer are held back, and tags show their tokens.
    """
    from ..parser_facts import details
    from ..render.parser_pages import show_page

    plugins.load_files(plugin)
    entries = entries_named(name)
    if not entries:
        plugins.load_packages()
        entries = entries_named(name)
    if not entries:
        near = list(dict.fromkeys(match for registry in registries().values() for match in registry.near(name)))
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "`unspool parsers list` names them all"
        fail(f"unknown parser {name!r}; {hint}")

    sound = list(plugins.sound(entries))
    if not sound:
        raise typer.Exit(ExitCode.USAGE)

    from unspool.parsers import Boundaries

    text_tokenizer = None if tokenizer is None else tokenizer_option.load(tokenizer)
    boundaries = Boundaries.characters() if text_tokenizer is None else Boundaries.tokens(text_tokenizer)
    found = [details(kind, entry, boundaries, text_tokenizer) for kind, entry in sound]
    _print(found, as_json, show_page)


@app.command("validate", cls=PlainCommand)
def validate(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Names of parsers of any kind.")] = None,
    reasoning_parser: Annotated[
        list[str] | None,
        typer.Option("-r", "--reasoning-parser", metavar="NAME", help="Name of a reasoning parser. Repeatable."),
    ] = None,
    tool_parser: Annotated[
        list[str] | None,
        typer.Option("-t", "--tool-parser", metavar="NAME", help="Name of a tool parser. Repeatable."),
    ] = None,
    response_parser: Annotated[
        list[str] | None,
        typer.Option("--response-parser", metavar="NAME", help="Name of a response parser. Repeatable."),
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Check what this serving engine registers, in its own spelling, and which parser it is here."
        ),
    ] = None,
    tokenizer: Tokenizer = None,
    as_json: AsJson = False,
    plugin: Plugin = None,
) -> None:
    """Check that parsers are registered, for CI.

    Exits with 0 if all are, and with 1 if one is not; it then says which names look like it.

    With --engine, names are those of that engine's flags, exactly as it spells them.

    With --tokenizer, also checks that the tokenizer can write every tag; one that it can't write fails.
    A tag of several tokens only gives a warning: many protocols have some, but it may be the wrong tokenizer.
    """
    from ..validation import check_engine_names, check_names, check_tags

    wanted = [
        (kind, name)
        for kind, given in (
            ("reasoning", reasoning_parser),
            ("tool", tool_parser),
            ("response", response_parser),
            (None, names),
        )
        for name in given or ()
    ]
    if not wanted:
        raise typer.BadParameter("nothing to check: name a parser", param_hint="NAME")
    if engine is not None and response_parser:
        raise typer.BadParameter("engines have no flag for it", param_hint="--response-parser")
    plugins.load_files(plugin)
    with plain_warnings():
        checks = check_names(wanted) if engine is None else check_engine_names(engine.value, wanted)
        if engine is None and not all(check.registered for check in checks):
            plugins.load_packages()
            checks = check_names(wanted)
    if tokenizer is not None:
        check_tags(checks, tokenizer_option.load(tokenizer))

    if as_json:
        _report_json(checks, engine)
    else:
        _report_lines(checks)
    raise typer.Exit(ExitCode.OK if all(check.ok for check in checks) else ExitCode.FOUND)


def _report_json(checks: list[Check], engine: Engine | None) -> None:
    records = [
        {
            "name": check.name,
            "registered": check.registered,
            "parsers": [{"kind": kind, "name": entry.name} for kind, entry in check.entries],
            "near": check.near,
        }
        | ({} if engine is None else {"engine_parsers": [_engine_record(each) for each in check.engine_names]})
        | ({} if check.tags is None else {"tokens": check.tags})
        | ({"flaws": check.flaws} if check.flaws else {})
        for check in checks
    ]
    head = {"ok": all(check.ok for check in checks)}
    _print_json(head | ({} if engine is None else {"engine": engine.value}) | {"checks": records})


def _engine_record(name: EngineName) -> dict[str, Any]:
    """What an engine has under a name, for programs; ``parser`` is ours, or null."""
    from ..validation import ours

    entry = ours(name)
    parser = None if entry is None else {"kind": name.parser_kind, "name": entry.name}
    return {"kind": name.kind, "format": name.format, "note": name.note, "parser": parser}


def _report_lines(checks: list[Check]) -> None:
    from ..render.verdicts import split_tags, verdict

    output = Output()
    for check in checks:
        output.text(verdict(check) + "\n")
    output.flush()
    for check in checks:
        if check.split:
            warn(split_tags(check))


def _print(facts: list[dict[str, Any]], as_json: bool, page: Callable[[list[dict[str, Any]], Painter], str]) -> None:
    if as_json:
        _print_json(facts)
        return
    from ..render.palette import Painter

    output = Output()
    output.text(page(facts, Painter("auto")))
    output.flush()


def _print_json(value: Any) -> None:
    from ..render.json_bytes import encode_line

    output = Output()
    output.json(encode_line(value))
    output.flush()
