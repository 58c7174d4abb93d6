"""What holds for every memory, however it answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.gold import EventGold, Gold, GoldFact, Probe
from brainbench.metrics import Ratio
from brainbench.model import V1_SUITES, FactRow, Fixture, Observation, Replayed, SessionBreak, SourceDecl, Turn, Write
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge

PAGES = ("people/ada", "people/bo", "people/cy")
FIXTURE = Fixture(
    fixture_id="law",
    suites=V1_SUITES,
    category="direct",
    stratum="hard",
    language="en",
    sources=(SourceDecl("default"), SourceDecl("team")),
    setup=tuple(
        Write(90 + n, via="page", actor="owner", slug=slug, content=slug, source="team" if n == 2 else "default")
        for n, slug in enumerate(PAGES)
    ),
    events=(
        Turn(1, "user", "Tea on Friday."),
        SessionBreak(2, persist=True),
        Turn(3, "user", "When?"),
        Turn(4, "user", "Hm."),
    ),
)
GOLD = Gold(
    "law",
    {
        1: EventGold(1, gold_facts=(GoldFact("g", "f", PAGES[0], ("tea",)), GoldFact("g", "f", None, ("friday",)))),
        3: EventGold(3, "must", PAGES[:2]),
        4: EventGold(4, "must_not"),
    },
    (Probe("d1", 3, "any", (PAGES[0],), ("tea", "friday")), Probe("d2", 4, "stored_only", (), ("tea", "friday"))),
)
IDS = st.lists(st.sampled_from((*PAGES, "people/unknown")), max_size=5).map(tuple)
ROWS = st.lists(
    st.builds(
        FactRow,
        text=st.sampled_from(["tea", "friday", "tea on Friday", "nothing"]),
        entity=st.sampled_from([None, *PAGES]),
        source=st.sampled_from(["", "memory"]),
        source_session=st.sampled_from([None, "default:s/1"]),
        source_page=st.sampled_from([None, "s/1"]),
    ),
    max_size=4,
).map(tuple)
TURNS = st.builds(
    Observation, st.just(0), st.just("turn"), ids=IDS, facts=ROWS, text=st.sampled_from(["", "tea, friday"])
)
MEMORIES = st.builds(
    lambda turns, rows, page: Replayed(
        "law",
        "sut",
        "openclaw",
        (
            *(replace(turn, event_id=n) for n, turn in zip((1, 3, 4), turns, strict=True)),
            Observation(2, "persist", session_page=page),
        ),
        rows,
    ),
    st.tuples(TURNS, TURNS, TURNS),
    ROWS,
    st.sampled_from([None, "s/1"]),
)


def cells(replayed: Replayed) -> list[Cell]:
    found = [
        judge(suite, "sut", SEAMS["openclaw"], [(FIXTURE, GOLD, replayed)])
        for suite in map(SUITES.__getitem__, V1_SUITES)
    ]
    assert None not in found
    return [cell for cell in found if cell is not None]


def rates(cell: Cell) -> dict[str, object]:
    return {name: value.value for name, value in cell.metrics.items() if isinstance(value, Ratio)}


@pytest.mark.req("C-602", "C-605")
@settings(max_examples=80, deadline=None)
@given(MEMORIES)
def test_counts_never_exceed_totals_and_every_failure_is_named(replayed: Replayed) -> None:
    for cell in cells(replayed):
        assert cell.gold_failed == len(cell.failed_items) == len(set(cell.failed_items)) <= cell.gold_total
        assert all(0 <= value.n <= value.of for value in cell.metrics.values() if isinstance(value, Ratio))
        assert cell.status == "scored"


@pytest.mark.req("C-605")
@settings(max_examples=80, deadline=None)
@given(MEMORIES)
def test_saying_everything_twice_changes_no_rate(replayed: Replayed) -> None:
    twice = replace(
        replayed,
        observations=tuple(replace(o, ids=o.ids * 2, facts=o.facts * 2) for o in replayed.observations) * 2,
        facts=replayed.facts * 2,
    )
    for once, doubled in zip(cells(replayed), cells(twice), strict=True):
        assert rates(once) == rates(doubled)
        assert once.failed_items == doubled.failed_items
        assert len(once.leaks) == len(doubled.leaks)


@pytest.mark.req("C-004", "C-605")
@settings(max_examples=50, deadline=None)
@given(MEMORIES, st.randoms(use_true_random=False))
def test_the_order_of_observations_and_their_latency_change_nothing(replayed: Replayed, random: object) -> None:
    shuffled = sorted(replayed.observations, key=lambda o: random.random())
    late = replace(replayed, observations=tuple(replace(o, latency_ms=9.5) for o in shuffled))
    assert cells(late) == cells(replayed)


@pytest.mark.req("C-604")
@settings(max_examples=50, deadline=None)
@given(MEMORIES, st.sampled_from([1, 2, 3, 4]))
def test_an_error_never_mends_anything_and_is_always_seen(replayed: Replayed, event_id: int) -> None:
    broken = tuple(replace(o, error="late") if o.event_id == event_id else o for o in replayed.observations)
    for before, after in zip(cells(replayed), cells(replace(replayed, observations=broken)), strict=True):
        assert set(before.failed_items) <= set(after.failed_items)
        assert after.gold_total == before.gold_total
        assert len(after.leaks) == len(before.leaks)
    assert any(cell.errors for cell in cells(replace(replayed, observations=broken)))
