"""unspool: replays raw language-model output as the deltas that a serving engine should have sent.

``unspool.parsers`` is the library, ``unspool.cli`` the command. This module owns the version and imports neither, so
that ``unspool --version`` costs nothing.
"""

__version__ = "0.1.0"
