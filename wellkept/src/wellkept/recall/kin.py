"""Which words of two texts are the same word in other forms, without a dictionary of any language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import regex  # type: ignore[import-untyped]

from wellkept.inflection import PROCLITIC
from wellkept.names import fold
from wellkept.recall.words import Speech, languages, read_sections, surely_spoken

_GLUED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_TOKEN = regex.compile(
    rf"(?V1)(?P<glued>[{_GLUED}]+)|(?P<word>[[\p{{L}}\p{{M}}\p{{N}}]--[{_GLUED}]]+(?:['’][[\p{{L}}\p{{M}}]--[{_GLUED}]]+)*)"
)
_ASCII_WORD = re.compile("[a-z0-9]+(?:'[a-z]+)*")
"""The words of `_TOKEN` in a folded text of ASCII letters, of which there are many."""
_IDEOGRAPHIC = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々]")
_KANA = regex.compile(r"\p{Hiragana}+")
_CLUSTER = regex.compile(r"\X")
_LATIN = regex.compile(r"\p{Latin}")
_HANGUL = regex.compile(r"\p{Hangul}")
_ABJAD = regex.compile(r"[\p{Arabic}\p{Hebrew}]")

_COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu"})
_SHORT_ENDINGS = frozenset({"", "s", "es", "ed", "ing", "er", "en", "e", "n", "a", "i", "in"})
_CASE_ENDINGS = _SHORT_ENDINGS | frozenset(
    """u y o em om ou nun nin dan den tan ten lar ler yla yle nda nde na ne da de ta te ya ye yi yu si su im um lu li
    ssa sta lla lta lle ksi nak nek ban ben bol val vel hoz hez ert ing ings ers""".split()
)
_PIECES = 24
_SHARED_START = 2
"""Letters with which all forms of a word begin."""
TELLING = 0.5
"""The weight of a word from which it tells something by itself."""
_SAME = 0.8
_SLIP_CHARS = 5
_TWO_SLIPS_CHARS = 10
_SURELY = 0.75


@dataclass(frozen=True, slots=True)
class Term:
    """A word that carries meaning, folded; `weight` is how much it says by itself, from 0 to 1.

    `glued` says that it is a stretch written without spaces, in which words are yet to be found.
    """

    key: str
    weight: float
    glued: bool = False

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def words(self) -> float:
        """How many words a stretch may hold; 1 for a word."""
        return min(3.0, len(self.key) / (2.5 if _IDEOGRAPHIC.match(self.key) else 6)) if self.glued else 1.0

    def beginnings(self) -> tuple[str, ...]:
        """What other forms of the word begin with too, for looking them up."""
        if self.glued:
            return _pieces(self.key)
        size = len(self.key)
        bare = PROCLITIC.sub("", self.key) if _ABJAD.match(self.key) else self.key
        if _HANGUL.match(self.key):
            return (self.key[: max(2, size - 2)],)
        if bare != self.key:
            return (self.key, bare[: max(3, len(bare) - 2)])
        return (self.key[: size if size <= 4 else 4 if size <= 6 else 5],)


@lru_cache(maxsize=64)
def terms(text: str) -> tuple[Term, ...]:
    """The words of a text that carry meaning, each once, in order."""
    found: dict[str, Term] = {}
    words = [(match["word"], match["glued"]) for match in _TOKEN.finditer(fold(text))]
    hard = _function_words(text)
    for word, glued in words:
        if glued:
            for stretch in _telling(glued):
                found.setdefault(stretch, Term(stretch, 1.0, glued=True))
            continue
        bare = word.replace("’", "'")
        if bare in hard:
            continue
        key = bare.split("'")[0] if len(bare.split("'")[0]) > 1 else bare.replace("'", "")
        if len(key) > 1 and key not in hard and not any(likeness(key, other, False) >= _SAME for other in found):
            found[key] = Term(key, _weight(key))
    return tuple(found.values())


def _weight(key: str) -> float:
    if key in _generic():
        return 0.3
    if key.isdigit():
        return 0.5
    if any(map(str.isdigit, key)):
        return 1.0
    return min(1.0, 0.5 + 0.1 * len(key))


@cache
def _generic() -> frozenset[str]:
    listed = frozenset(fold(word) for words in read_sections("generic.txt").values() for word in words)
    return listed.union(*(frozenset(map(fold, language.words("soft"))) for language in languages()))


@lru_cache(maxsize=256)
def _function_words(text: str) -> frozenset[str]:
    speech = Speech(dict.fromkeys(match[0].replace("’", "'") for match in _TOKEN.finditer(text.casefold())))
    return frozenset().union(*(_hard(code) for code in speech.likely))


@cache
def _hard(code: str) -> frozenset[str]:
    return frozenset(fold(word) for language in languages() if language.code == code for word in language.words("hard"))


@cache
def _glue() -> regex.Pattern[str]:
    words = sorted(read_sections("glue.txt")["glue"], key=len, reverse=True)
    return regex.compile("|".join(map(regex.escape, words)))


def _telling(stretch: str) -> Iterator[str]:
    """What is left of a stretch without its function words."""
    for part in _glue().split(stretch):
        if part and not _KANA.fullmatch(part) and len(part) > (0 if _IDEOGRAPHIC.match(part) else 2):
            yield part


def _pieces(stretch: str) -> tuple[str, ...]:
    letters = _CLUSTER.findall(stretch)
    size = 2 if _IDEOGRAPHIC.match(stretch) else 4
    if len(letters) <= size:
        return (stretch,)
    return tuple("".join(letters[at : at + size]) for at in range(len(letters) - size + 1))[:_PIECES]


def likeness(one: str, other: str, compounds: bool) -> float:
    """How surely two folded words are forms of one: 1 for the same, 0 for different words."""
    if one == other:
        return 1.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if one.isdigit() or other.isdigit() or len(short) < 2:
        return 0.0
    plain = short.isascii()
    if not plain and _ABJAD.match(short):
        short, long = sorted((PROCLITIC.sub("", one), PROCLITIC.sub("", other)), key=len)
        if short == long:
            return 0.95
    shared = _shared(short, long)
    if not plain and _HANGUL.match(short):
        return 0.9 if shared >= 2 and len(short) - shared <= 1 and len(long) - shared <= 3 else 0.0
    left, right = len(short) - shared, len(long) - shared
    if short[0].isalpha() if plain else _LATIN.match(short):
        if shared == 3 and left == 0 and long[3:] in _SHORT_ENDINGS:
            return 0.8
        if shared == 4 and short[4:] in _CASE_ENDINGS and long[4:] in _CASE_ENDINGS:
            return 0.85 if left == 0 else 0.55
        if shared >= 5 and left <= 3 and right <= 5:
            return 0.9 if left == 0 else 0.7
        return _compound(short, long, compounds)
    if shared >= 3 and left <= 2 and right <= 3 and shared >= left + 2:
        return 0.9 if shared >= 4 else 0.7
    return 0.75 if shared >= 5 and left <= 3 and right <= 4 else 0.0


def _compound(short: str, long: str, compounds: bool) -> float:
    if len(short) >= (4 if compounds else 7) and (long.startswith(short) or long.endswith(short)):
        return 0.75
    if compounds and len(short) >= 6 and long.startswith(short[:-1]):
        return 0.7
    return 0.0


def _surely_another(key: str, word: str) -> bool:
    """Whether a word surely has no `likeness` with a key of ASCII letters: neither begins nor ends as it does."""
    return word.isascii() and not word.startswith(key[:3]) and not word.endswith(key) and not key.endswith(word)


def _with_ending(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and long.removeprefix(short) in ("s", "es")


def _shared(one: str, other: str) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def is_slip(name: str, title: str) -> bool:
    """Whether a name is the title but for a slip of the keys in one of its words or two.

    Each word begins alike, is no shortened or lengthened form, and differs by one letter changed, left out, doubled or
    swapped with the next, from ten letters on by two. Of several words one is exact.
    """
    said, known = fold(name).split(), fold(title).split()
    if len(said) != len(known) or said == known:
        return False
    pairs = [(one, other) for one, other in zip(said, known, strict=True) if one != other]
    return len(pairs) <= max(1, len(said) - 1) and all(map(_is_slip_of, *zip(*pairs, strict=True)))


def _is_slip_of(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _SLIP_CHARS or one[0] != other[0] or one.isdigit() or other.isdigit():
        return False
    return _slips(short, long) <= (2 if len(short) >= _TWO_SLIPS_CHARS else 1)


def _slips(one: str, other: str) -> int:
    """Letters changed, left out or put in, or neighbours swapped, to make one word of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for place, against in enumerate(other, 1):
            cost = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != against))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == against:
                cost = min(cost, earlier[place - 2] + 1)
            row.append(cost)
    return row[-1]


def _words(folded: str) -> Iterable[str]:
    """The words of a folded text, but for what is written without spaces."""
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    return [word for match in _TOKEN.finditer(folded) if (word := match["word"])]


class Reading:
    """A text, sentence by sentence, in which words are looked for."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._folded = [fold(sentence) for sentence in sentences]
        self._places: dict[str, list[int]] = {}
        for place, sentence in enumerate(self._folded):
            for word in _words(sentence):
                self._put(word, place)
                if "'" in word or "’" in word:
                    self._put(word.replace("’", "'").split("'")[0], place)
        self._compounds = not _COMPOUNDING.isdisjoint(surely_spoken(self._places))
        self._by_start: dict[str, list[str]] = {}
        for word in self._places:
            self._by_start.setdefault(word[:_SHARED_START], []).append(word)

    def _put(self, word: str, place: int) -> None:
        places = self._places.setdefault(word, [])
        if not places or places[-1] != place:
            places.append(place)

    def matches(self, term: Term) -> Sequence[float]:
        """For every sentence how surely the term stands in it."""
        if term.glued:
            return [_covered(term.key, sentence) for sentence in self._folded]
        found = [0.0] * len(self._folded)
        words = self._may_be(term)
        if term.key.isascii() and term.key[0].isalpha():
            words = [word for word in words if not _surely_another(term.key, word)]
        for word in words:
            if alike := likeness(term.key, word, self._compounds):
                for place in self._places[word]:
                    found[place] = max(found[place], alike)
        return found

    def _may_be(self, term: Term) -> Iterable[str]:
        """The words that can be forms of the term: where words are joined or begin with a small word, any can."""
        if self._compounds or _ABJAD.match(term.key):
            return self._places
        return self._by_start.get(term.key[:_SHARED_START], ())

    def names(self, term: Term) -> bool:
        """Whether the term stands in the text as a name does: whole, or with an ending more or less."""
        if term.key in self._places:
            return True
        if not _LATIN.match(term.key):
            return max(self.matches(term), default=0.0) >= _SURELY
        return any(_with_ending(word, term.key) for word in self._by_start.get(term.key[:_SHARED_START], ()))

    def says(self, name: str) -> bool:
        """Whether the name stands in the text, letter by letter."""
        key = fold(name)
        return any(key in sentence for sentence in self._folded)


def _covered(stretch: str, text: str) -> float:
    """How much of a stretch stands in the text, in pieces long enough to be words."""
    letters = _CLUSTER.findall(stretch)
    least = 2 if _IDEOGRAPHIC.match(stretch) else 4
    if len(letters) < least:
        return 1.0 if least == 2 and stretch in text and not _KANA.match(stretch) else 0.0
    at = covered = 0
    while at < len(letters):
        size = 0
        while at + size < len(letters) and "".join(letters[at : at + size + 1]) in text:
            size += 1
        if size >= least:
            covered += size
            at += size
        else:
            at += 1
    return covered / len(letters)
