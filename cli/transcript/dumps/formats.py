"""The table of shapes: who writes what, and how one is told from another.

Owns their order: one that is a special case of another stands before it.
"""

from __future__ import annotations

from typing import Any

from . import batch, chat, completions, generate, llamacpp, ollama, record, tgi, triton, vllm
from .pieces import Shape

_SHAPES = (
    batch.SHAPE,
    vllm.GENERATE,
    chat.VLLM,
    chat.OPENAI,
    completions.SGLANG,
    completions.TRTLLM,
    completions.VLLM,
    completions.LMDEPLOY,
    completions.OPENAI,
    generate.LMDEPLOY,
    generate.SGLANG,
    tgi.SHAPE,
    llamacpp.SHAPE,
    ollama.SHAPE,
    triton.SHAPE,
    vllm.OFFLINE,
    record.SHAPE,
)
SHAPES = {shape.name: shape for shape in _SHAPES}
"""Shapes by the name that ``--input-format`` takes, in the order in which they are tried."""


def shape_of(value: Any, *, lines: int = 1, cut_off: bool = False) -> Shape | None:
    """The first shape that a JSON value fits, or ``None``.

    Args:
        value: an object of a dump.
        lines: how many lines it was written in.
        cut_off: whether this is only its beginning.
    """
    for shape in _SHAPES:
        if shape.fits(value) and not (shape.one_line and lines > 1) and not (shape.by_absence and cut_off):
            return shape
    return None
