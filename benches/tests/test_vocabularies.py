"""Vocabularies: what they are called, that they count, and what is said of those that cannot."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from wirecall import tokens
from wirecall_bench.artifact import BenchError
from wirecall_bench.vocabularies import encoding, tokenizer, vocabularies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder, with a tokenizer of words that begins every text with a token of its own."""
    words = {"<s>": 0, "[UNK]": 1, "a": 2, "b": 3, "<": 4, "s": 5, ">": 6}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    made.add_special_tokens(["<s>"])
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    (tmp_path / "Small-1B").mkdir()
    made.save(str(tmp_path / "Small-1B" / "tokenizer.json"))
    return tmp_path / "Small-1B"


def test_a_file_of_hugging_face(folder: Path) -> None:
    vocabulary = tokenizer(folder / "tokenizer.json")
    assert vocabulary.name == "Small-1B"
    assert [vocabulary.count(text) for text in ("", "a", "a b a")] == [0, 1, 3]
    # Text, never a command.
    assert vocabulary.count("a <s>") == 4


def test_a_file_of_another_name(folder: Path) -> None:
    path = (folder / "tokenizer.json").rename(folder / "small.json")
    assert tokenizer(path).name == "small"


def test_characters_need_nothing() -> None:
    assert encoding("characters").count("aé🙂") == 3


def test_several(folder: Path) -> None:
    found = vocabularies(["characters"], [folder / "tokenizer.json"])
    assert [vocabulary.name for vocabulary in found] == ["characters", "Small-1B"]
    with pytest.raises(BenchError, match="two vocabularies are named 'characters'"):
        vocabularies(["characters", "characters"])


def test_without_names_it_is_that_of_the_other_commands() -> None:
    if tokens.cached_tokenizer() is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    (vocabulary,) = vocabularies()
    assert vocabulary.name == tokens.ENCODING
    assert vocabulary.count("hello world") == 2


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"no vocabulary 'nope'.*--encoding characters"):
        encoding("nope")
    with pytest.raises(BenchError, match="there is no such file; give the path"):
        tokenizer(tmp_path / "nope.json")
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BenchError, match=r"this is not a tokenizer\.json of Hugging Face"):
        tokenizer(tmp_path / "bad.json")
