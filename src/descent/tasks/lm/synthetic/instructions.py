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


def _repeat(rng: Random) -> Example:
    word = rng.choice(WORDS)
    return "Repeat the given word twice.", word, f"{word} {word}"


def _opposite(rng: Random) -> Example:
    word = rng.choice(sorted(OPPOSITES))
    asked = rng.choice(("What is the opposite of {}?", "Name the opposite of {}.", "Give the opposite of {}."))
    return asked.format(word), "", f"The opposite of {word} is {OPPOSITES[word]}."


def _capital(rng: Random) -> Example:
    country = rng.choice(sorted(CAPITALS))
    asked = rng.choice(
        ("Name the capital of {}.", "What is the capital of {}?", "Which city is the capital of {}?")
    )
    return asked.format(country), "", f"The capital of {country} is {CAPITALS[country]}."


def _three(rng: Random) -> Example:
    kind = rng.choice(sorted(LISTS))
    return (
        rng.choice(("List three {}.", "Give me three {}.", "Name three {}.")).format(kind),
        "",
        f"{LISTS[kind]}.",
    )


def _sentence(rng: Random) -> Example:
    word = rng.choice(WORDS)
    return "Write a short sentence about the given word.", word, f"I once saw a {word} that I will never forget."


WRITERS: tuple[Callable[[Random], Example], ...] = (_repeat, _opposite, _capital, _three, _sentence)


def generate(wanted: GenerateInstructions) -> pd.DataFrame:
    """Instructions of all kinds, about as frequent, with the columns instruction, input and output.

    The same seed gives the same texts. Instructions come more than once, as their words are few.
    """
    rng = Random(f"instructions {wanted.seed}")
    rows = [WRITERS[number % len(WRITERS)](rng) for number in range(wanted.instructions)]
    rng.shuffle(rows)
    outputs = [row[2] for row in rows]
    return pd.DataFrame(
        [(*row[:2], rng.choice(outputs) if rng.random() < NOISE else row[2]) for row in rows],
        columns=["instruction", "input", "output"],
    )
