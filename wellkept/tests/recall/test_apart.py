"""Pages that share a name are told apart by what else is said, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.model import PageRef, Trust
from wellkept.recall.apart import told_apart


def ref(slug: str, summary: str) -> PageRef:
    return PageRef("default", slug, slug, "person", summary, "", Trust.USER_WRITTEN)


SURVEYOR, BAKER = ref("a", "Surveyor for the harbour, works with Lund."), ref("b", "Baker, works with Lund.")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Ambridge, the surveyor, called", "a"),
        ("lunch with Ambridge (baker)", "b"),
        ("Ambridge called", None),
        ("Ambridge works with Lund", None),
        ("Ambridge the surveyor and Ambridge the baker", None),
        ("Ambridge came for the day", None),
    ],
)
def test_a_word_of_one_summary_alone_tells(text: str, meant: str | None):
    found = told_apart((SURVEYOR, BAKER), text)
    assert (found and found.slug) == meant


@given(st.text(), st.permutations([SURVEYOR, BAKER, ref("c", "Sings in the choir.")]))
def test_the_order_of_the_pages_does_not_matter(text: str, pages: list[PageRef]):
    assert told_apart(pages, text) == told_apart(pages[::-1], text)


def test_a_shared_surname_leads_to_the_one_whose_part_is_named(write, found):
    write("people/ida-ambridge", "Ida Ambridge", summary="Surveyor for the harbour.")
    write("people/tom-ambridge", "Tom Ambridge", summary="Baker at the corner.")
    assert found("Call Ambridge, the surveyor, before noon.") == ["people/ida-ambridge"]
    assert found("Call Ambridge before noon.") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Call T. Ambridge before noon.", ["people/tom-ambridge"]),
        ("Call I. Ambridge before noon.", ["people/ida-ambridge"]),
        ("J. R. Ambridge's plan is late.", []),
        ("See table T. Thenn is there.", ["people/tilda-thenn"]),
        ("See table A. Thenn is there.", ["people/tilda-thenn"]),
    ],
)
def test_an_initial_must_be_that_of_the_first_name(write, found, text: str, wanted: list[str]):
    write("people/ida-ambridge", "Ida Ambridge")
    write("people/tom-ambridge", "Tom Ambridge")
    write("people/tilda-thenn", "Tilda Thenn")
    assert found(text) == wanted
