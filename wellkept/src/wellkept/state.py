"""What is so now, what was so when, and what a new statement does to those before it.

An attribute of an entity is a slot. It holds one value at a time, unless its name ends in `[]`: then values gather, as
facts do that name no attribute. The decisions here are pure; what they read of a store comes as facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import regex  # type: ignore[import-untyped]

from wellkept.errors import Conflict
from wellkept.model import Contested, Fact, Item, Mark, Page, Status, Trust, Writer, WriteReceipt
from wellkept.names import norm
from wellkept.storage import Store
from wellkept.trust.normal import words

MANY = "[]"
"""How the name of an attribute ends that may have several values at once."""
DECLINED = "declined"
"""Why a fact ended that never was more than pending."""
ECHO = "echo"
"""The flag of words that came back from outside."""
NEVER_HELD = frozenset({"wrong", DECLINED})

FULL_STOPS = ".。"
CLOSING_MARKS = ".!。！…"
_BETWEEN = regex.compile(r"[\s_-]+")


def attribute_named(text: str) -> str:
    """An attribute's name as it is kept, however it was typed; "" when nothing is left of it.

    >>> attribute_named("Deploy-Day"), attribute_named("hobbies []")
    ('deploy day', 'hobbies[]')
    """
    name, several = (text.strip()[: -len(MANY)], MANY) if text.strip().endswith(MANY) else (text, "")
    plain = _BETWEEN.sub(" ", norm(name)).strip()
    return plain + several if plain else ""


def holds_one(attribute: str | None) -> bool:
    """Whether a slot of this name holds one value at a time."""
    return attribute is not None and not attribute.endswith(MANY)


# -- how a fact stands


def is_current(fact: Fact, now: datetime) -> bool:
    """Whether the fact is so now. One that takes a place later is not; any other that is to come is worth knowing."""
    if fact.status != "active" or (fact.valid_until is not None and fact.valid_until <= now):
        return False
    takes_a_place = holds_one(fact.attribute) or fact.replaces is not None
    return not takes_a_place or fact.valid_from is None or fact.valid_from <= now


def standing(fact: Fact, now: datetime) -> Status:
    """The status of the fact: of one whose end has come meanwhile what it is by that."""
    if fact.status == "active" and fact.valid_until is not None and fact.valid_until <= now:
        return "expired" if fact.superseded_by is None else "superseded"
    return fact.status


def as_it_stands(fact: Fact, now: datetime) -> Fact:
    """The fact with the status that it has by now."""
    status = standing(fact, now)
    return fact if status == fact.status else replace(fact, status=status)


def as_known(fact: Fact, moment: datetime) -> Fact | None:
    """The fact as memory knew it at a moment; None when it did not yet, or never took it for true."""
    if fact.ended_because == DECLINED or (fact.recorded_at is not None and moment < fact.recorded_at):
        return None
    if fact.expired_at is None or fact.expired_at <= moment:
        return fact
    status: Status = "active"
    return replace(
        fact, status=status, valid_until=fact.told_until, expired_at=None, ended_because=None, superseded_by=None
    )


def held(fact: Fact, moment: datetime, known_at: datetime | None = None) -> bool:
    """Whether the fact was so at a moment, by what is known today or was at `known_at`. What is wrong never was."""
    known = fact if known_at is None else as_known(fact, known_at)
    if known is None or known.status == "pending" or known.ended_because in NEVER_HELD:
        return False
    since = known.valid_from or known.recorded_at
    ends = [end for end in (known.valid_until, known.expired_at if known.status != "active" else None) if end]
    return (since is None or since <= moment) and (not ends or moment < min(ends))


def prevails(store: Store, fact: Fact, moment: datetime, known_at: datetime | None = None) -> bool:
    """Whether no other value of its slot held at that moment too that ranks higher, or is of equal rank and newer.

    One that ended before its successor was told of may have held when that one began.
    """
    if fact.attribute is None or not holds_one(fact.attribute):
        return True
    slot = store.facts_of_slot(fact.source, fact.entity, fact.attribute)
    beside = [one for one in slot if held(one, moment, known_at)]
    return all((one.trust, one.id or 0) <= (fact.trust, fact.id or 0) for one in beside)


# -- what a new statement does


@dataclass(frozen=True, slots=True)
class Close:
    """A fact that is so no longer from a moment on, and why in a word. Until then it stays if that is to come."""

    fact: Fact
    until: datetime
    because: str
    at_once: bool


@dataclass(frozen=True, slots=True)
class Placed:
    """What becomes of a new statement.

    `same` is told already, so that nothing is opened. `against` ranks higher: the new one is pending. Else `fact`
    opens, what is in `closes` closes, and `again` opens too: what is true again once the new one ends.
    """

    fact: Fact
    same: Fact | None = None
    against: Fact | None = None
    closes: tuple[Close, ...] = ()
    again: tuple[Fact, ...] = ()


def placed(
    fact: Fact,
    alike: Sequence[Fact],
    slot: Sequence[Fact],
    replaced: Fact | None,
    copies: Callable[[Fact], Sequence[Fact]],
) -> Placed:
    """What becomes of `fact`, recorded now, where it says what `alike` say, in the place of `replaced`, in its slot.

    `copies` are the facts that say what one says. Nobody ends what somebody of a higher tier said; of equals the newer
    wins. Without an end it holds until the next value of the slot begins.
    """
    since = _begins(fact)
    others = [one for one in slot if one.status == "active" and (replaced is None or one.id != replaced.id)]
    if fact.valid_until is None and holds_one(fact.attribute):
        next_ones = [one.valid_from for one in others if one.valid_from is not None and one.valid_from > since]
        fact = replace(fact, valid_until=min(next_ones, default=None))
    twins = [one for one in alike if one.status == "active" and _overlap(one, fact)]
    told = [one for one in twins if fact.trust < one.trust or (fact.trust == one.trust and _says_no_more(fact, one))]
    same = max(told, key=lambda one: one.trust, default=None)
    rivals = [] if replaced is None else [replaced]
    rivals += [one for one in others if same is None and _overlap(one, fact)]
    rivals = [one for one in rivals if one.id not in {twin.id for twin in twins}]
    stated = _once(one for rival in rivals for one in (rival, *copies(rival)) if one.status == "active")
    above = [one for one in stated if one.trust > fact.trust]
    if above:
        return Placed(fact, against=max(above, key=lambda one: one.trust))
    # One that ends before is not ended again.
    lasting = [one for one in stated if one.valid_until is None or one.valid_until > since]
    closes = [_close(one, since, "replaced", fact) for one in lasting]
    if same is not None:
        return Placed(fact, same=same, closes=tuple(closes))
    waiting = [one for one in alike if one.status == "pending" and one.trust <= fact.trust]
    closes += [_close(one, since, "restated", fact) for one in (*twins, *waiting)]
    interrupted = [one for one in rivals if replaced is None or one.id != replaced.id]
    return Placed(fact, closes=tuple(closes), again=tuple(_again(interrupted, fact)))


def _begins(fact: Fact) -> datetime:
    since = fact.valid_from or fact.recorded_at
    if since is None:
        raise ValueError("a new fact says when it was recorded")
    return since


def _overlap(one: Fact, new: Fact) -> bool:
    """Whether both would hold at some moment. When one began that does not say so is unknown: before an open end."""
    since, until = _begins(new), new.valid_until
    starts = one.valid_from if until is None or one.valid_from is not None else one.recorded_at
    return (one.valid_until is None or one.valid_until > since) and (until is None or starts is None or starts < until)


def _says_no_more(new: Fact, one: Fact) -> bool:
    """Whether a statement in the same words adds nothing: no other time, and no attribute that was not known."""
    times = new.valid_from in (None, one.valid_from) and new.valid_until in (None, one.valid_until)
    return times and new.attribute in (None, one.attribute)


def _close(one: Fact, since: datetime, because: str, new: Fact) -> Close:
    until = since if one.valid_from is None else max(since, one.valid_from)
    until = until if one.valid_until is None else min(until, one.valid_until)
    now = new.recorded_at or since
    whole = one.status == "pending" or (one.valid_from is not None and one.valid_from >= since)
    return Close(one, until, because, at_once=whole or until <= now)


def _again(rivals: Iterable[Fact], new: Fact) -> Iterator[Fact]:
    """What goes on after a new value whose end is known."""
    until = new.valid_until
    for one in rivals:
        goes_on = until is not None and (one.valid_until is None or one.valid_until > until)
        if goes_on and holds_one(new.attribute) and one.attribute == new.attribute:
            open_again = replace(one, id=None, valid_from=until, recorded_at=new.recorded_at, replaces=None)
            yield replace(open_again, superseded_by=None, expired_at=None, ended_because=None, told_until=None)


def _once(facts: Iterable[Fact]) -> list[Fact]:
    return list({fact.id: fact for fact in facts}.values())


# -- the facts that say one and the same


def spellings(text: str, marks: str = FULL_STOPS) -> tuple[str, ...]:
    """The text with and without a mark at its end, as one may have been told with it and the other without."""
    bare = text.strip().rstrip(marks).rstrip()
    return tuple(dict.fromkeys((text, bare, f"{bare}."))) if bare else (text,)


def saying(store: Store, fact: Fact) -> list[Fact]:
    """The facts of the source that say the same in the same words, whatever their status and whom they are about."""
    plain = words(fact.text)
    return [one for one in store.facts_told(fact.source, spellings(fact.text)) if words(one.text) == plain]


def copies(store: Store, fact: Fact) -> list[Fact]:
    """The other facts that make the same claim: about the same entity, or one of them about nobody in particular."""
    about = (None, fact.entity)
    return [
        one
        for one in saying(store, fact)
        if one.id != fact.id
        and (fact.entity is None or one.entity in about)
        and one.attribute in (None, fact.attribute)
    ]


def place(store: Store, fact: Fact, replaced: Fact | None = None) -> Placed:
    """What becomes of a new statement in a store; nothing is written."""
    alike = [
        one
        for one in saying(store, fact)
        if one.entity == fact.entity and (fact.attribute is None or one.attribute in (None, fact.attribute))
    ]
    slot: tuple[Fact, ...] = ()
    if fact.attribute is not None and holds_one(fact.attribute):
        slot = store.facts_of_slot(fact.source, fact.entity, fact.attribute)
        plain = words(fact.text)
        alike += [one for one in slot if words(one.text) == plain]
    alike = [one for one in _once(alike) if one.id != fact.id]
    slot = tuple(one for one in slot if one.id != fact.id)
    return placed(fact, alike, slot, replaced, lambda one: copies(store, one))


# -- writing it


def written(store: Store, new: Placed, writer: Writer) -> WriteReceipt:
    """Do what was decided of a new statement. Called within the transaction in which it was decided."""
    fact = new.fact
    source, moment = fact.source, fact.recorded_at or _begins(fact)
    if new.against is not None:
        return _wait(store, replace(fact, status="pending", replaces=new.against.id), writer)
    same = None if new.same is None else new.same.id
    number = store.last_fact_id() + 1 if same is None else same
    _close_all(store, new.closes, number, writer, moment)
    if new.same is not None:
        restated(store, new.same, fact, writer)
        return WriteReceipt(source, None, "unchanged", (number,), flags=new.same.flags)
    store.add_fact(replace(fact, id=number), writer.name)
    for again in new.again:
        store.add_fact(again, writer.name)
    return WriteReceipt(source, None, "created", (number,), flags=fact.flags)


def _close_all(store: Store, closes: Iterable[Close], successor: int, writer: Writer, now: datetime) -> None:
    for close in closes:
        status: Status | None = "superseded" if close.at_once else None
        mark = Mark("superseded", close.because, now, status, None, str(successor), "", writer.name, close.until)
        store.mark(close.fact.source, Item("fact", str(close.fact.id)), mark)


def _wait(store: Store, fact: Fact, writer: Writer) -> WriteReceipt:
    """Keep a fact that contradicts somebody who ranks higher, once however often it is said."""
    waiting = [
        one
        for one in saying(store, fact)
        if one.status == "pending"
        and (one.entity, one.attribute, one.replaces) == (fact.entity, fact.attribute, fact.replaces)
    ]
    if waiting:
        restated(store, waiting[0], fact, writer)
        number = waiting[0].id or 0
    else:
        number = store.add_fact(fact, writer.name)
    return WriteReceipt(fact.source, None, "unchanged", degraded=("guarded",), pending=(number,), flags=fact.flags)


def restated(store: Store, fact: Fact, again: Fact, writer: Writer) -> None:
    """Keep that somebody said a fact again, once for each who does and each conversation. Its tier stays as it is."""
    item, where = Item("fact", str(fact.id)), again.provenance.source_markdown_slug or ""
    told = {(line.actor, line.because) for line in store.journal(fact.source, item=item) if line.change == "restated"}
    first = (writer.name, where) == (_teller(store, fact), fact.provenance.source_markdown_slug or "")
    if not first and (writer.name, where) not in told:
        mark = Mark("restated", where, again.recorded_at or _begins(again), actor=writer.name)
        store.mark(fact.source, item, mark)


def _teller(store: Store, fact: Fact) -> str | None:
    """Who told a fact first, as far as it is known."""
    lines = store.journal(fact.source, item=Item("fact", str(fact.id)), limit=1)
    return lines[0].actor if lines else None


def making_way(store: Store, fact: Fact) -> list[Fact]:
    """The facts that stay current until this one begins, or would have until one whose place it took."""
    about = [one for one in store.facts(fact.source, fact.entity, ended=True) if one.superseded_by is not None]
    taken, left = {fact.id}, len(about)
    while left:
        more = {one.id for one in about if one.superseded_by in taken and one.status == "superseded"} - taken
        taken, left = taken | more, len(more)
    return [one for one in about if one.superseded_by in taken and one.status == "active"]


def settled(store: Store, fact: Fact, writer: Writer, now: datetime) -> None:
    """Let a pending fact be current by the owner's word: what it contradicts makes way, whoever said it.

    Conflict where the same is told by a current fact.
    """
    opposed = None if fact.replaces is None else store.fact(fact.source, fact.replaces)
    if opposed is not None and standing(opposed, now) != "active":
        opposed = None
    confirmed = replace(fact, status="active", trust=Trust.USER_CONFIRMED, recorded_at=now)
    new = place(store, confirmed, opposed)
    if new.same is not None:
        raise Conflict(f"fact:{fact.id}: the same is told by fact:{new.same.id}; confirm that one, and forget this one")
    _close_all(store, new.closes, fact.id or 0, writer, now)
    until = new.fact.valid_until
    opened = Mark("confirmed", "", now, "active", Trust.USER_CONFIRMED, actor=writer.name, until=until)
    store.mark(fact.source, Item("fact", str(fact.id)), opened)
    for again in new.again:
        store.add_fact(again, writer.name)


def in_its_place(store: Store, fact: Fact) -> Fact | None:
    """Another value of the slot in the time in which the fact would hold if it were restored."""
    if fact.attribute is None or not holds_one(fact.attribute):
        return None
    back = replace(fact, valid_until=fact.valid_until if fact.expired_at is None else fact.told_until)
    slot = store.facts_of_slot(fact.source, fact.entity, fact.attribute)
    return next((one for one in slot if one.id != fact.id and one.status == "active" and _overlap(one, back)), None)


# -- what only a person can settle

_LEAST_ALIKE = 4
"""Two statements of fewer words that differ in one are likely about different things."""


def contested(store: Store, source: str, now: datetime) -> tuple[Contested, ...]:
    """The pending facts, the disagreements, what looks like one, and the echoes of a source."""
    facts = store.facts(source, ended=True)
    known = {fact.id: fact for fact in facts}
    current = [fact for fact in facts if is_current(fact, now)]
    found = [_waiting(fact, known, now) for fact in facts if fact.status == "pending"]
    found += _disagreeing(store, current, facts)
    found += [_alike(one, other) for one, other in _differing_in_one_word(current)]
    found += [_echo(fact, f"fact:{fact.id}") for fact in current if ECHO in fact.flags]
    found += [_echo(page, str(Item("page", page.slug))) for page in _echoing_pages(store, source)]
    return tuple(found)


def _waiting(fact: Fact, known: Mapping[int | None, Fact], now: datetime) -> Contested:
    other = known.get(fact.replaces)
    while other is not None and standing(other, now) == "superseded" and other.superseded_by in known:
        other = known[other.superseded_by]
    items = (fact,) if other is None else (fact, as_it_stands(other, now))
    settle = (f"wellkept confirm fact:{fact.id}", f"wellkept forget fact:{fact.id}")
    return Contested("pending", items, "the first contradicts the second, whose writer ranks higher", settle)


def _disagreeing(store: Store, current: Sequence[Fact], facts: Sequence[Fact]) -> Iterator[Contested]:
    """Slots with a value that took the place of another writer's of the same tier, and nobody vouched for it."""
    lost: dict[int | None, list[Fact]] = {}
    for fact in facts:
        if fact.status == "superseded" and fact.ended_because == "replaced" and holds_one(fact.attribute):
            lost.setdefault(fact.superseded_by, []).append(fact)
    slots: dict[tuple[str | None, str], Fact] = {}
    for fact in current:
        if fact.attribute is None or not holds_one(fact.attribute):
            continue
        beside = slots.setdefault((fact.entity, fact.attribute), fact)
        if beside is not fact:
            settle = _one_of(fact, beside)
            yield Contested("disagreement", (fact, beside), "two values stand in one slot", settle)
        for other in lost.get(fact.id, ()):
            if other.trust == fact.trust < Trust.USER_CONFIRMED and _teller(store, other) != _teller(store, fact):
                why = "two writers of one rank gave different values; the newer holds"
                again = f"wellkept correct fact:{fact.id} mark_wrong --no-preview"
                yield Contested("disagreement", (fact, other), why, (f"wellkept confirm fact:{fact.id}", again))


def _differing_in_one_word(current: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """Facts of one writer's rank about one entity that differ in one word, the newer first, each pair once."""
    seen: dict[tuple[object, ...], Fact] = {}
    for fact in sorted(current, key=lambda one: one.id or 0):
        said = words(fact.text)
        if fact.entity is None or fact.attribute is not None or len(said) < _LEAST_ALIKE:
            continue
        shapes = [(fact.entity, fact.trust, place, (*said[:place], *said[place + 1 :])) for place in range(len(said))]
        other = next((seen[shape] for shape in shapes if shape in seen), None)
        if other is not None:
            yield fact, other
        seen |= dict.fromkeys(shapes, fact)


def _alike(fact: Fact, other: Fact) -> Contested:
    return Contested("alike", (fact, other), "they differ in one word, and both are current", _one_of(fact, other))


def _one_of(fact: Fact, other: Fact) -> tuple[str, ...]:
    return tuple(
        f"wellkept correct fact:{old.id} supersede --replacement fact:{new.id} --no-preview"
        for new, old in ((fact, other), (other, fact))
    )


def _echo(item: Page | Fact, name: str) -> Contested:
    settle = (f"wellkept confirm {name}", f"wellkept forget {name}")
    return Contested("echo", (item,), "the words came back from outside; they keep the lower tier", settle)


def _echoing_pages(store: Store, source: str) -> Iterator[Page]:
    after = ""
    while pages := store.every_page(source, after, 100):
        yield from (page for page in pages if page.status == "active" and ECHO in page.flags)
        after = pages[-1].slug
