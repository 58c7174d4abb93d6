"""Ask a memory that is in use the questions of a baseline again, and hold its answers against those of then."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from brainbench.errors import UsageError
from brainbench.metrics import Ratio
from brainbench.metrics.values import ratio
from brainbench.model import Ask, Budget, Capability, Message
from brainbench.queries.files import Row
from brainbench.systems import System, load_system
from brainbench.systems.answers import what_happened

SLOW = 2
"""A question is slower when it takes more than so many times what it took."""
USUAL_LIMIT = 10
USUAL_PAGES = 3
_SCRUBBED = re.compile(r"\[(?:scrubbed [a-z]+|REDACTED[^\]]*)\]")
_LIMIT = re.compile(r"limit (\d{1,6})\Z")
_NOT_REPEATABLE = {
    "cut": "the query was cut",
    "in a conversation": "the conversation around it was not captured",
    "of one entity": "it was about one entity",
    "filtered": "it was filtered, and a system is asked by the query alone",
}
"""What the capture says in `detail` of answers that leaned on more than the query, and how that is told."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A row that was asked again: the pages of now, or why there is no answer."""

    row: Row
    slugs: tuple[str, ...] = ()
    latency_ms: float = 0.0
    error: str | None = None

    @property
    def jaccard(self) -> Fraction:
        """How alike both sets of pages are; 1 when both are empty, 0 for an error."""
        return Fraction(0) if self.error is not None else jaccard(self.row.slugs, self.slugs)

    @property
    def same_first(self) -> bool:
        """Whether the first page is the one it was; true when there is none, then and now."""
        return self.error is None and self.row.slugs[:1] == self.slugs[:1]

    @property
    def changed(self) -> bool:
        return self.jaccard < 1 or not self.same_first

    @property
    def both_empty(self) -> bool:
        return self.error is None and not self.row.slugs and not self.slugs


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of all rows. An error counts as a wrong answer, and `skipped` tells why rows were not asked."""

    rows_total: int
    asked: tuple[Asked, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def answered(self) -> tuple[Asked, ...]:
        return tuple(asked for asked in self.asked if asked.error is None)

    @property
    def errors(self) -> Ratio | None:
        """Errors among the rows that were asked; None when none was."""
        return ratio(len(self.asked) - len(self.answered), len(self.asked))

    @property
    def mean_jaccard(self) -> Fraction | None:
        return _mean([asked.jaccard for asked in self.asked])

    @property
    def mean_jaccard_of_found(self) -> Fraction | None:
        """The mean without the rows that found nothing, then and now; None when no other was asked."""
        return _mean([asked.jaccard for asked in self.asked if not asked.both_empty])

    @property
    def unchanged(self) -> Ratio | None:
        """Rows that brought the same pages with the same one first."""
        return ratio(sum(not asked.changed for asked in self.asked), len(self.asked))

    @property
    def same_first(self) -> Ratio | None:
        return ratio(sum(asked.same_first for asked in self.asked), len(self.asked))

    @property
    def both_empty(self) -> int:
        return sum(asked.both_empty for asked in self.asked)

    @property
    def slower(self) -> int:
        """Answers that took more than SLOW times as long as then."""
        return sum(asked.latency_ms > SLOW * asked.row.latency_ms for asked in self.answered)

    @property
    def mean_latency_ms(self) -> tuple[float, float] | None:
        """The mean of then and of now over the rows that were answered."""
        rows = self.answered
        if not rows:
            return None
        return sum(a.row.latency_ms for a in rows) / len(rows), sum(a.latency_ms for a in rows) / len(rows)

    def regressions(self, most: int) -> tuple[Asked, ...]:
        """The rows that changed most, worst first."""
        changed = [asked for asked in self.asked if asked.changed]
        return tuple(sorted(changed, key=lambda a: (a.jaccard, a.same_first, a.row.line))[:most])


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def jaccard(then: Sequence[str], now: Sequence[str]) -> Fraction:
    """Pages in both of all pages in either, as sets; 1 when both are empty.

    >>> jaccard(["a", "b"], ["b", "c"]), jaccard([], []), jaccard(["a"], [])
    (Fraction(1, 3), Fraction(1, 1), Fraction(0, 1))
    """
    either = {*then, *now}
    return Fraction(len({*then} & {*now}), len(either)) if either else Fraction(1)


def attached(name: str, store: str | None) -> System:
    """The named system, open on the memory that is in use. UsageError when it has no such thing.

    A class runs in this process, with the variables and files of whoever owns the memory: nothing is kept from it here.
    """
    system = load_system(name, here=True)
    if type(system).attach is System.attach:
        raise UsageError(f"--system: {name} keeps no memory that could be asked again: it defines no `attach`")
    system.attach(store)
    return system


def replay(system: System, rows: Sequence[Row], limit: int | None = None) -> Replay:
    """The first `limit` rows that can be asked again, asked again."""
    asked: list[Asked] = []
    skipped: Counter[str] = Counter()
    for row in rows:
        ask, why_not = _how_to_ask(system, row)
        if ask is not None and limit is not None and len(asked) == limit:
            ask, why_not = None, "beyond --limit"
        if ask is None:
            skipped[why_not] += 1
            continue
        if not asked:
            _answer(row, ask)  # the first question of a process pays for loading what all others use
        asked.append(_answer(row, ask))
    return Replay(len(rows), tuple(asked), dict(sorted(skipped.items())))


def _answer(row: Row, ask: Callable[[], Sequence[str]]) -> Asked:
    began = time.perf_counter()
    try:
        slugs = tuple(dict.fromkeys(ask()))
    except Exception as error:
        return Asked(row, error=what_happened(error))
    return Asked(row, slugs, (time.perf_counter() - began) * 1000)


def _how_to_ask(system: System, row: Row) -> tuple[Callable[[], Sequence[str]] | None, str]:
    """What asks the row's question again, or None and why it cannot be asked."""
    tool = _TOOLS.get(row.tool)
    reason = None
    if tool is None:
        reason = f"the tool {row.tool!r} is not one of {', '.join(_TOOLS)}"
    elif tool[0] not in system.can:
        reason = f"{system.name} cannot {tool[0]}"
    elif len(row.sources) > 1:
        reason = "it was asked of several sources at once"
    elif row.detail in _NOT_REPEATABLE:
        reason = _NOT_REPEATABLE[row.detail]
    elif any(_SCRUBBED.search(text) for text in (row.query, *row.slugs, *row.sources)):
        reason = "a part of it was scrubbed"
    if reason is not None or tool is None:
        return None, reason or ""
    source = row.sources[0] if row.sources else "default"
    return (lambda: tuple(tool[1](system, source, row))), ""


def _search(system: System, source: str, row: Row) -> Iterator[str]:
    yield from (hit.id for hit in system.search(source, row.query, _limit(row, USUAL_LIMIT)))


def _recall_facts(system: System, source: str, row: Row) -> Iterator[str]:
    limit = None if row.detail == "no limit" else _limit(row, USUAL_LIMIT)
    for fact in system.recall_facts(source, row.query, limit):
        if page := fact.entity or fact.source_page:
            yield page


def _context(system: System, source: str, row: Row) -> Iterator[str]:
    yield from _injected(system, source, row, "claude-code", USUAL_PAGES)


def _pointers(system: System, source: str, row: Row) -> Iterator[str]:
    yield from _injected(system, source, row, "codex", _limit(row, USUAL_PAGES))


def _injected(system: System, source: str, row: Row, harness: str, pages: int) -> Sequence[str]:
    """The pages brought to a conversation that begins with the query."""
    message = Message("user", row.query)
    return system.context(Ask(harness, "replay", source, (message,), (), Budget(pages), "")).brought


def _limit(row: Row, usual: int) -> int:
    """How many pages were asked for: as the capture says, else as many as came, else as usual."""
    told = _LIMIT.match(row.detail or "")
    return int(told[1]) if told else len(row.slugs) or usual


_TOOLS: Mapping[str, tuple[Capability, Callable[[System, str, Row], Iterator[str]]]] = {
    "search": (Capability.SEARCH, _search),
    "query": (Capability.SEARCH, _search),
    "recall_facts": (Capability.RECALL_FACTS, _recall_facts),
    "context": (Capability.CONTEXT, _context),
    "pointers": (Capability.CONTEXT, _pointers),
}
"""How each captured tool is asked again; `query` is what other memories call a search."""
