"""A memory whose reads look into other sources too: of a project and of what is the person's own.

What is written goes into the source that is named. What names an item finds it where it is. Every answer says of each
thing which source it is from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from wellkept.errors import InvalidInput, NotFound
from wellkept.forgetting import Plan, PurgeReceipt
from wellkept.memory import Memory
from wellkept.model import (
    OWNER,
    Budget,
    Card,
    CiteReceipt,
    Contested,
    ContextPack,
    Correction,
    Cost,
    Dated,
    Fact,
    ForgetReceipt,
    History,
    Item,
    Message,
    Page,
    Pointer,
    Recalled,
    Result,
    Results,
    Said,
    TurnContext,
    Writer,
    WriteReceipt,
)
from wellkept.providers import Embedder
from wellkept.recall.degraded import UNKNOWN_SOURCE
from wellkept.recall.said import MOST_SAID

T = TypeVar("T")


class Together(Memory):
    """The memory, asked for one source at a time, of which reads take `also` these after the one that is named.

    Two lists of results become one by their scores, which mean the same in each: a place among its own. Of equals
    those of the source that is named come first.
    """

    def __init__(self, memory: Memory, also: Sequence[str]) -> None:
        super().__init__(
            memory.store,
            memory.capture,
            embedder=memory.embedder,
            reranker=memory.reranker,
            arms_off=memory.arms_off,
            modes=memory.modes,
            key=memory.key,
            files=memory.files,
        )
        self.memory, self.also = memory, tuple(also)

    def sources(self, source: str) -> tuple[str, ...]:
        """All that a read of the source looks into, in their order."""
        return tuple(dict.fromkeys((source, *self.also)))

    def holder(self, source: str, id: str) -> str:  # noqa: A002 - the name at every door
        """The first of them that holds the item; where none does the source itself, which will say so."""
        item = Item.named(str(id))
        return next((one for one in self.sources(source) if self.item(one, item) is not None), source)

    def _first(self, source: str, ask: Any) -> Any:
        """What the first of them answers that has an answer; the source's own refusal where none has."""
        refused: NotFound | None = None
        for one in self.sources(source):
            try:
                return ask(one)
            except NotFound as error:
                refused = refused or error
        raise refused or NotFound("there is no source to ask")

    def _opened(self) -> Embedder | None:
        return self.memory._opened()

    # -- reads

    def get_page(self, source: str, slug: str) -> Page:
        """The page from the first source that has it."""
        return self._first(source, lambda one: self.memory.get_page(one, slug))  # type: ignore[no-any-return]

    def entity(self, source: str, name: str, *, now: datetime | None = None, **how: Any) -> Card:
        """The card from the first source that knows the name."""
        return self._first(source, lambda one: self.memory.entity(one, name, now=now, **how))  # type: ignore[no-any-return]

    def timeline(self, source: str, entity: str, *, now: datetime | None = None, **how: Any) -> tuple[Dated, ...]:
        """The timeline from the first source that knows the thing."""
        return self._first(source, lambda one: self.memory.timeline(one, entity, now=now, **how))  # type: ignore[no-any-return]

    def history(self, source: str, id: str) -> History:  # noqa: A002
        """What became of an item, in the source that holds it."""
        return self.memory.history(self.holder(source, id), id)

    def conflicts(self, source: str, *, now: datetime | None = None) -> tuple[Contested, ...]:
        """What only a person can settle, of each source after another."""
        return tuple(found for one in self.sources(source) for found in self.memory.conflicts(one, now=now))

    def search(
        self, source: str, query: str, limit: int = 10, *, offset: int = 0, now: datetime | None = None, **how: Any
    ) -> Results:
        """What fits in any of the sources, on one scale."""
        found = [self.memory.search(one, query, limit + offset, now=now, **how) for one in self.sources(source)]
        ranked = _ranked(part.results for part in found)[offset : offset + limit]
        results: tuple[Result, ...] = tuple(
            replace(one, rank=rank) for rank, one in enumerate(ranked, start=offset + 1)
        )
        usage = Cost(
            sum(part.usage.latency_ms for part in found), sum(part.usage.embedding_calls for part in found), None
        )
        lanes, degraded = _united(part.lanes for part in found), _united(part.degraded for part in found)
        return Results(results, sum(part.total for part in found), limit, offset, lanes, degraded, usage)

    def recall(self, source: str, query: str, *, limit: int = 10, now: datetime | None = None, **how: Any) -> Recalled:
        """What answers in any of the sources, on one scale."""
        found = [self.memory.recall(one, query, limit=limit, now=now, **how) for one in self.sources(source)]
        ranked = _ranked(part.memories for part in found)[:limit]
        memories = tuple(replace(one, rank=rank) for rank, one in enumerate(ranked, start=1))
        return Recalled(memories, _united(part.lanes for part in found), _united(part.degraded for part in found))

    def recall_facts(
        self,
        source: str,
        query: str | None = None,
        *,
        entity: str | None = None,
        limit: int | None = None,
        now: datetime | None = None,
    ) -> tuple[Fact, ...]:
        """The facts of each source after another."""
        how: dict[str, Any] = {"entity": entity, "limit": limit, "now": now}
        parts = [self.memory.recall_facts(one, query, **how) for one in self.sources(source)]
        return tuple(fact for part in parts for fact in part)[:limit]

    def context(
        self,
        source: str,
        window: Sequence[Message],
        *,
        prior: str = "",
        session: str | None = None,
        budget: Budget | None = None,
        now: datetime | None = None,
    ) -> TurnContext:
        """What to inject on a turn: the source's own first, and of the others what then fits the budget."""
        left, found = budget or Budget(), TurnContext("")
        for one in self.sources(source):
            if left.bytes <= 0 or (left.tokens is not None and left.tokens <= 0):
                return replace(found, degraded=_united((found.degraded, ("budget_trimmed",))))
            more = self.memory.context(
                one, window, prior=_joined(prior, found.text), session=session, budget=left, now=now
            )
            found, left = _both(found, more), _rest(left, more)
        return found

    def said(
        self, source: str, text: str, *, prior: str = "", session: str | None = None
    ) -> tuple[tuple[Said, ...], tuple[str, ...]]:
        """What the user said in other conversations of any of the sources, the source's own first, at most two."""
        found: tuple[Said, ...] = ()
        degraded: tuple[str, ...] = ()
        for one in self.sources(source):
            more, lost = self.memory.said(one, text, prior=prior, session=session)
            found, degraded = found + more, _united((degraded, lost))
        return found[:MOST_SAID], degraded

    def opening_pack(
        self, source: str, *, since: datetime, tokens: int, mark: str, now: datetime | None = None
    ) -> ContextPack:
        """What a session starts with. A third of the room is for the other sources; what they leave is its own."""
        others = [
            self.memory.opening_pack(one, since=since, tokens=tokens // 3 // len(self.also), mark=mark, now=now)
            for one in self.sources(source)[1:]
        ]
        room = tokens - sum(pack.estimated_tokens + 1 for pack in others)
        return _one_pack([self.memory.opening_pack(source, since=since, tokens=room, mark=mark, now=now), *others])

    def context_pack(
        self, source: str, goal: str, *, markdown_token_budget: int = 4000, now: datetime | None = None, **how: Any
    ) -> ContextPack:
        """The pack of a goal, shared out as that of a session's start."""
        how["now"] = now
        share = markdown_token_budget // 3 // max(1, len(self.also))
        others = [
            self.memory.context_pack(one, goal, markdown_token_budget=share, **how) for one in self.sources(source)[1:]
        ]
        room = markdown_token_budget - sum(pack.estimated_tokens + 1 for pack in others)
        own = self.memory.context_pack(source, goal, markdown_token_budget=room, **how)
        return _one_pack([own, *others])

    def pointers(
        self, source: str, text: str, *, prior: str = "", pages: int = 3, **how: Any
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """Pages that one turn names, the source's own first."""
        found: tuple[Pointer, ...] = ()
        degraded: tuple[str, ...] = ()
        for one in self.sources(source):
            more, lost = self.memory.pointers(one, text, prior=prior, pages=pages - len(found), **how)
            found, degraded = found + _new(more, found), _united((degraded, lost))
        return found, degraded

    def volunteers(
        self, source: str, window: Sequence[Message], *, prior: str = "", exclude: Collection[str] = (), limit: int = 3
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """Pages that the last turns call for, the source's own first."""
        found: tuple[Pointer, ...] = ()
        degraded: tuple[str, ...] = ()
        for one in self.sources(source):
            more, lost = self.memory.volunteers(one, window, prior=prior, exclude=exclude, limit=limit - len(found))
            found, degraded = found + _new(more, found), _united((degraded, lost))
        return found, degraded

    # -- what names an item

    def remember(
        self,
        source: str,
        text: str,
        *,
        replaces: str | None = None,
        writer: Writer = OWNER,
        now: datetime | None = None,
        **how: Any,
    ) -> WriteReceipt:
        """Keep a statement in the source, or where the one is whose place it takes."""
        where = source if replaces is None else self.holder(source, replaces)
        return self.memory.remember(where, text, replaces=replaces, writer=writer, now=now, **how)

    def forget(
        self,
        source: str,
        ids: Sequence[str],
        *,
        mode: Literal["expire", "purge"] = "expire",
        reason: str = "",
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> ForgetReceipt:
        """Let items be current no longer, wherever they are. All of them, or none."""
        with self.store.transaction():
            done = [
                self.memory.forget(one, part, mode=mode, reason=reason, writer=writer, now=now)
                for one, part in self._sorted(source, ids)
            ]
        gone = tuple(name for receipt in done for name in receipt.forgotten)
        guarded = tuple(name for receipt in done for name in receipt.guarded)
        return ForgetReceipt(source, "expire", "guarded" if guarded else "complete", gone, guarded)

    def correct(
        self,
        source: str,
        id: str,  # noqa: A002
        action: Any,
        *,
        writer: Writer = OWNER,
        now: datetime | None = None,
        **how: Any,
    ) -> Correction:
        """Put right what the source that holds the item says of it."""
        return self.memory.correct(self.holder(source, id), id, action, writer=writer, now=now, **how)

    def confirm(
        self,
        source: str,
        id: str,  # noqa: A002
        *,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Vouch for an item, wherever it is."""
        return self.memory.confirm(self.holder(source, id), id, writer=writer, now=now)

    def purge_plan(self, source: str, ids: Sequence[str], *, everywhere: bool = False) -> Plan:
        """What forgetting them for good would take out: they are looked for in the one source that holds them."""
        return self.memory.purge_plan(self._keeper(source, ids), ids, everywhere=everywhere)

    def purge(
        self,
        source: str,
        ids: Sequence[str],
        *,
        everywhere: bool = False,
        shown: Plan | None = None,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> PurgeReceipt:
        """Forget them for good: they are looked for in the one source that holds them."""
        return self.memory.purge(
            self._keeper(source, ids), ids, everywhere=everywhere, shown=shown, writer=writer, now=now
        )

    def lift(self, source: str, receipt: str) -> int:
        """Let be kept again what a purge forgot, in whichever source that was."""
        return self._first(source, lambda one: self.memory.lift(one, receipt))  # type: ignore[no-any-return]

    def _keeper(self, source: str, ids: Sequence[str]) -> str:
        """The one source that holds all of them."""
        keepers = [one for one, _ in self._sorted(source, ids)]
        if len(keepers) > 1:
            raise InvalidInput("ids", f"are of several sources ({', '.join(keepers)}); name those of one at a time")
        return keepers[0]

    def cite(
        self, source: str, ids: Sequence[str], *, writer: Writer = OWNER, now: datetime | None = None, **how: Any
    ) -> CiteReceipt:
        """Keep that items were of use, wherever they are."""
        with self.store.transaction():
            done = [
                self.memory.cite(one, part, writer=writer, now=now, **how) for one, part in self._sorted(source, ids)
            ]
        rejected = tuple(name for receipt in done for name in receipt.rejected)
        return CiteReceipt(
            sum(receipt.recorded for receipt in done), sum(receipt.duplicates for receipt in done), rejected
        )

    def _sorted(self, source: str, ids: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
        """The ids by the source that holds them; as they are where they cannot be told apart."""
        if isinstance(ids, str) or not all(isinstance(one, str) for one in ids) or not ids:
            yield source, ids
            return
        where: dict[str, list[str]] = {}
        for one in ids:
            where.setdefault(self.holder(source, one), []).append(one)
        yield from where.items()


def seen(memory: Memory, also: Sequence[str]) -> Memory:
    """The memory as somebody sees it who may look into other sources too."""
    return Together(memory, also) if also else memory


def _ranked(parts: Any) -> list[Any]:
    return sorted((one for part in parts for one in part), key=lambda one: -one.score)


def _united(parts: Any) -> tuple[str, ...]:
    """Each code once. That a source is unknown is said only where all are."""
    several = [tuple(part) for part in parts]
    united = dict.fromkeys(one for part in several for one in part)
    return tuple(one for one in united if one != UNKNOWN_SOURCE or all(one in part for part in several))


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _new(more: Sequence[Pointer], found: Sequence[Pointer]) -> tuple[Pointer, ...]:
    """Those of whose name there was none before: a page of the source hides one of that slug elsewhere."""
    slugs = {pointer.slug for pointer in found}
    return tuple(pointer for pointer in more if pointer.slug not in slugs)


def _both(first: TurnContext, then: TurnContext) -> TurnContext:
    return TurnContext(
        _joined(first.text, then.text),
        first.pointers + then.pointers,
        first.volunteered + then.volunteered,
        first.facts + then.facts,
        _united((first.degraded, then.degraded)),
        first.ms + then.ms,
        first.said + then.said,
    )


def _rest(budget: Budget, spent: TurnContext) -> Budget:
    """What is left of a budget; where something was said, two line ends will stand before what follows."""
    units = len(spent.text.encode("utf-16-le", "surrogatepass")) // 2
    used = len(spent.text.encode("utf-8", "surrogatepass")) + 2 * bool(spent.text)
    return replace(
        budget,
        pages=max(0, budget.pages - len(spent.pointers)),
        volunteers=max(0, budget.volunteers - len(spent.volunteered)),
        facts=max(0, budget.facts - len(spent.facts)),
        said=max(0, budget.said - len(spent.said)),
        tokens=None if budget.tokens is None else budget.tokens - -(-(units + 2 * bool(units)) // 4),
        bytes=budget.bytes - used,
    )


def _one_pack(packs: Sequence[ContextPack]) -> ContextPack:
    first, *_ = packs
    unknown = set.intersection(*({one.id for one in pack.omitted if one.reason == "unknown"} for pack in packs))
    omitted = [one for pack in packs for one in pack.omitted if one.reason != "unknown" or one.id in unknown]
    return replace(
        first,
        sections=tuple(section for pack in packs for section in pack.sections),
        total_items=sum(pack.total_items for pack in packs),
        omitted=tuple(dict.fromkeys(omitted)),
        estimated_tokens=sum(pack.estimated_tokens for pack in packs),
        markdown=_joined(*(pack.markdown for pack in packs)),
    )
