"""Which plain names a case form can belong to."""

from __future__ import annotations

import pytest

from wellkept.inflection import base_forms, spoken_base_forms
from wellkept.names import norm


@pytest.mark.parametrize(
    ("word", "language", "plain"),
    [
        ("Annie", "pl", "anna"),
        ("Tomkiem", "pl", "tomek"),
        ("Sobieskiego", "pl", "sobieski"),
        ("Jitkou", "cs", "jitka"),
        ("Dvořákovi", "cs", "dvořák"),
        ("Ilmarisen", "fi", "ilmarise"),
        ("Katriinalta", "fi", "katriina"),
        ("Annával", "hu", "anna"),
        ("Лидии", "ru", "лидия"),
        ("Γιώργου", "el", "γιώργος"),
    ],
)
def test_a_case_form_leads_to_the_plain_name(word: str, language: str, plain: str) -> None:
    assert norm(plain) in spoken_base_forms(word, [language], after_preposition=False)


@pytest.mark.parametrize("word", ["Annie", "Tomkiem", "Ilmarisen", "Annával"])
def test_a_latin_word_has_no_case_in_a_language_that_is_not_spoken(word: str) -> None:
    assert spoken_base_forms(word, ["en", "de"], after_preposition=True) == ()


@pytest.mark.parametrize(
    ("word", "language", "plain"), [("Валентина", "ru", "валентин"), ("Pavla", "cs", "pavl"), ("Άννα", "el", "άννας")]
)
def test_a_form_that_may_be_another_name_needs_a_preposition(word: str, language: str, plain: str) -> None:
    assert norm(plain) not in spoken_base_forms(word, [language], after_preposition=False)
    assert norm(plain) in spoken_base_forms(word, [language], after_preposition=True)


def test_a_word_is_no_case_form_of_itself() -> None:
    for word in ("Anna", "Лена", "Γιώργος"):
        assert norm(word) not in (*base_forms(word), *spoken_base_forms(word, ["pl"], after_preposition=True))
