"""Third-party parsers for a command: files named by ``--plugin`` and installed packages.

Packages are asked only where our own names don't suffice: looking through them costs more than most commands do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import warn
from .exits import fail
from .parser_facts import flaw

if TYPE_CHECKING:
    from unspool.parsers import Registry, RegistryEntry


def load_files(files: Iterable[Path] | None) -> None:
    """Load ``--plugin`` files; the first broken one ends the command."""
    from unspool.parsers import PluginError, load_plugin

    for file in files or ():
        try:
            load_plugin(file)
        except PluginError as problem:
            fail(f"plug-in {problem}")


def load_packages() -> None:
    """Load the parsers of installed packages; a broken one is reported and the others still count."""
    from unspool.parsers import load_entry_points

    for problem in load_entry_points():
        warn(f"{problem}; left out")


def load_packages_for(names: Iterable[tuple[Registry[Any], str | None]]) -> None:
    """Load the parsers of installed packages if a name is not known yet.

    Args:
        names: managers, each with a name that it should resolve, or ``None``.
    """
    if any(name is not None and name not in manager for manager, name in names):
        load_packages()


def sound(entries: Iterable[tuple[str, RegistryEntry[Any]]]) -> Iterator[tuple[str, RegistryEntry[Any]]]:
    """Leave out what a plug-in registered that is no parser, with a warning: the others still count."""
    for kind, entry in entries:
        problem = flaw(kind, entry)
        if problem:
            warn(f"{kind} parser {entry.name!r} is broken and left out: {problem}")
        else:
            yield kind, entry
