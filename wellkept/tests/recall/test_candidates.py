"""Sightings: what in a text is worth looking up as a name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.names import norm, opening
from wellkept.recall.arms import ARMS
from wellkept.recall.candidates import CODE_SIGHTINGS, seen, sightings
from wellkept.recall.sighting import Sighting


def strong(text: str) -> set[str]:
    return {seen.query for seen in sightings(text) if not seen.weak}


def weak(text: str) -> set[str]:
    return {seen.query for seen in sightings(text) if seen.weak}


def sighted(text: str, query: str) -> Sighting:
    return next(seen for seen in sightings(text) if seen.query == query)


@pytest.mark.req("C-310")
@pytest.mark.parametrize("before", ["", ". ", "! ", "? ", ": ", "\n", "• ", "- ", "(", "“", "¿", "¡", "。", "「", "؟ "])
def test_a_word_after_a_sentence_mark_opens_a_sentence(before: str) -> None:
    assert not sighted(f"x{before}Noor here" if before else "Noor here", "noor").mid


@pytest.mark.req("C-310", "C-311")
def test_one_sighting_in_mid_sentence_counts_for_all() -> None:
    assert sighted("Noor here. I saw Noor", "noor").mid
    assert sighted("and Noor", "noor").mid


@pytest.mark.req("C-311")
def test_a_possessive_leaves_the_query() -> None:
    assert {"noor"} <= strong("Noor's car") & strong("Noor’s car")
    assert sighted("the Weavers' hall", "weavers").display == "Weavers"


@pytest.mark.req("C-312", "C-313")
@pytest.mark.parametrize("text", ["I", "The", "X", "Thanks!", "Monday already", "and 42 of 7", "What Would They Do"])
def test_function_words_numbers_and_single_letters_are_no_names(text: str) -> None:
    assert not {query for query in strong(text) if " " not in query}


@pytest.mark.req("C-312")
def test_a_soft_word_is_a_name_in_mid_sentence_only() -> None:
    assert "nice" not in strong("Nice work")
    assert "nice" in strong("the train to Nice leaves")


@pytest.mark.req("C-314")
def test_of_a_long_text_the_two_ends_are_read() -> None:
    text = "Noorbeg " + "x " * 20_000 + "Middling " + "x " * 20_000 + "Lastling"
    assert {"noorbeg", "lastling"} <= strong(text)
    assert "middling" not in strong(text)


def test_handles_are_names_and_mail_addresses_are_not() -> None:
    seen = sighted("ask @noor_t now", "noor_t")
    assert (seen.shape, seen.mid, seen.weak) == ("handle", True, False)
    assert "noor t" in strong("ask @noor_t now")
    assert not any(one.shape == "handle" for one in sightings("mail a@noor_t now"))
    assert not any(one.shape == "handle" for one in sightings("@n"))


def test_runs_of_capitals_give_the_run_and_its_longer_parts() -> None:
    found = strong("Did Noor Tavenholt Junior call")
    assert {"noor tavenholt junior", "noor tavenholt", "tavenholt junior"} <= found
    assert "noor" not in found
    assert "van der bergh" not in found
    assert "ludo van der bergh" in strong("with Ludo van der Bergh")


def test_code_is_read_as_written_slugified_and_split() -> None:
    found = strong("`ValveReader` src/lib/valve_reader.py a.b.c")
    assert {"valvereader", "valve reader", "valve_reader.py", "src/lib/valve_reader.py", "a.b.c"} <= found
    assert len({s.start for s in sightings("`aa` " * 90) if s.shape == "code"}) <= CODE_SIGHTINGS


def test_weak_words_are_long_uncommon_and_whole() -> None:
    found = weak("noorbeg and the zz well-kelp x@kelp 'tis table")
    assert "noorbeg" in found
    assert not {"and", "the", "zz", "table", "kelp"} & found
    assert "noorbeg kelpgrove" in weak("noorbeg kelpgrove")


def test_arabic_and_hebrew_words_stand_with_and_without_a_clitic() -> None:
    assert {"وليلى", "ليلى"} <= weak("وليلى")
    assert {"ליעל", "יעל"} <= weak("ליעל")


def test_chinese_and_japanese_are_cut_into_stretches_that_break_no_katakana_word() -> None:
    assert "王小明" in weak("请问王小明昨天")
    assert "マーク" not in weak("マークアップ")
    assert "マーク" in weak("マークさんの件")
    assert not weak("これはです")


def test_emoji_are_sighted_alone_and_together() -> None:
    found = {seen.query for seen in sightings("go 🦊🔥 now 👩\u200d🚀") if seen.shape == "emoji"}
    assert {"🦊", "🔥", "🦊🔥"} <= found
    assert len({seen.start for seen in sightings("🦊 x " * 50) if seen.shape == "emoji"}) == 8


PIECES = (
    "Noor",
    "noor",
    "Weaver’s",
    "Groß",
    "ﬁn",
    "İda",
    "ĳ",
    "ὈΔΥΣΣΕΎΣ",
    "五月",
    "\u3164",
    "\ufe0f",
    "e\u0301",
    "the",
    "Ltd.",
    "J.",
    "du",
    "rock-n-roll",
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from((*PIECES, " ", " ", " ", "  ", "\n", ", ", ".", "?", "'", "\u200b")), max_size=14).map(
        "".join
    )
)
def test_the_key_of_a_phrase_is_the_key_of_what_is_shown(text: str) -> None:
    phrases = [seen for seen in sightings(text) if seen.shape in ("name", "phrase", "uncased")]
    phrases = [seen for seen in phrases if not (seen.inflected or seen.initial)]
    assert [seen.query for seen in phrases] == [norm(seen.display) for seen in phrases]


ODD = (
    *("the", "Ida", "müller", "mueller", "MÜLLER", "du", "l’atelier", "j.r.", "ida-web", "сон", "Olgą", "وليلى", "जी"),
    *(
        "aʼb",
        "ـ",
        "ـx",
        "ﷺ",
        "½",
        "①",
        "ﬁre",
        "漢字",
        "สวน",
        "부산에서",
        "a\u0301b",
        "i\u0307x",
        "x_y",
        "x\u00adz",
        "ß",
        "´",
    ),
)
GAPS = (
    " ",
    "  ",
    "\n",
    ". ",
    ".",
    ", ",
    "-",
    " - ",
    "\u200b",
    "\u00ad ",
    "\u3000",
    "'",
    "` ",
    "/",
    "...",
    "´",
    "\u0301 ",
)


@given(st.lists(st.tuples(st.sampled_from(ODD) | st.text(max_size=3), st.sampled_from(GAPS)), max_size=8))
def test_a_phrase_left_untold_begins_as_no_name_that_some_arm_would_find_for_it(parts: list[tuple[str, str]]) -> None:
    read = seen("".join(word + gap for word, gap in parts))
    begun: dict[int, set[str]] = {}
    for first, places in read.starts.items():
        for place in places:
            begun.setdefault(place, set()).add(first)
    for place, openings in begun.items():
        for one in read.phrases([place]):
            keys = {key for arm in ARMS if arm.takes(one) for key in arm.keys(one.query)}
            assert {opening(key) for key in keys} <= openings
            assert not any(key.isalnum() for key in keys)


def test_phrases_are_told_only_where_some_name_may_begin() -> None:
    read = seen("the green door and the old mill by Ida Grantley")
    assert read.places(frozenset({"old"})) == (5,)
    assert {one.display for one in read.phrases((5,))} >= {"old mill"}
    assert not any("old" in one.display for one in read.found if " " in one.display)
    assert {one.display for one in read.found} >= {"Ida Grantley"}
    assert read.places(frozenset()) == ()
