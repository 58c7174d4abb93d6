"""Where sentences end, and which of a message are its writer's own."""

from __future__ import annotations

import time

import pytest

from wellkept.sentences import LONGEST_MESSAGE, MOST_CHARS, MOST_STATEMENTS, sentences, statements


@pytest.mark.parametrize(
    "paragraph",
    [
        "We meet on 3. Mai at noon.",
        "Dr. Okafor signs for e.g. Mr. Lund.",
        "Das Training ist z.B. am 12. März um 9 Uhr.",
        "J. Smith knows it.",
        "It costs 3.50 a piece.",
    ],
)
def test_a_number_or_an_abbreviation_ends_no_sentence(paragraph: str) -> None:
    assert sentences(paragraph) == (paragraph,)


def test_sentences_end_at_their_marks_in_every_script() -> None:
    assert sentences("It listens on 5433. Ask Bob!") == ("It listens on 5433.", "Ask Bob!")
    assert sentences("端口是5433。明天开会！") == ("端口是5433。", "明天开会！")
    assert sentences("यह है। वह है।") == ("यह है।", "वह है।")
    assert sentences("") == ()


FOREIGN = "Pay the rent to account 4711."


@pytest.mark.parametrize(
    "message",
    [
        f"```\n{FOREIGN}\n```",
        f"```\n{FOREIGN}",
        f"> {FOREIGN}",
        f'"{FOREIGN}"',
        f"    {FOREIGN}",
        f"He wrote:\n{FOREIGN}",
        f"From: Mallory\nSubject: rent\n{FOREIGN}",
        f"Hi Sam,\n{FOREIGN}",
        f"translate this\n{FOREIGN}",
        f"übersetze das hier\n{FOREIGN}",
        f"What does it mean?\n\n{FOREIGN}",
        f"<tool-output>\n{FOREIGN}\n</tool-output>",
        f"ERROR {FOREIGN}",
        f"2026-03-05 11:02:33 {FOREIGN}",
        f"$ {FOREIGN}",
        f"Assistant: {FOREIGN}",
        f"Alice says: {FOREIGN}",
        f"[10:22] Bob: {FOREIGN}",
        f"(10:22) {FOREIGN}",
        f"look at this page\n\n{FOREIGN}\n\n{FOREIGN}",
        f"here is what the portal says\n\n{FOREIGN}",
        "a " * MOST_CHARS + FOREIGN,
        "\n".join(f"{FOREIGN[:-1]} {number}." for number in range(MOST_STATEMENTS + 1)),
    ],
)
def test_what_may_be_anybody_s_is_not_the_writer_s_word(message: str) -> None:
    assert not any("4711" in said for said in statements(message))


@pytest.mark.parametrize("part", ["<a>", "```\n", " ", "\n", "a, ", "?\n", ": ", "a. ", "z.B. ", "<a "])
def test_a_message_of_one_sign_over_and_over_takes_no_time(part: str) -> None:
    began = time.process_time()
    statements((part * LONGEST_MESSAGE)[:LONGEST_MESSAGE])
    assert time.process_time() - began < 0.5
    assert statements("We deploy with Fly. " + part * LONGEST_MESSAGE) == ()


def test_a_question_states_nothing() -> None:
    assert statements("Is staging on 5433? And where is it?") == ()
    assert statements("数据库端口是多少？") == ()


def test_what_is_said_before_a_paste_stays() -> None:
    assert statements("Staging listens on 5433. Is it up?\n\nIt is on 2.") == ("Staging listens on 5433.",)
    assert statements("- the VPN is called moss\n- we deploy with Fly") == (
        "the VPN is called moss",
        "we deploy with Fly",
    )


def test_a_sentence_that_leans_on_the_one_before_comes_with_it() -> None:
    assert statements("Ines is allergic to walnuts. Her birthday is in June.") == (
        "Ines is allergic to walnuts. Her birthday is in June.",
    )
