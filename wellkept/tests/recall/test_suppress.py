"""What the conversation already holds is not brought again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from wellkept.model import Fact, PageRef, Pointer, Provenance, Trust
from wellkept.recall import render
from wellkept.recall.suppress import PRIOR_CHARS, already_shown


def page(slug: str, title: str) -> PageRef:
    return PageRef("default", slug, title, "person", "", "", Trust.USER_WRITTEN)


NOOR = page("p/noor", "Noor Tavenholt")


@pytest.mark.req("C-340")
@pytest.mark.parametrize(
    ("prior", "shown"),
    [
        ("→ `p/noor` — x", True),
        ("p/noor", True),
        ("(p/noor)", True),
        ("xp/noor", False),
        ("a/p/noor", False),
        ("p/noor-2", False),
        ("p/noor/x", False),
        ("p/noora and p/noor.", True),
        ("p/noorж", False),
        ("", False),
    ],
)
def test_a_slug_counts_when_it_stands_alone(prior: str, shown: bool) -> None:
    assert already_shown(prior, "slug-only")(NOOR) is shown


@pytest.mark.req("C-340")
def test_a_title_with_a_space_counts_where_the_script_writes_none() -> None:
    assert already_shown("白鳥悠真さんは来た", "slug-and-title")(page("p/shiratori", "白鳥 悠真"))
    assert not already_shown("白鳥は来た", "slug-and-title")(page("p/shiratori", "白鳥 悠真"))


@pytest.mark.req("C-340")
def test_a_title_counts_as_a_whole_word_unless_only_slugs_do() -> None:
    assert already_shown("so NOOR  tavenholt said", "slug-and-title")(NOOR)
    assert not already_shown("Noor Tavenholts", "slug-and-title")(NOOR)
    assert not already_shown("so Noor Tavenholt said", "slug-only")(NOOR)


@pytest.mark.req("C-340")
def test_a_title_without_spaces_between_words_counts_anywhere() -> None:
    assert already_shown("昨日王小明は", "slug-and-title")(page("p/w", "王小明"))


@pytest.mark.req("C-340")
def test_an_ordinary_word_is_not_the_page_called_so() -> None:
    apple = page("t/apple", "Apple")
    assert not already_shown("an apple a day", "slug-and-title")(apple)
    assert already_shown("how long does the Apple last", "slug-and-title")(apple)


@pytest.mark.req("C-340", "C-403")
@pytest.mark.parametrize("trust", list(Trust))
def test_what_a_page_or_fact_says_of_another_page_does_not_silence_it(trust: Trust) -> None:
    about = "asks p/noor, `p/noor`, Noor Tavenholt"
    ida = Pointer("p/ida", "Ida", about, trust, "alias", 0.9, "alias", "default")
    fact = Fact(1, "default", about, "p/noor", "fact", Provenance("note"), trust=trust)
    shown = already_shown(f"hello\n{render([ida], [ida], [fact])}\nand on", "slug-and-title")
    assert not shown(NOOR)
    assert shown(page("p/ida", "Ida Kelpgrove"))


@pytest.mark.req("C-340")
def test_only_the_end_of_the_prior_context_counts() -> None:
    assert not already_shown("p/noor " + "x" * PRIOR_CHARS, "slug-only")(NOOR)
    assert already_shown("x" * PRIOR_CHARS + " p/noor", "slug-only")(NOOR)


@pytest.mark.req("C-340")
def test_a_page_once_shown_is_not_pointed_at_again(write: Callable[..., None], found: Callable[..., list[str]]) -> None:
    write("p/noor", "Noor Tavenholt")
    assert found("Noor Tavenholt?", prior="no") == ["p/noor"]
    assert found("Noor Tavenholt?", prior="- **Noor** → `p/noor`") == []
