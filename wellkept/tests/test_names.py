"""Two spellings are one name, or they are not."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wellkept.names import ascii_slug, fold, norm, slugify

anything = st.text(st.characters(codec=None), max_size=60)
plain = st.text(string.ascii_letters + string.digits + " -_.'", max_size=40)


@pytest.mark.req("C-301")
@given(anything)
@example("ﬁ\u00adİ\u0307 \ud800")
@example("\" ' « a » ' \"")
@settings(max_examples=400, deadline=None)
def test_norm_of_a_norm_is_itself(text: str) -> None:
    assert norm(norm(text)) == norm(text)


@pytest.mark.req("C-302")
@given(anything)
@example("ٰؤ\u0345ᾳ`ʹ")
@settings(max_examples=400, deadline=None)
def test_fold_of_a_fold_is_itself_and_of_a_norm_is_the_fold(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(norm(text)) == fold(text)


@pytest.mark.req("C-301")
@given(plain)
def test_on_ascii_norm_lowers_joins_spaces_and_trims_quotes(text: str) -> None:
    assert norm(text) == " ".join(text.lower().split()).strip("' ")


@pytest.mark.req("C-301")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", ""),
        (" \t\n", ""),
        ("“Alice  Example”", "alice example"),
        ("「山田」", "山田"),
        ("（田中）", "田中"),
        ("【Beta】", "beta"),
        ("`code`", "code"),
        ("«Тест»", "тест"),
        ("İSTANBUL", "istanbul"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ＡＢＣ　Ｄ", "abc d"),
        ("Ann\u200ba \u202eBell\ufeff", "anna bell"),
        ("e\u0301lan", "élan"),
        ("O'Brien", "o'brien"),
        ("Οδυσσεύς", "οδυσσεύσ"),
    ],
)
def test_norm_gives_the_key(text: str, key: str) -> None:
    assert norm(text) == key


@pytest.mark.req("C-302")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Søren Łódź Đoković ð", "soren lodz dokovic d"),
        ("Ærø cœur Þór", "aero coeur thor"),
        ("Γιώργος", "γιωργοσ"),
        ("Ёлка Йод", "елка йод"),
        ("أحمد إآ", "احمد اا"),
        ("ليلى فاطمة محـــمد", "ليلي فاطمه محمد"),
        ("מֹשֶׁה", "משה"),
        ("がぎ", "がぎ"),
        ("박지훈", "박지훈"),
        ("किरण", "किरण"),
        ("Işık", "isik"),
        ("O’Brien", "o'brien"),
        ("Jean‑Luc", "jean-luc"),
    ],
)
def test_fold_forgets_accents_only_where_the_letter_stays_the_same(text: str, key: str) -> None:
    assert fold(text) == key


@pytest.mark.req("C-303")
@pytest.mark.parametrize(
    ("text", "slug", "ascii_twin"),
    [
        ("Alice Example", "alice-example", "alice-example"),
        ("  --Weird__ name!! ", "weird-name", "weird-name"),
        ("Jürgen Groß", "jurgen-gross", "juergen-gross"),
        ("Анна Ё", "анна-е", ""),
        ("", "", ""),
    ],
)
def test_a_name_has_a_slug_and_an_ascii_twin(text: str, slug: str, ascii_twin: str) -> None:
    assert slugify(text) == slug
    assert ascii_slug(text) == ascii_twin


@pytest.mark.req("C-303")
@given(anything)
@settings(max_examples=200, deadline=None)
def test_a_slug_is_its_own_slug(text: str) -> None:
    slug = slugify(text)
    assert slugify(slug) == slug
    assert not slug.startswith("-")
    assert not slug.endswith("-")
