"""What an injection says before anybody judges it."""

from __future__ import annotations

import pytest

from brainbench.model import Injection


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\t", "\u00a0\u2003", "\u200b\u2060\ufeff", "\u00ad", "\u0000\u001b", "<!-- -->", "&nbsp;&#8203;",
     "---", "**  **", "- ", "\u3164", "\u2800", "<p></p>", "<memory>\n</memory>"],
)  # fmt: skip
def test_ids_beside_a_text_that_nobody_can_see_bring_nothing(text):
    assert Injection(text, ids=("people/ada",)).brought == ()


@pytest.mark.parametrize("text", ["a", "7", "Ада", "東", "<memory of='Ada'/>", "<b>Ada</b>"])
def test_ids_beside_a_text_that_can_be_seen_are_brought(text):
    assert Injection(text, ids=("people/ada",)).brought == ("people/ada",)
