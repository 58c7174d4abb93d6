"""The scoreboard on a terminal."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from subprocess import run

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from brainbench.metrics import Count, Mean, Ratio
from brainbench.report.terminal import print_scoreboard, render
from brainbench.suites import Cell, Slice

HOSTILE = [
    "[red]bold[/red]",
    "\x1b[31mred\x1b[0m\x07",
    "two\nlines\r\nand\ttab",
    "a|b`c`<b>d</b>",
    "right\u202eleft\u2066",
    ":smile: [link=http://x]y[/link]",
    "漢字" * 60,
    "\ud800lone",
    "x" * 500,
]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.req("C-701")
def test_a_small_board_is_drawn_like_this(board, failed):
    assert render(replace(board, cells=board.cells[:4]), failed, long=True) == GOLDEN


@pytest.mark.req("C-701")
def test_strata_are_shown_when_asked(board):
    assert "  easy" not in render(board, long=True)
    page = render(board, long=True, strata=True)
    assert re.search(r"^  easy +0/5 +know_to_ask_failure_rate +0/5 \(0\.0000\)", page, re.M)
    assert re.search(r"^    easy +0/5 0\.0000", render(board, strata=True), re.M)


@pytest.mark.req("C-701")
@pytest.mark.parametrize(("verdict", "word"), [("pass", "PASS"), ("fail", "FAIL"), ("inconclusive", "INCONCLUSIVE")])
def test_the_verdict_is_a_word_also_without_colour(board, failed, verdict, word):
    assert re.search(rf"verdict: . {word}\b", render(board, replace(failed, verdict=verdict)))


def test_an_inconclusive_verdict_says_why(board, doubtful):
    page = render(board, doubtful)
    assert "verdict: ? INCONCLUSIVE (same-hash)\nreasons\n  seed_failure: fix-c could not be seeded\n" in page


def test_without_a_comparison_there_is_no_verdict(board):
    assert "verdict: none (nothing was compared)" in render(board)


@pytest.mark.req("C-202")
def test_a_cell_that_is_not_applicable_names_what_is_missing_and_shows_no_number(board):
    assert "  bm25: write-back (claude-code): n/a: conversation_write\n" in render(board)
    lines = render(board, long=True).splitlines()
    row = next(line for line in lines if line.startswith("write-back   n/a"))
    assert row.endswith("n/a: conversation_write")
    assert not re.search(r"\d", row)


@pytest.mark.parametrize("text", HOSTILE)
def test_outside_text_is_drawn_as_itself_on_one_line(hostile, failed, text):
    for long in (False, True):
        page = render(hostile(text), replace(failed, notes=(text,)), long=long)
        assert not set(page) & set("\x1b\x07\r\t\u202e\u2066\ud800")
        assert all(cell_len(line) <= 100 for line in page.splitlines())


def test_markup_in_a_name_is_shown_and_not_obeyed(hostile):
    assert "[red]bold[/red] through" in render(hostile("[red]bold[/red]"), long=True, colour=True)
    assert re.search(r"\[red\]bold\[/red\] +claude-code", render(hostile("[red]bold[/red]"), colour=True))


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_is_wider_than_its_terminal(board, failed, data):
    words = st.text(max_size=60)
    counts = st.integers(0, 10**7)
    value = st.one_of(
        st.none(),
        st.builds(lambda n, more: Ratio(n, n + more + 1), counts, counts),
        st.builds(Count, counts),
        st.builds(Mean, st.floats(0, 1e9), st.integers(0, 9)),
    )
    metrics = st.dictionaries(words, value, max_size=3)
    cell = st.builds(
        Cell,
        words,
        words,
        st.sampled_from(["production", "contract"]),
        words,
        st.sampled_from(["scored", "not_applicable", "invalid", "failed"]),
        counts,
        counts,
        metrics,
        st.fixed_dictionaries(
            {"stratum": st.dictionaries(words, st.builds(Slice, counts, counts, metrics), max_size=2)}
        ),
        not_applicable=st.lists(words, max_size=2).map(tuple),
        reason=words,
    )
    width = data.draw(st.integers(60, 160))
    random = replace(board, cells=tuple(data.draw(st.lists(cell, max_size=4))))
    page = render(random, failed, strata=True, long=data.draw(st.booleans()), width=width)
    assert max(cell_len(line) for line in page.splitlines()) <= min(width, 100)
    assert page.isprintable() or set(page) - {"\n"} == {c for c in page if c.isprintable()}


def test_a_terminal_gets_colour_and_a_file_does_not(board, failed, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen, file = Screen(), io.StringIO()
    print_scoreboard(board, failed, screen)
    print_scoreboard(board, failed, file)
    assert "\x1b[" in screen.getvalue()
    assert "\x1b" not in file.getvalue()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(board, failed, monkeypatch, name, value):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    screen = Screen()
    print_scoreboard(board, failed, screen)
    assert "\x1b" not in screen.getvalue()
    assert "FAIL" in screen.getvalue()


def test_a_stream_that_knows_only_ascii_is_no_obstacle(board, failed):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_scoreboard(board, failed, stream)
    stream.seek(0)
    assert "FAIL" in stream.read()


def test_rich_is_imported_only_when_something_is_drawn():
    code = "import sys, brainbench.report.terminal, brainbench.report.markdown; sys.exit('rich' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.req("C-701")
def test_a_system_stands_on_one_screen_with_its_seams_side_by_side(board):
    codex = replace(board.cells[0], seam="codex", kind="contract", gold_failed=8, deviations=())
    page = render(replace(board, cells=(board.cells[0], codex, *board.cells[1:2])))
    assert MATRIX in page
    assert page.index("↓ less is better") < page.index(MATRIX)


def test_scored_cells_in_which_something_went_wrong_are_told(board):
    stumbled = replace(board.cells[0], errors=1, events=80, reason="1 of 80 events went wrong; most often: Boom: x")
    assert "failed\n  1 of 80 events went wrong; most often: Boom: x\n" in render(replace(board, cells=(stumbled,)))
    page = render(replace(board, cells=(stumbled,)), long=True)
    title, line = (
        "! errors, counted as failures",
        "know-to-ask (claude-code): 1 of 80 events went wrong; most often: Boom: x",
    )
    assert f"{title}\n  wellkept: {line}\n" in page
    assert title not in render(replace(board, cells=(replace(stumbled, errors=0),)), long=True)
    assert "went wrong" not in render(replace(board, cells=(replace(stumbled, errors=0),)))


@pytest.mark.req("C-604")
def test_a_cell_that_is_invalid_shows_no_rate_and_its_reason_once(board):
    rates = {"push_recall": Ratio(1, 7)}
    slices = {"stratum": {"hard": Slice(7, 6, rates)}}
    good = Cell("bm25", "codex", "contract", "push", "scored", metrics={"push_recall": Ratio(2, 7)}, slices=slices)
    bad = replace(good, seam="openclaw", status="invalid", gold_total=9, gold_failed=8, metrics=rates, reason="it hung")
    for long in (False, True):
        page = render(replace(board, cells=(good, bad)), strata=True, long=long)
        assert page.count("it hung") == 1
        assert "8/9" not in page
        assert page.count("1/7") == 1
    assert re.search(r"^  push_recall ↑ +2/7 0\.2857 +-$", render(replace(board, cells=(good, bad))), re.M)


def test_fixtures_that_do_not_apply_are_counted_by_what_the_system_lacks(board):
    cell = replace(board.cells[0], not_applicable=("f", "g"), lacking={"edit": 2, "sources": 1})
    page = render(replace(board, cells=(cell,)))
    line = "wellkept: know-to-ask (claude-code): 2; the system lacks edit: 2, sources: 1"
    assert f"\nfixtures not applicable\n  {line}\n" in page
    assert "\nfixtures not applicable\n" not in render(replace(board, cells=board.cells))
    assert "2 fixtures n/a (the system lacks edit: 2, sources: 1)" in " ".join(
        render(replace(board, cells=(cell,)), long=True).split()
    )


def test_cells_with_the_same_reason_share_its_line(board):
    bad = [Cell("a", seam, "contract", suite, "invalid", reason="gone") for suite in "xy" for seam in ("s", "t")]
    page = render(replace(board, cells=bad), long=True)
    assert "cells without numbers\n  a: x (s, t), y (s, t): ! INVALID: gone\n" in page


def test_what_went_wrong_stands_right_under_its_cells_and_once(board):
    bad = [Cell("a", seam, "contract", suite, "invalid", reason="gone") for suite in "xy" for seam in ("s", "t")]
    page = render(replace(board, cells=(*bad[:3], replace(bad[3], reason="late"))))
    assert re.search(r"^x +! INVALID +! INVALID *\n  gone\n", page, re.M)
    assert re.search(r"^y +! INVALID +! INVALID *\n  s: as x, above\n  t: late\n", page, re.M)


MATRIX = """
wellkept                        claude-code      codex
                                production       contract
know-to-ask                     3/8 failed       8/8 failed
  know_to_ask_failure_rate ↓    3/8 0.3750       3/8 0.3750
  source_isolation_violations ↓ 0                0
push                            ! INVALID        n/a
"""
GOLDEN = """\
brainbench
corpus: core  fixtures: 0123456789ab  holdout: left out  llm: no  modes: openclaw_window=mixed
observations: fedcba987654

wellkept through claude-code (production)
suite        status      failed/gold  metric                       n/of (rate)         95 %
────────────────────────────────────────────────────────────────────────────────────────────────────
know-to-ask  scored      3/8          know_to_ask_failure_rate     3/8 (0.3750)        0.1368-0.6943
                                      false_fire_rate              not asked
                                      source_isolation_violations  0
                                      avg_injected_tokens          mean 4.6250         over 8
push         ! INVALID                -

wellkept through direct (contract)
suite        status      failed/gold  metric                       n/of (rate)         95 %
────────────────────────────────────────────────────────────────────────────────────────────────────
write-back   scored      0/2          write_back_fidelity          2/2 (1.0000)        0.3424-1.0000

bm25 through claude-code (contract)
suite        status      failed/gold  metric                       n/of (rate)         95 %
────────────────────────────────────────────────────────────────────────────────────────────────────
write-back   n/a                      n/a: conversation_write

! seed failures: 2
  wellkept: fix-c: page p not readable
  bm25: fix-d: no such page
cells without numbers
  wellkept: push (claude-code): ! INVALID: 3 errors in 4 events
  bm25: write-back (claude-code): n/a: conversation_write
ceilings
  codex: push_recall can reach 57/96 (0.5938)
deviations from the harness itself
  claude-code: deadline 10 s
warnings
  fix-a: turns[0].ts: has no zone, read as UTC
what these numbers do not show
  A contract row shows what a memory would hand over, not that the harness delivered it.
  Nothing here says that a model read what was injected, used it well, or that an answer got better.
  The numbers hold for this corpus; intervals treat counted things as independent and cover chance
  only.
  n/a is not a result: neither a zero nor a pass.
verdict: ✗ FAIL (same-hash)
breaches: 1
  wellkept/claude-code/push push_recall: 4/4 (1.0000) -> gone: the cell is gone
notes
  baseline is stale: false_fire_rate of wellkept/direct/push
"""
