"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

# The parts of a help page that these options stand in.
PARSERS_PANEL = "Parsers"
REQUEST_PANEL = "The request that led to the output"
READING_PANEL = "Reading"

Inputs = Annotated[
    list[Path] | None,
    typer.Argument(metavar="INPUT", help="Transcripts; - is standard input, which is the default."),
]
ReasoningParserName = Annotated[
    str | None,
    typer.Option(
        "-r",
        "--reasoning-parser",
        metavar="NAME",
        rich_help_panel=PARSERS_PANEL,
        help="How reasoning is marked; without it nothing is reasoning. `unspool parsers list` shows the names.",
    ),
]
ToolParserName = Annotated[
    str | None,
    typer.Option(
        "-t",
        "--tool-parser",
        metavar="NAME",
        rich_help_panel=PARSERS_PANEL,
        help="How tool calls are written; without it nothing is a call.",
    ),
]
ResponseParserName = Annotated[
    str,
    typer.Option("--response-parser", metavar="NAME", rich_help_panel=PARSERS_PANEL, help="What joins the two."),
]
ChunkEnds = Annotated[
    Literal["characters", "tokens"],
    typer.Option(
        "--boundaries",
        rich_help_panel=PARSERS_PANEL,
        help="Where a chunk can end inside a tag: anywhere, or only where tokens of --tokenizer end, which emits "
        "earlier, as a serving engine does.",
    ),
]
Tokenizer = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer",
        metavar="DIR",
        rich_help_panel=PARSERS_PANEL,
        help="Folder of a tokenizer; loaded from disk only, never downloaded.",
    ),
]
Plugin = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        rich_help_panel=PARSERS_PANEL,
        help="Python file that registers more parsers. Repeatable.",
    ),
]
RequestFile = Annotated[
    Path | None,
    typer.Option(
        "--request",
        metavar="FILE",
        rich_help_panel=REQUEST_PANEL,
        help="Request body: Chat Completions, Responses or Messages.",
    ),
]
ToolsFile = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        rich_help_panel=REQUEST_PANEL,
        help="JSON list of tools, or a body that holds one. Calls of other tools are rejected.",
    ),
]
ToolChoice = Annotated[
    str | None,
    typer.Option(
        "--tool-choice",
        metavar="CHOICE",
        rich_help_panel=REQUEST_PANEL,
        help="auto, none, required or a function's name. With none, tool markup is plain text.",
    ),
]
Thinking = Annotated[
    bool | None,
    typer.Option(
        "--thinking/--no-thinking",
        rich_help_panel=REQUEST_PANEL,
        help="Whether the prompt asked for reasoning; most reasoning parsers then start inside it.",
    ),
]
TemplateKwarg = Annotated[
    list[str] | None,
    typer.Option(
        "--template-kwarg",
        metavar="KEY=JSON",
        rich_help_panel=REQUEST_PANEL,
        help="One of the request's chat_template_kwargs. Repeatable; wins over --thinking.",
    ),
]
InputFormat = Annotated[
    Literal[
        "auto",
        "text",
        "jsonl",
        "llamacpp",
        "lmdeploy-completions",
        "lmdeploy-generate",
        "ollama",
        "openai-batch",
        "openai-chat",
        "openai-completions",
        "sglang-completions",
        "sglang-generate",
        "tgi",
        "triton",
        "trtllm-completions",
        "vllm-chat",
        "vllm-completions",
        "vllm-generate",
        "vllm-offline",
    ],
    typer.Option(
        "-i",
        "--input-format",
        metavar="NAME",
        rich_help_panel=READING_PANEL,
        help="What the inputs are; auto detects it. text: raw output. jsonl: a token stream. What engines write, "
        "streamed or whole: vllm-completions, vllm-chat, vllm-generate, vllm-offline, sglang-completions, "
        "sglang-generate, lmdeploy-completions, lmdeploy-generate, tgi, llamacpp, ollama, trtllm-completions, triton, "
        "openai-completions, openai-chat, openai-batch.",
    ),
]
Choice = Annotated[
    str | None,
    typer.Option(
        "--choice",
        metavar="N|ID",
        rich_help_panel=READING_PANEL,
        help="Of several responses in one input only those with this index, request id or label.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

STDIN = Path("-")
"""The file name that means standard input."""


def spoken_name(path: Path) -> str:
    """What messages call an input."""
    return "<stdin>" if path == STDIN else str(path)
