"""What a conversation said becomes a page and facts, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from wellkept.errors import InvalidInput, WellkeptError
from wellkept.ingest.attribution import Located, attribute, locate
from wellkept.ingest.conversation import page_slug, render, stated, turn_chunks
from wellkept.ingest.conversation import parse_page as turns_of
from wellkept.ingest.hedges import is_asked, is_hedged
from wellkept.ingest.markdown import parse_page
from wellkept.ingest.segment import segments
from wellkept.ingest.sightings import Names
from wellkept.model import FACT_KINDS, Fact, Message, Provenance, Trust, Writer, WriteReceipt
from wellkept.names import norm
from wellkept.providers import Extractor, Segment
from wellkept.providers.quotes import plain
from wellkept.scrub import without_keys
from wellkept.storage import Store
from wellkept.trust.admission import admit
from wellkept.trust.gate import Gate

TOLD_BY = "wellkept:writeback"


def bank(
    store: Store,
    source: str,
    session: str,
    messages: Sequence[Message],
    *,
    gate: Gate,
    writer: Writer,
    extractor: Extractor | None = None,
    now: datetime,
) -> WriteReceipt:
    """Keep a session as its page, and what the extractor reads in it as facts about the pages they name.

    The same session again replaces the page; its facts that are no longer read in it are expired, but for those that
    the owner vouched for. Without an
    extractor, or when it fails (degraded "extractor_failed"), the facts stay as they were. A candidate whose quote
    nobody said is left out (degraded "quote_not_found"), and one that was only asked; a guess is told as a guess. What
    was forgotten for good stays so.
    A session that says nothing changes nothing. Raises
    InvalidInput when `session` is empty.
    """
    if not session:
        raise InvalidInput("session", "it is empty; give the id of the conversation")
    said = gate.messages(source, [_plain(message) for message in messages if message.text.strip()])
    if not said:
        return WriteReceipt(source, None, "unchanged")
    slug = page_slug(session)
    told = _told(store, source, session, slug, said, extractor)
    with store.transaction():
        # Again, as something may have been forgotten since.
        status, trust, flags = _put_page(store, source, slug, gate.messages(source, said), writer, now)
        kept = _admitted(_still(gate, source, told), writer, trust)
        return replace(_put_facts(store, source, slug, kept, status, writer, now), flags=flags)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a session told: its facts in the order they were said, None when they could not be read."""

    facts: tuple[Fact, ...] | None
    degraded: tuple[str, ...] = ()


Change = Literal["created", "updated", "unchanged"]


def _plain(message: Message) -> Message:
    return replace(message, text=without_keys(plain(message.text)), id=plain(message.id) if message.id else None)


def _told(
    store: Store, source: str, session: str, slug: str, said: Sequence[Message], extractor: Extractor | None
) -> _Told:
    if extractor is None:
        return _Told(None)
    names = Names(store, source)
    provenance = Provenance(TOLD_BY, f"{source}:{slug}", slug)
    facts: list[Fact] = []
    lost = False
    for segment in segments(session, said):
        try:
            candidates = tuple(extractor.extract(segment, source))
        except WellkeptError:
            return _Told(None, ("extractor_failed",))
        placed = [locate(segment, candidate) for candidate in candidates]
        lost = lost or None in placed
        stated = [one for one in placed if one and not is_asked(segment.messages[one.message].text, one.span)]
        found = sorted(stated, key=lambda one: (one.message, one.span))
        entities = attribute(names, segment, found)
        facts += (_fact(source, segment, one, entity, provenance) for one, entity in zip(found, entities, strict=True))
    degraded = ("quote_not_found",) if lost else ()
    return _Told(tuple(_once(facts)), (*degraded, "degraded_dedup") if facts else degraded)


def _fact(source: str, segment: Segment, one: Located, entity: str | None, provenance: Provenance) -> Fact:
    candidate, message = one.candidate, segment.messages[one.message]
    quote = message.text[slice(*one.span)]
    # What was a guess is told in the words of whoever guessed.
    said = quote if is_hedged(quote) and not is_hedged(candidate.fact) else candidate.fact
    return Fact(
        id=None,
        source=source,
        text=without_keys(plain(said)).strip(),
        entity=entity,
        kind=candidate.kind if candidate.kind in FACT_KINDS else "fact",
        provenance=replace(provenance, event_id=message.id, quote_span=one.span),
        mention=plain(candidate.mention) if candidate.mention else None,
        confidence=min(max(candidate.confidence, 0.0), 1.0),
        trust=Trust.AGENT_WRITTEN,
        valid_from=candidate.valid_from or segment.messages[0].ts,
    )


def _once(facts: Iterable[Fact]) -> Iterable[Fact]:
    """Each statement about a page once, as it was first said; blank ones never."""
    seen: dict[tuple[str, str | None], Fact] = {}
    for fact in facts:
        if fact.text:
            seen.setdefault((norm(fact.text) or fact.text, fact.entity), fact)
    return seen.values()


def _still(gate: Gate, source: str, told: _Told) -> _Told:
    """What was told without what was forgotten for good."""
    forgotten = gate.forgotten(source)
    if told.facts is None or not forgotten:
        return told
    return replace(told, facts=tuple(fact for fact in told.facts if not forgotten.spans(fact.text)))


def _admitted(told: _Told, writer: Writer, trust: Trust) -> _Told:
    """What was told, as much trusted as the conversation it was read in."""
    if told.facts is None:
        return told
    facts = []
    for fact in told.facts:
        decision = admit(writer, "derived", fact.text, kind="fact", lineage=(trust,))
        facts.append(replace(fact, text=decision.text, trust=decision.tier, flags=decision.flags))
    return replace(told, facts=tuple(facts))


def _put_page(
    store: Store, source: str, slug: str, said: Sequence[Message], writer: Writer, now: datetime
) -> tuple[Change, Trust, tuple[str, ...]]:
    """Keep the conversation; what became of it, its tier and what was noticed in it. It is never held back."""
    content = render(said)
    before = store.get_page(source, slug)
    if before and before.content == content and before.status == "active":
        return "unchanged", before.trust, before.flags
    known = {one.text for one in turns_of(before.content)} if before else set()
    fresh = "\n\n".join(one.text for one in said if one.text not in known)
    decision = admit(writer, "agent_inferred", fresh)
    trust = min(decision.tier, before.trust) if before else decision.tier
    flags = tuple(sorted({*decision.flags, *(before.flags if before else ())}))
    page, _, _ = parse_page(source, slug, content, trust=trust, now=now)
    # A conversation is found by its words and never by a name; dates that somebody typed are not its history.
    created = before.created_at if before else now
    kept = replace(page, status="active", aliases=(), timeline=(), created_at=created, flags=flags)
    store.put_page(kept, turn_chunks(said), (), stated(source, slug, said), by=writer.name)
    return ("updated" if before else "created"), trust, flags


def _put_facts(
    store: Store, source: str, slug: str, told: _Told, status: Change, writer: Writer, now: datetime
) -> WriteReceipt:
    before = {fact.id for fact in store.facts(source, told_in=slug)}
    if told.facts is None:
        kept = tuple(sorted(fact_id for fact_id in before if fact_id is not None))
        return WriteReceipt(source, slug, status, kept, degraded=told.degraded)
    given = store.put_facts(source, slug, told.facts, now, writer.name, cap=Trust.AGENT_WRITTEN)
    # What somebody forgot or corrected stays so, however often the conversation says it.
    ids = tuple(number for number in given if number in before or _is_active(store.fact(source, number)))
    after = {fact.id for fact in store.facts(source, told_in=slug)}
    if status == "unchanged" and after != before:
        status = "updated"
    return WriteReceipt(source, slug, status, ids, len(before - after), told.degraded)


def _is_active(fact: Fact | None) -> bool:
    return fact is not None and fact.status == "active"
