"""From sightings to pages: each arm is one way in which a name may fit, tried in the order of how sure it is.

The whole look-up costs one store query per kind of name, however long the turn is.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from wellkept.model import NameKind, PageRef, Trust
from wellkept.names import ascii_slug, fold, slugify, with_space, with_umlauts
from wellkept.recall.apart import told_apart
from wellkept.recall.candidates import Seen
from wellkept.recall.sighting import Shape, Sighting
from wellkept.storage import Store

LOG = logging.getLogger(__name__)

KEYS_PER_QUERY = 20_000
CACHED = 8192
"""How many queries keep their keys: the words of a language come again on every turn."""
_WAYS = 8
"""For how many sets of places in a text the phrases that begin there are remembered."""
FOLD_COST = 0.05
_OUTSIDE = Trust.EXTERNAL_UNTRUSTED
_WEAK_TITLE_CHARS = 4
_WEAK_SURNAME_CHARS = 5
_SURNAME_CHARS = 3
_UMLAUT_CHARS = 6


@dataclass(frozen=True, slots=True)
class Arm:
    """One way for a sighting to fit a page.

    `takes` says which sightings the arm may use, `keys` what it looks up for them. `row` is its place in the order,
    `rank` 0 for aliases and 1 for everything else.
    """

    name: str
    kind: NameKind
    confidence: float
    row: int
    rank: int
    takes: Callable[[Sighting], bool]
    keys: Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A sighting that names exactly one page, by which arm."""

    sighting: Sighting
    page: PageRef
    arm: Arm


def _itself(query: str) -> tuple[str, ...]:
    return (query,)


def _folded(query: str) -> tuple[str, ...]:
    bare = query if query.isascii() and "`" not in query else fold(query)
    if len(bare) >= _UMLAUT_CHARS and ("ae" in bare or "oe" in bare or "ue" in bare):
        return _distinct(bare, fold(with_umlauts(bare)))
    return (bare,) if bare else ()


@lru_cache(maxsize=CACHED)
def _slugs(query: str) -> tuple[str, ...]:
    return _distinct(query, slugify(query), "" if query.isascii() else ascii_slug(query))


@lru_cache(maxsize=CACHED)
def _surnames(query: str) -> tuple[str, ...]:
    umlauts = with_umlauts(query) if len(query) >= _UMLAUT_CHARS else query
    return _distinct(query, query.replace("’", "'"), query.replace("'", "’"), fold(query), umlauts)


def _distinct(*keys: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for key in keys if key))


def _strong(sighting: Sighting) -> bool:
    return not sighting.weak and not sighting.initial


def _weak(sighting: Sighting) -> bool:
    return sighting.weak


def _cased_title(sighting: Sighting) -> bool:
    if sighting.initial:
        return False
    if sighting.shape == "word":
        return len(sighting.query) >= _WEAK_TITLE_CHARS
    return sighting.shape in ("name", "handle", "code", "phrase")


def _surname(sighting: Sighting) -> bool:
    least = _WEAK_SURNAME_CHARS if sighting.shape == "word" else _SURNAME_CHARS
    return sighting.single and sighting.shape in ("name", "word", "uncased") and len(sighting.query) >= least


def _uncased(sighting: Sighting) -> bool:
    return sighting.shape == "uncased"


def _cjk(sighting: Sighting) -> bool:
    return sighting.shape in ("glued", "hangul")


def _family(sighting: Sighting) -> bool:
    """Whether the sighting is in Chinese or Japanese and somebody's name, as an honorific after it says."""
    return sighting.shape == "glued" and sighting.single


def _folds(sighting: Sighting) -> bool:
    return not sighting.initial and sighting.shape not in ("glued", "hangul", "emoji")


def _folds_title(sighting: Sighting) -> bool:
    return _cased_title(sighting) or _uncased(sighting)


ARMS: tuple[Arm, ...] = (
    Arm("alias", "alias", 0.90, 0, 0, _strong, _itself),
    Arm("alias-weak", "alias", 0.90, 1, 0, _weak, _itself),
    Arm("title", "title", 0.80, 2, 1, _cased_title, _itself),
    Arm("title-surname", "surname", 0.72, 3, 1, _surname, _surnames),
    Arm("uncased-title", "title", 0.72, 4, 1, _uncased, _itself),
    Arm("uncased-title", "tail", 0.72, 5, 1, _uncased, _itself),
    Arm("cjk-title", "title", 0.72, 6, 1, _cjk, with_space),
    Arm("cjk-title", "tail", 0.72, 7, 1, _cjk, _itself),
    Arm("title-surname", "first", 0.72, 8, 1, _family, _itself),
    Arm("alias-fold", "alias-fold", 0.90 - FOLD_COST, 9, 0, _folds, _folded),
    Arm("title-fold", "title-fold", 0.80 - FOLD_COST, 10, 1, _folds_title, _folded),
    Arm("slug-suffix", "slug", 0.60, 11, 1, _strong, _slugs),
    Arm("slug-suffix", "tail", 0.60, 12, 1, _strong, _slugs),
)
"""Every arm that is on, in the order in which they are tried."""
_KINDS = tuple(dict.fromkeys(arm.kind for arm in ARMS))


_PHRASES = (
    Sighting("", "", True, 0, 0, "phrase"),
    Sighting("", "", True, 0, 0, "uncased"),
)
_OF_PHRASES = tuple(kind for kind in _KINDS if any(arm.kind == kind and any(map(arm.takes, _PHRASES)) for arm in ARMS))
"""The kinds of name that a phrase may be which begins with an ordinary word."""


def _none(_: str) -> tuple[str, ...]:
    return ()


def _never(_: Sighting) -> bool:
    return False


TOPIC = Arm("topic", "title", 0.60, len(ARMS), 2, _never, _none)
"""Pages that a turn needs without naming any: no sighting leads to them."""

SEMANTIC = Arm("semantic", "title", 0.60, len(ARMS) + 1, 2, _never, _none)
"""Pages that a turn needs and shares hardly a word with: their vectors lead to them."""

SAID = "said"
"""What the user said in earlier conversations: no pages, but statements."""

SWITCHES: tuple[str, ...] = (TOPIC.name, SEMANTIC.name, SAID)
"""Arms that a person may switch off."""
OFF: tuple[str, ...] = (SEMANTIC.name,)
"""Those of them that are off unless somebody switches them on."""


@dataclass(frozen=True, slots=True)
class NameIndex:
    """What the store knows of the names sighted: pages by kind and key, and the arms that could not be asked.

    `queries` are those of the sightings that some page answers to. `outside` says whether a page came from outside.
    """

    pages: Mapping[NameKind, Mapping[str, Sequence[PageRef]]]
    queries: frozenset[str]
    failed: tuple[str, ...]
    outside: bool = False

    def of(self, arm: Arm, sighting: Sighting) -> Sequence[PageRef]:
        """The live pages that the arm finds for a sighting, each once."""
        known = self.pages.get(arm.kind, {})
        found: dict[str, PageRef] = {}
        for key in arm.keys(sighting.query):
            for page in known.get(key, ()):
                found.setdefault(page.slug, page)
        return tuple(found.values())


_Match = tuple[Sighting, Resolution | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """The keys to be looked up for one kind of name, and which queries have a key that is not the query itself."""

    keys: tuple[str, ...] = ()
    spelled: Mapping[str, Sequence[str]] = field(default_factory=dict)


_NOTHING = Asked()


@dataclass(frozen=True, slots=True)
class Sighted:
    """What one text may name, and what must be looked up for that: for its strong sightings, and for its weak ones."""

    sightings: Sequence[Sighting]
    strong: Mapping[NameKind, Asked]
    weak: Mapping[NameKind, Asked]


def gather(sightings: Sequence[Sighting]) -> Sighted:
    """The sightings of one text with the keys that some arm looks up for them."""
    looks: dict[_Look, dict[str, None]] = {}
    for sighting in sightings:
        look = (sighting.shape, sighting.weak, sighting.single, bool(sighting.initial))
        looks.setdefault(look, {})[sighting.query] = None
    strong = {look: queries for look, queries in looks.items() if not look[1]}
    weak = {look: queries for look, queries in looks.items() if look[1]}
    return Sighted(sightings, _asked(strong), _asked(weak))


@dataclass(frozen=True, slots=True)
class Heard:
    """A text that was read, and what was gathered of it for stores that begin names as some of its phrases do."""

    seen: Seen
    gathered: dict[tuple[int, ...], Sighted] = field(default_factory=dict)

    def sighted(self, openings: frozenset[str] | None) -> Sighted:
        """What it may name where names begin in these ways: all of it with None."""
        places = self.seen.places(openings)
        found = self.gathered.get(places)
        if found is None:
            if len(self.gathered) >= _WAYS:
                self.gathered.clear()
            found = self.gathered[places] = gather((*self.seen.found, *self.seen.phrases(places)))
        return found


def sighted_in(store: Store, source: str, texts: Sequence[Heard]) -> list[Sighted]:
    """What the texts may name in the source, without phrases that begin as none of its names does."""
    try:
        openings = store.name_openings(source, _OF_PHRASES, len(_OF_PHRASES) * sum(text.seen.size for text in texts))
    except Exception:
        LOG.exception("how names begin could not be read")
        openings = None  # asking for everything tells which arms fail
    return [text.sighted(openings) for text in texts]


def look_up(store: Store, source: str, texts: Sequence[Sighted]) -> NameIndex:
    """Ask the store for every name that an arm may need: at most one query per kind of name.

    Strong sightings come first, so that a flood of weak ones cannot crowd them out.
    """
    pages: dict[NameKind, Mapping[str, Sequence[PageRef]]] = {}
    failed: set[str] = set()
    answered: set[str] = set()
    for kind in _KINDS:
        every = [
            *(text.strong.get(kind, _NOTHING) for text in texts),
            *(text.weak.get(kind, _NOTHING) for text in texts),
        ]
        keys = list(islice(dict.fromkeys(chain.from_iterable(asked.keys for asked in every)), KEYS_PER_QUERY))
        if not keys:
            continue
        try:
            pages[kind] = _pages_by_key(store, source, kind, keys)
        except Exception:
            LOG.exception("names of kind %s could not be looked up", kind)
            failed |= {arm.name for arm in ARMS if arm.kind == kind} | {"alias-weak"}
        else:
            answered.update(pages[kind], *(asked.spelled.get(key, ()) for asked in every for key in pages[kind]))
    lost = tuple(dict.fromkeys(arm.name for arm in ARMS if arm.name in failed))
    outside = any(page.trust is _OUTSIDE for known in pages.values() for found in known.values() for page in found)
    return NameIndex(pages, frozenset(answered), lost, outside)


_Look = tuple[Shape, bool, bool, bool]
_Keys = Callable[[str], tuple[str, ...]]


def _asked(looks: Mapping[_Look, Mapping[str, None]]) -> Mapping[NameKind, Asked]:
    """What to ask for, by kind of name. Kinds that share their keys share the work."""
    questions: dict[tuple[_Keys, tuple[NameKind, ...]], dict[str, None]] = {}
    for look, queries in looks.items():
        for question in _questions(look):
            questions.setdefault(question, {}).update(queries)
    found: dict[NameKind, tuple[dict[str, None], dict[str, list[str]]]] = {}
    for (keys_of, kinds), queries in questions.items():
        keys, spelled = _spelled(keys_of, queries)
        for kind in kinds:
            all_keys, all_spelled = found.setdefault(kind, ({}, {}))
            all_keys.update(keys)
            for key, meant in spelled.items():
                all_spelled.setdefault(key, []).extend(meant)
    return {kind: Asked(tuple(keys), spelled) for kind, (keys, spelled) in found.items()}


def _spelled(keys_of: _Keys, queries: Mapping[str, None]) -> tuple[Mapping[str, None], Mapping[str, Sequence[str]]]:
    """The keys of the queries, and for those that are not the query itself which queries have them."""
    if keys_of is _itself:
        return queries, {}
    keys: dict[str, None] = {}
    spelled: dict[str, list[str]] = {}
    for query in queries:
        for key in keys_of(query):
            keys[key] = None
            if key != query:
                spelled.setdefault(key, []).append(query)
    return keys, spelled


@lru_cache(maxsize=256)
def _questions(look: _Look) -> tuple[tuple[_Keys, tuple[NameKind, ...]], ...]:
    """The ways to spell a sighting of this look as keys, each with the kinds of name that an arm looks up by them."""
    shape, weak, single, initial = look
    long = Sighting("", "x" * _WEAK_SURNAME_CHARS, weak, 0, 0, shape, single=single, initial="x" if initial else "")
    kinds: dict[_Keys, dict[NameKind, None]] = {}
    for arm in ARMS:
        if arm.takes(long):
            kinds.setdefault(arm.keys, {})[arm.kind] = None
    return tuple((keys, tuple(found)) for keys, found in kinds.items())


def _pages_by_key(store: Store, source: str, kind: NameKind, keys: Sequence[str]) -> Mapping[str, Sequence[PageRef]]:
    found: defaultdict[str, list[PageRef]] = defaultdict(list)
    for match in store.find_names(source, kind, keys):
        if match.page.source == source:
            found[match.key].append(match.page)
    if kind in ("surname", "first"):
        return {key: [page for page in pages if _is_person(page)] for key, pages in found.items()}
    return found


def _is_person(page: PageRef) -> bool:
    return page.type.casefold() == "person"


def resolve(index: NameIndex, sighted: Iterable[Sighting], text: str = "") -> tuple[Resolution, ...]:
    """The sightings of one text that name exactly one page, in text order.

    What else the text says may tell pages of one name apart.

    Where stretches overlap, the leftmost and then longest that is any page's name counts, even if it is the name
    of several and so of none: in "May Reed", May alone is not asked about.
    """
    found: list[_Match] = []
    answered = index.queries
    for sighting in sighted if answered else ():
        if sighting.query not in answered:
            continue
        resolution, is_name = _fit(index, sighting, text)
        if is_name:
            found.append((sighting, resolution))
    matched = list(_agreed(found))
    matched.sort(
        key=lambda pair: (pair[0].start, -pair[0].end, pair[1] is None, _row(pair[1]), pair[0].variant, pair[0].query)
    )
    kept: list[Resolution] = []
    free = -1
    for sighting, resolution in matched:
        if sighting.start >= free:
            free = sighting.end
            if resolution is not None:
                kept.append(resolution)
    return tuple(kept)


def _agreed(found: Sequence[_Match]) -> Iterator[_Match]:
    """The matches that stand: a case form counts where nothing is named literally, and if all its readings agree."""
    literal = {(sighting.start, sighting.end) for sighting, _ in found if not sighting.inflected}
    readings: defaultdict[tuple[int, int], set[str | None]] = defaultdict(set)
    for sighting, resolution in found:
        if sighting.inflected:
            readings[sighting.start, sighting.end].add(resolution.page.slug if resolution else None)
    for sighting, resolution in found:
        span = sighting.start, sighting.end
        if not sighting.inflected:
            yield sighting, resolution
        elif span not in literal:
            yield sighting, resolution if len(readings[span]) == 1 else None


def _row(resolution: Resolution | None) -> int:
    return resolution.arm.row if resolution else len(ARMS)


def _can_be(page: PageRef, sighting: Sighting) -> bool:
    """Whether what stands around the name leaves room for this page."""
    first = fold(page.title)[:1]
    return page.type.casefold() not in sighting.excludes and (not sighting.initial or first == sighting.initial)


def _fit(index: NameIndex, sighting: Sighting, text: str) -> tuple[Resolution | None, bool]:
    """The page a sighting names, and whether it is a name at all.

    What came from outside is named only where nothing else is: it takes no name from a page, and makes none unclear.
    """
    found = _fit_among(index, sighting, text, lambda page: page.trust is not _OUTSIDE)
    if index.outside and not found[1]:
        return _fit_among(index, sighting, text, lambda page: page.trust is _OUTSIDE)
    return found


def _fit_among(
    index: NameIndex, sighting: Sighting, text: str, counts: Callable[[PageRef], bool]
) -> tuple[Resolution | None, bool]:
    """The same among some of the pages.

    A name that several pages share is nobody's, unless the text tells which: a less exact arm may not guess after
    that. Only an exact title still tells between pages that share an alias.
    """
    shared = False
    for arm in ARMS:
        if arm.name in index.failed or not arm.takes(sighting):
            continue
        if shared and arm.kind != "title":
            continue
        pages = [page for page in index.of(arm, sighting) if counts(page) and _can_be(page, sighting)]
        if len(pages) == 1:
            return Resolution(sighting, pages[0], arm), True
        if len(pages) > 1 and (page := told_apart(pages, text)):
            return Resolution(sighting, page, arm), True
        shared = shared or len(pages) > 1
    return None, shared
