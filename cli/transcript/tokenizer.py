"""Tokenizers from a local folder: never from the network, never with a model's own code.

Owns loading and what ends a turn with a tokenizer. ``tokenizers`` alone is the quick way where there is a
``tokenizer.json``; ``transformers``, which takes a second to import, reads the older kinds. Both are imported where
they are needed only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.parsers.tokenization import TextTokenizer

from .errors import TokenizerError

END_OF_TURN_TOKENS = frozenset(
    {
        "<|im_end|>",  # Qwen, InternLM, Hermes
        "<|endoftext|>",  # GPT, Qwen, GLM
        "<|eot_id|>",  # Llama 3
        "<|eom_id|>",
        "<|end_of_text|>",
        "<|eot|>",  # Llama 4
        "<｜end▁of▁sentence｜>",  # DeepSeek
        "</s>",  # Llama 2, Mistral
        "<|user|>",  # GLM: the next turn begins
        "<|observation|>",
        "<end_of_turn>",  # Gemma
        "<turn|>",
        "<eos>",
        "[e~[",  # MiniMax
        "[EOS]",  # Kimi
    }
)
"""What models write at the end of their turn, whichever tokenizer they use."""


def load_tokenizer(path: str | Path) -> TextTokenizer:
    """Load a tokenizer.

    Args:
        path: a folder with a tokenizer's files, or a ``tokenizer.json``.

    Raises:
        TokenizerError: it can't be loaded; the message says what to try.
    """
    path = Path(path)
    if path.is_file() and path.suffix == ".json" and path.name != "tekken.json":
        return TextTokenizer(_load_fast(path))
    if not path.is_dir():
        if path.exists():
            raise TokenizerError(f"{path} is no tokenizer.json; pass that file or the folder that the files are in")
        raise TokenizerError(
            f"no such folder: {path}; tokenizers are read from a local folder, never from the network: download one"
            " first, at least its tokenizer.json and tokenizer_config.json"
        )
    file = path / "tokenizer.json"
    return TextTokenizer(_load_fast(file) if file.is_file() else _load_with_transformers(path))


def end_tokens(path: str | Path | None = None, tokenizer: TextTokenizer | None = None) -> frozenset[str]:
    """Tokens that end a turn: the well-known ones and those that the tokenizer's files declare.

    Args:
        path: what :func:`load_tokenizer` was given; files that are missing or unreadable add nothing.
        tokenizer: spells out ids that ``generation_config.json`` declares.
    """
    found = set(END_OF_TURN_TOKENS)
    if path is not None:
        path = Path(path)
        folder = path.parent if path.is_file() else path
        found.update(_declared_end_tokens(folder, tokenizer))
    backend_token = getattr(tokenizer.backend, "eos_token", None) if tokenizer else None
    if isinstance(backend_token, str):
        found.add(backend_token)
    return frozenset(token for token in found if token.strip())


def _load_fast(file: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception, whatever the reason
        raise TokenizerError(f"cannot load {file}: {error}; is the file complete, and no Git LFS pointer?") from error
    # It would only add begin and end tokens, which nobody here asks for; some also leave spaces out of the offsets.
    tokenizer.post_processor = None
    _add_declared_tokens(tokenizer, file.with_name("tokenizer_config.json"))
    return tokenizer


def _add_declared_tokens(tokenizer: Any, config_file: Path) -> None:
    """Add the tokens that only the config declares: without them their ids would decode to nothing."""
    from tokenizers import AddedToken

    declared = _read_json_object(config_file).get("added_tokens_decoder")
    if not isinstance(declared, dict):
        return
    known = tokenizer.get_added_tokens_decoder()
    missing = sorted((int(key), entry) for key, entry in declared.items() if key.isdecimal() and int(key) not in known)
    if not missing:
        return
    next_id = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1
    for token_id, entry in missing:
        content = entry.get("content") if isinstance(entry, dict) else None
        if not isinstance(content, str) or not content:
            continue
        if tokenizer.token_to_id(content) != token_id:
            if token_id != next_id:
                continue  # the library numbers new tokens itself: this one would get an id that is another's
            next_id += 1
        flags = {
            name: bool(entry[name])
            for name in ("single_word", "lstrip", "rstrip", "normalized", "special")
            if name in entry
        }
        tokenizer.add_tokens([AddedToken(content, **flags)])


def _load_with_transformers(folder: Path) -> Any:
    # Read by the libraries when they are imported, so they must be set before.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # OSError, ValueError, ImportError and others, depending on what is missing
        raise TokenizerError(_explain(folder, str(error))) from error


def _explain(folder: Path, error: str) -> str:
    if "trust_remote_code" in error or "custom code" in error:
        return (
            f"the tokenizer in {folder} needs code of its own, which is never run;"
            " convert it to a tokenizer.json and pass that"
        )
    reason = error.strip().partition("\n")[0].rstrip()
    reason = "" if reason.endswith(":") else f": {reason}"  # without the list that follows it says nothing
    return (
        f"no tokenizer that can be loaded in {folder}{reason}; put a tokenizer.json there"
        " (and tokenizer_config.json beside it)"
    )


def _declared_end_tokens(folder: Path, tokenizer: TextTokenizer | None) -> Iterator[str]:
    declared = _read_json_object(folder / "tokenizer_config.json").get("eos_token")
    if isinstance(declared, dict):  # older files have the whole token there
        declared = declared.get("content")
    if isinstance(declared, str):
        yield declared
    if tokenizer is None:
        return
    ids = _read_json_object(folder / "generation_config.json").get("eos_token_id")
    for token_id in ids if isinstance(ids, list) else [ids]:
        if type(token_id) is int and 0 <= token_id < 2**32:
            yield tokenizer.decode([token_id])


def _read_json_object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
