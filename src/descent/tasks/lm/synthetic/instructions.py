"""Made-up instructions with responses that a tiny model can learn in part: copying, ordering, known facts."""

from collections.abc import Callable
from random import Random

import pandas as pd

from descent.tasks.lm.schema import GenerateInstructions

NOISE = 0.03  # share of the instructions that carry another one's response
WORDS = (
    "river", "stone", "apple", "window", "garden", "candle", "letter", "mountain", "bread", "mirror", "silver",
    "winter", "forest", "bridge", "orange", "pencil", "island", "basket", "feather", "lantern",
)  # fmt: skip
OPPOSITES = {
    "hot": "cold", "big": "small", "early": "late", "light": "dark", "old": "young", "fast": "slow", "dry": "wet",
    "full": "empty", "happy": "sad", "hard": "soft", "loud": "quiet", "near": "far",
}  # fmt: skip
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo", "Egypt": "Cairo", "Norway": "Oslo",
    "Greece": "Athens", "Cuba": "Havana", "Peru": "Lima", "Kenya": "Nairobi",
}  # fmt: skip
LISTS = {
    "colours": "red, green and blue", "fruits": "apples, pears and plums", "seasons": "spring, summer and autumn",
    "animals": "cats, dogs and horses", "tools": "a hammer, a saw and a drill", "metals": "iron, copper and gold",
}  # fmt: skip
Example = tuple[str, str, str]  # instruction, input, output


def _two(rng: Random, words: tuple[str, ...]) -> tuple[str, str]:
    """Two different words: what each kind is asked of, so that few prompts come twice."""
    first, second = rng.sample(words, 2)
    return first, second


def _repeat(rng: Random) -> Example:
    first, second = _two(rng, WORDS)
    return "Repeat the given words.", f"{first} {second}", f"{first} {second}"


def _opposite(rng: Random) -> Example:
    first, second = _two(rng, tuple(OPPOSITES))
    asked = rng.choice(("Name the opposites of {} and {}.", "Give the opposites of {} and {}."))
    said = f"The opposites are {OPPOSITES[first]} and {OPPOSITES[second]}."
    return asked.format(first, second), "", said


def _capital(rng: Random) -> Example:
    first, second = _two(rng, tuple(CAPITALS))
    asked = rng.choice(("Name the capitals of {} and {}.", "Which cities are the capitals of {} and {}?"))
    return asked.format(first, second), "", f"The capitals are {CAPITALS[first]} and {CAPITALS[second]}."


def _three(rng: Random) -> Example:
    kind = rng.choice(tuple(LISTS))
    word = rng.choice(WORDS)
    asked = rng.choice(("List three {} for a {}.", "Give me three {} for a {}.", "Name three {} for a {}."))
    return asked.format(kind, word), "", f"{LISTS[kind]}."


def _sentence(rng: Random) -> Example:
    first, second = _two(rng, WORDS)
    said = f"I once saw a {first} and a {second} that I will never forget."
    return "Write a short sentence about the given words.", f"{first} {second}", said


WRITERS: tuple[Callable[[Random], Example], ...] = (_repeat, _opposite, _capital, _three, _sentence)


def generate(wanted: GenerateInstructions) -> pd.DataFrame:
    """Instructions of all kinds, about as frequent, with the columns instruction, input and output.

    The same seed gives the same texts. Most prompts are asked once, so that test texts are about as many prompts.
    """
    rng = Random(f"instructions {wanted.seed}")
    rows = [WRITERS[number % len(WRITERS)](rng) for number in range(wanted.instructions)]
    rng.shuffle(rows)
    outputs = [row[2] for row in rows]
    return pd.DataFrame(
        [(*row[:2], rng.choice(outputs) if rng.random() < NOISE else row[2]) for row in rows],
        columns=["instruction", "input", "output"],
    )
