from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.model import CandidateFact, Message
from wellkept.providers import Segment
from wellkept.providers.quotes import find_quote, plain
from wellkept.providers.scripted import ScriptedExtractor


def candidate(quote: str, fact: str = "f", confidence: float = 0.3) -> CandidateFact:
    return CandidateFact(fact, "fact", None, quote, confidence)


def segment(*texts: str, session: str = "s") -> Segment:
    return Segment(session, tuple(Message("user", text, datetime(2026, 1, 1, tzinfo=UTC)) for text in texts), texts)


@pytest.mark.req("C-504")
def test_a_candidate_is_given_where_its_quote_was_said_with_full_confidence() -> None:
    extractor = ScriptedExtractor([candidate("the key"), candidate("The key"), candidate("the key is here and there")])
    found = extractor.extract(segment("we lost the key", "is here and there"), "default")
    assert [(one.quote, one.confidence) for one in found] == [("the key", 1.0)]


@pytest.mark.req("C-504")
def test_a_quote_that_is_a_whole_long_message_is_found() -> None:
    long = "word " * 4000
    extractor = ScriptedExtractor([candidate(long)])
    assert len(extractor.extract(Segment("s", (Message("user", long.strip()),), ("word", "word")), "default")) == 1


@pytest.mark.req("C-504")
def test_a_candidate_is_given_once_in_a_session_and_again_when_the_session_is_read_again() -> None:
    extractor = ScriptedExtractor([candidate("key")])
    first, later = segment("a key"), segment("b key")
    grown = Segment("s", (*first.messages, *later.messages), ())
    given_per_segment = [len(extractor.extract(one, "default")) for one in (first, later, first, grown, later)]
    assert given_per_segment == [1, 0, 1, 1, 0]
    assert len(extractor.extract(segment("c key", session="other"), "default")) == 1
    assert len(extractor.extract(later, "elsewhere")) == 1


@pytest.mark.req("C-505", "C-504")
def test_a_candidate_has_nowhere_to_put_a_slug() -> None:
    assert {field.name for field in fields(CandidateFact)} == {
        "fact",
        "kind",
        "mention",
        "quote",
        "confidence",
        "valid_from",
    }
    with pytest.raises(TypeError):
        CandidateFact("f", "fact", None, "q", entity="people/x")  # type: ignore[call-arg]
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(candidate("q"), "entity", "people/x")


def test_a_blank_quote_is_nowhere() -> None:
    assert find_quote("any text", "") is None
    assert find_quote("any text", " \n") is None


@given(st.text(max_size=20), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_a_quote_is_found_where_it_stands_whatever_the_line_ends(before: str, quote: str, after: str) -> None:
    text = plain(before) + plain(quote) + plain(after)
    found = find_quote(text, quote)
    if not quote.strip():
        assert found is None
        return
    assert found is not None
    assert text[slice(*found)].strip() == plain(quote).strip()
