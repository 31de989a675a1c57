"""``python -m unspool.cli``."""

from .app import app

app(prog_name="unspool")
