"""What the engines call a format: the table is whole, its names resolve, and none means two things."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from unspool.parsers import (
    LegacyNameWarning,
    ReasoningParserManager,
    Registry,
    ResponseParserManager,
    ToolParserManager,
    build_response_parser,
)
from unspool.parsers import engine_names as table

NAMES = Path(__file__).parent.parent.parent / "shared" / "atlas" / "names.json"
MANAGERS: dict[str, Registry[Any]] = {
    "reasoning": ReasoningParserManager,
    "tool": ToolParserManager,
    "response": ResponseParserManager,
}
ALL = [each for engine in table.ENGINES for each in table.registered(engine)]


def label(name: table.EngineName) -> str:
    return f"{name.engine}-{name.kind}-{name.name}"


@pytest.mark.skipif(not NAMES.exists(), reason="no list of the engines' names beside the repository")
@pytest.mark.parametrize("engine", table.ENGINES)
@pytest.mark.parametrize("kind", ["tool", "reasoning"])
def test_every_name_that_an_engine_registers_is_known(kind: str, engine: str) -> None:
    wanted = json.loads(NAMES.read_text(encoding="utf-8"))[kind][engine]
    assert {each.name for each in table.registered(engine, kind) if not each.note} == set(wanted)


@pytest.mark.skipif(not NAMES.exists(), reason="no list of the engines' names beside the repository")
def test_names_of_one_format_mean_one_parser() -> None:
    """Where two engines speak one format in the list, our table has one parser for both, or none for both."""
    formats = json.loads(NAMES.read_text(encoding="utf-8"))["tool"]
    parsers: dict[str, set[str]] = {}
    for engine, names in formats.items():
        for name, label in names.items():
            (found,) = table.lookup(engine, name, "tool")
            parsers.setdefault(label, set()).add(found.parser)
    assert {label: each for label, each in parsers.items() if len(each) > 1} == {}


@pytest.mark.parametrize("name", ALL, ids=label)
def test_resolves_whatever_the_case_and_the_dashes(name: table.EngineName) -> None:
    manager = MANAGERS[name.parser_kind]
    target = manager.find(name.parser) if name.parser else None
    for spelled in (name.name, name.name.upper(), name.name.replace("-", "_"), name.name.replace("_", "-")):
        assert manager.find(spelled) is target
    if target is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LegacyNameWarning)
            assert manager.get(name.name) is target.cls


@pytest.mark.parametrize("kind", ["tool", "reasoning"])
def test_a_spelling_means_one_parser(kind: str) -> None:
    meanings: dict[str, set[str]] = {}
    for each in ALL:
        if each.kind == kind:
            meanings.setdefault(each.name.lower().replace("_", "-"), set()).add(each.parser)
    assert {name: parsers for name, parsers in meanings.items() if len(parsers) > 1} == {}


@pytest.mark.parametrize("kind", ["tool", "reasoning"])
def test_every_reasoning_and_tool_parser_has_an_engine(kind: str) -> None:
    ours = {entry.name for entry in MANAGERS[kind].entries() if table.spellings(kind, entry.name)}
    assert {entry.name for entry in MANAGERS[kind].entries()} - ours <= {"json_array"}, "not in the table"


def test_all_reasoning_targets_are_registered() -> None:
    missing = {each.parser for each in ALL if each.parser_kind == "reasoning" and each.parser} - {
        entry.name for entry in ReasoningParserManager.entries()
    }
    assert not missing


def test_spellings() -> None:
    assert table.spellings("tool", "qwen3") == {
        "lmdeploy": ["qwen", "qwen2d5", "qwen3"],
        "vllm": ["hermes", "granite4", "qwen3_json"],
        "sglang": ["qwen", "qwen25", "hermes", "trinity"],
    }
    assert table.spellings("response", "gpt-oss") == {
        "vllm": ["openai", "openai_gptoss"],
        "sglang": ["gpt-oss"],
    }
    assert table.spellings("tool", "json_array") == {}


@pytest.mark.parametrize(
    ("engine", "kind", "name", "near"),
    [
        ("vllm", "tool", "qwen3-coder", ["qwen3_coder"]),
        ("vllm", "tool", "Qwen3Coder", ["qwen3_coder"]),
        ("sglang", "tool", "minimax_m2", ["minimax-m2"]),
        ("sglang", "reasoning", "deepseek_r1", ["deepseek-r1"]),
        ("lmdeploy", "tool", "qwen3_coder", ["qwen3coder"]),
        ("vllm", None, "zzzzzz", []),
    ],
)
def test_near(engine: str, kind: str | None, name: str, near: list[str]) -> None:
    assert table.lookup(engine, name, kind) == []
    assert table.near(engine, name, kind) == near


def test_a_slip_of_the_keyboard_lists_near_names() -> None:
    assert "hermes" in table.near("vllm", "herms")
    assert "hermes" in ToolParserManager.near("herms")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("deepseek_v41", "vLLM means DeepSeek V4.1 DSML by it, which unspool can't parse yet"),
        ("dots", "vLLM and SGLang mean Dots function call by it, which unspool can't parse yet"),
        ("openai", "vLLM means Harmony of gpt-oss by it: here the response parser 'gpt-oss'"),
    ],
)
def test_a_name_that_only_engines_have_is_told_apart(name: str, why: str) -> None:
    empty: Registry[object] = Registry("tool parser")
    assert empty.elsewhere(name) == why
    with pytest.raises(LookupError, match=re.escape(f"unknown tool parser {name!r}; {why}")):
        empty.get(name)
    assert empty.elsewhere("zzzzzz") == ""


def test_engine_names_build_a_parser() -> None:
    parser = build_response_parser(reasoning_parser="dots", tool_parser="hermes")
    text = 'Hm.</think><tool_call>{"name": "a", "arguments": {}}</tool_call>'
    content, calls, reasoning = parser.parse_complete(text)
    assert (content, [call.name for call in calls], reasoning) == (None, ["a"], "Hm.")


def test_a_usual_start_does_not_load_the_table() -> None:
    code = """if True:
        import sys
        from unspool.parsers import build_response_parser
        build_response_parser(reasoning_parser="minimax-m2", tool_parser="QWEN")
        print([name for name in sys.modules if "engine_names" in name])
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("options", [("-r", "default", "-t", "qwen3"), ("--engine", "vllm", "-t", "hermes")])
def test_validating_names_stays_light(options: tuple[str, ...]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "unspool.cli", "parsers", "validate", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = set(re.findall(r"\|\s*([\w.]+)$", ran.stderr, re.MULTILINE))
    assert "unspool.parsers" in loaded
    heavy = {"tokenizers", "transformers", "numpy", "orjson", "torch"}
    assert not loaded & heavy
