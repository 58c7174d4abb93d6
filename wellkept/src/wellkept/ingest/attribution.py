"""Which page a fact is about, found from the words that were said, and never guessed between several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from wellkept.inflection import PROCLITIC, base_forms
from wellkept.ingest.pronouns import CLEAR_PRONOUNS, EVERYDAY, FIRST_PERSON, HONORIFICS, PRONOUNS, Fit, fits, is_person
from wellkept.ingest.sightings import FULL_NAMES, PART_NAMES, SLUG_FORMS, Names, Pages, Sighting
from wellkept.model import CandidateFact, PageRef
from wellkept.names import fold, norm
from wellkept.providers import Segment
from wellkept.providers.quotes import find_quote

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")
_POSSESSIVE = regex.compile(r"(?<=[\p{L}\p{N}])(?:['’]s|['’])\Z", regex.IGNORECASE)
_APOSTROPHE_SUFFIX = regex.compile(r"(?<=\p{L}{2})['’]\p{Ll}{1,5}\Z")
_ELISION = regex.compile(r"\A(?:[dlmtsn]|qu|dell|all|dall|nell|sull)['’](?=\p{L})", regex.IGNORECASE)
_HONORIFIC = regex.compile(r"(?<=[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}])(?:さん|ちゃん|くん|君|様|さま|씨|님)\Z")
_ARTICLE = regex.compile(r"\A(?:the|der|die|das|den|dem|le|la|les|el|los|las|il|lo|gli|i|o|a|os|as|de|het)\s+", regex.I)

_SUREST_FIRST: tuple[Fit, ...] = ("person", "they", "any", "thing")
_NEXT_NAME = regex.compile(r" (\p{Lu}[\p{L}\p{M}]+)")
_NAME_BEFORE = regex.compile(r"(\p{Lu}[\p{L}\p{M}]+)\.? \Z")


@dataclass(frozen=True, slots=True)
class Located:
    """A candidate fact and where its quote stands: which message of the segment, which characters of it."""

    candidate: CandidateFact
    message: int
    span: tuple[int, int]


def locate(segment: Segment, candidate: CandidateFact) -> Located | None:
    """The candidate with the first place where its quote was said, or None when nobody said it."""
    for place, message in enumerate(segment.messages):
        span = find_quote(message.text, candidate.quote)
        if span:
            return Located(candidate, place, span)
    return None


def attribute(names: Names, segment: Segment, found: Sequence[Located]) -> tuple[str | None, ...]:
    """The slug of the page that each fact is about, or None where it cannot be told."""
    reading = _Reading(names, segment, found)
    pages = [_resolve(reading, one) for one in found]
    return tuple(page.slug if page else None for page in pages)


def _forms(mention: str) -> tuple[str, ...]:
    """The mention and what is left of it without a possessive, a clitic or an article, the surest reading first."""
    bare = mention.strip()
    cut = (
        pattern.sub("", bare)
        for pattern in (_POSSESSIVE, _APOSTROPHE_SUFFIX, _ELISION, _HONORIFIC, _ARTICLE, PROCLITIC)
    )
    return tuple(form for form in dict.fromkeys((bare, *cut)) if norm(form))


class _Reading:
    """One segment and what is told about it. All its texts are looked up together, once one of them is needed."""

    def __init__(self, names: Names, segment: Segment, found: Sequence[Located]) -> None:
        self.names = names
        self.texts = [message.text for message in segment.messages]
        told = [text for one in found for text in (one.candidate.mention, one.candidate.fact) if text is not None]
        quotes = [self.texts[one.message][slice(*one.span)] for one in found]
        self._all = tuple(dict.fromkeys((*self.texts, *told, *quotes)))
        self._seen: dict[str, list[Sighting]] | None = None
        forms = [form for one in found for form in _forms(one.candidate.mention or "")]
        names.learn((*FULL_NAMES, *SLUG_FORMS, *PART_NAMES), forms)

    def sightings(self, text: str) -> list[Sighting]:
        """The names in one of the texts."""
        if self._seen is None:
            self._seen = dict(zip(self._all, self.names.sightings(self._all), strict=True))
        return self._seen[text]

    def certain(self, text: str) -> Pages:
        """The pages that one of the texts names beyond doubt."""
        return _distinct(one.pages[0] for one in self.sightings(text) if len(one.pages) == 1)

    def before(self, place: tuple[int, int]) -> list[PageRef]:
        """The pages named before a place in the segment, the nearest first."""
        return _in_order(one for message, one in self._named() if (message, one.end) <= place)

    def anywhere(self) -> list[PageRef]:
        """The pages named in the segment, the last one first."""
        return _in_order(one for _, one in self._named())

    def _named(self) -> Iterator[tuple[int, Sighting]]:
        for message, text in enumerate(self.texts):
            for one in self.sightings(text):
                yield message, one


def _in_order(named: Iterable[Sighting]) -> list[PageRef]:
    """The pages of the sightings, last seen first. A shared name means the one of its pages that was seen last."""
    seen: dict[str, PageRef] = {}
    for sighting in named:
        pages: Pages = sighting.pages
        if len(pages) > 1:
            known = [page for page in reversed(seen.values()) if page in pages]
            pages = tuple(known[:1])
        for page in pages:
            seen.pop(page.slug, None)
            seen[page.slug] = page
    return list(reversed(seen.values()))


def _resolve(reading: _Reading, one: Located) -> PageRef | None:
    mention = one.candidate.mention or ""
    if not norm(mention):
        return _unmentioned(reading, one)
    pages = _named_by(reading.names, mention)
    fit = PRONOUNS.get(norm(mention))
    if fit is not None and len(pages) != 1:
        return _referent(reading, one, fit)
    pages = pages or _contained(reading, mention) or _in_quote(reading, one) or _plainly(reading.names, mention)
    if len(pages) == 1:
        return pages[0]
    if pages:
        return _one_of(reading, one, pages)
    return _described(reading, one, mention)


def _named_by(names: Names, mention: str) -> Pages:
    """The page that goes by the mention, else all that share it.

    The kinds of names are tried from the surest on. A name that several pages have in full is not decided by
    the part of a name that one of them, or yet another page, happens to have.
    """
    for form in _forms(mention):
        shared: dict[str, PageRef] = {}
        for kinds, decides in (((*FULL_NAMES, *SLUG_FORMS), True), (PART_NAMES, False)):
            decides = decides or not shared
            for kind, key_of in kinds:
                pages = names.pages(kind, key_of(form))
                if len(pages) == 1 and decides:
                    return pages
                shared |= {page.slug: page for page in pages}
        if shared:
            return tuple(shared.values())
    return ()


def _contained(reading: _Reading, mention: str) -> Pages:
    """The pages named by whole words inside a longer mention; of names that overlap the longest counts."""
    sightings = [one for one in reading.sightings(mention) if not _is_half_a_name(mention, one)]
    certain = _distinct(one.pages[0] for one in sightings if len(one.pages) == 1)
    return certain or _distinct(page for one in sightings for page in one.pages)


def _in_quote(reading: _Reading, one: Located) -> Pages:
    """The pages of the name that the mention is, or is part of, where it stands in the quote."""
    message, start = _place(one, reading)
    mention = (one.candidate.mention or "").strip()
    if start >= one.span[1]:
        return ()
    around = (seen for seen in reading.sightings(reading.texts[message]) if seen.start <= start < seen.end)
    return next((seen.pages for seen in around if seen.end >= start + len(mention)), ())


def _plainly(names: Names, mention: str) -> Pages:
    """The pages that the mention names in a case form, however it is written."""
    words = mention.split()
    names.learn_inflected(words)
    return names.inflected(mention) if len(words) == 1 else ()


def _is_half_a_name(mention: str, sighting: Sighting) -> bool:
    """Whether a person's name goes on in the mention with words that are not theirs: "Ann" in "Ann Other"."""
    if not all(is_person(page) for page in sighting.pages):
        return False
    own = {fold(word) for page in sighting.pages for word in page.title.split()}
    seen = fold(mention[sighting.start : sighting.end])
    if seen.endswith("s") and seen not in own and seen[:-1] in own:
        return False
    surnames = {fold(page.title.split()[-1]) for page in sighting.pages if " " in page.title}
    after = _NEXT_NAME.match(mention, sighting.end)
    before = _NAME_BEFORE.search(mention, 0, sighting.start)
    is_surname = seen in surnames
    return _is_strange(after, own) or (is_surname and _is_strange(before, own))


def _is_strange(word: regex.Match[str] | None, own: set[str]) -> bool:
    if word is None or word[1].isupper() or norm(word[1]) in HONORIFICS | EVERYDAY | FIRST_PERSON:
        return False
    return own.isdisjoint((fold(word[1]), *base_forms(word[1])))


def _distinct(pages: Iterable[PageRef]) -> Pages:
    return tuple({page.slug: page for page in pages}.values())


def _one_of(reading: _Reading, one: Located, pages: Pages) -> PageRef | None:
    """The one of several pages that the fact names in full, else the one named nearest before, else the only one."""
    in_fact = [page for page in reading.certain(one.candidate.fact) if page in pages]
    if len(in_fact) == 1:
        return in_fact[0]
    before = [page for page in reading.before(_place(one, reading)) if page in pages]
    if before:
        return before[0]
    anywhere = [page for page in reading.anywhere() if page in pages]
    return anywhere[0] if len(anywhere) == 1 else None


def _place(one: Located, reading: _Reading) -> tuple[int, int]:
    """Where the mention stands, as a whole word of the quote; the end of the quote when it is not in there."""
    start, end = one.span
    mention = (one.candidate.mention or "").strip()
    text = reading.texts[one.message]
    pattern = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(mention)}(?![\p{{L}}\p{{N}}])"
    found = regex.search(pattern, text, regex.IGNORECASE, pos=start, endpos=end) if mention else None
    return one.message, found.start() if found else end


def _referent(reading: _Reading, one: Located, fit: Fit) -> PageRef | None:
    """Whom a pronoun means: who opens the fact in its place, else the fitting page named nearest before."""
    fact = one.candidate.fact
    spoken = norm(one.candidate.mention or "")
    if spoken not in _words(fact):
        opening = _opening(reading, fact)
        if opening and fits(fit, opening):
            return opening
    page = _nearest(reading, _place(one, reading), fit)
    if page:
        return page
    fitting = [page for page in reading.certain(fact) if fits(fit, page)]
    return fitting[0] if len(fitting) == 1 and spoken not in _words(fact) else None


def _nearest(reading: _Reading, place: tuple[int, int], fit: Fit) -> PageRef | None:
    fitting = [page for page in reading.before(place) if fits(fit, page)]
    if fit == "any":
        fitting = [page for page in fitting if is_person(page)] or fitting
    if fitting:
        return fitting[0]
    later = [page for page in reading.anywhere() if fits(fit, page)]
    return later[0] if len(later) == 1 else None


def _opening(reading: _Reading, fact: str) -> PageRef | None:
    """The page whose name opens the fact, behind an article at most."""
    sightings = reading.sightings(fact)
    article = _ARTICLE.match(fact)
    starts = {0, article.end() if article else 0}
    first = sightings[0] if sightings else None
    return first.pages[0] if first and first.start in starts and len(first.pages) == 1 else None


def _words(text: str) -> list[str]:
    return [norm(word) for word in _WORD.findall(text)]


def _described(reading: _Reading, one: Located, mention: str) -> PageRef | None:
    """The page meant by the name of its kind ("the project"), else by a description, when it was named before.

    A description ("the latter") is whoever opens the fact in its place.
    """
    before = reading.before(_place(one, reading))
    kind = norm(_ARTICLE.sub("", mention))
    page = next((page for page in before if page.type == kind), None)
    opening = None if page or kind in norm(one.candidate.fact) else _opening(reading, one.candidate.fact)
    return opening if opening in before else page


def _unmentioned(reading: _Reading, one: Located) -> PageRef | None:
    """The page a fact without a mention is about.

    That is the only page that the fact, else the quote names; else whom a pronoun in them means; else, when nobody
    speaks of themselves, the only page that was named before.
    """
    fact, quote = one.candidate.fact, reading.texts[one.message][slice(*one.span)]
    start = (one.message, one.span[0])
    fit = _pronoun_in(fact) or _pronoun_in(quote)
    other = _is_about_somebody_else(fact)
    in_quote = tuple(page for page in reading.certain(quote) if not other or (fit and fits(fit, page)))
    for text, pages in ((fact, reading.certain(fact)), (quote, in_quote)):
        if pages and not _is_about_somebody_else(text):
            return pages[0] if len(pages) == 1 else None
    if fit:
        return _nearest(reading, start, fit)
    named = reading.before(start) if FIRST_PERSON.isdisjoint(_words(fact)) else []
    return named[0] if len(named) == 1 else None


def _is_about_somebody_else(text: str) -> bool:
    """Whether the text opens with a pronoun: who it then names is not who it is about."""
    words = _words(text)
    return bool(words) and words[0] in CLEAR_PRONOUNS


def _pronoun_in(text: str) -> Fit | None:
    """What the pronouns of the text can stand for; the surest of them decides."""
    words = _words(text)
    found = {CLEAR_PRONOUNS[word] for word in words if word in CLEAR_PRONOUNS}
    if words and PRONOUNS.get(words[0]) == "thing":
        found.add("thing")
    return next((fit for fit in _SUREST_FIRST if fit in found), None)
