"""Whole conversations in the v1 fixture format: the right pages in the right turns, and silence elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]

from wellkept.ingest.markdown import parse_page
from wellkept.model import Budget, Message, Page, Source, Trust
from wellkept.names import norm
from wellkept.recall import render, turn_context, turn_pointers, window_volunteers
from wellkept.storage import Store, open_store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DATA = Path(os.environ.get("BRAINBENCH_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))

Json = dict[str, Any]
Brought = tuple[list[str], str]
Style = Callable[[Store, str, Sequence[Message], str], Brought]


def openclaw(store: Store, source: str, history: Sequence[Message], prior: str) -> Brought:
    pointers, _ = turn_pointers(store, source, history[-1].text, prior=prior)
    shown = {pointer.slug for pointer in pointers}
    volunteers, _ = window_volunteers(store, source, history[-4:], prior=prior, exclude=shown)
    return [one.slug for one in (*pointers, *volunteers)], render(pointers, volunteers, ())


def claude_code(store: Store, source: str, history: Sequence[Message], prior: str) -> Brought:
    context = turn_context(store, source, history[-5:], prior=prior, session=None, budget=Budget(), now=NOW)
    return [one.slug for one in (*context.pointers, *context.volunteered)], context.text


def codex(store: Store, source: str, history: Sequence[Message], prior: str) -> Brought:
    pointers, _ = turn_pointers(store, source, history[-1].text, prior=prior, pages=1)
    return [one.slug for one in pointers], render(pointers, (), ())


STYLES: dict[str, tuple[Style, int]] = {"openclaw": (openclaw, 3), "claude-code": (claude_code, 3), "codex": (codex, 1)}


@dataclass
class Turn:
    """One judged user turn, with the pages of its source and what it brought."""

    where: str
    text: str
    prior: str
    gold: Json
    pages: list[Page]
    brought: list[str]

    @property
    def wanted(self) -> set[str]:
        return set(self.gold.get("gold_slugs") or [])

    @property
    def allowed(self) -> set[str]:
        return self.wanted | set(self.gold.get("acceptable_slugs") or [])


def fixtures(name: str) -> list[tuple[Json, Json]]:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; set BRAINBENCH_DATA to the folder that holds {name}")
    return [
        (
            json.loads(path.read_text()),
            json.loads((folder / "gold" / path.name.replace(".fixture.", ".gold.")).read_text()),
        )
        for path in sorted((folder / "fixtures").glob("*.fixture.json"))
    ]


@contextmanager
def seeded(scripts: Sequence[Json]) -> Iterator[tuple[Store, list[Page]]]:
    store = open_store("sqlite", ":memory:")
    pages = []
    store.add_source(Source("default"))
    for script in scripts:
        for seed in script.get("seed_pages", []):
            source = seed.get("source_id") or "default"
            store.add_source(Source(source))
            page, chunks, names = parse_page(source, seed["slug"], seed["content"], trust=Trust.USER_WRITTEN, now=NOW)
            store.put_page(page, chunks, names)
            pages.append(page)
    yield store, pages
    store.close()


def replay(name: str, style: Style) -> Iterator[Turn]:
    corpus = fixtures(name)
    for script, gold in corpus:
        pair = (script.get("continuity") or {}).get("pair_id")
        partners = [other for other, _ in corpus if pair and (other.get("continuity") or {}).get("pair_id") == pair]
        with seeded(partners or [script]) as (store, pages):
            yield from converse(script, gold, store, pages, style)


def converse(script: Json, gold: Json, store: Store, pages: list[Page], style: Style) -> Iterator[Turn]:
    source = script.get("active_source") or "default"
    asks = bool({"know-to-ask", "push", "continuity"} & set(script["suites"]))
    history: list[Message] = []
    said: list[str] = []
    for turn in script["turns"]:
        history.append(Message(turn["role"], turn["text"]))
        prior = "\n".join(said)
        slugs, text = style(store, source, history, prior) if turn["role"] == "user" else ([], "")
        said += [part for part in (turn["text"], text) if part]
        judged = gold["turns"].get(str(turn["turn_id"]))
        if turn["role"] == "user" and judged is not None and asks and "write-back" not in script["suites"]:
            own = [page for page in pages if page.source == source]
            where = f"{script['fixture_id']}:{turn['turn_id']}"
            yield Turn(where, turn["text"], prior, judged, own, slugs)


@pytest.mark.req("C-1201", "C-331", "C-340", "C-341", "C-353")
@pytest.mark.parametrize("name", STYLES)
def test_template_conversations_get_every_page_and_nothing_else(name: str) -> None:
    style, budget = STYLES[name]
    turns = list(replay("v1-samples", style))
    assert turns
    missed = [turn.where for turn in turns if turn.gold["should_retrieve"] and not set(turn.brought) & turn.allowed]
    fired = [turn.where for turn in turns if not turn.gold["should_retrieve"] and turn.brought]
    foreign = [turn.where for turn in turns if set(turn.brought) - turn.allowed]
    short = [turn.where for turn in turns if len(turn.wanted & set(turn.brought)) < min(budget, len(turn.wanted))]
    assert (missed, fired, foreign, short) == ([], [], [], [])


@pytest.mark.req("C-312", "C-313", "C-1201")
@pytest.mark.parametrize("name", STYLES)
def test_people_as_they_talk_get_every_page_they_name_and_no_noise(name: str) -> None:
    turns = list(replay("wild-dev", STYLES[name][0]))
    assert turns
    fired = [(turn.where, turn.brought) for turn in turns if not turn.gold["should_retrieve"] and turn.brought]
    foreign = [(turn.where, turn.brought) for turn in turns if set(turn.brought) - turn.allowed]
    missed = [turn.where for turn in turns if not set(turn.brought) & turn.allowed and named(turn) & turn.wanted]
    assert (fired, foreign, missed) == ([], [], [])


def named(turn: Turn) -> set[str]:
    """Pages whose title or alias stands in the turn as whole words, known to be nobody else's, and not yet shown."""
    owners: dict[str, set[str]] = {}
    for page in turn.pages:
        for key in {norm(page.title), *map(norm, page.aliases)}:
            owners.setdefault(key, set()).add(page.slug)
    text = norm(turn.text)
    return {
        next(iter(slugs))
        for key, slugs in owners.items()
        if len(slugs) == 1
        and regex.search(rf"(?<![\p{{L}}\p{{N}}]){regex.escape(key)}(?![\p{{L}}\p{{N}}])", text)
        and next(iter(slugs)) not in turn.prior
    }
