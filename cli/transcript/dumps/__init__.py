"""Dumps: what inference engines write, streamed or whole, to the chunks of one or several responses.

One module an engine, or a family of them, says how its JSON objects are recognised and read; ``formats`` lists them.
The stages are the same for all: ``events`` (lines to objects), the shape (objects to pieces), ``choices`` (which
response), ``cumulative`` (new text only), ``id_text`` (ids decide), all put together in ``responses`` and ``reading``.
"""

from .choices import Response
from .formats import SHAPES
from .pieces import Shape
from .reading import DumpOptions, read_dump
from .record import to_record
from .responses import Part

__all__ = ["SHAPES", "DumpOptions", "Part", "Response", "Shape", "read_dump", "to_record"]
