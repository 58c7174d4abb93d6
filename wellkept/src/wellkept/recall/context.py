"""What memory brings to a turn, unasked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from math import exp
from time import perf_counter
from typing import Literal

from wellkept.model import Budget, Fact, FactKind, Message, Pointer, Said, TurnContext
from wellkept.providers import Embedder
from wellkept.recall.arms import SAID, SEMANTIC, TOPIC, Arm, Heard, NameIndex, look_up, sighted_in
from wellkept.recall.candidates import ends, seen
from wellkept.recall.facts import fitting_facts, shared_words
from wellkept.recall.outdated import Piece, outdated
from wellkept.recall.render import pointer_to, render, stored_text
from wellkept.recall.said import MOST_SAID, Ours, said
from wellkept.recall.suppress import PRIOR_CHARS, Suppression, already_shown
from wellkept.recall.topic import LEAST, Topic, topic
from wellkept.recall.volunteers import CONSIDERED, volunteer
from wellkept.recall.window import TURNS, Mention, mentions_in_turn, mentions_in_window
from wellkept.state import is_current
from wellkept.storage import Store
from wellkept.trust.envelope import fresh_nonce

Fragment = Literal["pointers", "volunteers", "facts", "said"]
Opened = Callable[[], Embedder | None]
"""The embedder if the process has one open, to whom pages may be brought by meaning."""
LOG = logging.getLogger(__name__)
FRAGMENTS: tuple[Fragment, ...] = ("pointers", "volunteers", "facts", "said")

FADING_DAYS: dict[FactKind, float] = {"event": 7, "commitment": 90, "preference": 90, "belief": 365, "fact": 365}
MOST_FITTING = 20
FEW = 3
"""Of so many facts that share one word with a turn, each may be meant."""
_DAY_SECONDS = 86_400.0

# How many texts are remembered. What is found in a long one takes up to 4 MB.
_SHORT_CHARS, _SHORT_TEXTS = 4_000, 16
_LONG_TEXTS = 5


def turn_pointers(
    store: Store,
    source: str,
    text: str,
    *,
    prior: str,
    pages: int = 3,
    suppression: Suppression = "slug-and-title",
    arms_off: Collection[str] = (),
    embedder: Opened | None = None,
) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
    """Pointers to the first `pages` pages that one turn names, else to the one it needs, and what was degraded.

    `prior` is what the conversation already holds, this turn left out; pages shown there are not brought again.
    """
    (sighted,) = sighted_in(store, source, [_heard(text)])
    index = look_up(store, source, [sighted])
    named = mentions_in_turn(index, sighted.sightings, text)
    needed, failed = ((), ()) if named else _Unnamed(store, source, arms_off, embedder).needed(text, 0)
    fresh = _sound(store, source, _unseen((*named, *needed), prior, suppression))
    return tuple(pointer_to(mention) for mention in fresh[: max(0, pages)]), (*_degraded(index), *failed)


def window_volunteers(
    store: Store,
    source: str,
    window: Sequence[Message],
    *,
    prior: str,
    exclude: Collection[str],
    limit: int = 3,
) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
    """Pages that the window (oldest first, both roles, the last 12 turns) is about, and what was degraded.

    Pages whose slug is in `exclude` or already in `prior` are left out; at most 5 are offered.
    """
    mentions, index = _window_mentions(store, source, window)
    fresh = _sound(store, source, _unseen(mentions, prior, "slug-only"))
    return volunteer(fresh, len(window[-TURNS:]), exclude, limit), _degraded(index)


def turn_context(
    store: Store,
    source: str,
    window: Sequence[Message],
    *,
    prior: str,
    session: str | None,
    budget: Budget,
    now: datetime,
    fragments: Collection[str] = FRAGMENTS,
    arms_off: Collection[str] = (),
    embedder: Opened | None = None,
    ours: Ours | None = None,
) -> TurnContext:
    """What a hook injects on a turn: the window's pages, related pages and facts, within the budget.

    A newest message that names no page may still need one, which comes after the window's.

    The newest message of the window is the prompt. Facts are those of the conversation `session`, those about the
    pages brought, and those that hold the prompt's words, so that small talk brings none; what the user said in
    earlier conversations comes where the prompt asks for it. What `prior` shows is not said again. What does not fit is
    dropped, facts first and pointers last.
    """
    started = perf_counter()
    pointers: tuple[Pointer, ...] = ()
    offered: tuple[Pointer, ...] = ()
    degraded: tuple[str, ...] = ()
    if {"pointers", "volunteers"} & set(fragments):
        mentions, index = _window_mentions(store, source, window)
        needed, failed = _needed(_Unnamed(store, source, arms_off, embedder), window, mentions)
        mentions, degraded = (*mentions, *needed), (*_degraded(index), *failed)
        fresh = _sound(store, source, _unseen(mentions, prior, "slug-only"))
        if "pointers" in fragments:
            pointers = tuple(pointer_to(mention) for mention in fresh[: max(0, budget.pages)])
        if "volunteers" in fragments:
            shown = {pointer.slug for pointer in pointers}
            offered = volunteer(fresh[: CONSIDERED + len(shown)], len(window[-TURNS:]), shown, budget.volunteers)
    facts: tuple[Fact, ...] = ()
    if "facts" in fragments:
        asked = window[-1].text if window and window[-1].role == "user" else ""
        told, failed = _called_for(store, source, asked, (*pointers, *offered), session, now, budget.facts)
        facts = tuple(fact for fact in told if stored_text(fact.text, fact.trust) not in prior[-PRIOR_CHARS:])
        degraded += failed
    statements: tuple[Said, ...] = ()
    if "said" in fragments and SAID not in arms_off:
        statements, failed = said_before(store, source, window, ours or _only(session), prior, budget.said)
        degraded += failed
    statements = _still_so(store, source, statements, now)
    pointers, offered = (_up_to_date(store, source, pages, now) for pages in (pointers, offered))
    whole = _Block(pointers, offered, facts, statements)
    kept = _within(whole, budget)
    if kept != whole:
        degraded += ("budget_trimmed",)
    ms = (perf_counter() - started) * 1000
    return TurnContext(kept.text(), kept.pointers, kept.volunteered, kept.facts, degraded, ms, kept.said)


def said_before(
    store: Store, source: str, window: Sequence[Message], ours: Ours, prior: str, limit: int = MOST_SAID
) -> tuple[tuple[Said, ...], tuple[str, ...]]:
    """What the user said in other conversations than ours and the newest message asks for, and what failed."""
    if not window or window[-1].role != "user":
        return (), ()
    try:
        return said(store, source, window[-1].text, ours=ours, prior=prior, limit=limit), ()
    except Exception:
        LOG.exception("the %s arm failed", SAID)
        return (), (f"arm_failed:{SAID}",)


def _still_so(store: Store, source: str, statements: Sequence[Said], now: datetime) -> tuple[Said, ...]:
    """The statements without those that say what is so no longer."""
    over = outdated(store, source, [Piece(one.slug, one.text, one.trust) for one in statements], now)
    return tuple(one for one, old in zip(statements, over, strict=True) if old is None)


def _up_to_date(store: Store, source: str, pages: Sequence[Pointer], now: datetime) -> tuple[Pointer, ...]:
    """The pointers, whose synopsis does not say what is so no longer."""
    over = outdated(store, source, [Piece(one.slug, one.synopsis, one.trust) for one in pages], now)
    return tuple(
        one if old is None else replace(one, synopsis=old.struck(one.synopsis))
        for one, old in zip(pages, over, strict=True)
    )


def _only(session: str | None) -> Ours:
    return lambda slug: slug == f"conversations/{session}"


def decayed(fact: Fact, now: datetime) -> float:
    """The fact's confidence today: it fades with the age of the fact.

    0 for one that no longer holds, or that was changed from outside.
    """
    if fact.integrity == "failed" or not is_current(fact, now):
        return 0.0
    since = fact.recorded_at or fact.valid_from
    age_days = max(0.0, (now - since).total_seconds() / _DAY_SECONDS) if since else 0.0
    return fact.confidence * exp(-age_days / FADING_DAYS[fact.kind])


@dataclass(frozen=True, slots=True)
class _Block:
    pointers: tuple[Pointer, ...]
    volunteered: tuple[Pointer, ...]
    facts: tuple[Fact, ...]
    said: tuple[Said, ...] = ()
    nonce: str = field(default_factory=fresh_nonce)

    def text(self) -> str:
        return render(self.pointers, self.volunteered, self.facts, self.said, self.nonce)

    def shorter(self) -> _Block:
        """The block without its least important item."""
        if self.facts:
            return replace(self, facts=self.facts[:-1])
        if self.said:
            return replace(self, said=self.said[:-1])
        if self.volunteered:
            return replace(self, volunteered=self.volunteered[:-1])
        return replace(self, pointers=self.pointers[:-1])


def _within(block: _Block, budget: Budget) -> _Block:
    while True:
        text = block.text()
        tokens = -(-len(text.encode("utf-16-le", "surrogatepass")) // 2 // 4)
        fits = len(text.encode("utf-8", "surrogatepass")) <= budget.bytes
        if not text or (fits and (budget.tokens is None or tokens <= budget.tokens)):
            return block
        block = block.shorter()


def _window_mentions(store: Store, source: str, window: Sequence[Message]) -> tuple[tuple[Mention, ...], NameIndex]:
    recent = window[-TURNS:]
    sighted = sighted_in(store, source, [_heard(message.text) for message in recent])
    index = look_up(store, source, sighted)
    return mentions_in_window(index, recent, [one.sightings for one in sighted]), index


def _heard(text: str) -> Heard:
    """The text, read for names. A turn stands in the window of the turns after it, so the latest are remembered."""
    read = ends(text)
    return _remembered(read) if len(read) <= _SHORT_CHARS else _remembered_long(read)


_remembered = lru_cache(maxsize=_SHORT_TEXTS)(lambda text: Heard(seen(text)))
_remembered_long = lru_cache(maxsize=_LONG_TEXTS)(lambda text: Heard(seen(text)))


def _unseen(mentions: Sequence[Mention], prior: str, suppression: Suppression) -> tuple[Mention, ...]:
    if not mentions:
        return ()
    shown = already_shown(prior, suppression)
    return tuple(mention for mention in mentions if not shown(mention.page))


def _sound(store: Store, source: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Those of pages that nobody has changed from outside."""
    found = store.sealing.of_slugs(source, [mention.page.slug for mention in mentions]) if mentions else {}
    return tuple(
        replace(mention, page=replace(mention.page, integrity=found.get(mention.page.slug))) if found else mention
        for mention in mentions
        if found.get(mention.page.slug) != "failed"
    )


@dataclass(frozen=True, slots=True)
class _Unnamed:
    """The arms that bring a page which a turn does not name, with what they need."""

    store: Store
    source: str
    off: Collection[str]
    embedder: Opened | None

    def needed(self, text: str, turn: int) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
        """The page that a turn needs, by the first arm that finds one, and what failed."""
        failed: tuple[str, ...] = ()
        for arm, look in ((TOPIC, self._topic), (SEMANTIC, self._meant)):
            if arm.name in self.off:
                continue
            try:
                found, codes = look(text)
            except Exception:
                LOG.exception("the %s arm failed", arm.name)
                found, codes = None, (f"arm_failed:{arm.name}",)
            failed += codes
            if found is not None:
                return (_mention(found, arm, turn),), failed
        return (), failed

    def _topic(self, text: str) -> tuple[Topic | None, tuple[str, ...]]:
        found = topic(self.store, self.source, text)
        return (None if found is None or found.likely < LEAST else found), ()

    def _meant(self, text: str) -> tuple[Topic | None, tuple[str, ...]]:
        if self.embedder is None:
            return None, ()
        embedder = self.embedder()
        if embedder is None:
            return None, ("semantic:no_embedder",)
        # Whoever has no embedder open need not load numpy either.
        from wellkept.recall.meaning import meant

        return meant(self.store, self.source, text, embedder)


def _mention(found: Topic, arm: Arm, turn: int) -> Mention:
    return Mention(found.page, arm, found.page.title, (turn,), True, True)


def _needed(
    unnamed: _Unnamed, window: Sequence[Message], mentions: Sequence[Mention]
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """The page that the newest message needs, if it is the user's and names none, and what failed."""
    if not window or window[-1].role != "user" or any(mention.in_newest for mention in mentions):
        return (), ()
    found, failed = unnamed.needed(window[-1].text, min(len(window), TURNS) - 1)
    known = {mention.page.slug for mention in mentions}
    return tuple(mention for mention in found if mention.page.slug not in known), failed


def _degraded(index: NameIndex) -> tuple[str, ...]:
    return tuple(f"arm_failed:{name}" for name in index.failed)


def _called_for(
    store: Store, source: str, asked: str, pages: Sequence[Pointer], session: str | None, now: datetime, limit: int
) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """The facts of this session, those about the pages that a turn brings, and those that hold its words."""
    try:
        ours = store.facts(source, told_in=f"conversations/{session}") if session else ()
        about = [fact for page in pages for fact in store.facts(source, page.slug)]
        fitting = fitting_facts(store, source, asked, MOST_FITTING, among=lambda fact: decayed(fact, now) > 0)
    except Exception:
        LOG.exception("the facts of %s could not be read", source)
        return (), ("facts_skipped",)
    shared = [shared_words(fact, asked) for fact in fitting]
    most = max(shared, default=0)
    # One word in common says little where many facts hold it.
    telling = most > 1 or len(fitting) <= FEW
    said = [fact for fact, words in zip(fitting, shared, strict=True) if telling and words == most]
    chosen = _holding({fact.id: fact for fact in (*ours, *about, *said)}.values(), now)
    chosen.sort(key=lambda pair: (-pair[0], pair[1].id if pair[1].id is not None else 0, pair[1].text))
    return tuple(replace(fact, confidence=confidence) for confidence, fact in chosen[: max(0, limit)]), ()


def _holding(facts: Iterable[Fact], now: datetime) -> list[tuple[float, Fact]]:
    """Those that can still be relied on, with how far."""
    held = [(decayed(fact, now), fact) for fact in facts]
    return [(confidence, fact) for confidence, fact in held if confidence > 0]
