"""What reads the same is the same, and the one who checks has come to the same idea by another way."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wellkept.storage.verify import plainly
from wellkept.trust.normal import tokens, words

GOLDEN = {
    "Ada's rate: 90,000 EUR": "ada s rate 90 000 eur",
    "ＡＤＡ’S  rate — 90.000 eur!": "ada s rate 90 000 eur",
    "A\u200bd\u2060a\u00ads ra\ufe0fte": "adas rate",
    "\u0410d\u0430 \u0441\u0430r\u0435s": "ada cares",
    "МОСКВА": "mockba",
    "москва": "mockba",
    "Straße STRASSE": "strasse strasse",
    "東京に住む": "東 京 に 住 む",
    "ｶﾞｷﾞ": "ガ ギ",
    "กิน": "กิ น",
    "a\U000e0041\U000e0042b": "ab",
    "": "",
    "—…": "",
}
ANY = st.text(st.characters(exclude_categories=["Cn", "Cs"]), max_size=12)


@pytest.mark.req("T-708")
@pytest.mark.parametrize("text", GOLDEN)
def test_both_readings_of_a_text_are_the_golden_one(text: str) -> None:
    assert " ".join(words(text)) == GOLDEN[text]
    assert plainly(text) == GOLDEN[text]


@pytest.mark.req("T-708")
@given(ANY)
@example("一0")
@example("0\u0eb1")
def test_two_readings_that_share_no_code_agree_on_any_text(text: str) -> None:
    assert plainly(text) == " ".join(words(text))


@given(ANY)
def test_each_word_stands_where_it_is_said_to_stand(text: str) -> None:
    found = tokens(text)
    assert tuple(token.text for token in found) == words(text)
    for token in found:
        assert token.text in " ".join(words(text[token.start : token.end]))
