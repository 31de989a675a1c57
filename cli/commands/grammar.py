"""``unspool grammar``: the structural tag that makes a model keep to a request's tools and tool choice."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from .. import plugins
from ..console import plain_warnings
from ..exits import fail
from ..options import (
    Plugin,
    ReasoningParserName,
    RequestFile,
    ResponseParserName,
    TemplateKwarg,
    Thinking,
    ToolChoice,
    ToolParserName,
    ToolsFile,
)
from ..output import Output

_WHERE = re.compile(r"^\[[^\]]*\] \S+: ")  # time and source line, which xgrammar puts before its messages


def grammar(
    reasoning_parser: ReasoningParserName = None,
    tool_parser: ToolParserName = None,
    response_parser: ResponseParserName = "default",
    plugin: Plugin = None,
    request_file: RequestFile = None,
    tools_file: ToolsFile = None,
    tool_choice: ToolChoice = None,
    thinking: Thinking = None,
    template_kwarg: TemplateKwarg = None,
    check: Annotated[
        bool | None,
        typer.Option(
            "--check/--no-check",
            show_default="if xgrammar is installed",
            help="Let xgrammar compile the grammar before it is printed.",
        ),
    ] = None,
) -> None:
    """Print the response_format of a request: an xgrammar structural tag, as JSON.

    An engine that is given it lets the model write only what these parsers read: reasoning, then text with well-formed
    calls in it, or calls alone where the tool choice requires one.
    """
    from unspool.parsers import (
        ReasoningParserManager,
        ResponseParserManager,
        ToolParserManager,
        build_required_response_format,
    )

    from ..render.json_bytes import encode_line
    from ..request_options import build_request

    with plain_warnings():
        plugins.load_files(plugin)
        request = build_request(
            body_file=request_file,
            tools_file=tools_file,
            tool_choice=tool_choice,
            thinking=thinking,
            template_kwargs=template_kwarg,
        )
        plugins.load_packages_for(
            [
                (ReasoningParserManager, reasoning_parser),
                (ToolParserManager, tool_parser),
                (ResponseParserManager, response_parser),
            ]
        )
        try:
            response_format = build_required_response_format(
                request,
                reasoning_parser=reasoning_parser,
                tool_parser=tool_parser,
                response_parser=response_parser,
            )
            line = encode_line(response_format)
        except (LookupError, ValueError) as problem:
            fail(str(problem))
        except RecursionError:  # Python reads JSON some times deeper than what is made of it can be written
            fail("the request: a tool's schema is nested too deeply to make a grammar of it")
        if check or (check is None and find_spec("xgrammar")):
            _compile(response_format)
    output = Output()
    output.json(line)
    output.flush()


def _compile(response_format: dict[str, Any]) -> None:
    """End the command where xgrammar does not take the grammar, or is not there."""
    try:
        xgrammar = import_module("xgrammar")
    except ImportError as problem:
        fail(f"--check needs xgrammar: pip install 'unspool[xgrammar]' ({problem})")
    try:
        xgrammar.Grammar.from_structural_tag(response_format)
    except (RuntimeError, ValueError) as problem:
        reason = _WHERE.sub("", str(problem)).strip()
        fail(f"xgrammar does not take this grammar, most likely for a tool's schema: {reason}")
