"""Gate profiles: the one that ships, what a file may say, and the stricter of two."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from brainbench.errors import IncompatibleError
from brainbench.evidence.profile import Floor, Place, Profile, read_profile, stricter

ROOT = Path(__file__).parents[3]
TABLE: dict[str, tuple[Any, ...]] = {
    "know_to_ask_failure_rate": ("max", ".02", ".02", ".20", ".65"),
    "false_fire_rate": ("max", ".02", ".02", ".03", ".06"),
    "push_precision": ("min", ".98", ".98", ".95", ".85"),
    "write_back_fidelity": ("min", "1", "1", ".98", ".95"),
    "provenance_accuracy": ("min", "1", "1", "1", "1"),
    "attribution_accuracy": ("min", "1", "1", ".90", ".60"),
    "continuity_rate": ("min", "1", ".98", ".90", ".60"),
    "stored_continuity_rate": ("min", None, ".95", ".85", ".50"),
}
PLACES: tuple[Place, ...] = (("v1", "all"), ("v2", "easy"), ("v2", "medium"), ("v2", "hard"))


def profile_of(text: str, name: str = "gate.toml") -> Profile:
    return read_profile(f"schema_version = 1\n{text}".encode(), name)


@pytest.mark.req("C-706", "C-720")
def test_a_shipped_floor_is_laxer_than_the_table_only_where_a_decision_record_names_it(profile: Profile) -> None:
    expected: list[tuple[Place, Floor]] = []
    for metric, (bound, *values) in TABLE.items():
        for place, value in zip(PLACES, values, strict=True):
            if value is not None:
                expected.append((place, Floor(metric, "", bound, Fraction(value))))
    for seam, value in (("openclaw", ".98"), ("claude-code", ".98"), ("codex", ".58")):
        expected.append((PLACES[0], Floor("push_recall", seam, "min", Fraction(value))))
    for place, value in zip(PLACES[1:], (".97", ".75", ".35"), strict=True):
        expected.append((place, Floor("push_recall", "", "min_of_ceiling", Fraction(value))))
    laxer = {f"`{'.'.join(place)}.{f.metric}`" for place, f in expected if not _kept(profile.floors[place], f)}
    decided = "".join(path.read_text() for path in sorted((ROOT / "docs" / "adr").glob("*.md")))
    unrecorded = sorted(name for name in laxer if name not in decided)
    assert unrecorded == [], "floors only rise: raise these again, or name them so in a record under docs/adr"
    assert {"source_isolation_violations"} <= profile.zero
    assert profile.name == "conformance"


def _kept(floors: Iterable[Floor], wanted: Floor) -> bool:
    same = [f.value for f in floors if (f.metric, f.seam, f.bound) == (wanted.metric, wanted.seam, wanted.bound)]
    return any(v <= wanted.value if wanted.bound == "max" else v >= wanted.value for v in same)


@pytest.mark.req("E-902", "C-710")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[floors.v1.all]\npush_recal = { min = 1 }", "push_recal: unknown"),
        ("[floors.v1.all]\npush_recall = { least = 1 }", "least: unknown; known: max, min, min_of_ceiling"),
        ("[floors.v1.all]\npush_recall = 1", "push_recall: must be a table"),
        ("[floors.v1.all]\npush_recall = { min = '1' }", "must be a finite number"),
        ("[floors.v1.all]\npush_recall = { min = true }", "must be a finite number"),
        ("[floors.v1.all]\npush_recall = { min = nan }", "must be a finite number"),
        ("[floors.v3.all]\npush_recall = { min = 1 }", "v3: unknown; known: v1, v2"),
        ("[floors.v2.extreme]\npush_recall = { min = 1 }", "extreme: unknown"),
        ("zero = ['leaks']", "zero.leaks: unknown"),
        ("zero = 'x'", "zero: must be a list"),
        ("zeros = []", "zeros: unknown; known: schema_version, name, zero, floors"),
        ("floors = 3", "floors: must be a table"),
        ("name = 'empty'", "a gate without floors"),
        ("name = ", "gate.toml"),
    ],
)
def test_a_profile_with_an_unknown_or_unusable_key_is_refused(text: str, named: str) -> None:
    with pytest.raises(IncompatibleError, match=named):
        profile_of(text)


@pytest.mark.req("E-902")
def test_a_profile_of_another_version_or_encoding_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="schema_version"):
        read_profile(b"[floors.v1.all]\npush_recall = { min = 1 }", "gate.toml")
    with pytest.raises(IncompatibleError, match=r"gate\.toml"):
        read_profile(b"\xff", "gate.toml")


@pytest.mark.req("C-710")
def test_of_two_profiles_the_tighter_bound_and_every_demand_holds() -> None:
    one = profile_of(
        "zero = ['source_isolation_violations']\n"
        "[floors.v2.easy]\npush_recall = { min = 0.9 }\nfalse_fire_rate = { max = 0.1 }"
    )
    two = profile_of(
        "[floors.v2.easy]\npush_recall = { min = { codex = 0.5 } }\nfalse_fire_rate = { max = 0.2 }\n"
        "[floors.v2.hard]\npush_recall = { min_of_ceiling = 0.3 }"
    )
    both = stricter(one, two)
    assert both == stricter(two, one)
    assert both.zero == {"source_isolation_violations"}
    assert both.floors["v2", "easy"] == (
        Floor("false_fire_rate", "", "max", Fraction(1, 10)),
        Floor("push_recall", "", "min", Fraction(9, 10)),
        Floor("push_recall", "codex", "min", Fraction(1, 2)),
    )
    assert both.floors["v2", "hard"] == (Floor("push_recall", "", "min_of_ceiling", Fraction(3, 10)),)
    raised = profile_of("[floors.v2.easy]\npush_recall = { min = 0.95 }")
    assert stricter(one, raised).floors["v2", "easy"][1].value == Fraction(95, 100)


@pytest.mark.req("C-710", "C-720")
def test_lowering_a_floor_of_the_shipped_gate_changes_nothing_against_main(profile: Profile) -> None:
    lowered = profile_of("[floors.v1.all]\nknow_to_ask_failure_rate = { max = 0.9 }")
    assert stricter(profile, lowered).floors == profile.floors
