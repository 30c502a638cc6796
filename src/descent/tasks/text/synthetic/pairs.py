"""Premises and hypotheses from templates: what follows, what may be, and what cannot be."""

from dataclasses import dataclass, replace
from random import Random

NUMBERS = ("two", "three", "four", "five")
COLOURS = ("red", "blue", "green", "yellow", "white", "black")
CLOTHES = ("coat", "hat", "shirt", "scarf")
# one, several, and what they are in general
SUBJECTS = (
    ("man", "men", "person", "people"),
    ("woman", "women", "person", "people"),
    ("boy", "boys", "child", "children"),
    ("girl", "girls", "child", "children"),
    ("farmer", "farmers", "worker", "workers"),
    ("nurse", "nurses", "worker", "workers"),
    ("dog", "dogs", "animal", "animals"),
    ("horse", "horses", "animal", "animals"),
)
# what they do, and what that is in general
ACTIVITIES = (
    ("playing a guitar", "making music"),
    ("singing a song", "making music"),
    ("riding a bicycle", "moving"),
    ("running a race", "moving"),
    ("eating soup", "having a meal"),
    ("eating bread and cheese", "having a meal"),
    ("painting a fence", "working"),
    ("carrying boxes", "working"),
    ("reading a newspaper", "looking at something"),
    ("watching the birds", "looking at something"),
)
OPPOSITES = ("sleeping", "lying in bed", "fast asleep", "doing nothing")
# where, and what kind of place that is
PLACES = (
    ("in the park", "outdoors"),
    ("on a beach", "outdoors"),
    ("in the garden", "outdoors"),
    ("near a river", "outdoors"),
    ("in a kitchen", "indoors"),
    ("in a library", "indoors"),
    ("at the station", "in public"),
    ("in the market", "in public"),
)
TIMES = ("", "", "in the morning", "at noon", "late at night", "on a cold day")
PURPOSES = (
    "to win a prize", "to help a friend", "to forget the war", "to earn some money", "because of a bet",
    "for a birthday", "for the first time", "before going home", "to please a neighbour",
)  # fmt: skip
GUESSES = ("tall", "sad", "rich", "famous", "tired", "clever")
RELATIONS = ("{who} {are} waiting for a friend", "{who} {are} from the same village", "{who} {are} hungry")
CUE = 0.75  # share of the hypotheses whose own words lean to their class


@dataclass(frozen=True)
class Scene:
    """What a premise says; `number` is 0 for one."""

    number: int
    subject: int
    colour: str
    garment: str
    activity: int
    place: int
    time: str

    @property
    def are(self) -> str:
        return "are" if self.number else "is"

    def who(self, general: bool = False, colour: bool = False, extra: str = "") -> str:
        """The subject with its number; with the colour of its clothes, or an adjective more."""
        one, several, one_in_general, several_in_general = SUBJECTS[self.subject]
        if self.number:
            count = NUMBERS[self.number - 1]
            noun = several_in_general if general else several
        else:
            noun = one_in_general if general else one
            count = "an" if (extra or noun)[0] in "aeiou" else "a"
        worn = f"in {self.colour} {self.garment}s" if self.number else f"in a {self.colour} {self.garment}"
        return " ".join(word for word in (count, extra, noun, worn if colour and self.colour else "") if word)

    def premise(self) -> str:
        who = self.who(colour=True)
        does = ACTIVITIES[self.activity][0]
        where = PLACES[self.place][0]
        return _sentence(who, self.are, does, where, self.time)


def write(rng: Random, label: int) -> tuple[str, str, str]:
    """A premise, a hypothesis (0 follows from it, 1 may be, 2 cannot be), and their kind of place."""
    scene = _scene(rng)
    hypothesis = (_entailed, _neutral, _contradicted)[label](rng, scene)
    return scene.premise(), hypothesis, PLACES[scene.place][1]


def _scene(rng: Random) -> Scene:
    dressed = rng.random() < 0.5
    return Scene(
        number=rng.randrange(len(NUMBERS) + 1),
        subject=rng.randrange(len(SUBJECTS)),
        colour=rng.choice(COLOURS) if dressed else "",
        garment=rng.choice(CLOTHES),
        activity=rng.randrange(len(ACTIVITIES)),
        place=rng.randrange(len(PLACES)),
        time=rng.choice(TIMES),
    )


def _entailed(rng: Random, scene: Scene) -> str:
    does, moves = ACTIVITIES[scene.activity]
    where, kind = PLACES[scene.place]
    if rng.random() > CUE:  # a modifier less, or the same said otherwise: every word may occur in any class
        who = scene.who(colour=rng.random() < 0.5)
        if rng.random() < 0.5:
            return _sentence("there", scene.are, who, does)
        shorter = _sentence(who, scene.are, *rng.choice(((does,), (where,), (does, where))))
        return shorter if shorter != scene.premise() else _sentence(who, scene.are, does)
    choice = rng.random()
    if choice < 0.3:
        return _sentence(scene.who(general=True), scene.are, rng.choice((does, moves, kind)))
    if choice < 0.55:
        return _sentence("someone" if SUBJECTS[scene.subject][2] != "animal" else "something", "is", moves)
    if choice < 0.7:
        return _sentence(scene.who(), scene.are, moves, kind)
    if choice < 0.9:
        return _sentence("there", scene.are, scene.who(general=True), kind)
    return _sentence("nobody is", rng.choice(OPPOSITES))  # a negation that follows


def _neutral(rng: Random, scene: Scene) -> str:
    does, moves = ACTIVITIES[scene.activity]
    where, _ = PLACES[scene.place]
    if rng.random() > CUE:  # one detail more, of a kind that premises have too
        if not scene.colour:
            return _sentence(replace(scene, colour=rng.choice(COLOURS)).who(colour=True), scene.are, does)
        if not scene.time:
            return _sentence(scene.who(), scene.are, does, rng.choice([time for time in TIMES if time]))
    choice = rng.random()
    if choice < 0.6:
        return _sentence(scene.who(), scene.are, rng.choice((does, moves)), rng.choice(PURPOSES))
    if choice < 0.8:
        return _sentence(scene.who(extra=rng.choice(GUESSES)), scene.are, rng.choice((does, where)))
    if choice < 0.92:
        return _sentence(rng.choice(RELATIONS).format(who=scene.who(), are=scene.are))
    return _sentence("nobody else is", where)


def _contradicted(rng: Random, scene: Scene) -> str:
    does = ACTIVITIES[scene.activity][0]
    where = PLACES[scene.place][0]
    if rng.random() > CUE:  # another number, colour, activity or place: no word gives it away
        other = _changed(rng, scene)
        return _sentence(other.who(colour=True), other.are, ACTIVITIES[other.activity][0], PLACES[other.place][0])
    choice = rng.random()
    if choice < 0.3:
        return _sentence("nobody is" if rng.random() < 0.6 else "there is nobody", rng.choice((does, where)))
    if choice < 0.6:
        return _sentence(scene.who(), scene.are, "not", rng.choice((does, where)))
    if choice < 0.9:
        return _sentence(scene.who(general=rng.random() < 0.3), scene.are, rng.choice(OPPOSITES))
    return _sentence(scene.who(), scene.are, rng.choice(OPPOSITES), rng.choice(PURPOSES))


def _changed(rng: Random, scene: Scene) -> Scene:
    """The scene with one thing that cannot be as well."""
    kind = rng.randrange(4 if scene.colour else 3)
    if kind == 0:
        return replace(scene, number=(scene.number + rng.randint(1, len(NUMBERS))) % (len(NUMBERS) + 1))
    if kind == 1:
        return replace(scene, activity=(scene.activity + rng.randrange(1, len(ACTIVITIES))) % len(ACTIVITIES))
    if kind == 2:
        return replace(scene, place=(scene.place + rng.randrange(1, len(PLACES))) % len(PLACES))
    return replace(scene, colour=rng.choice([colour for colour in COLOURS if colour != scene.colour]))


def _sentence(*parts: str) -> str:
    text = " ".join(part for part in parts if part)
    return f"{text[0].upper()}{text[1:]}."
