"""Each gated metric notices when the protection behind it is broken: the same corpus, one break, and the gate fails.

The whole memory and each broken one are played over the bundled corpus. A metric that cannot be made to fall this way
protects nothing and must not gate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import brainbench.systems.wellkept as adapter
import wellkept.recall.arms as arms
from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.evidence import Config, Scoreboard
from brainbench.evidence.baseline import baseline_of
from brainbench.evidence.compare import compare
from brainbench.evidence.outcome import Outcome
from brainbench.gold import Gold
from brainbench.model import Ask, Conversation, FactRow, Fixture, Injection, PageIn, RunContext
from brainbench.replay import replay
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge

SEAM = SEAMS["openclaw"]
pytestmark = [pytest.mark.slow, pytest.mark.req("C-651")]


@cache
def bundled() -> tuple[tuple[Fixture, ...], Mapping[str, Gold]]:
    place = corpora.find("core")
    corpus = corpora.read(place / "fixtures", include_holdout=False)
    corpus = golds.with_scripted_facts(corpus, place / "gold")
    return corpus.fixtures, golds.read(corpus, place / "gold")


def cells(made: type[adapter.Wellkept], suites: Sequence[str], directory: Path) -> tuple[Cell, ...]:
    fixtures, gold = bundled()
    asked = [fixture for fixture in fixtures if set(fixture.suites) & set(suites)]
    system = made()
    system.name = "probed"
    try:
        played = [
            (
                f,
                gold[f.fixture_id],
                replay(system, SEAM, f, RunContext("r0", f.sources, f.active_source, str(directory))),
            )
            for f in asked
        ]
    finally:
        system.close()
    found = (judge(SUITES[suite], system.name, SEAM, played, can=system.can) for suite in suites)
    return tuple(cell for cell in found if cell is not None)


def board(found: tuple[Cell, ...]) -> Scoreboard:
    config = Config(False, False, ("probed",), (SEAM.name,), tuple(cell.suite for cell in found))
    return Scoreboard("core", "0" * 64, "0" * 64, "0" * 64, config, found, {})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], tuple[Cell, ...]]:
    """The cells of the unbroken memory, played once for all probes."""
    kept: dict[str, Cell] = {}

    def of(suites: Sequence[str]) -> tuple[Cell, ...]:
        if not kept:
            kept.update({c.suite: c for c in cells(adapter.Wellkept, tuple(SUITES), tmp_path_factory.mktemp("whole"))})
        return tuple(kept[suite] for suite in suites)

    return of


@pytest.fixture
def broken(whole, tmp_path: Path) -> Callable[..., Outcome]:
    """What the gate says of a broken memory on some suites, the unbroken one being the baseline."""

    def judged(made: type[adapter.Wellkept], *suites: str) -> Outcome:
        base, current = (baseline_of(board(c)) for c in (whole(suites), cells(made, suites, tmp_path)))
        return compare(base, current)

    return judged


def breached(outcome: Outcome) -> set[str]:
    assert outcome.exit_code == (1 if outcome.breaches else 0)
    return {breach.metric for breach in outcome.breaches}


def test_a_memory_compared_with_itself_breaches_nothing(broken):
    assert breached(broken(adapter.Wellkept, *SUITES)) == set()


def test_leaving_out_weak_and_surname_arms_breaches_know_to_ask_failure_rate(broken, monkeypatch):
    kept = tuple(arm for arm in arms.ARMS if arm.name not in ("alias-weak", "title-surname", "uncased-title"))
    monkeypatch.setattr(arms, "ARMS", kept)
    assert "know_to_ask_failure_rate" in breached(broken(adapter.Wellkept, "know-to-ask"))


def test_speaking_whenever_any_page_has_a_word_of_the_turn_breaches_false_fire_rate(broken):
    class Contains(adapter.Wellkept):
        def context(self, ask: Ask) -> Injection:
            said = super().context(ask)
            hits = () if said.text else self.search(ask.source, ask.messages[-1].text, 1)
            return Injection("".join(f"- **x** → `{hit.id}`\n" for hit in hits)) if hits else said

    assert "false_fire_rate" in breached(broken(Contains, "know-to-ask"))


def test_one_stray_page_beside_the_right_ones_breaches_push_precision(broken):
    class Stray(adapter.Wellkept):
        def context(self, ask: Ask) -> Injection:
            said = super().context(ask)
            return replace(said, text=f"{said.text}\n- **x** → `people/nobody`\n") if said.text else said

    assert "push_precision" in breached(broken(Stray, "push"))


def test_one_page_where_three_fit_breaches_push_recall(broken):
    class Narrow(adapter.Wellkept):
        def context(self, ask: Ask) -> Injection:
            said = super().context(replace(ask, budget=replace(ask.budget, pages=1)))
            first = next((line for line in said.text.splitlines() if "→ `" in line), "")
            return Injection(first)

    assert "push_recall" in breached(broken(Narrow, "push"))


class Altered(adapter.Wellkept):
    """Stored facts come back changed."""

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return self.changed(list(super().recall_facts(source, query, limit)))

    def changed(self, rows: list[FactRow]) -> list[FactRow]:
        return rows


def test_losing_every_fifth_fact_breaches_write_back_fidelity(broken):
    class Forgetful(adapter.Wellkept):
        said = 0

        def write_conversation(self, conversation: Conversation) -> str | None:
            kept = []
            for fact in conversation.scripted:
                self.said += 1
                if self.said % 5:
                    kept.append(fact)
            return super().write_conversation(replace(conversation, scripted=tuple(kept)))

    assert "write_back_fidelity" in breached(broken(Forgetful, "write-back"))


def test_giving_a_fact_to_the_entity_before_it_breaches_attribution_accuracy(broken):
    class Shifted(Altered):
        def changed(self, rows: list[FactRow]) -> list[FactRow]:
            entities = [None, *(row.entity for row in rows)]
            return [replace(row, entity=entity) for row, entity in zip(rows, entities, strict=False)]

    assert "attribution_accuracy" in breached(broken(Shifted, "write-back"))


def test_naming_another_session_page_breaches_provenance_accuracy(broken):
    class Swapped(Altered):
        def changed(self, rows: list[FactRow]) -> list[FactRow]:
            return [replace(row, source_page="conversations/another") for row in rows]

    assert "provenance_accuracy" in breached(broken(Swapped, "write-back"))


def test_forgetting_what_was_said_breaches_continuity_rate(broken):
    class Skips(adapter.Wellkept):
        def write_conversation(self, conversation: Conversation) -> str | None:
            return None

    assert {"continuity_rate", "stored_continuity_rate"} <= breached(broken(Skips, "continuity"))


def test_a_reader_of_pointers_only_breaches_stored_continuity_rate(broken):
    class Pointers(Altered):
        def context(self, ask: Ask) -> Injection:
            said = super().context(ask)
            return Injection("\n".join(f"- **x** → `{part}`" for part in _pointers(said.text)))

        def changed(self, rows: list[FactRow]) -> list[FactRow]:
            return []

    assert "stored_continuity_rate" in breached(broken(Pointers, "continuity"))


def test_reading_across_sources_breaches_source_isolation_violations(broken):
    class Shared(adapter.Wellkept):
        def write_page(self, page: PageIn) -> None:
            super().write_page(page)
            super().write_page(replace(page, source=self._source))

    assert "source_isolation_violations" in breached(broken(Shared, "push"))


def _pointers(text: str) -> list[str]:
    return [line.split("→ `", 1)[1].split("`", 1)[0] for line in text.splitlines() if "→ `" in line]
