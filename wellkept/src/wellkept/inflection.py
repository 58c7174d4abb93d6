"""Names as they stand in a sentence: which plain names a case form can belong to.

Endings that also tell Mario from Maria or Paul from Paula are no evidence by themselves: a form that may be another
name is none. After a preposition no nominative stands, so there they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from unicodedata import normalize

import regex  # type: ignore[import-untyped]

from wellkept.names import fold, norm

# "ending:plain,plain"; "-" is no ending.
_CYRILLIC = """
    а:-,о я:й,ь у:-,а,о ю:й,ь,я е:-,а,я,й,о и:а,я,ь ы:а і:а,я ї:я ой:а,ая ою:а,ая ей:я,а ею:я,а єю:я
    ом:-,о ем:й,ь єм:й ым:-,ый им:-,ий ім:-,ий ого:ый,ий,ой его:ий ому:ый,ий,ой ему:ий ую:ая ої:а,ая юю:яя
    ии:ия,ий ию:ия,ий ия:ий ием:ий ией:ия ью:ь ові:- еві:ь,й єві:й ові:о
"""
_GREEK = "ου:ος,ης,ο ο:ος ον:ος ης:η ας:α η:ης α:ας ην:η,ης αν:α,ας εως:η,ις"
_LATIN = """
    owi:- ovi:-,a kowi:ek kiem:ek em:- iem:- ou:a ę:a ą:a ego:y,i emu:y,i iego:i iemu:i iej:a im:i ym:y
    lle:- lla:- llä:- lta:- ltä:- ssa:- ssä:- sta:- stä:- nak:- nek:- val:- vel:- tól:- től:- hoz:- hez:- ról:- ről:-
"""
_LATIN_LONG = "y:a ie:a,- ě:a ii:ia ban:- ben:-"
_ENDINGS = (
    (regex.compile(r"\p{Cyrillic}"), _CYRILLIC, 2),
    (regex.compile(r"\p{Greek}"), _GREEK, 2),
    (regex.compile(r"\p{Latin}"), _LATIN, 3),
    (regex.compile(r"\p{Latin}"), _LATIN_LONG, 5),
)
PROCLITIC = regex.compile(r"\A(?:وال|بال|كال|فال|لل|ال|[وفبكل]|[הובלמכש])(?=[\p{Arabic}\p{Hebrew}]{3})")

# What the language of the text allows, where it is known.
_SPOKEN = {
    "pl": """
        owi:- kowi:ek kiem:ek,k em:- iem:- ą:a ę:a ego:y emu:y iego:i iemu:i iej:a ej:a im:i ym:y
        y:a i:ia,a ie:a,- ii:ia ce:ka cie:ta dzie:da rze:ra dze:ga le:ła
    """,
    "cs": "ovi:-,a em:- ou:a,á u:a y:a ě:a é:á ého:ý ému:ý ým:ý ce:ka ře:ra",
    "fi": """
        lle:- lla:- llä:- lta:- ltä:- ssa:- ssä:- sta:- stä:- n:- en:i ta:- tä:-
        sen:nen selle:nen sella:nen sellä:nen selta:nen seltä:nen sesta:nen sestä:nen seen:nen
    """,
    "hu": """
        nak:- nek:- val:- vel:- tól:- től:- hoz:- hez:- höz:- ról:- ről:- ban:- ben:- ból:- ből:- nál:- nél:-
        ánál:a énél:e ának:a ének:e ával:a ével:e ától:a étől:e ához:a éhez:e áról:a éről:e át:a ét:e
    """,
}
_AFTER_PREPOSITION = {"pl": "ka:ek,k a:-", "cs": "ka:ek,k a:-"}
_LIKE_NOMINATIVES = frozenset("а я ия а о α η ο".split())
_CASED_SCRIPT = regex.compile(r"[\p{Cyrillic}\p{Greek}]")
_SHORTEST_STEM = 3


@lru_cache(maxsize=16_384)
def base_forms(word: str, key_of: Callable[[str], str] = fold) -> tuple[str, ...]:
    """The keys of the plain forms that a single word can be a case, or a form with a small word before it, of."""
    key = normalize("NFC", norm(word))
    found: list[str] = []
    for script, endings, shortest in _ENDINGS:
        if script.match(key):
            found += _without_ending(_with_final_sigma(key), endings, shortest)
    if PROCLITIC.match(key):
        found.append(PROCLITIC.sub("", key))
    return tuple(dict.fromkeys(form for form in map(key_of, found) if form))


def spoken_base_forms(word: str, spoken: Collection[str], *, after_preposition: bool) -> tuple[str, ...]:
    """The plain forms, under `norm`, of which the word can be a case in one of the languages spoken.

    Cyrillic and Greek words need no language.

    >>> spoken_base_forms("Olgą", ["pl"], after_preposition=False)
    ('olga',)
    >>> spoken_base_forms("Marka", ["pl"], after_preposition=True)
    ('marek', 'mark')
    >>> spoken_base_forms("Marka", ["pl"], after_preposition=False)
    ()
    """
    key = normalize("NFC", norm(word))
    found: list[str] = []
    if _CASED_SCRIPT.match(key):
        for script, endings, shortest in _ENDINGS[:2]:
            if script.match(key):
                left_out = frozenset() if after_preposition else _LIKE_NOMINATIVES
                found += _without_ending(_with_final_sigma(key), endings, shortest, left_out)
    else:
        for language in (code for code in _SPOKEN if code in spoken):
            found += _without_ending(key, _SPOKEN[language], _SHORTEST_STEM)
            if after_preposition:
                found += _without_ending(key, _AFTER_PREPOSITION.get(language, ""), _SHORTEST_STEM)
    return tuple(dict.fromkeys(form for form in map(norm, found) if form != key))


def _with_final_sigma(key: str) -> str:
    return key.replace("σ", "ς") if key.endswith("σ") else key


def _without_ending(key: str, endings: str, shortest: int, left_out: Collection[str] = ()) -> Iterator[str]:
    for rule in endings.split():
        ending, _, plain = rule.partition(":")
        stem = key.removesuffix(ending)
        if stem != key and ending not in left_out and len(stem) >= shortest:
            yield from (stem + other.strip("-") for other in plain.split(","))
