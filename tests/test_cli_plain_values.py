"""A command that takes plain values itself does with every command line what Typer alone does."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from unspool.cli.plain_values import PlainCommand, PlainGroup


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def app(*, plain: bool) -> typer.Typer:
    made = typer.Typer(cls=PlainGroup if plain else None)

    @made.callback()
    def group(level: int | None = None, name: str = "none", loud: bool = False) -> None:
        typer.echo(repr((level, name, loud)))

    @made.command(cls=PlainCommand if plain else None)
    def show(
        first: str,
        paths: Annotated[list[Path] | None, typer.Argument()] = None,
        number: Annotated[int | None, typer.Option(min=0)] = None,
        ratio: float = 0.5,
        mode: Literal["one", "two"] = "one",
        colour: Colour = Colour.RED,
        file: Path | None = None,
        words: list[str] | None = None,
        more: list[str] = ["x"],  # noqa: B006 - only Typer reads it
        switch: Annotated[bool | None, typer.Option("--switch/--no-switch")] = None,
        length: Annotated[str, typer.Option(callback=lambda value: f"{len(value)} characters")] = "",
    ) -> None:
        typer.echo(repr((first, paths, number, ratio, mode, colour, file, words, more, switch, length)))

    return made


@pytest.mark.parametrize(
    "args",
    [
        "show",
        "show a",
        "show a b - no/such/file",
        "show a --number 3",
        "show a --number -3",
        "show a --number three",
        "show a --ratio 2",
        "show a --mode two",
        "show a --mode three",
        "show a --mode TWO",
        "show a --colour blue",
        "show a --colour green",
        "show a --file b",
        "show a --file ",
        "show a --words b --words c --more y",
        "show a --switch",
        "show a --no-switch",
        "show a --length abc",
        "show a --nonsense",
        "--level 3 show a",
        "--level x show a",
        "--name x --loud show a",
        "--help",
        "show --help",
    ],
)
def test_same_as_typer(args: str) -> None:
    given = args.split(" ")
    plain, stock = (CliRunner().invoke(app(plain=each), given) for each in (True, False))
    assert (plain.exit_code, plain.output) == (stock.exit_code, stock.output)


def test_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # who runs tests may be allowed to read everything
    plain, stock = (CliRunner().invoke(app(plain=each), ["show", "a", str(tmp_path)]) for each in (True, False))
    assert plain.exit_code == 2
    assert (plain.exit_code, plain.output) == (stock.exit_code, stock.output)
