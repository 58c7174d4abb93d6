"""The words of a query that searches look for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

import regex  # type: ignore[import-untyped]

from wellkept.names import norm
from wellkept.recall.need import need
from wellkept.recall.spoken import spoken
from wellkept.recall.words import Speech, languages

WORDS = 64
QUERY_CHARS = 20_000
_TEXTS = 512
"""How many texts are remembered."""
COVERED = 0.5
"""The share of a query's words that speaks for what holds them, by itself."""
_HANGUL_ENDING = regex.compile(
    r"(?<=\p{Hangul}{2})(?:(?:에|에서|에게|에게서|한테|한테서|께|께서|으?로|으?로서|으?로써|까지|부터|처럼|보다|마다|밖에|조차|마저|이?랑|와|과)"
    r"(?:은|는|도|만|의)?|은|는|이|가|을|를|의|도|만|이나|이?라도|이나마)$"
)

_GLUED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_WORD = regex.compile(
    rf"(?V1)[{_GLUED}]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{_GLUED}]]+(?:['’][[\p{{L}}\p{{M}}]--[{_GLUED}]]+)*"
)
_ASCII_WORD = re.compile("[a-z0-9]+")
_IS_GLUED = regex.compile(rf"[{_GLUED}]")
_IDEOGRAPHIC = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々]")
_RELATIVE_TIME = regex.compile(
    r"\b(?:(?:in|over|during|within|for) )?(?:the )?(?:past|last|previous|this) (?:(?:\w+|a couple of) )?"
    r"(?:day|week|weekend|month|year)s?\b"
    r"|\b(?:\w+|a couple of) (?:day|week|month|year)s? (?:ago|earlier|later|before|after)\b"
    r"|\b(?:(?:the )?day before )?yesterday\b|\btoday\b",
    regex.IGNORECASE,
)
_FRAME = regex.compile(
    r"\bhow (?:many|much|long|often|old|far)(?: (?:times|different|more))?\b"
    r"|\b(?:in total|(?:the )?(?:total|overall)(?: (?:number|amount))?(?: of)?|the (?:number|amount|order) of)\b"
    r"|\bwhat (?:kind|type|sort) of\b",
    regex.IGNORECASE,
)
_CLUSTER = regex.compile(r"\X")
_GRAMMAR = regex.compile(r"\p{Hiragana}+")
_APOSTROPHE = regex.compile(r"['’]")


@lru_cache(maxsize=4)
def asked_in(query: str) -> str:
    r"""The question in a long query; the whole of one that holds none.

    >>> asked_in("ERROR at 12 in relay.py\n" * 40 + "Where is the relay?")
    'Where is the relay?'
    """
    own = spoken(query)
    return own if own == query or need(own).asks else query


def telling_words(query: str) -> tuple[str, ...]:
    """The words that a search looks for: the content words without those that only say when, or by which English asks
    for a count or an order; all of them when no others are left."""
    what = content_words(_FRAME.sub(" ", _RELATIVE_TIME.sub(" ", query[:QUERY_CHARS])))
    return what or content_words(query)


@cache
def _forms() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    text = (files(__package__) / "data" / "forms-en.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        words = () if line.startswith("#") else tuple(line.split())
        for word in words:
            found[word] = tuple(dict.fromkeys((*found.get(word, ()), *words)))
    return found


def forms(word: str) -> tuple[str, ...]:
    """The word and those that are it in another form which its ending does not tell.

    >>> forms("bought"), forms("kiln")
    (('buy', 'bought'), ('kiln',))
    """
    return _forms().get(word, (word,))


def content_words(text: str) -> tuple[str, ...]:
    """The words that carry the meaning of a text, in order, each once, at most 64; all words if none does.

    Of more the first and the last: what is asked stands before or after what was pasted. Scripts written without
    spaces are cut into overlapping pieces.
    """
    kept = _latest(text[:QUERY_CHARS])
    return kept if len(kept) <= WORDS else (*kept[: WORDS // 2], *kept[-WORDS // 2 :])


def all_content_words(text: str) -> frozenset[str]:
    """The words that carry the meaning of a text, however many."""
    return frozenset(_latest(text))


def all_words(text: str) -> frozenset[str]:
    """The words of a text, however many, whether they carry its meaning or not."""
    key = norm(text)
    if key.isascii() and "'" not in key:
        return frozenset(_ASCII_WORD.findall(key))
    return frozenset(_words(key))


def _telling(text: str) -> tuple[str, ...]:
    words = list(dict.fromkeys(_words(text)))
    speech = Speech(words)
    return tuple([word for word in words if not speech.is_hard(word)] or words)


# The facts of a source are read again on every turn, and a turn for each question that is put with it.
_latest = lru_cache(maxsize=_TEXTS)(_telling)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(norm(text)):
        if word.isascii() and "'" not in word:
            yield word
        elif _IS_GLUED.match(word):
            yield from _pieces(word)
        else:
            whole = word.replace("’", "'") in languages()[0].words("hard")
            bare = word if whole else max(_APOSTROPHE.split(word), key=len)
            yield str(_HANGUL_ENDING.sub("", bare))


def _pieces(stretch: str) -> Iterator[str]:
    """Overlapping pieces of a stretch written without spaces; hiragana alone is grammar and is left out."""
    letters = _CLUSTER.findall(stretch)
    size = 2 if _IDEOGRAPHIC.match(stretch) else 3
    if len(letters) <= size:
        yield stretch
        return
    pieces = ["".join(letters[at : at + size]) for at in range(len(letters) - size + 1)]
    yield from [piece for piece in pieces if not _GRAMMAR.fullmatch(piece)] or pieces
