"""The guide to adding a parser works as it stands: a newcomer copies its blocks, and the made-up dialects parse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)

SAMPLES = {
    "acme_json": '<call>{"name": "f", "arguments": {"a": "x", "n": 3}}</call>',
    "acme_array": '<|calls|>[{"name": "f", "parameters": {"a": "x", "n": 3}}]',
    "acme_section": '<|calls|><|call|>f<|args|>{"a": "x", "n": 3}<|/call|><|/calls|>',
    "acme_functions": "<acme:calls>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=n>\n3\n</parameter>\n"
    "</function>\n</acme:calls>",
    "acme_invoke": '<acme:invokes>\n<invoke name="f">\n<parameter name="a">x</parameter>\n'
    '<parameter name="n">3</parameter>\n</invoke>\n</acme:invokes>',
    "acme_dsml": '<｜DSML｜acme_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">x'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="n" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜acme_calls>",
    "acme_python": "<py>[f(a='x', n=3)]</py>",
    "acme_literal": "<do>f{a:~x~,n:3}</do>",
}

NEWCOMER = """
import json, sys
from unspool.parsers import ChatRequest, MessageBuilder, build_response_parser
tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}}]
request = ChatRequest(tools=tools, chat_template_kwargs={"enable_thinking": True})
for name, text in json.load(sys.stdin).items():
    for size in (1, 3, 1000):
        parser = build_response_parser(request, reasoning_parser="acme_reasoning", tool_parser=name)
        built, text_in = MessageBuilder(), f"Hm.</ponder>A {text} B"
        for start in range(0, len(text_in), size):
            for delta, _ in parser.stream_chunk(text_in[start : start + size]):
                built.add(delta)
        for delta, _ in parser.stream_chunk("", final=True):
            built.add(delta)
        content, calls, reasoning = built.build()
        assert (content, reasoning) == ("A  B", "Hm."), (name, size, content, reasoning)
        assert [(c.name, json.loads(c.arguments)) for c in calls] == [("f", {"a": "x", "n": 3})], (name, size, calls)
        assert not parser.diagnostics, (name, parser.diagnostics)
"""


def test_guide_names_every_sample() -> None:
    assert set(re.findall(r'ToolParserManager\.register_module\("(\w+)"\)', GUIDE)) == set(SAMPLES)


def test_dialects_from_the_guide_alone() -> None:
    code = "\n".join(BLOCKS) + NEWCOMER
    ran = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(SAMPLES), capture_output=True, encoding="utf-8", timeout=120
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("name", SAMPLES)
def test_they_pass_the_check(name: str, tmp_path: Path) -> None:
    plugin, transcript = tmp_path / "acme.py", tmp_path / "answer.txt"
    plugin.write_text("\n".join(BLOCKS), encoding="utf-8")
    transcript.write_text(f"A {SAMPLES[name]} B", encoding="utf-8")
    command = [sys.executable, "-m", "unspool.cli", "check", "-t", name, "--plugin", str(plugin), str(transcript)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
