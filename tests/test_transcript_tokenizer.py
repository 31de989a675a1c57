"""Loading tokenizers from a folder, and what ends a turn with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from transcript_tools import byte_level

from unspool.cli.transcript.errors import TokenizerError
from unspool.cli.transcript.tokenizer import END_OF_TURN_TOKENS, end_tokens, load_tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    byte_level(trim_offsets=True).backend.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def test_a_folder_and_its_file_load_the_same(folder: Path) -> None:
    for path in (folder, folder / "tokenizer.json", str(folder)):
        tokenizer = load_tokenizer(path)
        text = "the weather 🙂<tool_call><|im_end|>"
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.encode(text) == byte_level().encode(text)


def test_tokens_that_only_the_config_has(folder: Path) -> None:
    size = byte_level().backend.get_vocab_size(with_added_tokens=True)
    known = byte_level().token_id("<tool_call>")
    declared = {
        str(known): {"content": "<tool_call>", "special": False},
        str(size + 1): {"content": "<audio>", "special": True, "lstrip": False, "unknown": 1},
        str(size): {"content": "<tts>", "special": False},
        str(size + 7): {"content": "<gap>"},  # the library would number it otherwise
        str(size + 2): {"content": "<last>"},
        "x": {"content": "<bad>"},
        str(size + 3): "bad",
        str(size + 4): {"content": ""},
    }
    write(folder / "tokenizer_config.json", {"added_tokens_decoder": declared})
    tokenizer = load_tokenizer(folder)
    assert tokenizer.encode("<tts><audio><last>") == [size, size + 1, size + 2]
    assert tokenizer.decode([size, size + 1, size + 2]) == "<tts><audio><last>"
    assert tokenizer.token_id("<gap>") is None
    assert tokenizer.token_id("<bad>") is None
    assert tokenizer.encode("<tool_call>") == [known]


def test_a_word_of_the_vocabulary_that_the_config_makes_a_token(folder: Path) -> None:
    word = byte_level().token_id("weather")
    assert word is not None
    write(folder / "tokenizer_config.json", {"added_tokens_decoder": {str(word): {"content": "weather"}}})
    assert word in load_tokenizer(folder).encode("xweatherx")


@pytest.mark.parametrize("config", ["{", "[]", '{"added_tokens_decoder": []}', "\xff"])
def test_an_odd_config_does_no_harm(folder: Path, config: str) -> None:
    (folder / "tokenizer_config.json").write_text(config, encoding="latin-1")
    assert load_tokenizer(folder).encode("a")
    assert end_tokens(folder) == END_OF_TURN_TOKENS


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("missing", None, "download one"),
        ("Qwen/Qwen3-8B", None, "never from the network"),
        ("tokenizer.json", "{", "is the file complete"),
        ("tokenizer.json", "version https://git-lfs.github.com/spec/v1", "Git LFS"),
        ("model.gguf", "GGUF", "pass that file or the folder"),
    ],
)
def test_what_cannot_be_loaded_says_what_to_do(tmp_path: Path, name: str, content: str | None, advice: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(TokenizerError, match=advice) as caught:
        load_tokenizer(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


WITH_TRANSFORMERS = """
import sys
from unspool.cli.transcript import TokenizerError, load_tokenizer
try:
    tokenizer = load_tokenizer(sys.argv[1])
    print(tokenizer.decode(tokenizer.encode("the weather")), "transformers" in sys.modules)
except TokenizerError as error:
    print("error:", error)
"""


def with_transformers(folder: Path) -> str:
    """Load in another process: importing transformers here would slow down and warn in other tests."""
    command = [sys.executable, "-c", WITH_TRANSFORMERS, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == ""
    return done.stdout.strip()


def test_tokenizer_json_needs_no_transformers(folder: Path) -> None:
    assert with_transformers(folder) == "the weather False"


@pytest.mark.slow
def test_older_files_are_read_with_transformers(tmp_path: Path) -> None:
    model = json.loads(byte_level().backend.to_str())["model"]
    write(tmp_path / "vocab.json", model["vocab"])
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer"})
    write(tmp_path / "config.json", {"model_type": "gpt2"})
    assert with_transformers(tmp_path) == "the weather True"


@pytest.mark.slow
def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    said = with_transformers(tmp_path)
    assert said.startswith(f"error: no tokenizer that can be loaded in {tmp_path}")
    assert "put a tokenizer.json there" in said
    assert ": ;" not in said  # the first line of a list that was cut off
    assert "\n" not in said


@pytest.mark.slow
def test_code_of_a_model_is_never_run(tmp_path: Path) -> None:
    write(tmp_path / "tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}})
    write(tmp_path / "config.json", {"model_type": "unknown-model"})
    (tmp_path / "evil.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    assert "never run" in with_transformers(tmp_path)


def test_end_tokens(folder: Path) -> None:
    tokenizer = load_tokenizer(folder)
    assert end_tokens() == end_tokens(folder) == end_tokens(folder, tokenizer) == END_OF_TURN_TOKENS
    assert {"<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</s>"} <= END_OF_TURN_TOKENS
    write(folder / "tokenizer_config.json", {"eos_token": "<stop>"})
    assert end_tokens(folder) == END_OF_TURN_TOKENS | {"<stop>"}
    assert end_tokens(folder / "tokenizer.json") == END_OF_TURN_TOKENS | {"<stop>"}
    write(folder / "tokenizer_config.json", {"eos_token": {"content": "<halt>"}})
    write(folder / "generation_config.json", {"eos_token_id": [tokenizer.token_id("<tool_call>"), "x", -1, 10**9]})
    assert end_tokens(folder, tokenizer) == END_OF_TURN_TOKENS | {"<halt>", "<tool_call>"}
    write(folder / "tokenizer_config.json", {"eos_token": " "})
    write(folder / "generation_config.json", {"eos_token_id": tokenizer.token_id("<tool_call>")})
    assert end_tokens(folder, tokenizer) == END_OF_TURN_TOKENS | {"<tool_call>"}
