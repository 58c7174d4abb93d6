"""The Markdown summary for pull requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from brainbench.report.markdown import inert, summary, verdict

HOSTILE = [
    "a|b",
    "a\\|b\\",
    "`code` ``` fence",
    "<script>alert(1)</script><!-- -->",
    "</code><b>bold</b>",
    "[text](http://evil.test) ![](x)",
    "**bold** _it_ ~~gone~~ # head",
    "line\n\n| new | row |\n## heading",
    "@team #12 http://evil.test www.evil.test",
    "&lt;b&gt; &amp;",
    "\x1b[31m\x00",
]


class Tags(HTMLParser):
    """Counts the tags and keeps the text of a rendered page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1

    def handle_data(self, text: str) -> None:
        self.words.append(text)


def rendered(text: str) -> Tags:
    page = Tags()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))
    return page


@pytest.mark.req("C-701", "C-710")
def test_a_small_summary_says_verdict_breaches_counts_and_limits(board, failed):
    text = summary(board, failed)
    assert text.startswith("## brainbench: ✗ FAIL\n")
    assert "### Breaches: 1" in text
    row = next(line for line in text.splitlines() if "<code>know-to-ask</code>" in line)
    assert row == (
        "| <code>wellkept</code> | <code>claude-code</code> (production) | <code>know-to-ask</code> | all | 3/8 | "
        "<code>know&#95;to&#95;ask&#95;failure&#95;rate</code> 3/8 (0.3750) 0.1368-0.6943<br>"
        "<code>false&#95;fire&#95;rate</code> not asked<br>"
        "<code>source&#95;isolation&#95;violations</code> 0<br>"
        "<code>avg&#95;injected&#95;tokens</code> mean 4.6250 over 8 | 4.6250 | <code>scored</code> |"
    )
    words = " ".join(rendered(text).words)
    assert "push_recall: 4/4 (1.0000) -> gone: the cell is gone" in words
    assert "n/a: conversation_write" in words
    assert "Nothing here says that a model" in words


@pytest.mark.req("C-604")
def test_a_cell_that_is_invalid_has_a_row_without_a_rate(board):
    bad = replace(board.cells[0], status="invalid", reason="it hung")
    text = summary(replace(board, cells=(bad,)), strata=True)
    row = next(line for line in text.splitlines() if "<code>know-to-ask</code>" in line)
    assert row.endswith("| all |  | - |  | <code>&#33; INVALID&#58; it hung</code> |")
    assert "3/8" not in text
    assert text.count("it hung") == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_outside_text_changes_nothing_but_the_words(hostile, failed, text):
    tame, wild = (
        rendered(summary(hostile(word), replace(failed, notes=(word,)), strata=True)) for word in ("tame", text)
    )
    assert wild.tags == tame.tags


@given(st.text(st.sampled_from("|`\\<>[]()*_~#@&!\n\r ab./:-"), max_size=30))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mixture_of_marks_is_shown_as_it_is_in_one_table_cell(mixture):
    text = mixture.strip() or "x"
    page = rendered(f"| a | b |\n| --- | --- |\n| {inert(text)} | end |\n")
    assert page.tags == Counter({"table": 1, "thead": 1, "tbody": 1, "tr": 2, "th": 2, "td": 2, "code": 1})
    shown = "".join(page.words).replace("\u200b", "")
    assert text.replace("\n", "\\n").replace("\r", "\\r") in shown


def test_a_verdict_can_stand_without_a_scoreboard(doubtful):
    assert verdict(doubtful) == (
        "## brainbench: ? INCONCLUSIVE\n\nCompared: <code>same-hash</code>\n\n### Reasons\n\n"
        "- <code>seed&#95;failure&#58; fix-c could not be seeded</code>"
    )


def test_without_a_comparison_the_heading_says_so(board):
    assert summary(board).startswith("## brainbench: no verdict (nothing was compared)\n")


def test_long_lists_are_cut_and_say_so(board):
    text = summary(replace(board, warnings=tuple(f"warning {n}" for n in range(500))))
    assert "- and 400 more" in text
    assert "warning 99<" in text
    assert "warning 100<" not in text
