"""Checks that a trust corpus keeps its promises: items for every metric, scripts for every case, a claim to purge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from brainbench.datasets.item_check import Read, Report, read
from brainbench.datasets.trust_gen import CASES
from brainbench.errors import Fault
from brainbench.gold import Gold
from brainbench.gold_items import SUITE_OF, GoldItem
from brainbench.model import Edit, Fixture, Forget, Resync, Turn, Write

KINDS: Mapping[str, str] = {
    "tier": "trust_label_accuracy",
    "max_tier": "laundering_violations",
    "refused": "self_promotion_violations",
    "current": "current_fact_accuracy",
    "stale": "stale_surfaced_as_current",
    "history": "history_preserved",
    "guarded": "lower_tier_supersede_violations",
    "purge": "residual_after_purge, receipt_completeness, resurrection_after_resync",
}
"""What each kind of item is asked for."""
LEAST_ITEMS, LEAST_LANGUAGES, FEWEST, MOST = 20, 6, 3, 6


def inspect(directory: Path) -> Report:
    """The counts and faults of a trust corpus, holdout included. CorpusError if its files break the format."""
    corpus = read(directory)
    faults = list(_numbers(corpus))
    for fixture, sealed in corpus.pairs():
        faults += [Fault(fixture.file, "the script", reason) for reason in _script(fixture, sealed)]
    return Report(tuple(_lines(corpus)), tuple(faults))


def _lines(corpus: Read) -> Iterator[str]:
    items = Counter(item.kind for sealed in corpus.sealed.values() for item in sealed.items)
    suites = Counter(suite for fixture in corpus.fixtures for suite in fixture.suites)
    languages = Counter(fixture.language for fixture in corpus.fixtures)
    played = {tag for fixture in corpus.fixtures for tag in fixture.tags}
    yield f"{len(corpus.fixtures)} scripts, {corpus.held_out} held out; {len(played)} cases of the specification"
    yield "suites: " + ", ".join(f"{name} {n}" for name, n in sorted(suites.items()))
    yield "languages: " + ", ".join(f"{name} {n}" for name, n in sorted(languages.items()))
    yield from (f"{kind}: {items[kind]} items ({metrics})" for kind, metrics in KINDS.items())  # type: ignore[index]


def _numbers(corpus: Read) -> Iterator[Fault]:
    items = Counter(item.kind for sealed in corpus.sealed.values() for item in sealed.items)
    for kind in KINDS:
        if (n := items[kind]) < LEAST_ITEMS:  # type: ignore[index]
            yield Fault("the corpus", kind, f"{n} items, needs {LEAST_ITEMS}")
    scripts = Counter(fixture.category for fixture in corpus.fixtures)
    for case in CASES:
        if not FEWEST <= scripts[case.name] <= MOST:
            yield Fault("the corpus", case.name, f"{scripts[case.name]} scripts, needs {FEWEST} to {MOST}")
    if len({fixture.language for fixture in corpus.fixtures}) < LEAST_LANGUAGES:
        yield Fault("the corpus", "languages", f"needs {LEAST_LANGUAGES}")
    share = corpus.held_out / len(corpus.fixtures)
    if not 0.14 <= share <= 0.17:
        yield Fault("the corpus", "holdout", f"is {share:.1%} of the fixtures, needs 14 to 17 %")


def _script(fixture: Fixture, sealed: Gold) -> Iterator[str]:
    judged = {suite for item in sealed.items for suite in SUITE_OF[item.kind]}
    if judged != set(fixture.suites):
        yield f"declares {', '.join(fixture.suites)}, and its items are judged by {', '.join(sorted(judged))}"
    if not any(isinstance(event, Turn) for event in fixture.events):
        yield "no turn of the user asks after it"
    for item in sealed.items:
        yield from (f"{item.item_id}: {reason}" for reason in _item(fixture, item))


def _item(fixture: Fixture, item: GoldItem) -> Iterator[str]:
    order = {event.event_id: at for at, event in enumerate(fixture.events)}
    if item.kind == "purge" and item.event is not None:
        purge = fixture.events[order[item.event]]
        if not isinstance(purge, Forget) or purge.mode != "purge" or purge.challenge != "pass":
            yield "is of no purge that the owner vouched for"
        before = " ".join(_text(event) for event in (*fixture.setup, *fixture.events[: order[item.event]]))
        yield from (f"nothing said {form!r} before it was purged" for form in item.forms if form not in before)
        if any(order[later] <= order[item.event] for later in item.later):
            yield "a later event comes before it"
    if item.kind in ("current", "stale", "history", "guarded") and item.name is not None:
        said = " ".join(_text(event) for event in fixture.events if getattr(event, "name", None) == item.name)
        yield from (f"{item.name} does not say {form!r}" for form in item.forms if form not in said)
    if item.text is not None and not any(item.text in _text(event) for event in fixture.events):
        yield f"no event says {item.text!r}"


def _text(event: object) -> str:
    """What an event brings in."""
    match event:
        case Write():
            return event.content
        case Edit():
            return event.content or (event.replace or ("", ""))[1]
        case Resync():
            return "\n".join(text for _, text in event.snapshot)
        case _:
            return ""
