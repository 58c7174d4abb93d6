"""Whether a turn asks for what is kept: the words that show it, in many languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import regex  # type: ignore[import-untyped]

from wellkept.names import norm
from wellkept.recall.words import Speech, is_noun, languages

_UNSPACED = ("th", "ja", "zh", "ko")
_ALWAYS = ("en", "ru", "uk", "el", "ar", "he", "fa", "hi")
_SHORTEST_WITH_ENDING = 4
_LISTS = 1024
"""How many lists are kept ready: one for each use and each set of languages that some turn spoke."""
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}]+)*")
_SENTENCE = regex.compile(r"(?<=[.!?…。！？؟;:])\s+|\n+|\s[-–—]\s")
_CLAUSE = regex.compile(r"[.!?…,;:()\n]\s*|\s[-–—]\s|\s(?:and|or|but|so|und|oder|aber|et|ou|y|o|e|en|of|och|eller)\s")


@dataclass(frozen=True, slots=True)
class Need:
    """What the words of a turn show: it asks, recalls something earlier, is about us, gives an order, and so on."""

    asks: bool
    pointed: bool
    earlier: bool
    ours: bool
    mine: bool
    orders: bool
    at_large: bool
    back: bool
    chat: bool


@lru_cache(maxsize=16)
def need(text: str) -> Need:
    """What the words of a turn show."""
    key = norm(text)
    words = [match[0].replace("’", "'") for match in _WORD.finditer(key)]
    clauses = {found[0].replace("’", "'") for part in _CLAUSE.split(key) if (found := _WORD.search(part))}
    opening = {found[0].replace("’", "'") for part in _SENTENCE.split(key) if (found := _WORD.search(part))}
    codes = _codes(words)
    said = _Said(key, frozenset(words), f" {' '.join(words)} ")
    return Need(
        asks=any(mark in text for mark in "?？؟") or _shows("asks", codes, said) or _heads("opens", codes, clauses),
        pointed=_shows("pointed", codes, said),
        earlier=_shows("earlier", codes, said),
        ours=_shows("ours", codes, said) or _ends("we-end", codes, words),
        mine=_shows("mine", codes, said),
        orders=_heads("orders", codes, opening) or _within("orders", key),
        at_large=_shows("at-large", codes, said),
        back=_shows("back", codes, said),
        chat=_shows("chat", codes, said),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn under `norm`, its words, and its words with a space around each."""

    key: str
    words: frozenset[str]
    spaced: str


def _codes(words: Iterable[str]) -> tuple[str, ...]:
    """The languages whose lists count: those that function words show, and those of a word that no other has."""
    said = dict.fromkeys(words)
    own = _owners()
    told = sorted(Speech(said).likely | {own[word] for word in said if word in own})
    return tuple(dict.fromkeys((*_ALWAYS, *told)))


@cache
def _owners() -> dict[str, str]:
    """The words of the lists that only one language has, and English not at all: word -> language."""
    found: dict[str, set[str]] = {}
    for section, words in _lists().items():
        for word in () if section.startswith("we-end") else words:
            found.setdefault(word, set()).add(section.rpartition(".")[2])
    for language in languages():
        for word in language.words("hard") & found.keys():
            found[word].add(language.code)
    return {
        word: min(codes) for word, codes in found.items() if len(codes) == 1 and len(word) > 2 and not is_noun(word)
    }


def _shows(use: str, codes: tuple[str, ...], said: _Said) -> bool:
    words, phrases = _spoken(use, codes)
    return not words.isdisjoint(said.words) or any(map(said.spaced.__contains__, phrases)) or _within(use, said.key)


@lru_cache(maxsize=_LISTS)
def _spoken(use: str, codes: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The single words of a list in these languages, and its phrases with a space around each."""
    listed = _listed(use, codes)
    return frozenset(one for one in listed if " " not in one), tuple(f" {one} " for one in listed if " " in one)


@lru_cache(maxsize=_LISTS)
def _listed(use: str, codes: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(_phrases(f"{use}.{code}") for code in codes))


def _heads(use: str, codes: tuple[str, ...], heads: set[str]) -> bool:
    return not heads.isdisjoint(_listed(use, codes))


def _ends(use: str, codes: tuple[str, ...], words: Iterable[str]) -> bool:
    endings = tuple(_listed(use, codes))
    return any(word.endswith(endings) and len(word) > _SHORTEST_WITH_ENDING for word in words)


def _within(use: str, key: str) -> bool:
    return any(map(key.__contains__, _unspaced(use, key.isascii())))


@cache
def _unspaced(use: str, in_ascii: bool) -> tuple[str, ...]:
    """What a list has in the scripts without spaces; of that little can stand in a text of ASCII letters."""
    return tuple(phrase for phrase in _listed(use, _UNSPACED) if phrase.isascii() or not in_ascii)


def _phrases(section: str) -> frozenset[str]:
    return _lists().get(section, frozenset())


@cache
def _lists() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    section = ""
    for line in (files(__package__) / "data" / "need.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif not line.startswith("#"):
            found.setdefault(section, set()).update(norm(word.replace("_", " ")) for word in line.split())
    return {name: frozenset(words) for name, words in found.items()}
