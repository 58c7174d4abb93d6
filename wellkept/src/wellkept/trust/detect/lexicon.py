"""What words do in a sentence, in many languages: what an order to a reader is made of.

A file of `words/` per language, a line per kind: `kind: word word ...`. `_` stands between the words of a phrase and
`*` for any ending; accents and case do not count. Verbs stand in the forms of an order (imperative, infinitive, polite
forms), so that a report of what somebody did is not taken for one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from unicodedata import category, normalize

from wellkept.trust.normal import flat

KINDS: Mapping[str, str] = {
    "ignore": "sets rules aside",
    "rules": "what a reader goes by",
    "prior": "which of them",
    "reader": "an assistant, an agent, a model",
    "user": "whom the reader works for",
    "memory": "orders to remember",
    "memory_place": "where is remembered",
    "lasting": "from now on, until further notice",
    "later": "in future, every time, by default",
    "always": "always, never",
    "do": "orders of any other kind",
    "send": "orders to give away",
    "alter": "orders to change, remove, allow",
    "take": "orders to fetch",
    "secret": "what gives access",
    "prompt": "what the reader was told before",
    "reveal": "orders to show",
    "hide": "without telling, without asking",
    "prefer": "wishes, consents, commitments",
    "broken": "does not work",
    "tool": "what an assistant uses",
    "avoid": "orders not to use",
    "confirmed": "has been confirmed",
    "must": "has to, please",
    "when": "on which occasion",
    "limits": "what restrains a reader",
    "without": "without, no",
    "role": "orders to be another",
    "note": "calls a reader",
    "reply": "what the reader will say",
    "new": "new, real, urgent",
    "mine": "my, your",
    "asset": "what somebody owns",
    "done": "is to be done to something",
    "topic": "what comes up",
    "copy": "orders to hand on",
    "itself": "the text that says so",
    "agreed": "you agreed, as agreed",
    "deal": "an agreement",
    "obey": "do what it says",
    "you": "you, your",
    "account": "where money goes",
    "pay": "money that goes",
    "every": "every, each, all",
    "retract": "no longer, wrong, changed",
    "coded": "is written in a code, or orders to read it",
    "meta": "tells of attacks and examples",
    "place": "an address; no word",
    "first": "begins a clause; no word",
    "end": "the border of a sentence; no word",
}
"""What a word may do, and what that means."""

BIT: Mapping[str, int] = {kind: 1 << at for at, kind in enumerate(KINDS)}
ORDERS = ("ignore", "memory", "do", "send", "alter", "take", "reveal", "avoid", "role", "hide", "copy")

_WITHOUT_SPACES = ("zh", "ja")
_UNMISTAKABLE = ("hi", "ja", "ko", "pl", "ru", "tr", "uk", "zh")
"""Languages whose forms that order are no other forms too, or do not stand first."""
_PREFIXES: Mapping[str, str] = {"hebrew": "והבלמשכ", "arabic": "وفبلكا"}
"""Small words that are written as one with the next."""
_QUOTE = {ord(mark): "'" for mark in "’ʼ`´"}


def bits(kinds: str) -> int:
    """Kinds of words as one number.

    >>> bits("ignore prior") == BIT["ignore"] | BIT["prior"]
    True
    """
    return sum(BIT[kind] for kind in kinds.split())


@lru_cache(maxsize=1 << 16)
def plain(word: str) -> str:
    """A word without case, accents and look-alikes.

    >>> plain("Précédentes"), plain("IGNОRE")
    ('precedentes', 'ignore')
    """
    if word.isascii():
        return word.lower()
    bare = "".join(letter for letter in normalize("NFKD", flat(word)) if category(letter) != "Mn")
    return bare.translate(_QUOTE)


class Phrases:
    """The phrases that begin with one word, by their second."""

    def __init__(self) -> None:
        self._by_second: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        self._by_stem: list[tuple[str, tuple[str, ...], int]] = []

    def add(self, words: list[str], does: int) -> None:
        """Add one, without its first word."""
        second, *rest = words
        if second.endswith("*"):
            self._by_stem.append((second[:-1], tuple(rest), does))
        else:
            self._by_second[second].append((tuple(rest), does))

    def after(self, second: str) -> list[tuple[tuple[str, ...], int]]:
        """What may follow the first and this word, each with what the whole does."""
        found = self._by_second.get(second, [])
        if not self._by_stem:
            return found
        return found + [(rest, does) for stem, rest, does in self._by_stem if second.startswith(stem)]


class _Words:
    """The words of all languages, in their plain form, by how they are looked up."""

    def __init__(self) -> None:
        self.whole: dict[str, int] = defaultdict(int)
        self.stems: dict[str, int] = defaultdict(int)
        self.phrases: dict[str, Phrases] = defaultdict(Phrases)
        self.unspaced: dict[str, int] = defaultdict(int)
        for file in files(__package__).joinpath("words").iterdir():
            language = file.name.removesuffix(".txt")
            for kind, entries in re.findall(r"^(\w+):((?:.+\n?(?: .*\n?)*))", file.read_text("utf-8"), re.MULTILINE):
                first = BIT["first"] if language in _UNMISTAKABLE and kind in ORDERS else 0
                for entry in entries.split():
                    self._add(entry, BIT[kind] | first, language)

    def _add(self, entry: str, does: int, language: str) -> None:
        if language in _WITHOUT_SPACES and not entry.isascii():
            self.unspaced[entry] |= does
            return
        first, *rest = (plain(part) for part in re.split("[_-]", entry))
        if rest:
            self.phrases[first].add(rest, does)
        elif first.endswith("*"):
            self.stems[first[:-1]] |= does
        else:
            self.whole[first] |= does


def _longest_first(item: tuple[str, int]) -> int:
    return -len(item[0])


_WORDS = _Words()
_LONGEST_STEM = max(map(len, _WORDS.stems))
PHRASES: Mapping[str, Phrases] = _WORDS.phrases
"""By their first word."""
UNSPACED: Mapping[str, list[tuple[str, int]]] = {
    first: sorted((one for one in _WORDS.unspaced.items() if one[0][0] == first), key=_longest_first)
    for first in {entry[0] for entry in _WORDS.unspaced}
}
"""Of scripts without spaces, by the first letter: what stands anywhere in a text, and what it does; long ones first."""


@lru_cache(maxsize=1 << 16)
def look_up(token: str) -> tuple[str, int, bool]:
    """The plain form of a word, what it does by itself, and whether a phrase may begin with it.

    Anything else is the border of a sentence.
    """
    form = plain(token)
    if not (form[:1].isalnum() or form[-1:].isalnum()):
        return "", BIT["end"], False
    does = _known(form)
    if not does and "\u0590" <= form[0] <= "\u06ff":
        prefixes = _PREFIXES["hebrew" if form < "\u0600" else "arabic"]
        for cut in range(1, min(4, len(form) - 1)):
            if form[cut - 1] not in prefixes:
                break
            does = does or _known(form[cut:])
    return form, does, form in PHRASES


def _known(form: str) -> int:
    does = _WORDS.whole.get(form, 0)
    for cut in range(2, min(len(form), _LONGEST_STEM) + 1):
        does |= _WORDS.stems.get(form[:cut], 0)
    return does
