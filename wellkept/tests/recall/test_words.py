"""General words, by the languages that a text speaks."""

from __future__ import annotations

import pytest

from wellkept.names import norm
from wellkept.recall.words import LANGUAGES, Speech, languages


def speech(text: str) -> Speech:
    return Speech(norm(text).split())


@pytest.mark.req("C-313")
def test_every_language_has_words_of_its_own_under_norm() -> None:
    assert {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "el", "tr", "ar", "he"} <= set(LANGUAGES)
    assert {"cs", "sv", "da", "no", "fi", "hu", "ro", "id", "vi", "hi", "fa"} <= set(LANGUAGES)
    for language in languages():
        assert language.words("hard"), language.code
        assert language.words("common"), language.code
        for words in language.sections.values():
            assert all(word == norm(word) for word in words)


@pytest.mark.req("C-313")
def test_a_pronoun_of_another_language_is_a_name_here() -> None:
    assert not speech("did ella call about it").is_hard("ella")
    assert speech("ella no viene porque está en la casa").is_hard("ella")


@pytest.mark.req("C-313")
def test_an_inflected_english_word_is_as_common_as_its_stem() -> None:
    said = speech("what about it")
    assert all(said.is_common(word) for word in ("markets", "marked", "marking", "deployment", "stopped", "berries"))
    assert not said.is_common("noor")


@pytest.mark.req("C-313")
def test_german_nouns_count_as_nouns_in_german_only() -> None:
    assert speech("das ist der koch und die rechnung").is_capitalised_noun("koch")
    assert not speech("this is koch and that is it").is_capitalised_noun("koch")


@pytest.mark.req("C-313")
def test_an_article_of_another_language_is_a_word_like_any_other() -> None:
    assert speech("um carro e a casa que ele tem").is_indefinite_article("um")
    assert not speech("was it a car, um, or a house").is_indefinite_article("um")
