"""Questions with the pages that answer them, as somebody judged them, and how well a memory's answers fit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import CorpusError, Fault, NothingMeasured, UsageError
from brainbench.evidence.committed import bytes_of
from brainbench.metrics import Ratio
from brainbench.metrics.values import ratio
from brainbench.model import Capability
from brainbench.systems import System
from brainbench.systems.answers import what_happened

Page = tuple[str, str]
"""(source, slug)"""


@dataclass(frozen=True, slots=True)
class Qrel:
    """One question, its right pages, and the one that should come first if that was said."""

    query_id: str
    query: str
    relevant: tuple[Page, ...]
    first: Page | None

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources to ask, that of the first page first."""
        pages = (self.first, *self.relevant) if self.first is not None else self.relevant
        return tuple(dict.fromkeys(source for source, _ in pages))


@dataclass(frozen=True, slots=True)
class Judged:
    """A question that was asked: the first k pages that came, or why none did."""

    qrel: Qrel
    pages: tuple[Page, ...] = ()
    error: str | None = None

    @property
    def recall(self) -> Fraction:
        """The share of the right pages that came."""
        return Fraction(len({*self.pages} & {*self.qrel.relevant}), len(self.qrel.relevant))

    @property
    def starts_right(self) -> bool:
        """Whether the first page that came is one of the right ones."""
        return bool(self.pages) and self.pages[0] in self.qrel.relevant

    @property
    def starts_as_expected(self) -> bool | None:
        """Whether the first page that came is the expected one; None when none was named."""
        return None if self.qrel.first is None else self.pages[:1] == (self.qrel.first,)


@dataclass(frozen=True, slots=True)
class Correctness:
    """What came of all questions. An error counts as an answer without pages."""

    k: int
    judged: tuple[Judged, ...]

    @property
    def errors(self) -> Ratio | None:
        return ratio(sum(judged.error is not None for judged in self.judged), len(self.judged))

    @property
    def recall(self) -> Fraction | None:
        """The mean over questions."""
        return sum((j.recall for j in self.judged), Fraction(0)) / len(self.judged) if self.judged else None

    @property
    def first_relevant(self) -> Ratio | None:
        return ratio(sum(judged.starts_right for judged in self.judged), len(self.judged))

    @property
    def expected_top1(self) -> Ratio | None:
        told = [judged.starts_as_expected for judged in self.judged if judged.starts_as_expected is not None]
        return ratio(sum(told), len(told))

    def worst(self, most: int) -> tuple[Judged, ...]:
        """The questions that were answered worst, those that were answered in full left out."""
        wrong = [j for j in self.judged if j.recall < 1 or not j.starts_right or j.starts_as_expected is False]
        return tuple(sorted(wrong, key=lambda j: (j.recall, j.starts_right))[:most])


def ask_all(system: System, qrels: Sequence[Qrel], k: int) -> Correctness:
    """The first k pages for every question, judged."""
    if Capability.SEARCH not in system.can:
        raise UsageError(f"--system: {system.name} cannot search, and questions with right pages are searches")
    return Correctness(k, tuple(_ask(system, qrel, k) for qrel in qrels))


def _ask(system: System, qrel: Qrel, k: int) -> Judged:
    try:
        lists = [[(s, hit.id) for hit in system.search(s, qrel.query, k)] for s in qrel.sources]
    except Exception as error:
        return Judged(qrel, error=what_happened(error))
    # Scores of different sources cannot be compared, so their lists are taken in turn.
    turns = itertools.chain.from_iterable(itertools.zip_longest(*lists))
    return Judged(qrel, tuple(dict.fromkeys(page for page in turns if page is not None))[:k])


def read_qrels(path: Path) -> tuple[Qrel, ...]:
    """The questions of a file: `{"queries": [...]}` or a bare list, in either shape of entries.

    CorpusError lists every fault; NothingMeasured when there is no question.
    """
    try:
        document = msgspec.json.decode(bytes_of(path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CorpusError([Fault(str(path), "file", f"not JSON: {error}")]) from None
    entries = document.get("queries") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise CorpusError([Fault(str(path), "queries", "expected a list")])
    if not entries:
        raise NothingMeasured(f"{path}: queries is empty")
    found: list[Qrel] = []
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        where = f"queries[{number}]"
        wrong = list(_faults(entry)) if isinstance(entry, dict) else [("", "expected an object")]
        if not wrong and seen.setdefault(entry["query_id"], number) != number:
            wrong = [("query_id", f"{entry['query_id']!r} is that of queries[{seen[entry['query_id']]}] too")]
        faults += [Fault(str(path), f"{where}.{field}".rstrip("."), reason) for field, reason in wrong]
        if not wrong:
            found.append(_qrel(entry))
    if faults:
        raise CorpusError(faults)
    return tuple(found)


def _faults(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("query_id", "query"):
        if not isinstance(entry.get(field), str) or not entry[field].strip():
            yield field, "expected text that is not empty"
    key, first = (
        ("relevant_slugs", "first_relevant_slug") if "relevant_slugs" in entry else ("relevant", "expected_top1")
    )
    pages = entry.get(key)
    if not isinstance(pages, list) or not pages:
        yield key, "expected a list of pages that is not empty"
        return
    wrong = [
        (f"{key}[{number}]", "expected a slug" if key == "relevant_slugs" else "expected source_id and slug")
        for number, page in enumerate(pages)
        if _page(page) is None or isinstance(page, str) != (key == "relevant_slugs")
    ]
    yield from wrong
    if wrong:
        return
    if not any(_grade(page) for page in pages):
        yield key, "no page has a grade above 0"
    elif entry.get(first) is not None and _page(entry[first]) not in [_page(page) for page in pages if _grade(page)]:
        yield first, f"is not among {key}"


def _qrel(entry: Mapping[str, Any]) -> Qrel:
    pages = entry["relevant_slugs" if "relevant_slugs" in entry else "relevant"]
    relevant = dict.fromkeys(page for written in pages if _grade(written) and (page := _page(written)) is not None)
    first = entry.get("first_relevant_slug" if "relevant_slugs" in entry else "expected_top1")
    return Qrel(entry["query_id"], entry["query"], tuple(relevant), None if first is None else _page(first))


def _page(written: object) -> Page | None:
    """A page of either shape: a slug of the source `default`, or source and slug; None for anything else."""
    if isinstance(written, str):
        return ("default", written) if written else None
    if not isinstance(written, dict):
        return None
    source, slug, grade = written.get("source_id"), written.get("slug"), written.get("grade", 1)
    sound = isinstance(source, str) and isinstance(slug, str) and source and slug and type(grade) in (int, float)
    return (str(source), str(slug)) if sound else None


def _grade(written: object) -> float:
    """How well a page answers: 1 unless it says otherwise, 0 for one that was judged not to."""
    return float(written.get("grade", 1)) if isinstance(written, dict) else 1.0
