"""When two spellings are one name: `norm` for the same name, `fold` for the same name without its accents."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import normalize

import regex  # type: ignore[import-untyped]

_CACHED_CHARS = 512
_SETTLING_STEPS = 8
_EAST_ASIAN_CHARS = 5
_FAMILY_CHARS = 3

_OPENERS = "\"'[(«“„‘`「『（【"
_CLOSERS = "\"'])»”“’`」』）】"

_LEADING, _TRAILING = _OPENERS + " ", _CLOSERS + " "

_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
_ACCENTED = regex.compile(r"(?V1)([[\p{Latin}\p{Greek}\p{Arabic}\p{Hebrew}]&&\p{L}])\p{M}+")
_EAST_ASIAN = regex.compile(r"[\p{Han}\p{Hangul}][\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]+")
_OPENING = regex.compile(r"[\p{L}\p{M}\p{N}_]+")
_BETWEEN_WORDS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")

# Letters that have no decomposition, or whose decomposition says too much; spellings of one apostrophe or hyphen.
_FOLDED = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ς": "σ",
        "ё": "е",
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        "ة": "ه",
        "ـ": None,
        **dict.fromkeys("’ʼʹ′`´׳", "'"),
        **dict.fromkeys("‐‑‒–—־", "-"),
    }
)
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


def norm(text: str) -> str:
    """The key under which a name is the same name, whatever its case, width, spacing or quotes.

    "" when nothing is left. `norm(norm(x)) == norm(x)`.

    >>> norm("  “Alice   EXAMPLE” ")
    'alice example'
    """
    return _cached_norm(text) if len(text) <= _CACHED_CHARS else _norm(text)


def with_space(key: str) -> tuple[str, ...]:
    """The key, and with a space after what may be a family name: Japanese titles often have one, sentences none.

    >>> with_space("山田花子")
    ('山田花子', '山 田花子', '山田 花子', '山田花 子')
    """
    if len(key) > _EAST_ASIAN_CHARS or not _EAST_ASIAN.fullmatch(key):
        return (key,)
    return (key, *(f"{key[:at]} {key[at:]}" for at in range(1, min(len(key), _FAMILY_CHARS + 1))))


def fold(text: str) -> str:
    """`norm` without the accents that people leave out when they type in a hurry.

    Marks fall only where the letter stays the same letter to its readers: Latin, Greek, Arabic and Hebrew, and
    Cyrillic ё; й, が and Indic vowel signs stay. `fold(fold(x)) == fold(x)`.

    >>> fold("Łukasz Żółć"), fold("Ёлкин й")
    ('lukasz zolc', 'елкин й')
    """
    return _cached_fold(text) if len(text) <= _CACHED_CHARS else _fold(text)


def with_umlauts(text: str) -> str:
    """The text with umlauts where it may have them spelled out.

    >>> with_umlauts("mueller")
    'müller'
    """
    return text.replace("ae", "ä").replace("oe", "ö").replace("ue", "ü")


def opening(key: str) -> str:
    """The letters and digits that a key begins with; "" where it begins with none.

    >>> opening("ida-web"), opening("#general")
    ('ida', '')
    """
    first = key.partition(" ")[0]
    if first.isalnum():
        return first
    found = _OPENING.match(key)
    return str(found[0]) if found else ""


def slugify(text: str) -> str:
    """The folded name as a slug part: letters and digits of any script, joined by single hyphens.

    >>> slugify("Café Zürich, 2nd floor")
    'cafe-zurich-2nd-floor'
    """
    return str(_BETWEEN_WORDS.sub("-", fold(text))).strip("-")


def ascii_slug(text: str) -> str:
    """The slug as people spell it on an ASCII keyboard (ü as ue); "" when a letter has no such spelling.

    >>> ascii_slug("Jürgen Groß"), ascii_slug("Анна")
    ('juergen-gross', '')
    """
    slug = slugify(normalize("NFC", norm(text)).translate(_SPELLED_OUT))
    return slug if slug.isascii() else ""


def _norm(text: str) -> str:
    if text.isascii():
        return _unquoted(" ".join(text.lower().split()))
    for _ in range(_SETTLING_STEPS):
        before = text
        text = normalize("NFKC", normalize("NFKC", text).casefold().replace("i\u0307", "i"))
        text = _unquoted(" ".join(_IGNORABLE.sub("", text).split()))
        if text == before:
            break
    return text


def _unquoted(text: str) -> str:
    return text.lstrip(_LEADING).rstrip(_TRAILING)


def _fold(text: str) -> str:
    if text.isascii() and "`" not in text:
        return norm(text)
    for _ in range(_SETTLING_STEPS):
        before = text
        letters = normalize("NFC", norm(text)).translate(_FOLDED)
        bare = _ACCENTED.sub(r"\1", normalize("NFKD", letters))
        text = norm(normalize("NFC", bare).translate(_FOLDED))
        if text == before or (text.isascii() and "`" not in text):
            break
    return text


_cached_norm = lru_cache(maxsize=16384)(_norm)
_cached_fold = lru_cache(maxsize=16384)(_fold)
