"""Invented people and what is said of them, drawn from a seed, so that no memory can know a row by its words."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_ONSETS = ("B", "D", "F", "G", "H", "J", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Br", "Dr", "Kl", "Pr", "Tr")
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES = ("l", "m", "n", "r", "v", "d", "t", "lm", "nd", "rv", "st", "rk", "ld")
_ENDS = ("a", "o", "an", "en", "is", "or", "el", "un", "ith", "ane")
_TOWN_ENDS = ("ford", "wick", "holm", "stad", "mere", "dale")
_DOES = (
    ("keeps bees on the roof of the {p} ferry office", "bees", "Who looks after beehives?"),
    ("plays the oboe in the {p} orchestra", "oboe", "Who makes music with a woodwind?"),
    ("restores church organs around {p}", "organs", "Who mends old instruments with pipes?"),
    ("grows saffron behind the mill of {p}", "saffron", "Who raises an expensive spice?"),
    ("collects barometers from {p}", "barometers", "Who gathers things that measure air pressure?"),
    ("teaches falconry to the children of {p}", "falconry", "Who gives lessons with birds of prey?"),
    ("repairs typewriters in {p}", "typewriters", "Who fixes old writing machines?"),
    ("studies lichens on the walls of {p}", "lichens", "Who looks into what grows on stone?"),
    ("bakes pretzels for the market of {p}", "pretzels", "Who makes salty knotted bread?"),
    ("sails a catamaran out of {p}", "catamaran", "Who goes to sea on two hulls?"),
    ("translates sonnets for the {p} press", "sonnets", "Who puts poems of fourteen lines into other words?"),
    ("carves puppets for the theatre of {p}", "puppets", "Who makes figures on strings?"),
    ("breeds alpacas above {p}", "alpacas", "Who raises animals with fine wool?"),
    ("maps caverns below {p}", "caverns", "Who draws plans of hollows underground?"),
    ("tunes carillons from {p} to the coast", "carillons", "Who sets bells to the right pitch?"),
    ("weaves tapestries for the hall of {p}", "tapestries", "Who makes pictures of thread?"),
    ("trains huskies near {p}", "huskies", "Who works with sledge dogs?"),
    ("distils gin in a barn by {p}", "gin", "Who makes a spirit with juniper?"),
    ("photographs comets from {p}", "comets", "Who takes pictures of objects with tails in the sky?"),
    ("programs looms for the {p} mill", "looms", "Who writes code for weaving machines?"),
)
_CONTROLS = (
    "The {p} library lends ladders on Mondays",
    "The {p} school ordered chestnuts for the yard",
    "The {p} harbour bought a foghorn",
    "The {p} museum insured its meteorite",
    "The {p} choir rents a marquee in June",
    "The {p} garage keeps a spare gearbox",
    "The {p} bakery wants a second oven",
)
CONTROL_WORDS = ("ladders", "chestnuts", "foghorn", "meteorite", "marquee", "gearbox", "oven")
FILLING = (
    "meanwhile the committee went through the minutes of the last meeting and found nothing to change there",
    "somebody had left the window open again so that the papers were spread over the whole corridor",
    "the new printer works as well as the old one did which is to say that it does so on some days",
    "after lunch everyone walked along the river and talked about holidays and the price of butter",
    "the second half of the agenda was put off because the projector had to go back to the repair shop",
    "there was a long discussion of the colour of the chairs and in the end the grey ones were kept",
    "the caretaker asked once more that bicycles be left in the yard and not in front of the stairs",
    "several letters had come in the meantime and were put into the tray to be answered in due course",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said of somebody: `word` stands in no other fact of the draw, `near` asks for it in other words."""

    text: str
    name: str
    word: str
    near: str


class Draw:
    """Names and facts of one row. The same seed and row give the same ones."""

    def __init__(self, seed: str, row: str) -> None:
        self.random = Random(f"{seed}/{row}")  # noqa: S311 - names are drawn, not keys
        self._taken: set[str] = set()
        self._does = self.random.sample(_DOES, len(_DOES))

    def name(self) -> str:
        """A first name that was not given before."""
        return self._fresh(lambda: self._one(_ONSETS) + self._one(_VOWELS) + self._one(_MIDDLES) + self._one(_ENDS))

    def town(self) -> str:
        """A town that was not given before."""
        return self._fresh(
            lambda: self._one(_ONSETS) + self._one(_VOWELS) + self._one(_MIDDLES) + "e" + self._one(_TOWN_ENDS)
        )

    def scope(self) -> str:
        """A scope that was not given before."""
        return f"user-{self.name().lower()}"

    def scopes(self, count: int) -> tuple[str, ...]:
        """Some scopes."""
        return tuple(self.scope() for _ in range(count))

    def facts(self, count: int) -> list[Fact]:
        """Facts about different people, each with a word that the others do not have."""
        return [self._fact(*self._does.pop()) for _ in range(count)]

    def alike(self, count: int) -> list[Fact]:
        """Facts about different people that share their word."""
        does = self._does.pop()
        return [self._fact(*does) for _ in range(count)]

    def controls(self) -> list[str]:
        """What is kept beside what a row is about: one text with each of CONTROL_WORDS."""
        town = self.town()
        return [text.format(p=town) for text in _CONTROLS]

    def key(self) -> str:
        """Letters and digits that tell nothing."""
        return f"{self.random.getrandbits(48):012x}"

    def number(self, least: int, most: int) -> int:
        """A whole number, both bounds included."""
        return self.random.randint(least, most)

    def pick(self, choices: tuple[str, ...]) -> str:
        """One of some texts."""
        return self._one(choices)

    def long_text(self, words: int) -> list[str]:
        """Sentences of at least so many words in all."""
        told: list[str] = []
        while sum(len(sentence.split()) for sentence in told) < words:
            told.append(self._one(FILLING).capitalize() + ".")
        return told

    def _fact(self, does: str, word: str, near: str) -> Fact:
        name = self.name()
        return Fact(f"{name} {does.format(p=self.town())}", name, word, near)

    def _one(self, choices: tuple[str, ...]) -> str:
        return choices[self.random.randrange(len(choices))]

    def _fresh(self, make: object) -> str:
        assert callable(make)  # noqa: S101
        while (made := str(make())) in self._taken:
            pass
        self._taken.add(made)
        return made
