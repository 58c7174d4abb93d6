"""Every rule of the specification is proved by a test or listed as planned, never both."""

from __future__ import annotations

import re

import pytest

OTHER = re.compile(r"[ET]-\d{3,4}\Z")
"""Ids of the specifications of evidence and trust, most of which are not stated in this repository yet."""


def planned_ids(text: str) -> set[str]:
    return set(re.findall(r"^- ((?:[CET]-\d{3,4}|TC-\d\d)):", text, re.MULTILINE))


@pytest.fixture
def stated(generator) -> set[str]:
    return set(generator.stated_rules())


def test_the_specification_states_every_rule_it_refers_to(root, stated):
    texts = [(root / "docs" / "reference" / name).read_text() for name in ("conformance.md", "evidence.md")]
    assert len(stated) > 100
    assert {name for text in texts for name in re.findall(r"C-\d{3,4}", text)} == {s for s in stated if s[0] == "C"}
    assert {name for name in stated if name[0] == "E"} >= {"E-101", "E-307"}


def test_a_rule_is_proved_or_planned_and_never_both(root, generator, stated):
    proved = set(generator.marked_ids())
    planned = planned_ids((root / "docs" / "reference" / "planned.md").read_text())
    assert {"neither": stated - proved - planned, "both": proved & planned} == {"neither": set(), "both": set()}


def test_no_marker_and_no_plan_names_an_unknown_rule(root, generator, stated):
    planned = planned_ids((root / "docs" / "reference" / "planned.md").read_text())
    strangers = {
        name: files for name, files in generator.marked_ids().items() if name not in stated and not OTHER.match(name)
    }
    assert strangers == {}
    assert planned <= stated


def test_a_marker_with_an_unknown_rule_is_found(tmp_path, generator):
    (tmp_path / "test_x.py").write_text('@pytest.mark.req("C-999", "C-107")\ndef test_x(): ...\n')
    assert generator.marked_ids((tmp_path,)) == {"C-999": ["test_x.py"], "C-107": ["test_x.py"]}
