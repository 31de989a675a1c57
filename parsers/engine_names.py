"""What LMDeploy, vLLM and SGLang call each format, and which of our parsers reads it.

Owns the names that the three engines register for their ``--tool-call-parser`` and ``--reasoning-parser`` flags. It
imports no parser: a parser is named by the string that it is registered under. Imported only when a name is asked for
that no parser has, so a usual start does not pay for it.

One spelling always means one format, whichever engine it comes from; the engines do disagree on how some of them start:

* ``deepseek_v4``, ``deepseek_v41``: vLLM starts in reasoning, LMDeploy and SGLang only if asked. Ours: if asked.
* ``mimo``: vLLM starts in reasoning, SGLang only if asked. Ours: if asked, as the template says.
* ``mistral``: SGLang starts in reasoning where an effort is set, vLLM never. Ours: where an effort is set.
* ``gemma4``: SGLang starts in reasoning where ``enable_thinking`` is on, vLLM never. Ours: never; the model writes the
  open tag.
* ``deepseek_r1``: the engines' parser has no switch; ours is ``default``, which honours the switches, as LMDeploy's.
* ``granite``: the tool format of Granite 3 and the reasoning format of Granite 3.2, told apart by the flag.
* ``hunyuan`` (SGLang) is Hunyuan V3, ``hunyuan_a13b`` (vLLM) another format.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

ENGINES: dict[str, str] = {"lmdeploy": "LMDeploy", "vllm": "vLLM", "sglang": "SGLang"}
"""Engines by the name that a user types, with the name that a reader sees."""


class EngineName(NamedTuple):
    """A name that an engine registers.

    Attributes:
        engine: a key of :data:`ENGINES`.
        kind: what the engine registers it as: ``"tool"`` or ``"reasoning"``.
        name: exactly as the engine spells it.
        format: what the format is, in a few words.
        parser_kind: the kind of our parser for it.
        parser: the name of our parser for it; ``""`` where we have none yet.
        note: what else to know, such as that the name is deprecated.
    """

    engine: str
    kind: str
    name: str
    format: str
    parser_kind: str
    parser: str
    note: str = ""


def registered(engine: str, kind: str | None = None) -> list[EngineName]:
    """What an engine registers, in all or of one kind."""
    return [each for each in _table() if each.engine == engine and kind in (None, each.kind)]


def lookup(engine: str, name: str, kind: str | None = None) -> list[EngineName]:
    """What a name, spelled exactly so, means to an engine; a name can be of both kinds."""
    return [each for each in registered(engine, kind) if each.name == name]


def near(engine: str, name: str, kind: str | None = None) -> list[str]:
    """Up to three names of an engine that look like ``name``; those that differ in dashes or case only come alone."""
    from difflib import get_close_matches

    names = list(dict.fromkeys(each.name for each in registered(engine, kind)))
    bare = {each: _bare(each) for each in names}
    same = [each for each in names if bare[each] == _bare(name)]
    if same:
        return same
    close = get_close_matches(_bare(name), list(bare.values()), n=3, cutoff=0.6)
    return [each for match in dict.fromkeys(close) for each in names if bare[each] == match][:3]


def parser_for(kind: str, name: str) -> str:
    """The name of our parser of a kind that some engine calls ``name``, or ``""``; dashes and case don't matter."""
    return _parsers().get((kind, _dashed(name)), "")


def meanings(kind: str, name: str) -> list[EngineName]:
    """What engines register under ``name`` as a parser of ``kind``; dashes and case don't matter."""
    return [each for each in _table() if each.kind == kind and _dashed(each.name) == _dashed(name)]


def spellings(kind: str, parser: str) -> dict[str, list[str]]:
    """By engine, the names that it registers for our parser; engines that don't have it are left out."""
    found: dict[str, list[str]] = {}
    for each in _table():
        if each.parser_kind == kind and each.parser and _dashed(each.parser) == _dashed(parser) and not each.note:
            names = found.setdefault(each.engine, [])
            if each.name not in names:
                names.append(each.name)
    return found


@lru_cache(maxsize=1)
def _table() -> tuple[EngineName, ...]:
    return tuple(_read())


@lru_cache(maxsize=1)
def _parsers() -> dict[tuple[str, str], str]:
    return {(each.parser_kind, _dashed(each.name)): each.parser for each in _table() if each.parser}


def _read() -> Iterator[EngineName]:
    for kind, rows in (("tool", _TOOL), ("reasoning", _REASONING)):
        for parser, format_, *columns in rows:
            own_kind, _, own_name = parser.rpartition(":")
            for engine, names in zip(ENGINES, columns, strict=True):
                for name in names.split():
                    yield EngineName(engine, kind, name, format_, own_kind or kind, own_name)
    for engine, kind, name, format_, parser, note in _ALSO_ACCEPTED:
        yield EngineName(engine, kind, name, format_, kind, parser, note)


def _dashed(name: str) -> str:
    """As the registry compares names."""
    return name.lower().replace("_", "-")


def _bare(name: str) -> str:
    """Without anything that people get wrong about a spelling."""
    return "".join(filter(str.isalnum, name.lower()))


# Our parser (with its kind where that is another), the format, and its names at LMDeploy, vLLM and SGLang.
_Row = tuple[str, str, str, str, str]

_TOOL: tuple[_Row, ...] = (
    # JSON envelopes
    (
        "qwen3",
        "Qwen and Hermes JSON in <tool_call>",
        "qwen qwen2d5 qwen3",
        "hermes granite4 qwen3_json",
        "qwen qwen25 hermes trinity",
    ),
    ("longcat", "LongCat JSON in <longcat_tool_call>", "", "longcat", ""),
    ("ernie45", "ERNIE 4.5 JSON in <tool_call>", "", "ernie45", ""),
    ("internlm", "InternLM2 and Intern-S1 plugin action", "internlm intern-s1", "internlm", "interns1"),
    ("llama3", "Llama 3 JSON", "llama3", "llama3_json llama4_json", "llama3"),
    ("granite-20b-fc", "Granite 20B <function_call> JSON", "", "granite-20b-fc", ""),
    ("gigachat3", "GigaChat 3 function call", "", "gigachat3", "gigachat3"),
    # JSON arrays
    ("granite", "Granite 3 JSON array", "", "granite", ""),
    ("jamba", "Jamba JSON array in <tool_calls>", "", "jamba", ""),
    ("", "Hunyuan-A13B JSON array in <tool_calls>", "", "hunyuan_a13b", ""),
    ("phi4_mini_json", "Phi-4-mini functools array", "", "phi4_mini_json", ""),
    ("xlam", "xLAM JSON array", "", "xlam", ""),
    ("", "Cohere Command action array", "", "cohere_command3 cohere_command4", "cohere_command4"),
    ("", "Apertus tools array", "", "apertus", "apertus2509"),
    # a name, then a JSON body
    ("mistral", "Mistral [TOOL_CALLS]", "", "mistral", "mistral"),
    ("deepseek_v3", "DeepSeek V3 and R1 fenced calls", "", "deepseek_v3", "deepseekv3"),
    ("deepseek_v31", "DeepSeek V3.1 inline calls", "", "deepseek_v31", "deepseekv31"),
    ("", "PLaMo 3 tool requests", "", "plamo3", ""),
    # XML-like values
    (
        "qwen3coder",
        "Qwen3-Coder XML",
        "qwen3coder interns2-preview",
        "qwen3_coder qwen3_xml step3p5 step5",
        "qwen3_coder step3p5 nanbeige",
    ),
    ("", "MiMo verbatim XML", "", "mimo", "mimo"),
    ("seed_oss", "Seed-OSS XML", "", "seed_oss", ""),
    ("glm45", "GLM-4.5 arg_key and arg_value on lines of their own", "", "glm45", "glm glm45"),
    ("glm47", "GLM-4.7 and GLM-5 arg_key and arg_value", "glm47", "glm47", "glm47"),
    ("", "Ling 3 arg_key and arg_value", "", "ling3", "ling3"),
    ("", "Poolside Laguna arg_key and arg_value", "", "poolside_v1", "poolside_v1"),
    ("", "Spark 2.5 XML", "", "", "spark25"),
    ("", "IQuest Q1 XML", "", "", "iquest_q1"),
    ("", "Hunyuan V3 suffixed XML", "", "hy_v3", "hunyuan"),
    ("", "Hunyuan V4 XML", "", "hy_v4", ""),
    ("", "K2 Horizon IFM", "", "k2_horizon", "k2_horizon"),
    ("minimax_m2", "MiniMax-M2 invoke and parameter", "", "minimax_m2", "minimax-m2"),
    ("", "MiniMax-M3 namespaced elements", "", "minimax_m3", "minimax-m3"),
    ("", "Dots function call", "", "dots", "dots"),
    ("", "MiniCPM5 XML", "", "minicpm5", "minicpm5"),
    ("step3", "Step-3 steptml", "", "step3", "step3"),
    # DSML and its kin
    ("deepseek-v32", "DeepSeek V3.2 DSML", "deepseek-v32", "deepseek_v32", "deepseekv32"),
    ("deepseek-v4", "DeepSeek V4 DSML", "deepseek-v4", "deepseek_v4", "deepseekv4"),
    ("", "DeepSeek V4.1 DSML", "", "deepseek_v41", "deepseekv41"),
    ("", "GigaChat 3.5 GCML", "", "", "gigachat35"),
    ("", "Kimi K3 channels", "", "kimi_k3", "kimi_k3"),
    # sections
    ("kimi_k2", "Kimi K2 tool_calls_section", "kimi_k2 kimi-k2", "kimi_k2", "kimi_k2"),
    # Python literals and calls of their own kind
    ("pythonic", "a list of Python calls", "", "pythonic llama4_pythonic", "pythonic"),
    ("olmo3", "OLMo 3 function_calls", "", "olmo3", ""),
    ("lfm2", "LFM2 list of Python calls", "", "lfm2", "lfm2"),
    ("gemma4", "Gemma 4 call literal", "", "gemma4", "gemma4"),
    ("", "FunctionGemma call literal", "", "functiongemma", ""),
    # messages and channels
    ("response:gpt-oss", "Harmony of gpt-oss", "", "openai", "gpt-oss"),
    ("", "Inkling typed messages", "", "inkling", "inkling"),
    ("", "Muse messages", "", "muse musespark1x muse_glimmer", "muse"),
    ("", "Beam channels", "", "beam", "beam"),
    ("", "whatever the checkpoint's response_template says", "", "hf", "response_template"),
)

_REASONING: tuple[_Row, ...] = (
    # think tags, by how the output starts
    ("default", "think tags, unless switched off", "default", "holo2 deepseek_r1", "interns1 iquest_q1 deepseek-r1"),
    ("deepseek-v3", "think tags of DeepSeek V3, if asked", "deepseek-v3", "deepseek_v3", "deepseek-v3"),
    ("deepseek-v32", "think tags of DeepSeek V3.2, if asked", "deepseek-v32 deepseek-v3.2", "", ""),
    ("deepseek-v4", "think tags of DeepSeek V4, if asked", "deepseek-v4", "deepseek_v4", "deepseek-v4"),
    ("deepseek-v41", "think tags of DeepSeek V4.1, if asked", "", "deepseek_v41", "deepseek-v41"),
    ("qwen3", "think tags, unless enable_thinking is off", "", "qwen3 minicpmv", "qwen3 dots nanbeige"),
    ("qwen3-thinking", "think tags of Qwen3 Thinking, always", "", "", "qwen3-thinking"),
    ("glm45", "think tags of GLM, unless switched off", "", "glm45 glm47 ling3", "glm45 ling3"),
    ("kimi_k2", "think tags of Kimi K2, unless switched off", "", "kimi_k2", "kimi_k2"),
    ("nemotron_v3", "think tags of Nemotron 3, unless switched off", "", "nemotron_v3", "nemotron_3"),
    (
        "granite_thinking_parser",
        "think tags of Granite 4, unless switched off",
        "",
        "granite_thinking_parser",
        "granite_thinking_parser",
    ),
    ("mimo", "think tags, if asked", "", "mimo poolside_v1", "mimo poolside_v1"),
    ("minimax_m2", "think tags of MiniMax-M2, always", "", "minimax_m2", "minimax"),
    ("step3", "think tags of Step models, always", "", "step3 step3p5 step5", "step3 step3p5"),
    ("gigachat35", "think tags of GigaChat 3.5, always", "", "", "gigachat35"),
    ("olmo3", "think tags of OLMo 3, always", "", "olmo3", ""),
    ("ernie45", "think and response tags of ERNIE 4.5", "", "ernie45", ""),
    # tags of their own
    ("seed_oss", "Seed-OSS <seed:think>", "", "seed_oss", ""),
    ("minimax_m3", "MiniMax-M3 <mm:think>", "", "minimax_m3", "minimax-m3"),
    ("", "Hunyuan suffixed think tags", "", "hy_v3 hy_v4", "hunyuan"),
    ("", "K2 Horizon think tags for three efforts", "", "k2_horizon", "k2_horizon"),
    ("mistral", "Mistral [THINK]", "", "mistral", "mistral"),
    ("kimi", "Kimi triangles", "", "", "kimi"),
    ("", "Kimi K3 think element", "", "kimi_k3", "kimi_k3"),
    ("gemma4", "Gemma 4 thought channel", "", "gemma4", "gemma4"),
    ("granite", "Granite 3.2 prose markers", "", "granite", ""),
    ("hunyuan_a13b", "Hunyuan-A13B think and answer tags", "", "hunyuan_a13b", ""),
    ("", "Apertus inner prefix", "", "", "apertus2509"),
    ("", "Cohere START_THINKING", "", "cohere_command3 cohere_command4", "cohere_command4"),
    ("", "PLaMo 3 think tags", "", "plamo3", ""),
    (
        "minimax_m2_append_think",
        "MiniMax-M2, <think> put before the content",
        "",
        "minimax_m2_append_think",
        "minimax-append-think",
    ),
    # messages and channels
    ("response:gpt-oss", "Harmony of gpt-oss", "", "openai_gptoss", "gpt-oss"),
    ("", "Inkling typed messages", "", "inkling", "inkling"),
    ("", "Muse messages", "", "muse muse_glimmer musespark1x", "muse"),
    ("", "Beam channels", "", "beam", "beam"),
    ("", "whatever the checkpoint's response_template says", "", "hf", "response_template"),
)

_LEGACY = "accepted with a warning; its name is default"
_DETECTED = "what the chat template or the architecture calls for"

# Engine, kind, name, format, our parser, note: names that an engine takes although they are not in its registry.
_ALSO_ACCEPTED: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("lmdeploy", "reasoning", "qwen-qwq", "think tags, unless switched off", "default", _LEGACY),
    ("lmdeploy", "reasoning", "intern-s1", "think tags, unless switched off", "default", _LEGACY),
    ("lmdeploy", "reasoning", "deepseek-r1", "think tags, unless switched off", "default", _LEGACY),
    ("sglang", "tool", "auto", _DETECTED, "", "SGLang picks a parser when it starts"),
    ("sglang", "reasoning", "auto", _DETECTED, "", "SGLang picks a parser when it starts"),
)
