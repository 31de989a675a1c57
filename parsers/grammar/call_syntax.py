r"""How a dialect writes calls, declared once, and the structural tag that comes of it.

A pattern is a regular expression in which ``NAME`` stands for the function's name. White space in it is as free as the
parser takes it (``\s*``), as it is around JSON values in xgrammar's own formats.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..request import ToolSpec
from .formats import Format, Style, arguments, either, escape, regex, repeated, sequence, tag, text, text_with
from .tool_choice import Demand


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """One way of writing a call: ``begin head ARGUMENTS tail end``.

    Attributes:
        begin: the string that begins a call; in text it begins nothing else.
        head: pattern of what stands between ``begin`` and the arguments.
        tail: pattern of what stands between the arguments and ``end``.
        end: the string that ends a call.
        style: how the arguments are spelled.
        excludes: what a string among the arguments must not hold, because the parser could take it for a tag.
        block: the strings around the calls of a block, where it can hold several.
        between: pattern of what separates two calls.
        quoted: whether the name stands in JSON.
    """

    begin: str
    head: str
    tail: str
    end: str
    style: Style = "json"
    excludes: tuple[str, ...] = ()
    block: tuple[str, str] | None = None
    between: str = r"\s*"
    quoted: bool = False

    def call(self, tools: Sequence[ToolSpec]) -> Format:
        """A call of one of ``tools``."""
        return tag(self.begin, either([self._content(tool) for tool in tools]), self.end)

    def _content(self, tool: ToolSpec) -> Format:
        name = json.dumps(tool.name, ensure_ascii=False)[1:-1] if self.quoted else tool.name
        head = self.head.replace("NAME", escape(name))
        parts = [regex(head), arguments(tool.parameters, self.style, self.excludes)]
        return sequence(*parts, regex(self.tail)) if self.tail else sequence(*parts)

    def block_of(self, tools: Sequence[ToolSpec], single: bool) -> Format:
        """A block of calls of ``tools``, or the one call that stands for itself."""
        call = self.call(tools)
        if self.block is None:
            return call
        calls = call if single else repeated(call, regex(self.between))
        return tag(self.block[0], sequence(regex(r"\s*"), calls, regex(r"\s*")), self.block[1])


def json_envelope(begin: str, end: str | None, argument_field: str, between: str = r"\s*") -> CallSyntax:
    """A JSON object with a name and arguments; without an end tag it ends the call itself."""
    head = rf'\s*\{{\s*"name"\s*:\s*"NAME"\s*,\s*"{argument_field}"\s*:\s*'
    if end is None:
        return CallSyntax(begin, head, r"\s*", "}", between=between, quoted=True)
    return CallSyntax(begin, head, r"\s*\}\s*", end, between=between, quoted=True)


def calls_format(demand: Demand, syntaxes: Sequence[CallSyntax], excludes: Iterable[str]) -> Format:
    """The part of an answer after reasoning: calls only where they are required, else text with calls in it.

    Args:
        demand: what the request allows and requires.
        syntaxes: the ways in which the dialect writes calls; at least one.
        excludes: strings that the text must not hold.
    """
    tools = demand.tools
    if not tools:
        return text(excludes)
    blocks = [syntax.block_of(tools, demand.single) for syntax in syntaxes]
    if not demand.required:  # in text an open tag is no mistake but begins a call
        return text_with(blocks, [each for each in excludes if not any(block["begin"] in each for block in blocks)])
    several = not demand.single and all(syntax.block is None for syntax in syntaxes)
    calls = repeated(either(blocks), regex(syntaxes[0].between)) if several else either(blocks)
    return sequence(regex(r"\s*"), calls)
