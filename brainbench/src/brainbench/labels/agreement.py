"""Blind labels against gold and against each other: agreement, Cohen's kappa, and every disagreement with its fix."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.errors import IncompatibleError
from brainbench.gold import Gold, Probe, Retrieve
from brainbench.labels.sheet import asked_answers, asked_facts, asked_turns, hidden_names, sample
from brainbench.model import Fixture, Turn
from brainbench.suites.matching import plain, says

LEAST_KAPPA = 0.85
"""Below this a category is not fit to be released."""
GOLD = "gold"
CHOICES = ("turn", "fact")
"""The questions that are answered by a choice, so that some agreement comes by chance."""
_Z95 = 1.959964
_WORD = re.compile(r"\w+")
_ENDS = " .!?。！？"

MADE_BY = "brainbench labels agree, from files that readers wrote: nothing can make their labels again"
"""Stands in each receipt, for whoever wonders whether it is generated."""


class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    retrieve: Retrieve
    slugs: list[str] = []


class _Fact(msgspec.Struct, forbid_unknown_fields=True):
    entity: str | None
    keep: bool


class _Labels(msgspec.Struct, forbid_unknown_fields=True):
    turns: dict[str, _Turn] = {}
    facts: dict[str, _Fact] = {}
    answers: dict[str, str | None] = {}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    schema_version: Literal[1]
    labeller: str
    labels: dict[str, _Labels]


class _Sheet(msgspec.Struct):
    schema_version: Literal[1]
    corpus: str
    fixtures_hash: str
    share: float
    seed: int
    more: dict[str, float] = {}


T = TypeVar("T")
Label = str | None
"""What one rater says of one item; None: the rater could give no answer."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was labelled: where, and what each rater said. `question` is turn, pages, fact or answer."""

    fixture: str
    category: str
    place: str
    question: str
    said: Mapping[str, Label]

    @property
    def name(self) -> str:
        """`<fixture>/<question> <place>`, as a disagreement is listed and its fix is named."""
        return f"{self.fixture}/{self.question} {self.place}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two raters said the same of the items of one question in one category.

    `kappa` is Cohen's (1960), with its large-sample 95 % interval; None where one label was all that both ever said,
    and for pages and answers, which are no choice between a few labels.
    """

    category: str
    question: str
    pair: tuple[str, str]
    n: int
    of: int
    kappa: float | None
    interval: tuple[float, float] | None


def cohen_kappa(pairs: Sequence[tuple[Label, Label]]) -> tuple[float, float, float] | None:
    """Cohen's kappa (1960) of two raters over nominal labels, with its large-sample 95 % bounds.

    The standard error is sqrt(po (1 - po) / (n (1 - pe)^2)). None without pairs, or where chance alone agrees always.

    >>> cohen_kappa([("a", "a"), ("a", "a"), ("b", "b"), ("b", "a")])[0]
    0.5
    """
    n = len(pairs)
    if not n:
        return None
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(left[label] * right[label] for label in left) / n**2
    if by_chance == 1:
        return None
    agreed = sum(a == b for a, b in pairs) / n
    kappa = (agreed - by_chance) / (1 - by_chance)
    half = _Z95 * sqrt(agreed * (1 - agreed) / n) / (1 - by_chance)
    return kappa, max(-1.0, kappa - half), min(1.0, kappa + half)


def answers_probe(text: str, probe: Probe, fixture: Fixture, gold: Gold) -> bool:
    """Whether an answer says the probe's keywords, or is quoted from where gold has them from in other words.

    A quotation is two words or more of the turn of a fact of gold that says the keywords, and has the whole text from
    which that fact was taken. It must not hold what the probe forbids.
    """
    if says(text, probe.match_keywords, probe.forbid_keywords):
        return True
    if len(_WORD.findall(text)) < 2:
        return False
    turns = {e.event_id: plain(e.text) for e in fixture.events if isinstance(e, Turn)}
    return any(
        plain(text) in turns.get(number, "") and says(text, [quote.rstrip(_ENDS)], probe.forbid_keywords)
        for number, quote in _sources(probe, fixture, gold)
    )


def read_labels(data: bytes, name: str) -> _File:
    """A file of labels. IncompatibleError names the file and the field."""
    return _decoded(data, name, _File)


def receipt(
    fixtures: Path,
    gold: Path,
    sheet: tuple[bytes, str],
    files: Sequence[_File],
    fixes: Mapping[str, str],
) -> dict[str, Any]:
    """What MANIFEST's validation stands on: labels, agreement per category, each disagreement and its fix.

    `fixes` is keyed by Item.name. IncompatibleError if the sheet is of another corpus, or labels are missing.
    """
    drawn = _decoded(*sheet, _Sheet)
    if drawn.fixtures_hash != golds.fixtures_hash(fixtures, gold):
        raise IncompatibleError(f"{sheet[1]}: fixtures_hash: made from another state of the corpus; draw a new sheet")
    read = corpora.read(fixtures, include_holdout=True)
    hidden, answers = hidden_names(read, drawn.seed), golds.read(read, gold)
    chosen = sorted(sample(read.fixtures, drawn.share, drawn.seed, drawn.more), key=lambda f: f.fixture_id)
    named = _named(files)
    items = [i for f in chosen for i in _items(f, answers[f.fixture_id], hidden[f.fixture_id], named)]
    found = agreements(items, (GOLD, *named))
    apart = [item for item in items if len(set(item.said.values())) > 1]
    return {
        "schema_version": 1,
        "made_by": MADE_BY,
        "corpus": drawn.corpus,
        "fixtures_hash": drawn.fixtures_hash,
        "sample": {
            "share": drawn.share,
            "more": drawn.more,
            "seed": drawn.seed,
            "fixtures": [f.fixture_id for f in chosen],
        },
        "labellers": list(named),
        "items": len(items),
        "agreement": [_row(a) for a in found],
        "blocked": blocked(found),
        "disagreements": [{"item": item.name, "said": dict(item.said), "fix": fixes.get(item.name)} for item in apart],
        "labels": {item.name: dict(item.said) for item in items},
    }


def agreements(items: Sequence[Item], raters: Sequence[str]) -> tuple[Agreement, ...]:
    """Each pair of raters on each question of each category."""
    families: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        families[item.category, item.question].append(item)
    found = []
    for (category, question), family in sorted(families.items()):
        for pair in combinations(raters, 2):
            said = [(item.said[pair[0]], item.said[pair[1]]) for item in family]
            kappa = cohen_kappa(said) if question in CHOICES else None
            agreed = sum(a == b for a, b in said)
            bounds = None if kappa is None else kappa[1:]
            found.append(Agreement(category, question, pair, agreed, len(said), kappa and kappa[0], bounds))
    return tuple(found)


def blocked(found: Sequence[Agreement]) -> list[str]:
    """The categories that are not fit to be released: raters agree too little, by kappa or, without one, by share."""
    return sorted({a.category for a in found if (a.n / a.of if a.kappa is None else a.kappa) < LEAST_KAPPA})


def _row(a: Agreement) -> dict[str, Any]:
    return {
        "category": a.category,
        "question": a.question,
        "between": list(a.pair),
        "n": a.n,
        "of": a.of,
        "kappa": a.kappa if a.kappa is None else round(a.kappa, 4),
        "interval": a.interval and [round(bound, 4) for bound in a.interval],
    }


def _named(files: Sequence[_File]) -> Mapping[str, _File]:
    named = {file.labeller.strip(): file for file in files}
    if len(named) < max(2, len(files)) or {"", GOLD} & set(named):
        raise IncompatibleError("labels: two labellers or more, each with a name of its own, are needed")
    return named


def _items(fixture: Fixture, gold: Gold, hidden: str, files: Mapping[str, _File]) -> Iterator[Item]:
    def item(question: str, place: str, said: Mapping[str, Label]) -> Item:
        return Item(fixture.fixture_id, fixture.category, place, question, said)

    def told(part: str, key: str) -> dict[str, Any]:
        return {name: _label(file, hidden, part, key) for name, file in files.items()}

    for event_id in asked_turns(fixture):
        wanted, turns = gold.events.get(event_id), told("turns", str(event_id))
        if wanted is None or wanted.retrieve is None:
            continue
        yield item("turn", str(event_id), {GOLD: wanted.retrieve} | {n: t.retrieve for n, t in turns.items()})
        if wanted.retrieve == "must" and all(t.retrieve == "must" for t in turns.values()):
            yield item("pages", str(event_id), _pages(wanted.gold_slugs, wanted.acceptable_slugs, turns))
    for number in asked_facts(fixture):
        kept, facts = _kept(fixture, gold, number), told("facts", str(number))
        yield item("fact", str(number), {GOLD: kept} | {n: _filed(f, kept) for n, f in facts.items()})
    for event_id in asked_answers(fixture):
        probes = [p for p in gold.probes if p.after_event == event_id]
        for probe in probes:
            right = {
                name: "right" if text is not None and answers_probe(text, probe, fixture, gold) else text
                for name, text in told("answers", str(event_id)).items()
            }
            yield item("answer", f"{event_id} {probe.probe_id}", {GOLD: "right"} | right)


def _sources(probe: Probe, fixture: Fixture, gold: Gold) -> Iterator[tuple[int, str]]:
    """The turns before a probe, and their texts, from which gold takes a fact that says the probe's keywords."""
    for told in fixture.scripted_facts:
        event = gold.events.get(told.event_id)
        kept = event is not None and any(fact.fact == told.fact for fact in event.gold_facts)
        if kept and told.event_id < probe.after_event and says(told.fact, probe.match_keywords, probe.forbid_keywords):
            yield told.event_id, told.quote


def _pages(gold: Sequence[str], acceptable: Sequence[str], turns: Mapping[str, _Turn]) -> dict[str, Label]:
    """Which pages each rater wants, without those that gold calls acceptable: wanting them or not is the same."""
    wanted = {GOLD: set(gold)} | {name: set(t.slugs) for name, t in turns.items()}
    return {name: ", ".join(sorted(slugs - set(acceptable))) for name, slugs in wanted.items()}


def _kept(fixture: Fixture, gold: Gold, number: int) -> str:
    said = fixture.scripted_facts[number]
    event = gold.events.get(said.event_id)
    match = next((f for f in event.gold_facts if f.fact == said.fact), None) if event else None
    return _fate(None if match is None else _Fact(match.entity_slug, True))


def _fate(fact: _Fact | None) -> str:
    if fact is None or not fact.keep:
        return "not kept"
    return f"kept under {fact.entity or 'no page'}"


def _filed(fact: _Fact, gold: str) -> str:
    """What a rater says of a fact. Where gold names no page, any will do: filing it under one or none is the same."""
    return gold if fact.keep and gold == _fate(_Fact(None, True)) else _fate(fact)


def _label(file: _File, hidden: str, part: str, key: str) -> Any:
    labels = file.labels.get(hidden)
    given = getattr(labels, part) if labels is not None else {}
    if key not in given:
        raise IncompatibleError(f"labels of {file.labeller}: labels.{hidden}.{part}.{key}: missing; label every item")
    return given[key]


def _decoded(data: bytes, name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IncompatibleError(f"{name}: {error}; write it as `how_to` in the sheet says") from None
