"""Typer's commands, but for values that need no conversion: they are taken as they are.

From release 0.29 on Typer converts each parameter with pydantic, also one that was not given, and importing that takes
longer than all else at a start. What a parameter gets is nearly always its default, or text that is meant as text.
Whatever is not as clear goes Typer's way, and so does everything where Typer doesn't say what a parameter's type is:
earlier releases don't, and need no pydantic.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command with simple options.

    None has a parser of its own, and a path may name anything that can be read, or nothing that is there yet.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was given to the command."""
        _take_plain_values(self.get_params(ctx))
        return super().parse_args(ctx, args)


class PlainGroup(TyperGroup):
    """A group of commands, for what is given before the command's name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was given to the group."""
        _take_plain_values(self.get_params(ctx))
        return super().parse_args(ctx, args)


def _take_plain_values(params: Iterable[Any]) -> None:
    for param in params:
        annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
        if annotation is not None and not isinstance(param.process_value, _PlainFirst):
            param.process_value = _PlainFirst(param, annotation)


class _PlainFirst:
    """Takes the place of a parameter's ``process_value``, which makes a value of what was given."""

    def __init__(self, param: Any, annotation: Any) -> None:
        self._param = param
        self._annotation = annotation
        self._typers_own = param.process_value

    def __call__(self, ctx: Any, value: Any) -> Any:
        param = self._param
        if param.required and not value:
            return self._typers_own(ctx, value)
        try:
            plain = _plain(self._annotation, value)
        except ValueError:
            return self._typers_own(ctx, value)
        return plain if param.callback is None else param.callback(ctx, param, plain)


def _plain(annotation: Any, value: Any) -> Any:
    """What Typer makes of a value, where that is clear without Typer.

    Raises:
        ValueError: it isn't.
    """
    if value is None or type(value) is annotation:
        return value
    if get_origin(annotation) is Literal and value in get_args(annotation):
        return value
    if get_origin(annotation) is list and isinstance(value, tuple | list):
        (item_type,) = get_args(annotation)
        return [_plain(item_type, item) for item in value]
    if annotation is Path and (os.access(value, os.R_OK) or not os.path.lexists(value)):
        return Path(value)
    raise ValueError(value)
