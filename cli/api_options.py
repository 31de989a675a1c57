"""Options of the outputs that have an API's shapes, and what contradicts itself among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

API_PANEL = "Writing as an API"
"""The part of a help page that these options stand in."""

APIS = ("openai", "anthropic", "responses")
"""Values of ``--output`` that are an API."""

AsServerSentEvents = Annotated[
    bool,
    typer.Option("--sse", rich_help_panel=API_PANEL, help="Frame the events as server-sent events, as a server does."),
]
ReasoningFieldName = Annotated[
    Literal["reasoning_content", "reasoning"] | None,
    typer.Option(
        "--reasoning-field",
        rich_help_panel=API_PANEL,
        show_default="reasoning_content",
        help="What openai output calls the reasoning: reasoning_content, or reasoning as vLLM and OpenRouter do.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", rich_help_panel=API_PANEL, show_default="unspool", help="The model."),
]
ResponseId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="ID",
        rich_help_panel=API_PANEL,
        show_default="chatcmpl-unspool, msg_unspool or resp_unspool",
        help="The response's id; with several responses the later ones get -2, -3, ... behind it.",
    ),
]
Created = Annotated[
    int | None,
    typer.Option(
        "--created",
        metavar="SECONDS",
        min=0,
        rich_help_panel=API_PANEL,
        show_default="0",
        help="When the response was made, in seconds since 1970. The default keeps equal outputs equal.",
    ),
]


@dataclass(frozen=True)
class ApiChoice:
    """What the options say about an output in an API's shapes.

    Attributes:
        sse: frame the events.
        adapter: the options that are the adapter's business.
    """

    sse: bool
    adapter: Mapping[str, Any]


def api_choice(
    output: str | None,
    mode: Literal["chunk", "final"],
    *,
    sse: bool,
    reasoning_field: str | None,
    model: str | None,
    response_id: str | None,
    created: int | None,
) -> ApiChoice | None:
    """Read the options; ``None`` where the output isn't an API's.

    Raises:
        typer.BadParameter: an option has nothing to say to this output.
    """
    given = {
        "--sse": sse or None,
        "--reasoning-field": reasoning_field,
        "--model": model,
        "--id": response_id,
        "--created": created,
    }
    if output not in APIS:
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter(f"it is for --output {', '.join(APIS)}", param_hint=option)
        return None
    if reasoning_field is not None and output != "openai":
        raise typer.BadParameter(
            f"it is for --output openai; {output} has a place for reasoning", param_hint="--reasoning-field"
        )
    if created is not None and output == "anthropic":
        raise typer.BadParameter("anthropic messages have no time of creation", param_hint="--created")
    if sse and mode == "final":
        raise typer.BadParameter("one object is no stream; leave out --mode final", param_hint="--sse")
    adapter = {
        "api": output,
        "reasoning_field": reasoning_field,
        "model": model,
        "response_id": response_id,
        "created": created,
    }
    return ApiChoice(sse, adapter)
