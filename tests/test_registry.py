"""Every registered parser is documented and has fixtures; names resolve; third parties can register."""

from __future__ import annotations

import textwrap
import warnings
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from oracle import CASE_FILES, load_cases

from unspool.parsers import (
    LegacyNameWarning,
    PluginError,
    ReasoningParserManager,
    ResponseParserManager,
    ToolParserManager,
    load_entry_points,
    load_plugin,
)
from unspool.parsers.registry import Registry, RegistryEntry

MANAGERS: dict[str, Registry[Any]] = {
    "reasoning": ReasoningParserManager,
    "tool": ToolParserManager,
    "response": ResponseParserManager,
}
ENTRIES = [
    pytest.param(kind, entry, id=f"{kind}-{entry.name}")
    for kind, manager in MANAGERS.items()
    for entry in manager.entries()
]


def test_there_are_parsers() -> None:
    assert {"default", "deepseek-v3", "deepseek-v32", "deepseek-v4"} <= names("reasoning")
    assert {"qwen", "qwen2d5", "qwen3", "internlm", "intern-s1", "llama3"} <= names("tool")
    assert "default" in names("response")


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_has_fixtures(kind: str, entry: RegistryEntry[Any]) -> None:
    cases = [case for path in CASE_FILES for case in load_cases(path)]
    used = {getattr(case, f"{kind}_parser") for case in cases}
    assert used & {entry.name, *entry.aliases}, f"no file in fixtures/cases uses the {kind} parser {entry.name!r}"


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_is_described(kind: str, entry: RegistryEntry[Any]) -> None:
    assert entry.cls.description.strip()
    assert "\n" not in entry.cls.description
    if kind == "reasoning":
        assert entry.cls.get_reasoning_open_tag()
        assert entry.cls.get_reasoning_close_tag()
        assert entry.cls.initial_mode_rule
    if kind == "tool":
        tags = entry.cls.tags()
        assert entry.cls.get_tool_open_tag() in tags
        assert entry.cls.get_tool_close_tag() in (*tags, None)
        assert all(tags)


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_resolves(kind: str, entry: RegistryEntry[Any]) -> None:
    for name in (entry.name, *entry.aliases):
        assert MANAGERS[kind].get(name) is entry.cls
        assert MANAGERS[kind].get(name.upper()) is entry.cls
        assert MANAGERS[kind].get(name.replace("-", "_")) is entry.cls
        assert name in MANAGERS[kind]


@pytest.mark.parametrize("manager", MANAGERS.values(), ids=MANAGERS)
def test_names_are_unique(manager: Registry[Any]) -> None:
    spelled = [name for entry in manager.entries() for name in (entry.name, *entry.aliases, *entry.legacy)]
    assert len(set(spelled)) == len(spelled)


@pytest.mark.parametrize("name", ["qwen-qwq", "intern-s1", "deepseek-r1"])
def test_legacy_names_mean_default(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LegacyNameWarning)
        assert ReasoningParserManager.get(name) is ReasoningParserManager.get("default")


@pytest.mark.parametrize(
    ("manager", "wrong", "near"),
    [
        (ToolParserManager, "qwn3", "qwen3"),
        (ToolParserManager, "lama3", "llama3"),
        (ReasoningParserManager, "defualt", "default"),
        (ReasoningParserManager, "deepseek-v31", "deepseek-v3"),
        (ResponseParserManager, "defautl", "default"),
    ],
)
def test_unknown_names_list_near_matches(manager: Registry[Any], wrong: str, near: str) -> None:
    assert near in manager.near(wrong)
    with pytest.raises(LookupError, match=rf"unknown {manager.kind} '{wrong}'.*'{near}'"):
        manager.get(wrong)


def test_a_name_without_near_match_lists_what_is_known() -> None:
    assert ToolParserManager.near("zzzzzz") == []
    with pytest.raises(LookupError, match="qwen3"):
        ToolParserManager.get("zzzzzz")


def test_a_taken_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'qwen3' is taken by"):
        ToolParserManager.register_module("another", "qwen3")(ToolParserManager.get("llama3"))
    assert "another" not in ToolParserManager


PLUGIN = """
    from unspool.parsers import ToolParserManager
    from unspool.parsers.tool_parser import JsonToolParser


    @ToolParserManager.register_module("{name}", "{name}-alias")
    class Plugin(JsonToolParser):
        description = "a test's own format"
        argument_field = "input"

        @classmethod
        def get_tool_open_tag(cls):
            return "[[call]]"

        @classmethod
        def get_tool_close_tag(cls):
            return "[[/call]]"
"""


def test_plugin_file_registers_a_parser(tmp_path: Path, registered: set[str]) -> None:
    from unspool.parsers import ChatRequest, build_response_parser

    file = write(tmp_path / "mine.py", PLUGIN.format(name="test-plugin"))
    load_plugin(file)
    load_plugin(file)  # twice is no mistake
    assert names("tool") - registered == {"test-plugin", "test-plugin-alias"}
    parser = build_response_parser(ChatRequest(), tool_parser="test-plugin-alias")
    content, calls, reasoning = parser.parse_complete('A[[call]]{"name": "f", "input": {"x": 1}}[[/call]]B')
    assert (content, reasoning) == ("AB", None)
    assert [(call.name, call.arguments) for call in calls] == [("f", '{"x": 1}')]


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("\n\nraise RuntimeError('boom')\n", 3, "boom"),
        ("x = 1\ndef f(:\n", 2, "SyntaxError"),
        ("\nimport no_such_module_anywhere\n", 2, "no_such_module_anywhere"),
        ("def f():\n    return {}['k']\n\nf()\n", 2, "KeyError"),
    ],
)
def test_broken_plugin_names_file_and_line(tmp_path: Path, source: str, line: int, what: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(source, encoding="utf-8")
    with pytest.raises(PluginError) as caught:
        load_plugin(file)
    assert f"{file}:{line}: " in str(caught.value)
    assert what in str(caught.value)


def test_plugin_that_takes_our_name_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "taken.py", PLUGIN.format(name="qwen3"))
    with pytest.raises(PluginError, match=r"taken\.py:\d+: .*qwen3"):
        load_plugin(file)


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_missing_plugin_is_a_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(PluginError, match="no such file"):
        load_plugin(tmp_path / name)


def test_entry_points_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: set[str]) -> None:
    write(tmp_path / "unspool_test_package.py", PLUGIN.format(name="test-entry-point"))
    monkeypatch.syspath_prepend(tmp_path)
    offer(monkeypatch, EntryPoint("mine", "unspool_test_package:Plugin", "unspool.tool_parsers"))
    load_entry_points()
    assert names("tool") - registered == {"test-entry-point", "test-entry-point-alias"}


def test_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, EntryPoint("theirs", "no_such_package_anywhere:Parser", "unspool.reasoning_parsers"))
    try:
        errors = load_entry_points() or []
    except PluginError as error:
        errors = [error]
    assert [type(error) for error in errors] == [PluginError]
    assert "theirs" in str(errors[0])
    assert "no_such_package_anywhere" in str(errors[0])


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of tool parsers before the test, which are also those after it."""
    before = names("tool")
    for attribute in ("_entries", "_names"):
        monkeypatch.setattr(ToolParserManager, attribute, dict(getattr(ToolParserManager, attribute)))
    return before


def names(kind: str) -> set[str]:
    """Canonical names and aliases of one kind."""
    return {name for entry in MANAGERS[kind].entries() for name in (entry.name, *entry.aliases)}


def write(file: Path, source: str) -> Path:
    """Write a module."""
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    return file


def offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    """Make these the entry points of the installed packages."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints(points).select(group=group))
