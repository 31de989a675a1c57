"""Names of parsers: registering, resolving, suggesting, and third-party parsers.

Owns the three managers (R6). A name is matched whatever its case and whether it is spelled with ``-`` or ``_``. What
LMDeploy, vLLM and SGLang call a parser is a name of it too; those names are looked up last, in :mod:`.engine_names`.
Third parties register with the same decorator, from an installed package (entry points) or from a file.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

ENTRY_POINT_GROUPS = ("unspool.reasoning_parsers", "unspool.tool_parsers", "unspool.response_parsers")


class PluginError(ValueError):
    """A third-party parser could not be loaded; the message says which, where and why."""


class LegacyNameWarning(UserWarning):
    """A name is kept for old configurations and means another parser now."""


@dataclass(frozen=True, slots=True)
class RegistryEntry(Generic[T]):
    """One registered parser.

    Attributes:
        name: the canonical name.
        aliases: further names that mean the same.
        legacy: old names that mean it too, with a warning.
        cls: the class.
    """

    name: str
    aliases: tuple[str, ...]
    legacy: tuple[str, ...]
    cls: type[T]


class Registry(Generic[T]):
    """Parsers of one kind by name.

    Args:
        kind: what these are, for messages: ``"tool parser"``.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.short_kind = kind.removesuffix(" parser")
        self._entries: dict[str, RegistryEntry[T]] = {}
        self._names: dict[str, RegistryEntry[T]] = {}  # normalised name -> entry
        self._warned: set[str] = set()

    def register_module(self, name: str, *aliases: str, legacy: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
        """Class decorator that registers a parser.

        Args:
            name: canonical name.
            aliases: further names.
            legacy: names that resolve with a :class:`LegacyNameWarning`.

        Raises:
            ValueError: a name is taken by another class.
        """

        def register(cls: type[T]) -> type[T]:
            entry = RegistryEntry(name, aliases, legacy, cls)
            for each in (name, *aliases, *legacy):
                taken = self._names.get(_normalise(each))
                if taken is not None and taken.cls is not cls:
                    raise ValueError(f"{self.kind} name {each!r} is taken by {taken.cls.__qualname__}")
            self._entries[name] = entry
            for each in (name, *aliases, *legacy):
                self._names[_normalise(each)] = entry
            return cls

        return register

    def find(self, name: str) -> RegistryEntry[T] | None:
        """The entry of a name or of an engine's name for it, or ``None``."""
        entry = self._names.get(_normalise(name))
        if entry is None:
            from .engine_names import parser_for  # only a name that no parser has needs the table

            entry = self._names.get(_normalise(parser_for(self.short_kind, name)))
        return entry

    def get(self, name: str) -> type[T]:
        """Resolve a name.

        Raises:
            LookupError: nothing has that name; the message lists near matches.
        """
        entry = self.find(name)
        if entry is None:
            near = self.near(name)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(self._entries)}"
            hint = self.elsewhere(name) or hint
            raise LookupError(f"unknown {self.kind} {name!r}; {hint}")
        if entry.legacy:
            key = _normalise(name)
            if key not in self._warned and key in map(_normalise, entry.legacy):
                self._warned.add(key)
                message = f"{self.kind} {name!r} is a legacy name of {entry.name!r}"
                warnings.warn(message, LegacyNameWarning, stacklevel=2)
        return entry.cls

    def elsewhere(self, name: str) -> str:
        """Why a name that an engine registers means nothing here, or ``""`` where none registers it."""
        from .engine_names import ENGINES, meanings

        found = meanings(self.short_kind, name)
        if not found:
            return ""
        engines = list(dict.fromkeys(ENGINES[each.engine] for each in found))
        first = found[0]
        meaning = f"{' and '.join(engines)} mean{'s' * (len(engines) == 1)} {first.format} by it"
        if first.parser and first.parser_kind != self.short_kind:
            return f"{meaning}: here the {first.parser_kind} parser {first.parser!r}"
        return f"{meaning}, which unspool can't parse yet"

    def near(self, name: str) -> list[str]:
        """Up to three registered names that look like ``name``, best first."""
        from difflib import get_close_matches  # only a wrong name needs it, and every start would pay

        from .engine_names import spellings

        spelled = {_normalise(each): each for entry in self for each in (*entry.legacy, *entry.aliases, entry.name)}
        for entry in self:
            for names in spellings(self.short_kind, entry.name).values():
                for each in names:
                    spelled.setdefault(_normalise(each), each)
        return [spelled[match] for match in get_close_matches(_normalise(name), spelled, n=3, cutoff=0.6)]

    def entries(self) -> list[RegistryEntry[T]]:
        """All entries, sorted by name."""
        return sorted(self._entries.values(), key=lambda entry: entry.name)

    def __iter__(self) -> Iterator[RegistryEntry[T]]:
        return iter(self.entries())

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None


def _normalise(name: str) -> str:
    return name.lower().replace("_", "-")


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers parsers with the managers' decorators.

    Raises:
        PluginError: the file can't be read or raises; the message names file and line.
    """
    import importlib.util

    file = Path(path)
    if not file.is_file():
        raise PluginError(f"{file}: no such file")
    name = f"unspool_plugin_{file.stem}_{abs(hash(str(file.resolve())))}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: not a Python file (it must end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plug-in may also call exit()
        del sys.modules[name]
        raise PluginError(f"{file}:{_line_in(error, file)}: {_spoken(error)}") from error


def load_entry_points() -> list[PluginError]:
    """Import the parsers that installed packages offer.

    Returns:
        One error for each that is broken: the others still count.
    """
    from importlib.metadata import entry_points  # dear, and only third-party names need it

    errors = []
    for group in ENTRY_POINT_GROUPS:
        for point in entry_points(group=group):
            try:
                point.load()
            except Exception as error:
                errors.append(
                    PluginError(
                        f"entry point {point.name!r} = {point.value!r} in {group}: {type(error).__name__}: {error}"
                    )
                )
    return errors


def _spoken(error: BaseException) -> str:
    """An error's type and message, whatever the error's own ``__str__`` does."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _line_in(error: BaseException, file: Path) -> int:
    """The line of ``file`` that an error came through, or the one that doesn't parse."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return error.lineno
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file]
    return (frames[-1].lineno or 1) if frames else 1
