from __future__ import annotations

from time import process_time

import pytest

from wellkept.recall.asked import asked_in, content_words
from wellkept.recall.spoken import SHORT, spoken

ASKED = "when may we open the kiln again, at how many degrees?"
PROSE = "the committee went through the minutes and found nothing to change there. " * 12
PASTED = {
    "a log": "\n".join(f"2026-01-01T12:00:{n:02} INFO server.py:{n} done in {n} ms" for n in range(40)),
    "a log by level": "\n".join(f"ERROR server.py:{n} failed after {n} ms" for n in range(40)),
    "fenced code": "```python\n" + "\n\n".join(f"kiln_{n} = open({n})" for n in range(40)) + "\n```",
    "code": "\n".join(f"kiln_{n} = open({n})" for n in range(40)),
    "a quote": "\n".join(f"> they wrote in line {n} that the kiln is hot" for n in range(40)),
    "a long line": PROSE.strip(),
    "a trace": "\n".join(f"    at Server.open (relay.js:{n}:7)" for n in range(40)),
}


@pytest.mark.field("HOK-08")
@pytest.mark.parametrize("kind", PASTED)
@pytest.mark.parametrize("layout", ["{pasted}\n{asked}", "{asked}\n\n{pasted}", "{pasted}\n\n{asked}\n\n{pasted}"])
def test_what_was_pasted_is_left_out_wherever_the_question_stands(kind: str, layout: str) -> None:
    if kind == "code" and layout == "{pasted}\n{asked}":
        layout = "{pasted}\n\n{asked}"
    assert spoken(layout.format(pasted=PASTED[kind], asked=ASKED)) == ASKED


@pytest.mark.field("LIM-02")
@pytest.mark.parametrize(
    "text", [PROSE + ASKED, ASKED + " " + PROSE, "会议记录已经整理好了。" * 80 + "窑炉什么时候开？"]
)
def test_a_question_at_the_edge_of_a_long_line_is_what_was_asked(text: str) -> None:
    assert spoken(text) in (ASKED, "窑炉什么时候开？")


@pytest.mark.parametrize(
    "text",
    ["", "short\n" * 90, PASTED["a log"], "Prose of one's own.\n\n" * 40, PROSE],
    ids=["empty", "short", "a log", "prose", "line"],
)
def test_what_is_short_or_nothing_but_pasted_stays_as_it_is(text: str) -> None:
    kept = spoken(text)
    assert kept == text or len(text) > SHORT
    assert asked_in(text) == text


def test_a_megabyte_is_read_in_a_moment() -> None:
    for text in ("x" * 1_000_000, "a? " * 350_000, "\n" * 1_000_000, "```\n" * 250_000):
        began = process_time()
        spoken(text)
        assert process_time() - began < 2


@pytest.mark.field("LIM-02")
def test_of_too_many_words_the_first_and_the_last_are_looked_for() -> None:
    words = content_words(" ".join(f"word{number}" for number in range(500)))
    assert (len(words), words[0], words[-1]) == (64, "word0", "word499")
