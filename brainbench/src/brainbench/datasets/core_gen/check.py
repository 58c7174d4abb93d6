"""Checks that a native corpus keeps its own promises, beyond what its format demands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from brainbench import corpus, gold
from brainbench.errors import Fault
from brainbench.gold import EventGold, Gold, GoldFact, Probe
from brainbench.model import PUSH_SUITES, Fixture, SessionBreak, Turn, Write
from brainbench.suites.leaks import canaries
from brainbench.suites.matching import says


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in a corpus. `labels` counts (stratum, must or must_not) over know-to-ask turns."""

    fixtures: int
    faults: tuple[Fault, ...]
    categories: Mapping[str, int]
    languages: Mapping[str, int]
    labels: Mapping[tuple[str, str], int]
    scripted_facts: int
    gold_facts: int
    probes: Mapping[str, int]

    def must_share(self, stratum: str) -> float | None:
        """The share of must-turns among the know-to-ask turns of a stratum; None where it has none of them."""
        must, quiet = self.labels.get((stratum, "must"), 0), self.labels.get((stratum, "must_not"), 0)
        return must / (must + quiet) if must + quiet else None

    def table(self) -> str:
        """The counts, one line each."""
        lines = [f"{self.fixtures} fixtures, {len(self.categories)} categories, {len(self.languages)} languages"]
        lines += [f"  {name}: {n}" for name, n in sorted(self.categories.items())]
        for stratum in ("easy", "medium", "hard"):
            must, quiet = self.labels.get((stratum, "must"), 0), self.labels.get((stratum, "must_not"), 0)
            share = self.must_share(stratum)
            told = "-" if share is None else f"{share:.2f}"
            lines.append(f"know-to-ask, {stratum}: {must} must, {quiet} must_not ({told})")
        lines.append(f"{self.scripted_facts} scripted facts, {self.gold_facts} gold facts")
        lines += [f"probes, {channel}: {n}" for channel, n in sorted(self.probes.items())]
        return "\n".join(lines)


def inspect(directory: Path) -> Inspection:
    """The counts and faults of a native corpus, holdout included. CorpusError if its files break the format."""
    gold.validate(directory / "fixtures", directory / "gold")
    played = corpus.read(directory / "fixtures", include_holdout=True)
    sealed = gold.read(played, directory / "gold")
    labels: Counter[tuple[str, str]] = Counter()
    faults: list[Fault] = []
    for fixture in played.fixtures:
        its_gold = sealed[fixture.fixture_id]
        faults.extend(_faults(fixture, its_gold))
        if "know-to-ask" in fixture.suites:
            labels.update((fixture.stratum, e.retrieve) for e in its_gold.events.values() if e.retrieve is not None)
    return Inspection(
        fixtures=len(played.fixtures),
        faults=tuple(faults),
        categories=Counter(f.category for f in played.fixtures),
        languages=Counter(f.language for f in played.fixtures),
        labels=labels,
        scripted_facts=sum(len(f.scripted_facts) for f in played.fixtures),
        gold_facts=sum(len(e.gold_facts) for g in sealed.values() for e in g.events.values()),
        probes=Counter(p.channel for g in sealed.values() for p in g.probes),
    )


def _faults(fixture: Fixture, its_gold: Gold) -> Iterator[Fault]:
    pages = dict(_pages(fixture))
    yield from _canaries(fixture)
    for event in its_gold.events.values():
        at = f"events.{event.event_id}"
        yield from (Fault(fixture.file, at, reason) for reason in _slugs(fixture, event, pages))
        for fact in event.gold_facts:
            yield from (Fault(fixture.file, at, reason) for reason in _fact(fixture, event.event_id, fact, pages))
    for probe in its_gold.probes:
        yield from (Fault(fixture.file, probe.probe_id, reason) for reason in _probe(fixture, probe, pages))
    labelled = {e.event_id for e in its_gold.events.values() if e.retrieve is not None}
    for turn in fixture.events:
        asked = isinstance(turn, Turn) and turn.role == "user" and set(PUSH_SUITES) & set(fixture.suites)
        if asked and turn.event_id not in labelled:
            yield Fault(fixture.file, f"events.{turn.event_id}", "a user turn without a label")


def _pages(fixture: Fixture) -> Iterator[tuple[str, str]]:
    """Slug and text of each page that the active source holds at some time."""
    for event in (*fixture.setup, *fixture.events):
        if isinstance(event, Write) and event.slug and (event.source or fixture.active_source) == fixture.active_source:
            yield event.slug, event.content


def _canaries(fixture: Fixture) -> Iterator[Fault]:
    """Each page of a foreign source carries its canary, the same on all its pages; no active page carries one."""
    seen: dict[str, set[str]] = defaultdict(set)
    for write in fixture.setup:
        source = write.source or fixture.active_source
        marks = set(canaries(write.content))
        if len(marks) != (source != fixture.active_source):
            yield Fault(fixture.file, f"setup.{write.event_id}", f"{len(marks)} canaries on a page of {source}")
        seen[source] |= marks
    if len(set().union(*seen.values())) != len(seen) - (fixture.active_source in seen):
        yield Fault(fixture.file, "setup", "each foreign source needs one canary of its own")


def _slugs(fixture: Fixture, event: EventGold, pages: Mapping[str, str]) -> Iterator[str]:
    for slug in (*event.gold_slugs, *event.acceptable_slugs):
        if slug not in pages:
            yield f"{slug} is no page of the active source"
    if (event.retrieve == "must") != bool(event.gold_slugs):
        yield "a must-turn, and no other, wants pages"
    if event.retrieve == "must_not" and event.acceptable_slugs:
        yield "a silent turn accepts no page"


def _fact(fixture: Fixture, event_id: int, fact: GoldFact, pages: Mapping[str, str]) -> Iterator[str]:
    if fact.entity_slug is not None and fact.entity_slug not in pages:
        yield f"{fact.entity_slug} is no page of the active source"
    if not any(s.event_id == event_id and s.fact == fact.fact for s in fixture.scripted_facts):
        yield f"no extractor would say {fact.fact!r} of this turn"
    bearing = [s.fact for s in fixture.scripted_facts if says(s.fact, fact.match_keywords, fact.forbid_keywords)]
    if bearing != [fact.fact]:
        yield f"keywords {fact.match_keywords} fit {len(bearing)} of the scripted facts, needs exactly its own"


def _probe(fixture: Fixture, probe: Probe, pages: Mapping[str, str]) -> Iterator[str]:
    turns = {e.event_id: e.text for e in fixture.events if isinstance(e, Turn) and e.role == "user"}
    order = [e.event_id for e in fixture.events]
    ends = [e.event_id for e in fixture.events if isinstance(e, SessionBreak) and e.persist]
    if probe.after_event not in turns:
        yield "is after no user turn"
        return
    if not ends or order.index(ends[0]) > order.index(probe.after_event):
        yield "comes before anything was written back"
    yield from (f"{slug} is no page of the active source" for slug in probe.expected_slugs if slug not in pages)
    if says(turns[probe.after_event], probe.match_keywords):
        yield "the question gives away what is asked"
    in_pages = [slug for slug, text in pages.items() if says(f"{slug}\n{text}", probe.match_keywords)]
    in_facts = [s for s in fixture.scripted_facts if says(s.fact, probe.match_keywords, probe.forbid_keywords)]
    if probe.channel == "stored_only" and (in_pages or probe.expected_slugs or not in_facts):
        yield "only a stored fact may hold it, and one must"
    if probe.channel == "any" and not in_pages and not in_facts:
        yield "neither a page nor a fact holds it"
