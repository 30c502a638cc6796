"""Film reviews from templates: a verdict, opinions that mostly agree with it, and plot that says nothing of it."""

from random import Random

ASPECTS = (
    "acting", "story", "plot", "music", "camera work", "ending", "script", "dialogue", "cast", "pacing", "humour",
    "direction", "opening", "lighting", "lead", "romance",
)  # fmt: skip
STRONG = {
    True: ("brilliant", "superb", "wonderful", "masterful", "unforgettable", "excellent"),
    False: ("terrible", "awful", "dreadful", "horrible", "unbearable", "pathetic"),
}
MILD = {
    True: ("good", "solid", "charming", "fresh", "clever", "moving", "convincing", "pleasant", "funny"),
    False: ("weak", "dull", "clumsy", "flat", "boring", "silly", "predictable", "empty", "slow"),
}
VERBS = {True: ("loved", "enjoyed", "admired", "liked"), False: ("hated", "disliked", "regretted", "resented")}
DEGREES = ("", "", "really", "quite", "rather", "very", "simply")
NEGATIONS = ("not", "never", "hardly", "far from", "anything but")
VERDICTS = {
    True: (
        "I would see it again tomorrow",
        "do not miss this one",
        "it is worth every minute",
        "I left the cinema with a smile",
        "I cannot wait to see it a second time",
        "nobody should skip this film",
        "it won me over completely",
        "I recommend it to everyone",
    ),
    False: (
        "I would not see it again",
        "save your money and skip this one",
        "it is not worth a single minute",
        "I left the cinema before the end",
        "I can wait a long time for a second part",
        "nobody should pay for this film",
        "it lost me completely",
        "I cannot recommend it to anyone",
    ),
}
OPENERS = ("all in all", "in the end", "overall", "still", "when all is said")
HEROES = (
    "a detective",
    "a young nurse",
    "a retired sailor",
    "two brothers",
    "a teacher",
    "a farmer",
    "an old king",
)
GOALS = (
    "find a lost letter",
    "sell a house",
    "solve a murder",
    "visit a dying friend",
    "win a race",
    "hide a secret",
)
PLACES = ("a small town", "the mountains", "Paris", "a harbour in winter", "the desert", "a train to the north")
PLOTS = (
    "{hero} comes to {place} to {goal}",
    "the film is about {hero} who wants to {goal}",
    "most of it takes place in {place}",
    "half way through, {hero} has to {goal}",
    "I watched it with a friend on a Sunday",
    "the trailer had promised a {word} evening",  # a sentiment word that says nothing of the film
)
OPINIONS = (
    "the {aspect} is {quality}",
    "I found the {aspect} {quality}",
    "the {aspect} was {quality} from start to finish",
    "I thought the {aspect} was {quality}",
)
CONTRASTS = ("although {minor}, {major}", "{minor}, but {major}", "{minor}, yet {major}", "while {minor}, {major}")
LONGEST, SHORTEST = 50, 15  # words
AGREE = 0.9  # share of the opinions that say what the review says


def write(rng: Random, positive: bool) -> str:
    """One review of 15 to 60 words."""
    kind = rng.random()
    if kind < 0.6:  # most opinions agree with the verdict, which may be left out
        sentences = [_opinion(rng, _agree(rng, positive)) for _ in range(rng.randint(1, 3))]
        sentences.append(_contrast(rng, positive) if rng.random() < 0.3 else _opinion(rng, positive))
        rng.shuffle(sentences)
        closing = rng.random() < 0.7
    elif kind < 0.85:  # the main clause decides
        sentences = [_contrast(rng, positive) for _ in range(rng.randint(1, 2))]
        closing = rng.random() < 0.7
    else:  # for and against in equal parts: the verdict alone decides
        sentences = [_opinion(rng, True), _opinion(rng, False)]
        rng.shuffle(sentences)
        closing = True
    if closing:
        sentences.append(_verdict(rng, positive))
    return _with_plot(rng, sentences)


def _agree(rng: Random, positive: bool) -> bool:
    return positive if rng.random() < AGREE else not positive


def _word(rng: Random, positive: bool) -> str:
    return rng.choice((STRONG if rng.random() < 0.4 else MILD)[positive])


def _opinion(rng: Random, positive: bool) -> str:
    """A clause about one aspect; a negation turns a word of the other side."""
    aspect = rng.choice(ASPECTS)
    kind = rng.random()
    if kind < 0.2:
        return f"I {rng.choice(VERBS[positive])} the {aspect}"
    if kind < 0.25:
        return f"there is nothing {_word(rng, not positive)} about the {aspect}"
    if kind < 0.37:
        quality = f"{rng.choice(NEGATIONS)} {_word(rng, not positive)}"
    else:
        quality = f"{rng.choice(DEGREES)} {_word(rng, positive)}".strip()
    return rng.choice(OPINIONS).format(aspect=aspect, quality=quality)


def _contrast(rng: Random, positive: bool) -> str:
    minor = _opinion(rng, not positive)
    major = _opinion(rng, positive)
    return rng.choice(CONTRASTS).format(minor=minor, major=major)


def _verdict(rng: Random, positive: bool) -> str:
    verdict = rng.choice(VERDICTS[positive])
    return f"{rng.choice(OPENERS)}, {verdict}" if rng.random() < 0.6 else verdict


def _with_plot(rng: Random, sentences: list[str]) -> str:
    """The sentences in their order, with sentences of plot among them, as one text."""
    wanted = rng.choice((0, 1, 1, 2))
    while True:
        words = sum(len(sentence.split()) for sentence in sentences)
        plot = rng.choice(PLOTS).format(
            hero=rng.choice(HEROES),
            goal=rng.choice(GOALS),
            place=rng.choice(PLACES),
            word=_word(rng, rng.random() < 0.5),
        )
        if words >= SHORTEST and (wanted <= 0 or words + len(plot.split()) > LONGEST):
            return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)
        sentences.insert(rng.randrange(len(sentences)), plot)  # never last: that is the verdict's place
        wanted -= 1
