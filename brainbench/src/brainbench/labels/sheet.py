"""The sheet that a labeller gets: scripts without gold, and without anything that sorts them.

Fixture ids, categories, strata, tags and file names say what a fixture is about, so a script comes under an opaque
id and scripts come shuffled. What is asked of a script follows from its suites and events, never from gold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.corpus import Corpus
from brainbench.corpus.markdown import names
from brainbench.datasets import brains
from brainbench.datasets.splitmix import substream
from brainbench.errors import UsageError
from brainbench.model import PUSH_SUITES, Edit, Event, Fixture, SessionBreak, Turn, Write

HOW_TO = """\
Each fixture is a conversation with a memory of pages. Judge it from its text alone; do not look anything up. \
`more_pages` are pages of the memory like the others: those of very many that share a word with what is said.
turns: for each event listed there, say in `retrieve` whether a helpful assistant would want a page of the memory on \
this user turn: "must" (a page of the active source, as it reads at that moment, bears on it; name each such page in \
`slugs`), "must_not" (no page does), or "may" (it can be argued either way). Pages of other sources are not to be had.
facts: for each line that was said, say in `entity` the slug of the page whom or what it is about (null: none of the \
pages), and in `keep` whether it should be kept as true when the conversation is over (false: taken back or corrected).
answers: for each event, copy into `answer` the whole sentence (of a page, of a turn or of a line that was said) from \
which the memory should be able to tell it, not a part of it, or null if nothing tells it.
Write {"schema_version": 1, "labeller": "<your name>", "labels": {"<fixture id>": {"turns": {"<event>": {"retrieve": \
"must", "slugs": ["..."]}}, "facts": {"<number>": {"entity": "...", "keep": true}}, "answers": {"<event>": "..."}}}}.\
"""
_WORD = re.compile(r"\w+")
_NONE: Mapping[str, float] = {}
WRITTEN = frozenset({"write-back", "continuity"})


def sheet(
    fixtures: Path, gold: Path, *, corpus: str, share: float, seed: int, more: Mapping[str, float] = _NONE
) -> dict[str, Any]:
    """The sheet for a stratified sample: of each category and stratum `share` of its fixtures, rounded up.

    Of the categories in `more` as large a share as is given there. A share is in (0, 1]; the same seed draws the same
    sample. CorpusError if the corpus cannot be read.
    """
    for flag, given in (("--share", share), *((f"--more {name}", of) for name, of in more.items())):
        if not 0 < given <= 1:
            raise UsageError(f"{flag}: {given:g} is no share; give a number above 0 and up to 1")
    golds.validate(fixtures, gold)
    read = corpora.read(fixtures, include_holdout=True)
    known = {fixture.category for fixture in read.fixtures}
    if unknown := sorted(set(more) - known):
        raise UsageError(
            f"--more: {', '.join(unknown)} is no category of this corpus; it has {', '.join(sorted(known))}"
        )
    hidden = hidden_names(read, seed)
    chosen = sorted(sample(read.fixtures, share, seed, more), key=lambda fixture: hidden[fixture.fixture_id])
    large = {f.universe: brains.made(read.manifest, f.universe) for f in chosen if f.universe is not None}
    return {
        "schema_version": 1,
        "corpus": corpus,
        "fixtures_hash": golds.fixtures_hash(fixtures, gold),
        "share": share,
        "more": dict(more),
        "seed": seed,
        "how_to": HOW_TO,
        "fixtures": [
            _shown(f, hidden[f.fixture_id]) | _like(f, large[f.universe] if f.universe else ()) for f in chosen
        ],
    }


def hidden_names(corpus: Corpus, seed: int) -> Mapping[str, str]:
    """The opaque id of every fixture, keyed by its own."""
    key = corpora.script_hash(corpus)
    return {f.fixture_id: corpora.opaque_id(f, seed, key)[:16] for f in corpus.fixtures}


def sample(
    fixtures: Sequence[Fixture], share: float, seed: int, more: Mapping[str, float] = _NONE
) -> tuple[Fixture, ...]:
    """Of each category and stratum `share` of its fixtures, or what `more` says of the category; at least one."""
    families: dict[tuple[str, str], list[Fixture]] = defaultdict(list)
    for fixture in fixtures:
        families[fixture.category, fixture.stratum].append(fixture)
    drawn: list[Fixture] = []
    for name, family in sorted(families.items()):
        thousandths = int(1000 * more.get(name[0], share))
        drawn += substream(seed, "labels", *name).sample(family, max(1, -(-thousandths * len(family) // 1000)))
    return tuple(drawn)


def asked_turns(fixture: Fixture) -> Iterator[int]:
    """The user turns on which a label for retrieval is asked."""
    if set(PUSH_SUITES) & set(fixture.suites):
        yield from (e.event_id for e in fixture.events if isinstance(e, Turn) and e.role == "user")


def asked_answers(fixture: Fixture) -> Iterator[int]:
    """The user turns on which something that an earlier session left behind may be asked."""
    if "continuity" not in fixture.suites:
        return
    later = False
    for event in fixture.events:
        later = later or isinstance(event, SessionBreak)
        if later and isinstance(event, Turn) and event.role == "user":
            yield event.event_id


def asked_facts(fixture: Fixture) -> Iterator[int]:
    """The numbers of the scripted facts that are asked about."""
    if WRITTEN & set(fixture.suites):
        yield from range(len(fixture.scripted_facts))


def _shown(fixture: Fixture, name: str) -> dict[str, Any]:
    said = fixture.scripted_facts
    return {
        "id": name,
        "active_source": fixture.active_source,
        "pages": [_page(write, fixture.active_source) for write in fixture.setup],
        "events": [_event(event, fixture.active_source) for event in fixture.events],
        "turns": list(asked_turns(fixture)),
        "facts": {str(n): {"event": said[n].event_id, "said": said[n].fact} for n in asked_facts(fixture)},
        "answers": list(asked_answers(fixture)),
    }


def _like(fixture: Fixture, brain: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Of the pages of a large brain that surround a fixture, those whose title shares a word with what is said."""
    said = {w for e in fixture.events if isinstance(e, Turn) for w in _WORD.findall(e.text.casefold()) if len(w) > 3}
    found = [
        {"slug": slug, "source": fixture.active_source, "content": content}
        for slug, content in brain
        if said & set(_WORD.findall(" ".join(_called(content)).casefold()))
    ]
    return {"more_pages": found} if brain else {}


def _called(content: str) -> tuple[str, ...]:
    found = names(content)
    return (found.title or "", *found.aliases)


def _page(write: Write, active: str) -> dict[str, Any]:
    return {"slug": write.slug, "source": write.source or active, "content": write.content}


def _event(event: Event, active: str) -> dict[str, Any]:
    match event:
        case Turn():
            return {"event": event.event_id, "at": event.ts, event.role: event.text}
        case Write():
            return {"event": event.event_id, "page_written": _page(event, active)}
        case Edit(replace=(old, new)):
            return {"event": event.event_id, "page_changed": event.slug, "old": old, "new": new}
        case Edit():
            return {"event": event.event_id, "page_changed": event.slug, "content": event.content}
        case SessionBreak():
            return {"event": event.event_id, "new_session": True}
        case _:
            return {"event": event.event_id, "other": type(event).__name__.lower()}
