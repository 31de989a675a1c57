"""GLM-4.5 and GLM-4.6: the tags of GLM-4.7, each on a line of its own."""

from __future__ import annotations

from .glm import Glm47ToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("glm45", "glm")
class Glm45ToolParser(Glm47ToolParser):
    """As GLM-4.7, whose parser reads both forms.

    This one is written like this::

    <tool_call>NAME
    <arg_key>KEY</arg_key>
    <arg_value>VALUE</arg_value>
    </tool_call>
    """

    description = "a name, then <arg_key> and <arg_value> on lines of their own: GLM-4.5, GLM-4.6, Ring-2.6"
    tag_margin = "\n"
