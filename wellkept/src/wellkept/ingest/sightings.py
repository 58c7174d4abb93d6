"""Where pages are named in running text, by exact look-ups of the words that stand there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from wellkept.inflection import base_forms
from wellkept.ingest.pronouns import EVERYDAY, PRONOUNS
from wellkept.model import NameKind, PageRef
from wellkept.names import fold, norm, slugify, with_space
from wellkept.storage import Store

# Scripts that put no space between words: every character may begin a name.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_TOKEN = regex.compile(
    rf"(?V1)[{_UNSPACED}ー]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+[+#]*|\p{{Extended_Pictographic}}"
)
_IS_UNSPACED = regex.compile(rf"[{_UNSPACED}]")
_HYPHEN_NAME = regex.compile(r"[-‐‑]\p{Lu}")
_NAME_HYPHEN = regex.compile(r"\p{L}[-‐‑]\Z")

_NOUN_AFTER = regex.compile(r" \p{Lu}\p{Ll}")
_INFLECTING = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]")
_SEPARATOR = regex.compile(r"[,;:!?()\[\]{}\"“”«»、。，！？\n]")

_WORDS_IN_NAME, _CHARS_IN_NAME = 6, 8
_TEXT_CHARS, _SHORTEST_ROOM = 40_000, 400
_MOST_INFLECTED = 800
_MOST_SPACED = 40_000
_KEYS_AT_ONCE = 5_000

FULL_NAMES: tuple[tuple[NameKind, Callable[[str], str]], ...] = (
    ("slug", norm),
    ("tail", norm),
    ("alias", norm),
    ("title", norm),
    ("alias-fold", fold),
    ("title-fold", fold),
)
SLUG_FORMS: tuple[tuple[NameKind, Callable[[str], str]], ...] = (("slug", slugify), ("tail", slugify))
PART_NAMES: tuple[tuple[NameKind, Callable[[str], str]], ...] = (("surname", norm), ("first", norm))
_INFLECTED: tuple[tuple[NameKind, Callable[[str], str]], ...] = (
    ("alias-fold", fold),
    ("title-fold", fold),
    ("surname", norm),
    ("first", norm),
)

_FOLDED_KINDS: tuple[NameKind, ...] = ("alias-fold", "title-fold")
_ONE_WORD_KINDS: tuple[NameKind, ...] = ("slug", "tail", "surname", "first")
_EXACT_KINDS: tuple[NameKind, ...] = ("alias", "title")

Pages = tuple[PageRef, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name of one page, or of several that share it, at characters `start` to `end` of a text."""

    start: int
    end: int
    pages: Pages


class Names:
    """The names of one source's pages, looked up in few batches and remembered."""

    def __init__(self, store: Store, source: str) -> None:
        self._store, self._source = store, source
        self._known: dict[tuple[NameKind, str], Pages] = {}

    def learn(self, kinds: Iterable[tuple[NameKind, Callable[[str], str]]], forms: Iterable[str]) -> None:
        """Look up every form that is not known yet; afterwards `pages` answers without a query."""
        forms = tuple(dict.fromkeys(forms))
        for kind, key_of in kinds:
            self._learn_keys(kind, (key_of(form) for form in forms))

    def _learn_keys(self, kind: NameKind, keys: Iterable[str]) -> None:
        new = iter([key for key in dict.fromkeys(keys) if key and (kind, key) not in self._known])
        while batch := list(islice(new, _KEYS_AT_ONCE)):
            self._known |= dict.fromkeys(((kind, key) for key in batch), ())
            for match in self._store.find_names(self._source, kind, batch):
                self._known[kind, match.key] += (match.page,)

    def pages(self, kind: NameKind, key: str) -> Pages:
        """The pages that were found under a key."""
        return self._known.get((kind, key), ())

    def sightings(self, texts: Sequence[str]) -> list[list[Sighting]]:
        """For each text the names in it, from left to right; of names that overlap the longest.

        A name is found also when its words carry a case ending. Of very long texts only beginning and end are read.
        """
        room = max(_SHORTEST_ROOM, _TEXT_CHARS // max(len(texts), 1))
        lines = [list(stretches(text, room)) for text in texts]
        every = [stretch for line in lines for stretch in line]
        self._learn_stretches(every)
        words = dict.fromkeys(one.text for one in every if " " not in one.key and _may_be_inflected(one.text))
        self.learn_inflected(islice(words, _MOST_INFLECTED))
        return [list(self._longest(text, line)) for text, line in zip(texts, lines, strict=True)]

    def _learn_stretches(self, found: Sequence[Stretch]) -> None:
        for kind in _FOLDED_KINDS:
            self._learn_keys(kind, (one.folded for one in found))
        for kind in _ONE_WORD_KINDS:
            self._learn_keys(kind, (one.key for one in found if " " not in one.key))
        # Names that are the same but for their accents are told apart only where there are any.
        named = [one for one in found if any(self.pages(kind, one.folded) for kind in _FOLDED_KINDS)]
        for kind in _EXACT_KINDS:
            self._learn_keys(kind, (one.key for one in named))
        spaced = (form for one in found for form in with_space(one.key)[1:])
        self._learn_keys("title", islice(spaced, _MOST_SPACED))

    def _longest(self, text: str, stretches: Iterable[Stretch]) -> Iterator[Sighting]:
        taken = 0
        for one in stretches:
            if one.start < taken:
                continue
            pages = self._pages_of(one) or self._owner(text, one)
            if pages and _stands_alone(text, one.start, one.end):
                taken = one.end
                yield Sighting(one.start, one.end, pages)

    def _pages_of(self, one: Stretch) -> Pages:
        everyday = one.key in EVERYDAY
        name_like = _is_name_like(one.text)
        if everyday and not name_like:
            return ()
        for kind in ("slug", "tail", "alias", "title"):
            if pages := self.pages(kind, one.key):
                return pages
        pages = self.pages("alias-fold", one.folded) or self.pages("title-fold", one.folded)
        pages = pages or _distinct(page for form in with_space(one.key)[1:] for page in self.pages("title", form))
        if not pages and name_like and not everyday:
            pages = self.pages("surname", one.key) or self.pages("first", one.key)
            pages = pages or self.inflected(one.text)
        return pages

    def _owner(self, text: str, one: Stretch) -> Pages:
        """The pages whose name stands in a genitive without apostrophe before a noun, as in "Jürgens Auto"."""
        owner = one.text[:-1]
        if not (one.text.endswith("s") and one.text[0].isupper() and _NOUN_AFTER.match(text, one.end)):
            return ()
        kinds = (*FULL_NAMES, *PART_NAMES)
        return next((pages for kind, key_of in kinds if (pages := self.pages(kind, key_of(owner)))), ())

    def learn_inflected(self, words: Iterable[str]) -> None:
        """Look up what each of the words can be a case form of; afterwards `inflected` answers without a query."""
        words = tuple(words)
        for kind, key_of in _INFLECTED:
            self._learn_keys(kind, {key for word in words for key in base_forms(word, key_of)})
        self.learn((*FULL_NAMES, *PART_NAMES), (word[:-1] for word in words if word.endswith("s")))

    def inflected(self, form: str) -> Pages:
        """The pages that the form names when each of its words may carry a case ending."""
        words = form.split()
        if len(words) > 1:
            first = self._plain_forms(words[0], _INFLECTED[2:])
            return tuple(page for page in first if _is_title(page, words))
        return self._plain_forms(form, _INFLECTED[:2]) or self._plain_forms(form, _INFLECTED[2:])

    def _plain_forms(self, word: str, kinds: Sequence[tuple[NameKind, Callable[[str], str]]]) -> Pages:
        found = (page for kind, key_of in kinds for key in base_forms(word, key_of) for page in self.pages(kind, key))
        return _distinct(found)


def _distinct(pages: Iterable[PageRef]) -> Pages:
    return tuple({page.slug: page for page in pages}.values())


def _is_title(page: PageRef, words: Sequence[str]) -> bool:
    title = page.title.split()
    return len(title) == len(words) and all(
        fold(name) in (fold(word), *base_forms(word)) for name, word in zip(title, words, strict=True)
    )


class Stretch(NamedTuple):
    """A stretch of text that may be a name, and its keys."""

    start: int
    end: int
    text: str
    key: str
    folded: str


def stretches(text: str, room: int) -> Iterator[Stretch]:
    """Every stretch that may be a name: by start, the longest first."""
    tokens = [found.span() for found in _TOKEN.finditer(text)]
    if len(text) > room:
        tokens = [span for span in tokens if span[1] <= room // 2 or span[0] >= len(text) - room // 2]
    for first, (start, _) in enumerate(tokens):
        unspaced = _IS_UNSPACED.match(text, start) is not None
        stretch = tokens[first : first + (_CHARS_IN_NAME if unspaced else _WORDS_IN_NAME)]
        found = list(_growing(text, stretch))
        yield from reversed(found[1:] if unspaced else found)


def _growing(text: str, tokens: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    """The names that the first one, two, three ... tokens may be, as far as no punctuation parts them.

    The key of several words is put together from theirs, which is the same and much cheaper.
    """
    key = folded = ""
    end = tokens[0][0]
    for place, (start, after) in enumerate(tokens):
        between, word = text[end:start], text[start:after]
        if _SEPARATOR.search(between):
            return
        gap, plain_gap = _gap(between)
        key, folded, end = key + gap + norm(word), folded + plain_gap + fold(word), after
        if place == 0 or gap != " " or word[0].isupper() or norm(word) not in EVERYDAY:
            yield Stretch(tokens[0][0], end, text[tokens[0][0] : end], key, folded)


@lru_cache(maxsize=256)
def _gap(between: str) -> tuple[str, str]:
    """What stands between two words, as it stands between them in a key and in a folded key."""
    return norm(f"x{between}x")[1:-1], fold(f"x{between}x")[1:-1]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the stretch is not half of a hyphenated name. "Ann" is not named by "Ann-Marie"."""
    if not text[start].isupper():
        return True
    return not (_HYPHEN_NAME.match(text, end) or _NAME_HYPHEN.search(text, max(0, start - 2), start))


def _is_name_like(form: str) -> bool:
    """Whether the form is written as a name, as far as its script tells."""
    return form[0].isupper() or (form[0].lower() == form[0].upper() and norm(form) not in PRONOUNS)


def _may_be_inflected(form: str) -> bool:
    return _is_name_like(form) and _INFLECTING.match(form) is not None
