"""``unspool parsers``: list, show and validate."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from unspool.cli import app
from unspool.cli.render.visible import escape_line
from unspool.parsers import (
    ReasoningParserManager,
    Registry,
    ResponseParserManager,
    ToolParserManager,
    build_response_parser,
)

MANAGERS: dict[str, Registry[Any]] = {
    "reasoning": ReasoningParserManager,
    "tool": ToolParserManager,
    "response": ResponseParserManager,
}


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["parsers", *map(str, args)])


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level tokenizer that has `<tool_call>` as one token and spells all else in bytes."""
    tokenizers = pytest.importorskip("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.models.BPE({character: index for index, character in enumerate(alphabet)}, [])
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_tokens(["<tool_call>"])
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def poor_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that can't write a tag."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    folder = tmp_path_factory.mktemp("poor")
    made.save(str(folder / "tokenizer.json"))
    return folder


class TestList:
    def test_json_has_every_registered_parser(self) -> None:
        found = json.loads(run("list", "--json").stdout)
        expected = [(kind, entry.name) for kind, manager in MANAGERS.items() for entry in manager.entries()]
        assert [(each["kind"], each["name"]) for each in found] == expected
        for each in found:
            assert set(each) == {"kind", "name", "aliases", "legacy_names", "engines", "tags", "description"}
            assert each["description"]

    def test_says_which_engine_uses_which_spelling(self) -> None:
        found = {(each["kind"], each["name"]): each["engines"] for each in json.loads(run("list", "--json").stdout)}
        assert found["tool", "qwen3coder"]["vllm"] == ["qwen3_coder", "qwen3_xml", "step3p5", "step5"]
        assert found["tool", "qwen3coder"]["lmdeploy"] == ["qwen3coder", "interns2-preview"]
        assert found["reasoning", "minimax_m2"] == {"vllm": ["minimax_m2"], "sglang": ["minimax"]}
        assert found["response", "gpt-oss"] == {"vllm": ["openai", "openai_gptoss"], "sglang": ["gpt-oss"]}
        assert found["response", "default"] == {}
        assert "vLLM minimax_m2; SGLang minimax\n" in run("list").stdout

    def test_page_has_names_aliases_tags_and_descriptions(self) -> None:
        result = run("list")
        assert result.exit_code == 0
        for kind, manager in MANAGERS.items():
            assert f"{kind.capitalize()} parsers\n" in result.stdout
            for entry in manager.entries():
                for text in (
                    entry.name,
                    *entry.aliases,
                    *entry.legacy,
                    *map(escape_line, entry.cls.tags()),
                    entry.cls.description,
                ):
                    assert text in result.stdout


class TestShow:
    def show(self, *args: str | Path) -> list[dict[str, Any]]:
        result = run("show", *args, "--json")
        assert result.exit_code == 0, result.stderr
        found: list[dict[str, Any]] = json.loads(result.stdout)
        return found

    def test_tool_parser(self) -> None:
        (facts,) = self.show("qwen2d5")
        assert (facts["kind"], facts["name"]) == ("tool", "qwen3")
        assert (facts["open_tag"], facts["close_tag"]) == ("<tool_call>", "</tool_call>")
        assert facts["argument_field"] == "arguments"
        assert facts["hold_back"]["<tool_call>"][0] == "<tool_call"
        assert facts["hold_back"]["<tool_call>"][-1] == "<"
        assert "tokens" not in facts

    def test_reasoning_parser(self) -> None:
        (facts,) = (each for each in self.show("deepseek-v3") if each["kind"] == "reasoning")
        assert (facts["open_tag"], facts["close_tag"]) == ("<think>", "</think>")
        assert "enable_thinking" in facts["initial_mode"]

    def test_example_is_what_a_model_writes(self) -> None:
        for kind, manager in MANAGERS.items():
            for entry in manager.entries():
                (facts,) = (each for each in self.show(entry.name) if each["kind"] == kind)
                if kind == "tool" or entry.name == "gpt-oss":
                    wanted: dict[str, Any] = {f"{kind}_parser": entry.cls}
                    parser = build_response_parser(**wanted)
                    (call,) = parser.parse_complete(facts["example"]).tool_calls
                    assert (call.name, json.loads(call.arguments)["city"]) == ("get_weather", "Bergen")
                    assert parser.diagnostics == []
        assert [each["example"] for each in self.show("default")] == ["It may rain.</think>Take a coat.", None]
        written = '{"name": "get_weather", "arguments": {"city": "Bergen", "days": 4}}'
        assert f"\n    <tool_call>\u23ce\n    {written}\u23ce\n    </tool_call>\n" in run("show", "qwen2d5").stdout

    def test_name_of_several_kinds(self) -> None:
        assert [(each["kind"], each["name"]) for each in self.show("intern-s1")] == [
            ("reasoning", "default"),
            ("tool", "internlm"),
        ]

    def test_name_at_an_engine(self) -> None:
        assert [(each["kind"], each["name"]) for each in self.show("openai_gptoss")] == [("response", "gpt-oss")]
        assert "at SGLang       qwen3, dots, nanbeige\n" in run("show", "dots").stdout

    def test_tokenizer_decides_what_is_held_back(self, tokenizer: Path) -> None:
        (facts,) = self.show("qwen", "--tokenizer", tokenizer)
        assert facts["hold_back"]["<tool_call>"] == []
        assert facts["tokens"]["<tool_call>"]["single_token"] is True
        assert len(facts["hold_back"]["</tool_call>"]) == len("</tool_call>") - 1
        assert facts["tokens"]["</tool_call>"]["single_token"] is False
        assert facts["tokens"]["</tool_call>"]["pieces"][:2] == ["<", "/"]

    @pytest.mark.parametrize("name", ["qwen", "llama3", "intern-s1", "default", "deepseek-v3.2"])
    def test_page(self, tokenizer: Path, name: str) -> None:
        for options in ((), ("--tokenizer", tokenizer)):
            result = run("show", name, *options)
            assert result.exit_code == 0
            for _, manager in MANAGERS.items():
                entry = manager.find(name)
                for text in (entry.name, *map(escape_line, entry.cls.tags()), entry.cls.description) if entry else ():
                    assert text in result.stdout

    def test_unknown_name(self) -> None:
        result = run("show", "qwn3")
        assert result.exit_code == 2
        assert "did you mean" in result.stderr
        assert "'qwen3'" in result.stderr


class TestValidate:
    def test_all_registered(self) -> None:
        result = run("validate", "-r", "default", "-t", "qwen", "--response-parser", "default", "llama3")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [
            "ok       default: reasoning parser default",
            "ok       qwen: tool parser qwen3",
            "ok       default: response parser default",
            "ok       llama3: tool parser llama3",
        ]

    @pytest.mark.parametrize(
        ("args", "near"),
        [(("-t", "qwn3"), "qwen3"), (("-r", "deepseekv3"), "deepseek-v3"), (("intrnlm",), "internlm")],
    )
    def test_unknown_name_shows_near_ones(self, args: tuple[str, ...], near: str) -> None:
        result = run("validate", *args, "default")
        assert result.exit_code == 1
        assert "did you mean" in result.stdout
        assert near in result.stdout
        assert "ok       default" in result.stdout

    def test_kind_matters(self) -> None:
        assert run("validate", "-r", "llama3").exit_code == 1
        assert run("validate", "-t", "default").exit_code == 1

    def test_json(self) -> None:
        result = run("validate", "-t", "qwn3", "llama3", "--json")
        assert result.exit_code == 1
        report = json.loads(result.stdout)
        assert report["ok"] is False
        assert [check["registered"] for check in report["checks"]] == [False, True]
        assert "qwen3" in report["checks"][0]["near"]
        assert report["checks"][1]["parsers"] == [{"kind": "tool", "name": "llama3"}]

    def test_names_of_engines_are_names(self) -> None:
        result = run("validate", "-t", "hermes", "-r", "Nemotron-3", "openai")
        assert (result.exit_code, result.stdout.splitlines()) == (
            0,
            [
                "ok       Nemotron-3: reasoning parser nemotron_v3",
                "ok       hermes: tool parser qwen3",
                "ok       openai: response parser gpt-oss",
            ],
        )

    def test_name_of_another_kind_at_an_engine(self) -> None:
        result = run("validate", "-t", "gpt-oss")
        assert result.exit_code == 1
        assert result.stdout.rstrip().endswith(
            "SGLang means Harmony of gpt-oss by it: here the response parser 'gpt-oss'"
        )

    def test_nothing_to_check(self) -> None:
        assert run("validate").exit_code == 2

    def test_tag_of_several_tokens_is_a_warning(self, tokenizer: Path) -> None:
        result = run("validate", "qwen", "--tokenizer", tokenizer)
        assert result.exit_code == 0
        assert "</tool_call>" in result.stderr
        assert result.stderr.startswith("unspool: warning: ")

    def test_tag_that_can_not_be_written_fails(self, poor_tokenizer: Path) -> None:
        result = run("validate", "qwen", "--tokenizer", poor_tokenizer)
        assert result.exit_code == 1
        assert "<tool_call>" in result.stdout
        report = json.loads(run("validate", "qwen", "--tokenizer", poor_tokenizer, "--json").stdout)
        assert report["ok"] is False
        assert report["checks"][0]["tokens"]["<tool_call>"]["round_trip"] is False

    def test_tokenizer_that_is_none(self, tmp_path: Path) -> None:
        assert run("validate", "qwen", "--tokenizer", tmp_path).exit_code == 2


class TestValidateForAnEngine:
    def test_registered(self) -> None:
        result = run("validate", "--engine", "vllm", "-t", "qwen3_coder", "-r", "nemotron_v3", "openai")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [
            "ok       nemotron_v3: vLLM reasoning parser for think tags of Nemotron 3, unless switched off"
            " (here reasoning parser nemotron_v3)",
            "ok       qwen3_coder: vLLM tool parser for Qwen3-Coder XML (here tool parser qwen3coder)",
            "ok       openai: vLLM tool parser for Harmony of gpt-oss (here response parser gpt-oss)",
        ]

    def test_name_of_both_kinds(self) -> None:
        line = run("validate", "--engine", "sglang", "kimi_k2").stdout
        assert "(here tool parser kimi_k2); SGLang reasoning parser for" in line

    def test_spelling_is_exact(self) -> None:
        result = run("validate", "--engine", "sglang", "-t", "minimax_m2", "-r", "Deepseek-R1")
        assert result.exit_code == 1
        assert result.stdout.splitlines() == [
            "unknown  Deepseek-R1: no reasoning parser at SGLang; did you mean 'deepseek-r1'?",
            "unknown  minimax_m2: no tool parser at SGLang; did you mean 'minimax-m2'?",
        ]

    @pytest.mark.parametrize(
        ("engine", "options", "code"),
        [
            ("lmdeploy", ("-t", "interns2-preview"), 0),
            ("vllm", ("-t", "interns2-preview"), 1),
            ("lmdeploy", ("-r", "qwen3"), 1),
            ("vllm", ("-r", "qwen3"), 0),
            ("vllm", ("-t", "qwen3"), 1),
            ("sglang", ("-t", "auto", "-r", "auto"), 0),
            ("sglang", ("hermes", "nope"), 1),
        ],
    )
    def test_exit_code(self, engine: str, options: tuple[str, ...], code: int) -> None:
        assert run("validate", "--engine", engine, *options).exit_code == code

    def test_format_that_we_lack(self) -> None:
        result = run("validate", "--engine", "vllm", "-t", "functiongemma")
        assert result.exit_code == 0
        assert "not here yet" in result.stdout

    def test_deprecated_name(self) -> None:
        result = run("validate", "--engine", "lmdeploy", "-r", "qwen-qwq")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "here reasoning parser default, accepted with a warning" in result.stdout

    def test_json(self) -> None:
        result = run("validate", "--engine", "sglang", "-t", "trinity", "-t", "qwen_25", "-t", "spark25", "--json")
        assert result.exit_code == 1
        assert json.loads(result.stdout) == {
            "ok": False,
            "engine": "sglang",
            "checks": [
                {
                    "name": "trinity",
                    "registered": True,
                    "parsers": [{"kind": "tool", "name": "qwen3"}],
                    "near": [],
                    "engine_parsers": [
                        {
                            "kind": "tool",
                            "format": "Qwen and Hermes JSON in <tool_call>",
                            "note": "",
                            "parser": {"kind": "tool", "name": "qwen3"},
                        }
                    ],
                },
                {"name": "qwen_25", "registered": False, "parsers": [], "near": ["qwen25"], "engine_parsers": []},
                {
                    "name": "spark25",
                    "registered": True,
                    "parsers": [],
                    "near": [],
                    "engine_parsers": [{"kind": "tool", "format": "Spark 2.5 XML", "note": "", "parser": None}],
                },
            ],
        }

    def test_tags_are_checked_too(self, tokenizer: Path) -> None:
        result = run("validate", "--engine", "vllm", "-t", "hermes", "--tokenizer", tokenizer)
        assert result.exit_code == 0
        assert "</tool_call>" in result.stderr

    @pytest.mark.parametrize(
        "options", [("--engine", "nobody", "qwen3"), ("--engine", "vllm", "--response-parser", "default")]
    )
    def test_wrong_options(self, options: tuple[str, ...]) -> None:
        assert run("validate", *options).exit_code == 2


@pytest.fixture(scope="module")
def broken_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file most of whose parsers are none."""
    file = tmp_path_factory.mktemp("plugin") / "broken.py"
    file.write_text(
        textwrap.dedent(
            """
            from unspool.parsers import JsonToolParser, ReasoningParser, ReasoningParserManager, ToolParserManager

            class Tagged(JsonToolParser):
                @classmethod
                def get_tool_open_tag(cls):
                    return "<x>"

            @ToolParserManager.register_module("x-number")
            class Number(JsonToolParser):
                @classmethod
                def get_tool_open_tag(cls):
                    return 5

            @ToolParserManager.register_module("x-raises")
            class Raises(JsonToolParser):
                @classmethod
                def get_tool_open_tag(cls):
                    raise RuntimeError("\\x1b[31mno")

            @ToolParserManager.register_module("x-described")
            class Described(Tagged):
                description = 3

            @ToolParserManager.register_module("x-foreign")
            class Foreign:
                pass

            @ReasoningParserManager.register_module("x-abstract")
            class Abstract(ReasoningParser):
                pass

            @ToolParserManager.register_module("x-sound\\x1b[31m", "x-sound")
            class Sound(Tagged):
                description = "\\x1b[31mred"
            """
        )
    )
    return file


class TestBrokenPlugin:
    """In a process of its own, as registering can't be undone."""

    def run(self, *args: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "unspool.cli", "parsers", *map(str, args)]
        ran = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert "Traceback" not in ran.stderr
        assert "\x1b" not in ran.stdout + ran.stderr
        return ran

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_list_has_the_others(self, broken_plugin: Path, options: tuple[str, ...]) -> None:
        ran = self.run("list", "--plugin", broken_plugin, *options)
        assert ran.returncode == 0
        assert "qwen3coder" in ran.stdout
        assert "x-sound" in ran.stdout
        for name in ("x-number", "x-raises", "x-described", "x-foreign", "x-abstract"):
            assert name not in ran.stdout
            assert f" parser '{name}' is broken and left out: " in ran.stderr
        assert "its tag 5 is no text" in ran.stderr
        assert "its description 3 is no text" in ran.stderr
        assert "RuntimeError: \\x1b[31mno" in ran.stderr

    def test_show(self, broken_plugin: Path) -> None:
        ran = self.run("show", "x-number", "--plugin", broken_plugin)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "its tag 5 is no text" in ran.stderr
        assert "\\x1b[31mred" in self.run("show", "x-sound", "--plugin", broken_plugin).stdout

    def test_validate(self, broken_plugin: Path, tokenizer: Path) -> None:
        ran = self.run("validate", "x-number", "x-sound", "--plugin", broken_plugin, "--tokenizer", tokenizer)
        assert ran.returncode == 1
        assert ran.stdout.splitlines() == [
            "unfit    x-number: tool parser x-number; it is broken: its tag 5 is no text",
            "ok       x-sound: tool parser x-sound\\x1b[31m",
        ]
        report = json.loads(self.run("validate", "x-number", "x-sound", "--json", "--plugin", broken_plugin).stdout)
        assert report["ok"] is False
        assert [check.get("flaws") for check in report["checks"]] == [["its tag 5 is no text"], None]

    def test_bench_measures_the_others(self, broken_plugin: Path) -> None:
        script = (
            "import pathlib, sys; from unspool.cli import plugins; from unspool.cli.commands import bench\n"
            "plugins.load_files([pathlib.Path(sys.argv[1])])\n"
            "print(*(target.label for target in bench._all_targets()), sep='\\n')"
        )
        ran = subprocess.run([sys.executable, "-c", script, broken_plugin], capture_output=True, encoding="utf-8")
        assert "tool parser qwen3" in ran.stdout.splitlines()
        assert "x-number" not in ran.stdout
        assert "tool parser 'x-number' is broken and left out" in ran.stderr
