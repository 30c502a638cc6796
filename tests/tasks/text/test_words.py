"""Texts as words and back: special tokens and what is left alone stay, and what grows is cut as in preparation."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from descent.schema import TokenizerSource
from descent.tasks.common.shifted import apply_of
from descent.tasks.text import tokenizers
from descent.tasks.text.data import Texts
from descent.tasks.text.words import Words
from tests.fakes.core import small_params

PAIRS = [
    ("Two horses in blue hats are running.", "Horses move, and they wear hats!"),
    ("A very quiet library.", "Nobody's there."),
]


@pytest.fixture(scope="module", params=["wordpiece", "bpe"])
def made(request, tmp_path_factory) -> tuple[Path, Tokenizer]:
    folder = tmp_path_factory.mktemp(request.param)
    source = TokenizerSource.model_validate({"train": {"kind": request.param, "vocabulary": 320}})
    tokenizer = tokenizers.build(source, [text for pair in PAIRS for text in pair] * 9, "")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder, tokenizer


def words(folder: Path, name: str, longest: int = 99) -> Words:
    return Words(folder, longest, apply_of(small_params(), name), seed=5)


def texts(tokenizer: Tokenizer) -> Texts:
    rows = [tokenizer.encode(*pair).ids for pair in PAIRS]
    return Texts(np.concatenate(rows), np.cumsum([0, *map(len, rows)]), np.array([1, 0]), 0)


def test_at_level_zero_and_of_texts_that_are_left_alone_the_tokens_are_the_same(made) -> None:
    folder, tokenizer = made
    before, index = texts(tokenizer), np.array([1, 0])
    after = words(folder, "keyboard").shifted(before, index, 0.0, 0)
    for place, number in enumerate(index):
        own = before.tokens[before.offsets[number] : before.offsets[number + 1]]
        np.testing.assert_array_equal(after.tokens[after.offsets[place] : after.offsets[place + 1]], own)
    assert after.labels.tolist() == [0, 1]


def test_the_words_of_both_texts_of_a_pair_are_shifted_and_the_tokens_between_them_stay(made) -> None:
    folder, tokenizer = made
    before = texts(tokenizer)
    after = words(folder, "word_swaps").shifted(before, np.array([0]), 1.0, 0)
    ends = vars(tokenizers.special(tokenizer)).values()
    kept = [number for number in after.tokens.tolist() if number in ends]
    assert kept == [number for number in before.tokens[: before.offsets[1]].tolist() if number in ends]
    said = tokenizer.decode(after.tokens.tolist()).lower().replace(".", " ").split()
    assert said != tokenizer.decode(before.tokens[: before.offsets[1]].tolist()).lower().replace(".", " ").split()
    assert {"horses", "blue", "hats", "wear"} <= set(said)


def test_a_text_follows_its_own_number_and_the_draw_whatever_batch_it_stands_in(made) -> None:
    folder, tokenizer = made
    before, shift = texts(tokenizer), words(folder, "keyboard")
    alone = shift.shifted(before, np.array([1]), 0.6, 0).tokens
    both = shift.shifted(before, np.array([0, 1]), 0.6, 0)
    np.testing.assert_array_equal(both.tokens[both.offsets[1] :], alone)
    other = shift.shifted(before, np.array([1]), 0.6, 1).tokens
    assert len(other) != len(alone) or (other != alone).any()


@pytest.mark.parametrize(
    ("name", "left"), [("character_swaps", 3), ("keyboard", 3), ("word_swaps", 3), ("word_deletion", 1)]
)
def test_a_word_that_the_tokenizer_does_not_know_may_move_or_go_but_has_no_letters_to_change(
    name: str, left: int, tmp_path: Path
) -> None:
    source = TokenizerSource.model_validate({"train": {"kind": "wordpiece", "vocabulary": 320}})
    tokenizer = tokenizers.build(source, [text for pair in PAIRS for text in pair] * 9, "")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    lost = tokenizer.token_to_id(tokenizers.unknown(tokenizer))
    first, *ids, last = tokenizer.encode("snow\N{SNOWMAN}man \N{SNOWMAN} snow\N{SNOWMAN}men.").ids
    assert ids == [lost] * 3 + [tokenizer.token_to_id(".")]
    before = Texts(np.array([first, *ids, last]), np.array([0, len(ids) + 2]), np.array([1]), 0)
    for draw in range(5):
        tokens = words(tmp_path, name).shifted(before, np.array([0]), 1.0, draw).tokens.tolist()
        assert tokens.count(lost) == left and set(tokens) <= {first, *ids, last}


def test_a_text_that_has_grown_is_cut_in_its_longer_part_to_what_a_text_may_have(made) -> None:
    folder, tokenizer = made
    before = texts(tokenizer)
    longest = int(before.offsets[1])
    free = words(folder, "keyboard").shifted(before, np.array([0]), 1.0, 0)
    cut = words(folder, "keyboard", longest).shifted(before, np.array([0]), 1.0, 0)
    assert len(free.tokens) > longest == len(cut.tokens), "unknown words take more tokens"
    ends = vars(tokenizers.special(tokenizer)).values()
    assert [n for n in cut.tokens.tolist() if n in ends] == [n for n in free.tokens.tolist() if n in ends]
