"""Shifts of words: what they do to the words that they hit, and that they hit as many as they say."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from descent.shifts import character_swaps, keyboard, word_deletion, word_swaps
from descent.tasks.common.shifted import apply_of
from tests.fakes.core import small_params

LEVELS = [0.0, 0.05, 0.1, 0.2, 0.4]
WORDS = [f"word{number:04d}" for number in range(4000)]
LETTERS = ["Sunday", "afternoon", "rain", "all", "of", "it", "7", "The", "window"] * 300


def shifted(name: str, words: list[str], level: float, seed: int = 3) -> list[str]:
    params = small_params()
    return apply_of(params, name).of_words(words, level, np.random.default_rng(seed))


@pytest.mark.parametrize("level", LEVELS)
def test_as_many_words_are_gone_as_the_level_says_and_the_rest_keep_their_order(level: float) -> None:
    left = shifted("word_deletion", WORDS, level)
    assert left == sorted(left) and set(left) <= set(WORDS)
    assert 1 - len(left) / len(WORDS) == pytest.approx(level, abs=0.025)


def test_words_gone_at_a_level_are_gone_at_every_higher_one_and_a_text_keeps_one() -> None:
    for less, more in pairwise(LEVELS):
        assert set(shifted("word_deletion", WORDS, more)) < set(shifted("word_deletion", WORDS, less))
    assert len(shifted("word_deletion", WORDS[:5], 1.0)) == 1 and shifted("word_deletion", [], 0.4) == []
    assert word_deletion.LABEL != word_swaps.LABEL


@pytest.mark.parametrize("level", LEVELS)
def test_a_share_of_the_words_has_changed_places_with_a_neighbour_and_none_is_lost(level: float) -> None:
    found = shifted("word_swaps", WORDS, level)
    moved = [place for place, word in enumerate(found) if word != WORDS[place]]
    assert sorted(found) == WORDS and all(abs(WORDS.index(found[place]) - place) == 1 for place in moved)
    assert len(moved) / len(WORDS) == pytest.approx(level, abs=0.025)
    assert shifted("word_swaps", ["alone"], level) == ["alone"]


@pytest.mark.parametrize("name", ["character_swaps", "keyboard"])
def test_letters_change_in_as_many_of_the_words_that_can_as_the_level_says(name: str) -> None:
    before = [word for word in LETTERS if len(word) >= 4]
    for less, more in pairwise(LEVELS):
        one, two = (shifted(name, before, level) for level in (less, more))
        changed = [place for place, word in enumerate(one) if word != before[place]]
        assert all(two[place] == one[place] for place in changed), "hit at a level is hit alike at a higher one"
        assert sum(a != b for a, b in zip(two, before, strict=True)) / len(before) == pytest.approx(more, abs=0.06)


def test_swapped_letters_are_inner_neighbours_of_words_of_four_letters_and_more() -> None:
    found = shifted("character_swaps", LETTERS, 1.0)
    for word, before in zip(found, LETTERS, strict=True):
        assert Counter(word) == Counter(before) and (word[0], word[-1]) == (before[0], before[-1])
        apart = [place for place, letter in enumerate(word) if letter != before[place]]
        assert apart == [] if len(before) < character_swaps.SHORTEST else len(apart) in (0, 2)
        assert len(apart) < 2 or apart[1] - apart[0] == 1
    assert {"rian"} == {word for word, before in zip(found, LETTERS, strict=True) if before == "rain"}


def test_a_mistyped_letter_is_a_neighbour_on_the_keyboard_and_keeps_its_case() -> None:
    assert keyboard.BESIDE["g"] == sorted("ftyhbv") and keyboard.BESIDE["q"] == ["a", "w"]
    assert all(key in keyboard.BESIDE[other] for key, others in keyboard.BESIDE.items() for other in others)
    for word, before in zip(shifted("keyboard", LETTERS, 1.0), LETTERS, strict=True):
        pairs = [(new, old) for new, old in zip(word, before, strict=True) if new != old]
        assert len(pairs) == (before != "7")
        for new, old in pairs:
            assert new.lower() in keyboard.BESIDE[old.lower()] and new.isupper() == old.isupper()


def test_a_letter_that_has_no_single_small_one_moves_no_other() -> None:
    assert "İ".lower() != "i" and len("İ".lower()) == 2
    for seed in range(20):
        (word,) = keyboard.apply(["İstanbul"], 1.0, np.random.default_rng(seed), keyboard.Settings(levels=[1.0]))
        assert word[0] == "İ" and sum(a != b for a, b in zip(word, "İstanbul", strict=True)) == 1
