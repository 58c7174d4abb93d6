"""What a session starts with: the memory that bears on a goal, sorted by what it is for, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import regex  # type: ignore[import-untyped]

from wellkept.errors import NotFound
from wellkept.model import (
    ContextPack,
    Fact,
    Hit,
    Intent,
    Item,
    Layer,
    Omitted,
    PackItem,
    Page,
    Section,
    Trust,
)
from wellkept.names import norm
from wellkept.recall.card import entity_card
from wellkept.recall.fused import Asked, Search, recalled
from wellkept.recall.outdated import Piece, outdated
from wellkept.recall.render import MARKER, one_line, shorten, stored_text, told_shortly
from wellkept.recall.said import tells
from wellkept.recall.unasked import HIDDEN, work_status
from wellkept.state import is_current
from wellkept.storage import Store
from wellkept.trust.envelope import enveloped, fresh_nonce

CAPS: Mapping[Layer, int] = {"wake": 8, "recall": 24, "deep_search": 50}
"""How many items a layer holds at most."""

TITLES: Mapping[str, str] = {
    "active_work": "Active work",
    "decisions": "Decisions",
    "constraints": "Constraints",
    "gotchas": "Gotchas",
    "procedures": "Procedures",
    "planning": "Planning",
    "ideation": "Ideas",
    "artifacts": "Documents",
    "verification": "Checks",
    "prior_art": "Prior art",
    "recent_memory": "Recent memory",
    "domain": "Background",
}
"""The facets: what an item is for -> its heading."""

FACETS: Mapping[str, str] = {
    **dict.fromkeys(("task", "active_task", "epic", "project"), "active_work"),
    **dict.fromkeys(("decision", "claim", "commitment"), "decisions"),
    **dict.fromkeys(("rule", "guide", "preference"), "constraints"),
    "error_pattern": "gotchas",
    **dict.fromkeys(("pattern", "procedure"), "procedures"),
    "plan": "planning",
    "idea": "ideation",
    "document": "artifacts",
    **dict.fromkeys(("session", "episode", "note", "conversation", "event"), "recent_memory"),
    "check": "verification",
}
"""The type of a page, or the kind of a fact -> its facet. Whatever is not listed is background."""

_BUILD = ("active_work", "decisions", "constraints", "procedures", "gotchas", "prior_art", "artifacts", "recent_memory")
_IDEATE = ("decisions", "constraints", "ideation", "prior_art", "domain", "gotchas", "recent_memory")
_LEARN = ("recent_memory", "domain", "procedures", "gotchas", "decisions", "artifacts")
ORDERS: Mapping[Intent, tuple[str, ...]] = {
    "build": _BUILD,
    "plan": ("decisions", "constraints", "active_work", "planning", "prior_art", "gotchas", "recent_memory"),
    "ideate": _IDEATE,
    "decide": _IDEATE,
    "review": ("constraints", "decisions", "gotchas", "verification", "active_work", "recent_memory"),
    "debug": ("gotchas", "procedures", "recent_memory", "decisions", "artifacts", "active_work"),
    "learn": _LEARN,
    "research": _LEARN,
    "general": ("recent_memory", *_BUILD[:-1], "domain"),
}
"""Which facets come first for what the session is about; the others follow in the order of TITLES."""

ITEM_CHARS = 1200
NEWEST_PAGES, NEWEST_FACTS = 40, 20
"""How many of each a session begins with at most, where its goal is not known."""
LAST_STATEMENTS = 5
"""Of what the user said in the last conversation a session begins with the last so many sentences."""
SAID_CHARS = 200
_STATEMENTS_READ = 40
_CONSIDERED = 500
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
_CONTENT_SHARE = 0.85
_DONE = frozenset({"done", "closed", "completed", "finished", "cancelled", "shipped"})
_LINK = regex.compile(r"\[\[([^\[\]|\n]{1,512})(?:\|[^\[\]\n]*)?\]\]")


def context_pack(
    store: Store,
    search: Search,
    source: str,
    goal: str,
    *,
    entities: Sequence[str],
    intent: Intent,
    layer: Layer,
    limit: int,
    related: int,
    tokens: int,
    now: datetime,
) -> ContextPack:
    """The memory that bears on a goal: what `entities` name first, then what the goal recalls.

    Facets take turns in the order of the intent, best first, until the layer's cap or `limit`; then what fits into the
    budget stays. What does not is named in `omitted`, with the reason. The same memory gives the same pack.
    """
    omitted: list[Omitted] = []
    named = list(_named(store, source, entities, omitted, now))
    found = list(_recalled(store, search, source, goal, 3 * CAPS[layer], now))
    about = _About(goal, intent, layer, min(limit, CAPS[layer]), tokens)
    items = [*_up_to_date(store, source, named, now), *found]
    return _packed(about, items, omitted, lambda item: _related(store, source, item, related))


def opening_pack(store: Store, source: str, since: datetime, tokens: int, mark: str, *, now: datetime) -> ContextPack:
    """The pack of a session whose goal nobody knows yet: in place of what a goal recalls the newest pages and facts.

    Facts are those told since a moment, as is what the user said in the last conversation. `mark` is the line that the
    text begins with.
    """
    pages = sorted(store.pages(source, _CONSIDERED), key=lambda page: (-_age_key(page.updated_at), page.slug))[
        :NEWEST_PAGES
    ]
    current = [fact for fact in store.facts(source, since=since) if is_current(fact, now)]
    facts = sorted(current, key=lambda fact: (-_age_key(fact.recorded_at), fact.id or 0))[:NEWEST_FACTS]
    newest: list[tuple[Page | Fact, str]] = [(page, told_shortly(page.summary, page.body)) for page in pages]
    newest += [(fact, fact.text) for fact in facts]
    places = [*range(len(pages)), *range(len(facts))]
    items = [
        item
        for (kept, text), place in zip(newest, places, strict=True)
        for item in _pack_items(kept, text, 1 / (1 + place), "newest")
    ]
    items = _up_to_date(store, source, items, now)
    items += _said_last(store, source, since, now)
    about = _About("", "general", "deep_search", CAPS["deep_search"], tokens, mark)
    return _packed(about, items, [], lambda _: ())


def _up_to_date(store: Store, source: str, items: Sequence[PackItem], now: datetime) -> list[PackItem]:
    """The items; what a page says that is so no longer is taken out of its words."""
    slugs = [one.item.slug if isinstance(one.item, Page) else "" for one in items]
    pieces = [Piece(slug, one.text if slug else "", one.item.trust) for slug, one in zip(slugs, items, strict=True)]
    over = outdated(store, source, pieces, now)
    return [
        one if old is None else replace(one, text=old.struck(one.text)) for one, old in zip(items, over, strict=True)
    ]


def _said_last(store: Store, source: str, since: datetime, now: datetime) -> Iterator[PackItem]:
    """What the user stated last in the newest conversation, before all else; nothing if that told nothing."""
    told = [one for one in store.newest_statements(source, since, _STATEMENTS_READ) if tells(one.text)]
    over = outdated(store, source, [Piece(one.slug, one.text, one.trust) for one in told], now)
    told = [one for one, old in zip(told, over, strict=True) if old is None]
    last = [one.text for one in told if one.slug == told[0].slug][:LAST_STATEMENTS]
    page = store.get_page(source, told[0].slug) if told else None
    if page is not None:
        text = "Last time you said: " + " ".join(f'"{shorten(one_line(said), SAID_CHARS)}"' for said in reversed(last))
        yield from _pack_items(page, text, 2.0, "said last")


@dataclass(frozen=True, slots=True)
class _About:
    """What a pack is for, and how large it may be."""

    goal: str
    intent: Intent
    layer: Layer
    cap: int
    tokens: int
    mark: str = MARKER
    nonce: str = field(default_factory=fresh_nonce)


def _packed(
    about: _About, items: Iterable[PackItem], omitted: list[Omitted], related: Callable[[PackItem], tuple[Page, ...]]
) -> ContextPack:
    """The pack of these items: each once, facets in turn, within the budget."""
    order = _order(about.intent)
    chosen, rest = _take_turns(list(_once(items, omitted)), order, about.cap)
    omitted += [Omitted(item.id, "limit", item.item) for item in rest]
    chosen = [replace(item, related=related(item)) for item in chosen]
    kept, text = _within(chosen, order, about)
    held = {item.id for item in kept}
    omitted += [Omitted(item.id, "budget", item.item) for item in chosen if item.id not in held]
    sections = tuple(
        Section(facet, TITLES[facet], tuple(found))
        for facet in order
        if (found := [item for item in kept if item.facet == facet])
    )
    said = (len(kept), tuple(omitted), count_tokens(text), text)
    return ContextPack(about.goal, about.intent, about.layer, sections, *said)


def count_tokens(text: str) -> int:
    """An estimate that errs to the safe side for most tokenizers: a token for every four UTF-16 units."""
    return -(-len(text.encode("utf-16-le", "surrogatepass")) // 8)


def _age_key(moment: datetime | None) -> float:
    return ((moment or _LONG_AGO) - _LONG_AGO).total_seconds()


def _order(intent: Intent) -> tuple[str, ...]:
    first = ORDERS[intent]
    return (*first, *(facet for facet in TITLES if facet not in first))


def _named(
    store: Store, source: str, names: Sequence[str], omitted: list[Omitted], now: datetime
) -> Iterator[PackItem]:
    for name in dict.fromkeys(names):
        try:
            card = entity_card(store, source, name, now)
        except NotFound:
            omitted.append(Omitted(name, "unknown"))
            continue
        about = card.page.summary or card.page.body
        yield from _pack_items(card.page, about, 1.0, "named")
        for fact in card.facts:
            yield from _pack_items(fact, fact.text, 1.0, "about a named page")


def _recalled(store: Store, search: Search, source: str, goal: str, limit: int, now: datetime) -> Iterator[PackItem]:
    for one in recalled(store, search, source, goal, limit, None, Asked(now)).memories:
        if isinstance(one.item, Hit):
            page = store.get_page(source, one.item.slug)
            if page is not None:
                yield from _pack_items(page, _without_title(one.item.text, page.title), one.score, "recalled")
        else:
            yield from _pack_items(one.item, one.item.text, one.score, "recalled")


def _without_title(text: str, title: str) -> str:
    """A piece of a page as it stands in the page: pieces begin with the title, or the start of a long one."""
    first, _, rest = text.partition("\n")
    return rest if title.startswith(first) else text


def _pack_items(kept: Page | Fact, text: str, score: float, reason: str) -> Iterator[PackItem]:
    """The item, or nothing where it may not stand in a pack."""
    if kept.status != "active" or kept.integrity == "failed":
        return
    if isinstance(kept, Fact):
        yield PackItem(f"fact:{kept.id}", FACETS.get(kept.kind, "domain"), reason, score, text, kept)
        return
    standing = work_status(kept.content)
    if standing in HIDDEN:
        return
    facet = FACETS.get(kept.type, "domain")
    facet = "prior_art" if facet == "active_work" and standing in _DONE else facet
    yield PackItem(str(Item("page", kept.slug)), facet, reason, score, text, kept)


def _once(items: Iterable[PackItem], omitted: list[Omitted]) -> Iterator[PackItem]:
    """Each thing once: of the same words those of the highest trust, a fact rather than the talk that it is from."""
    listed = list(items)
    highest: dict[str, Trust] = {}
    for one in listed:
        highest[_words(one)] = max(one.item.trust, highest.get(_words(one), one.item.trust))
    told_in = {one.item.provenance.source_markdown_slug for one in listed if isinstance(one.item, Fact)}
    shown: set[str] = set()
    said: set[str] = set()
    for one in listed:
        words = _words(one)
        derived = isinstance(one.item, Page) and one.item.type == "conversation" and one.item.slug in told_in
        if one.id in shown:
            continue
        shown.add(one.id)
        if derived or words in said or one.item.trust < highest[words]:
            omitted.append(Omitted(one.id, "derived" if derived else "duplicate", one.item))
            continue
        said.add(words)
        yield one


def _words(item: PackItem) -> str:
    """What it says; of a page that says nothing but its title, its id."""
    return norm(item.text) or item.id


def _take_turns(items: Sequence[PackItem], order: Sequence[str], cap: int) -> tuple[list[PackItem], list[PackItem]]:
    """At most `cap` items: of each facet its best in turn; and those that are left."""
    lanes = [sorted((one for one in items if one.facet == facet), key=_best) for facet in order]
    turns = [(place, lane_number, one) for lane_number, lane in enumerate(lanes) for place, one in enumerate(lane)]
    turns.sort(key=lambda turn: turn[:2])
    taken = [one for *_, one in turns]
    return taken[:cap], taken[cap:]


def _best(item: PackItem) -> tuple[float, str]:
    return -item.score, item.id


def _related(store: Store, source: str, item: PackItem, limit: int) -> tuple[Page, ...]:
    """The pages that an item speaks of: the one a fact is about, or those a page links to. Only current ones."""
    if isinstance(item.item, Fact):
        named = [item.item.entity] if item.item.entity else []
    else:
        named = [link.strip() for link in _LINK.findall(item.item.body)]
    found: dict[str, Page] = {}
    for slug in dict.fromkeys(named):
        if len(found) >= limit:
            break
        page = store.get_page(source, slug)
        if page is not None and page.status == "active" and str(Item("page", slug)) != item.id:
            found[slug] = page
    return tuple(found.values())


def _within(chosen: Sequence[PackItem], order: Sequence[str], about: _About) -> tuple[list[PackItem], str]:
    """The items whose lines fit, and the text that they make; headings have what the lines leave of the budget."""
    kept: list[PackItem] = []
    spent = 0.0
    for item in chosen:
        cost = count_tokens(_line(item, about.nonce))
        if spent + cost <= about.tokens * _CONTENT_SHARE:
            kept.append(item)
            spent += cost
    while count_tokens(text := _text(kept, order, about)) > about.tokens:
        kept.pop()
    return kept, text


def _text(items: Sequence[PackItem], order: Sequence[str], about: _About) -> str:
    if not items:
        return ""
    parts = [about.mark]
    for facet in order:
        lines = [_line(item, about.nonce) for item in items if item.facet == facet]
        if lines:
            parts.append("\n".join([f"## {TITLES[facet]}", *lines]))
    return "\n\n".join(parts)


def _line(item: PackItem, nonce: str) -> str:
    """An item on one line of at most ITEM_CHARS characters, which ends with where it is from and its label."""
    kept = item.item
    if isinstance(kept, Page):
        begins, told_by = f"**{stored_text(kept.title, kept.trust).replace('**', '*')}**", kept.told
        begins += " — " if item.text.strip() else ""
        origin = told_by.source_id or told_by.url or kept.slug
        created = kept.created_at
    else:
        begins, origin = "", kept.provenance.source_markdown_slug or item.id
        created = kept.recorded_at
    when = created.date().isoformat() if created else "unknown"
    shown_origin = stored_text(shorten(origin, 200), kept.trust).replace("_", r"\_")
    ends = f" _src={shown_origin}; created={when}; trust={kept.trust.label}_"
    begins = shorten(begins, 300)
    words = one_line(item.text)
    room = ITEM_CHARS - 2 - len(begins) - len(ends)
    while True:
        inner = begins + stored_text(shorten(words, room), kept.trust) + ends
        line = "- " + enveloped(inner, kept.trust, kept.source, item.id, nonce)
        if len(line) <= ITEM_CHARS or room <= 1:
            return line
        room -= len(line) - ITEM_CHARS if len(line) - ITEM_CHARS < room else room - 1
