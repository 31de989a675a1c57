"""Reading: files and standard input to ``EngineOutput`` chunks.

Owns bytes, encodings, input formats, cutting and tokenizers. It knows no response grammar and writes nothing.
"""

from .chunking import ChunkSpec, recut
from .dumps import Part, Response, to_record
from .end_of_turn import drop_end_of_turn
from .errors import BadLine, TokenizerError, TranscriptError
from .reader import INPUT_FORMATS, open_responses, open_transcript
from .source import is_live
from .tokenizer import end_tokens, load_tokenizer

__all__ = [
    "INPUT_FORMATS",
    "BadLine",
    "ChunkSpec",
    "Part",
    "Response",
    "TokenizerError",
    "TranscriptError",
    "drop_end_of_turn",
    "end_tokens",
    "is_live",
    "load_tokenizer",
    "open_responses",
    "open_transcript",
    "recut",
    "to_record",
]
