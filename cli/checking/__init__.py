"""Whether a parser keeps its promises on a text, however the text is cut.

A library: nothing here prints, reads a file or knows an option. :func:`check_text` is the whole of it for most uses::

    findings = check_text(new_parser, text, cuts_of(plan(text)))

``new_parser`` makes a fresh parser and takes ``record_spans``: ``functools.partial(build_response_parser, ...)`` does.
"""

from .checker import Checker, Finding, check_text
from .cuts import Cut, Family, cuts_of, plan
from .invariants import INVARIANTS, Violation
from .observe import NewParser, Result, Run, observe
from .shrink import Deadline, shrink_cut, shrink_text

__all__ = [
    "INVARIANTS",
    "Checker",
    "Cut",
    "Deadline",
    "Family",
    "Finding",
    "NewParser",
    "Result",
    "Run",
    "Violation",
    "check_text",
    "cuts_of",
    "observe",
    "plan",
    "shrink_cut",
    "shrink_text",
]
