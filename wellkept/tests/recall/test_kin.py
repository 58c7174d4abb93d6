"""Words in other forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.recall.kin import Reading, _surely_another, is_slip, likeness, terms


@pytest.mark.req("C-333")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deploys", "deploy"),
        ("hosting", "hosted"),
        ("keys", "key"),
        ("depo", "deponun"),
        ("kostum", "kostumleri"),
        ("аптеці", "аптека"),
        ("комору", "комори"),
        ("열쇠가", "열쇠는"),
        ("والمفتاح", "مفتاح"),
        ("nebenkostenabrechnung", "nebenkosten"),
    ],
)
def test_forms_of_one_word_are_alike(one: str, other: str) -> None:
    assert likeness(one, other, compounds=False) >= 0.5
    assert likeness(other, one, compounds=False) == likeness(one, other, compounds=False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("car", "cart"),
        ("boat", "coat"),
        ("cost", "costume"),
        ("1234", "12345"),
        ("ключ", "клас"),
        ("plan", "planetary"),
    ],
)
def test_other_words_are_not(one: str, other: str) -> None:
    assert likeness(one, other, compounds=False) < 0.5


def test_a_part_of_a_compound_counts_where_words_are_joined() -> None:
    assert likeness("rader", "fahrrader", compounds=True) > 0.5
    assert likeness("rader", "fahrrader", compounds=False) == 0


def test_function_words_carry_nothing_and_general_ones_little() -> None:
    weights = {term.key: term.weight for term in terms("what is the deposit for this week")}
    assert set(weights) == {"deposit", "week"}
    assert weights["week"] < weights["deposit"]


def test_a_stretch_without_spaces_is_cut_at_its_function_words() -> None:
    assert [term.key for term in terms("停车场晚上几点锁门")] == ["停车场晚上", "锁门"]
    read = Reading(("停车场", "晚上十点锁门"))
    first, second = terms("停车场晚上几点锁门")
    assert read.matches(first)[0] == pytest.approx(0.6)
    assert read.matches(second) == [0.0, 1.0]


def test_a_name_is_no_form_of_a_longer_one() -> None:
    read = Reading(("Rosalind Empey",))
    said = {term.key: read.names(term) for term in terms("Empeys Rosalinde")}
    assert said == {"empeys": True, "rosalinde": False}


@pytest.mark.req("C-332")
@pytest.mark.parametrize(
    "name",
    ["Anselm Ruthreglen", "Anslem Rutherglen", "anselm rutherglenn", "Anselm Rutherlgenn"],
)
def test_a_slip_of_the_keys_is_told(name: str) -> None:
    assert is_slip(name, "Anselm Rutherglen")


@pytest.mark.req("C-332")
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Anselm Rutherglen", "Anselm Rutherglen"),
        ("Anselm Putherglen", "Anselm Rutherglen"),
        ("Anslem Ruthreglen", "Anselm Rutherglen"),
        ("Anselm", "Anselm Rutherglen"),
        ("Anselm Rutherford", "Anselm Rutherglen"),
        ("Mara Lind", "Mira Lind"),
        ("Room 12345", "Room 12346"),
    ],
)
def test_another_name_is_no_slip(name: str, title: str) -> None:
    assert not is_slip(name, title)


LETTERS = st.text("abeinrs", min_size=2, max_size=9)


@given(LETTERS, LETTERS, st.integers(0, 5), st.booleans())
def test_what_is_not_compared_is_not_alike(key: str, other: str, shared: int, compounds: bool) -> None:
    for word in (other, key[:shared] + other, other + key, key[shared:]):
        if word and _surely_another(key, word):
            assert likeness(key, word, compounds) == 0


def test_words_that_begin_or_end_alike_are_compared() -> None:
    assert not any(_surely_another("garten", word) for word in ("gartens", "schulgarten", "garten", "arten", "وgarten"))
    assert _surely_another("garten", "haus")
