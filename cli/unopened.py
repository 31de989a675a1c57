"""Notices reasoning that ends but never began, as where the prompt opened it and nobody told the parser.

Owns the hint only: to a parser that starts plain such a close tag is text, and stays it. Looking for it in the parser
would hold back what may become the tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from unspool.parsers import Diagnostic, EngineOutput, ResponseParser


def note_unopened_reasoning(parser: ResponseParser, outputs: Iterable[EngineOutput]) -> Iterable[EngineOutput]:
    """Pass a response on; where its first tag closes reasoning, the parser gets a diagnostic.

    Args:
        parser: the response's parser, still fresh.
        outputs: the response.
    """
    reasoning = parser.reasoning
    if reasoning is None or not reasoning.separates or reasoning.starts_in_reasoning_mode():
        return outputs
    # Some are the parser's business, and some are phrases that an answer without any reasoning may hold.
    closing = {
        tag for tag in reasoning.all_close_tags() if tag not in reasoning.stray_close_tags and not tag[:1].isalpha()
    }
    opening = {*reasoning.all_open_tags(), *reasoning.open_tags_at_start}
    if parser.tool is not None:
        opening.update(parser.tool.open_tags)  # a tag among a call's arguments is data
    return _watch(parser, outputs, closing, opening) if closing else outputs


def _watch(
    parser: ResponseParser, outputs: Iterable[EngineOutput], closing: set[str], opening: set[str]
) -> Iterator[EngineOutput]:
    tags = sorted(filter(None, closing | opening), key=len, reverse=True)
    first_tag = re.compile("|".join(map(re.escape, tags)))
    beginning, end = "", 0  # what a tag may have begun in, and where the text so far ends
    outputs = iter(outputs)
    for output in outputs:
        text = beginning + output.text
        end += len(output.text)
        if match := first_tag.search(text):
            if match.group() in closing:
                offset = end - len(text) + match.start()
                parser.diagnostics.append(Diagnostic("reasoning-unopened", offset, _hint(match.group())))
            yield output
            break
        beginning = text[1 - len(tags[0]) :] if len(tags[0]) > 1 else ""
        yield output
    yield from outputs


def _hint(tag: str) -> str:
    return (
        f"{tag!r} closes reasoning that was never opened, so it and all text before it are content; if the prompt "
        "opened it, start inside reasoning: --thinking (enable_thinking: true), or a reasoning parser that begins there"
    )
