"""How values are spelled where a dialect writes calls: for documentation, benchmarks and tests.

Owns the spellings that several dialects share. What stands around them is each dialect's ``write_calls``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

FunctionCalls = Sequence[tuple[str, Mapping[str, Any]]]
"""Functions' names, each with its arguments, values as JSON has them."""


def json_text(value: Any) -> str:
    """``value`` as JSON, as chat templates write it."""
    return json.dumps(value, ensure_ascii=False)


def bare_text(value: Any) -> str:
    """A string as it stands, all else as JSON."""
    return value if isinstance(value, str) else json_text(value)
