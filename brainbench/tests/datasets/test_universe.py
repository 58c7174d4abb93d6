"""The universe has the members that were promised, and no stranger is anywhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from brainbench import corpus
from brainbench.datasets.core_gen import universe
from brainbench.datasets.core_words import denied, table

CORE = Path(__file__).parents[3] / "corpus" / "core"
KINDS = {"person": 400, "company": 200, "fund": 60, "project": 90, "concept": 90, "code": 80}


@pytest.mark.req("C-802")
def test_the_universe_has_a_thousand_members_of_the_promised_kinds() -> None:
    counted = Counter(member.of.kind for member in universe.universe())
    assert {kind: counted[kind] for kind in KINDS} == KINDS
    assert counted["place"] + counted["event"] == 80
    assert len({member.of.slug for member in universe.universe()}) == counted.total() == 1_000


def test_pages_speak_of_others_and_hardly_two_are_alike() -> None:
    pages = [member.page for member in universe.universe()]
    titles = {member.of.title for member in universe.universe()}
    assert len({page.body for page in pages}) >= 990
    speaking = [p for p in pages if any(t in p.summary + p.body for t in titles - {p.of.title})]
    assert len(speaking) >= 750


@pytest.mark.req("C-802", "C-207")
@pytest.mark.parametrize("name", universe.BRAINS)
def test_a_large_brain_is_what_the_manifest_says_and_holds_no_member(name: str) -> None:
    pages = list(universe.brain(name, universe.SEED))
    told = corpus.read_manifest(CORE).universes[name]
    assert (len(pages), universe.digest(pages)) == (told.pages, told.sha256)
    slugs = {slug for slug, _ in pages}
    assert len(slugs) == len(pages) == universe.BRAINS[name]
    assert not slugs & {member.of.slug for member in universe.universe()}
    assert universe.digest(pages[:-1]) != told.sha256


@pytest.mark.req("C-806")
def test_no_word_that_the_tables_can_make_is_a_denied_one() -> None:
    for which in table("wide"):
        assert not {word.lower() for word in universe._syllables(which)} & denied()
