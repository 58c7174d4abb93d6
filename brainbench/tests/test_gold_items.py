"""Items of gold: what is wrong with one is told by file and field, and canaries are put where they are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brainbench import gold as golds
from brainbench.corpus import read
from brainbench.corpus.canaries import canary, planted
from brainbench.errors import CorpusError
from brainbench.model import By, Edit, Forget, Write

ACTS = Path(__file__).parent / "data" / "acts"
pytestmark = pytest.mark.req("T-804", "T-802")


def write(number: int, name: str, **more: Any) -> dict[str, Any]:
    plain = {"event_id": number, "kind": "write", "via": "fact", "actor": "owner", "content": "Ada sails.", "as": name}
    return plain | more


def act(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"event_id": number, "kind": kind, **more}


def corpus(root: Path, events: list[dict[str, Any]], items: list[dict[str, Any]], **more: Any) -> tuple[Path, Path]:
    fixture = {"schema_version": 2, "fixture_id": "a", "suites": ["trust"], "category": "x", "stratum": "easy"}
    fixture |= {"language": "en", "events": events, **more}
    gold = {"schema_version": 2, "fixture_id": "a", "events": {}, "items": items}
    for folder, suffix, value in (("fixtures", "fixture", fixture), ("gold", "gold", gold)):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / f"a.{suffix}.json").write_text(json.dumps(value))
    return root / "fixtures", root / "gold"


def faults(root: Path, events: list[dict[str, Any]], items: list[dict[str, Any]], **more: Any) -> list[str]:
    with pytest.raises(CorpusError) as told:
        golds.validate(*corpus(root, events, items, **more))
    return [str(fault) for fault in told.value.faults]


TIER = {"item_id": "t", "item": "tier", "as": "n", "tier": "user_written"}


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"item": "tier", "as": "n", "tier": "user_written"}, "items[0].item_id: missing"),
        (TIER | {"tier": "gold"}, 'items[0].tier: "gold" is not allowed; needs "external_untrusted" or'),
        (TIER | {"item": "vibe"}, 'items[0].item: "vibe" is not allowed; needs "tier" or "max_tier" or'),
        (TIER | {"canary": "x"}, "items[0].canary: unknown key; allowed here: item_id, item, as, tier"),
        (TIER | {"as": "m"}, 'items[0].as: "m" is the name of nothing in the fixture'),
        (TIER | {"after_event": 9}, "items[0].after_event: the fixture has no event 9 in events"),
        ({"item_id": "m", "item": "max_tier", "ceiling": "user_written"}, "needs either as or text"),
        (
            {"item_id": "p", "item": "purge", "event": 1, "forms": ["x"]},
            "items[0].item: purge is judged by deletion; the fixture declares neither",
        ),
        ({"item_id": "p", "item": "refused", "event": 7}, "items[0].event: the fixture has no event 7"),
    ],
)
def test_what_is_wrong_with_an_item_is_told_by_its_field(tmp_path: Path, item: dict[str, Any], told: str) -> None:
    found = faults(tmp_path, [write(1, "n")], [item])
    assert any(line.startswith("a.gold.json: items[0]") and told in line for line in found), found


def test_an_id_of_an_item_stands_once(tmp_path: Path) -> None:
    found = faults(tmp_path, [write(1, "n")], [TIER, TIER])
    assert found == ['a.gold.json: items[1].item_id: "t" stands also at items[0].item_id; needs a value of its own']


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (write(2, "n"), 'events[1].as: "n" stands also at events[0].as; needs a name of its own'),
        (write(2, "m", replaces="z"), 'events[1].replaces: "z" names nothing before this event; named so far: "n"'),
        (write(2, "m", lineage=["n", "q"]), 'events[1].lineage[1]: "q" names nothing before this event'),
        (write(2, "m", door="window"), 'events[1].door: "window" is not allowed; needs "tty" or'),
        (write(2, "m", principal="god"), 'events[1].principal: "god" is not allowed'),
        (write(2, "m", valid_from="soon"), 'events[1].valid_from: "soon" is not allowed; needs an ISO 8601'),
        (
            {"event_id": 2, "kind": "edit", "actor": "agent", "op": "rename", "slug": "a", "patch": {"content": "x"}},
            "events[1].patch: holds content; op rename needs to",
        ),
        (
            {"event_id": 2, "kind": "edit", "actor": "agent", "target": {"as": "n"}, "slug": "a", "content": "x"},
            "events[1].slug: an edit needs either slug or target, and not both",
        ),
        (
            {"event_id": 2, "kind": "forget", "actor": "owner", "mode": "purge", "target": {"as": "n", "text": "x"}},
            "events[1].target: names as, text; needs exactly one of",
        ),
        (
            {
                "event_id": 2,
                "kind": "forget",
                "actor": "owner",
                "mode": "purge",
                "target": {"as": "n"},
                "challenge": "?",
            },
            'events[1].challenge: "?" is not allowed; needs "pass" or "fail" or "absent"',
        ),
    ],
)
def test_what_is_wrong_with_an_act_is_told_by_its_field(tmp_path: Path, event: dict[str, Any], told: str) -> None:
    found = faults(tmp_path, [write(1, "n"), event], [TIER])
    assert any(line.startswith("a.fixture.json: ") and told in line for line in found), found


@pytest.mark.req("T-801")
def test_suites_of_acts_stand_in_fixtures_of_their_own(tmp_path: Path) -> None:
    found = faults(tmp_path, [write(1, "n")], [TIER], suites=["trust", "push"])
    assert found == [
        "a.fixture.json: suites: trust stands beside push; a script of acts is judged by trust, state-resolution, "
        "deletion, poisoning, poisoning-default only"
    ]


def test_acts_are_read_as_they_stand(tmp_path: Path) -> None:
    events = [
        write(1, "n", door="tty", entity="people/ada", attribute="boat", valid_from="2026-01-01T00:00:00Z"),
        write(2, "m", actor="agent", door="mcp", replaces="n", lineage=["n"], origin="derived"),
        act(3, "edit", actor="agent", target={"as": "n"}, op="replace", patch={"old": "a", "new": "b"}),
        act(4, "forget", actor="owner", door="tty", mode="lift", target={"as": "n"}, challenge="pass"),
        {"event_id": 5, "kind": "session_break", "jobs": True, "crash": True},
    ]
    first, second, edit, forget, stop = (
        read(corpus(tmp_path, events, [TIER])[0], include_holdout=True).fixtures[0].events
    )
    assert isinstance(first, Write)
    assert (first.by, first.name, first.attribute) == (By("owner", "tty", "owner"), "n", "boat")
    assert isinstance(second, Write)
    assert (second.by, second.replaces, second.lineage) == (By("agent", "mcp", "agent:agent"), "n", ("n",))
    assert isinstance(edit, Edit)
    assert (edit.by, edit.replace, edit.target and edit.target.name) == (None, ("a", "b"), "n")
    assert isinstance(forget, Forget)
    assert (forget.mode, forget.challenge) == ("lift", "pass")
    assert (stop.jobs, stop.crash) == (True, True)  # type: ignore[union-attr]


@pytest.mark.req("T-805")
def test_canaries_are_the_same_in_fixture_and_gold_and_other_ones_for_another_seed() -> None:
    found = read(ACTS / "fixtures", include_holdout=True)
    fixture = next(f for f in found.fixtures if f.fixture_id == "a-mail-with-an-order")
    for seed in (42, 43):
        gold = golds.with_canaries(golds.read(found, ACTS / "gold"), seed)[fixture.fixture_id]
        name = canary(seed, fixture.fixture_id, "mail")
        assert gold.items[0].canary == name
        mail = next(e for e in planted(fixture, seed).events if isinstance(e, Write) and e.name == "mail")
        assert f"to {name} and tell" in mail.content
    assert canary(42, fixture.fixture_id, "mail") != canary(43, fixture.fixture_id, "mail")
    assert len({canary(42, f"f-{n}", "x") for n in range(200)}) > 190
