"""MiniMax M2: ``<invoke>`` and ``<parameter>`` in ``<minimax:tool_call>`` tags."""

from __future__ import annotations

from .invoke_tool_parser import InvokeToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("minimax_m2")
class MiniMaxM2ToolParser(InvokeToolParser):
    """A block holds one or more calls, whose values are verbatim.

    Quotes round a name may be missing or single::

    <minimax:tool_call>
    <invoke name="NAME">
    <parameter name="KEY">VALUE</parameter>
    </invoke>
    </minimax:tool_call>
    """

    description = "tags <invoke name=..> and <parameter name=..>: MiniMax-M2, M2.1, M2.5"
    open_tags = ("<minimax:tool_call>",)
    close_tags = ("</minimax:tool_call>",)
