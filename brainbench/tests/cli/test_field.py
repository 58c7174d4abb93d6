"""`brainbench field` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main

pytestmark = pytest.mark.slow
SURLY = '''
import os, sys, time
from brainbench.model import Capability
from brainbench.systems.baselines import Bm25

class Surly(Bm25):
    """Ends, floods or hangs where it is asked to delete everything, and is well elsewhere."""
    manner = ""
    def delete_items(self, source):
        if self.manner == "end":
            os._exit(3)
        if self.manner == "hang":
            time.sleep(600)
        super().delete_items(source)
    def list_items(self, source):
        return "no list at all" if self.manner == "garbage" else super().list_items(source)

class Ends(Surly):
    manner = "end"
class Hangs(Surly):
    manner = "hang"
class Garbles(Surly):
    manner = "garbage"
'''


def field(*words: object) -> Result:
    return CliRunner().invoke(main, ["field", *map(str, words)])


@pytest.fixture
def surly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "surly.py").write_text(SURLY)
    monkeypatch.syspath_prepend(str(tmp_path))


def verdicts(done: Result) -> dict[str, str]:
    """By row of the first system what came of it."""
    return {row["id"]: row["verdict"] for row in json.loads(done.stdout)["systems"][0]["rows"]}


def test_a_line_a_row_then_totals_by_group_and_system() -> None:
    done = field(
        "--system", "bm25", "--system", "files+grep", "--row", "ISO-04", "--row", "DEL-04", "--seed", "42-7f3a"
    )
    assert done.exit_code == 0
    assert done.stdout == TOLD


def test_a_row_that_fails_ends_with_1_and_says_what_was_seen_and_what_is_right() -> None:
    done = field("--system", "bm25", "--row", "TXT-02")
    assert done.exit_code == 1
    line = done.stdout.splitlines()[1]
    assert line.startswith("  TXT-02  P2  FAILED  find(user-")
    assert line.endswith(", got nothing [an identifier glued to Chinese is found]")
    assert done.stderr == "brainbench: fail: field: bm25: TXT-02\n"


def test_the_result_is_written_as_it_is_printed(tmp_path: Path) -> None:
    done = field(
        "--system", "bm25", "--group", "D", "--group", "A", "--priority", "1", "--json", "--out", tmp_path / "r"
    )
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert json.loads((tmp_path / "r").read_text()) == told
    (system,) = told["systems"]
    assert system["asked"] == {"rows": 5, "of": 8}
    assert system["totals"] == {"passed": 5, "FAILED": 0, "n/a": 3}
    assert {row["priority"] for row in system["rows"]} == {1}
    assert {row["group"] for row in system["rows"]} == set(system["groups"]) == {"A", "D"}


def test_a_run_draws_its_own_words_and_the_seed_that_it_tells_draws_them_again() -> None:
    told = [json.loads(field("--system", "bm25", "--row", "TXT-02", "--json").stdout)["systems"][0] for _ in range(2)]
    again = json.loads(field("--system", "bm25", "--row", "TXT-02", "--json", "--seed", told[0]["seed"]).stdout)
    assert told[0]["seed"] != told[1]["seed"]
    assert again["systems"][0] == told[0]
    assert told[0]["rows"] != told[1]["rows"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seed", "high"), "'high' is no seed; write a number as 42"),
        (("--row", "ISO-99"), "--row: no row 'ISO-99'; there are DEL-01, DEL-02,"),
        (("--row", "ISO-01", "--group", "A"), "no row is left"),
        (("--system", "nobody"), "unknown system 'nobody'"),
        (("--system", "always-silent", "--row", "ISO-01"), "no row could be asked"),
        (("--out", "nowhere/at/all.json"), "nowhere"),
    ],
)
def test_what_cannot_be_asked_ends_with_2_in_a_sentence(words: tuple[str, ...], said: str) -> None:
    done = field(*words)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(("kind", "said"), [("Ends", "its process ended (exit code 3)"), ("Garbles", "something else")])
def test_a_memory_that_ends_or_garbles_fails_the_rows_in_which_it_does_only(surly: None, kind: str, said: str) -> None:
    done = field("--system", f"surly:{kind}", "--group", "A", "--json")
    found = verdicts(done)
    assert done.exit_code == 1
    assert found["DEL-01"] == "FAILED"
    assert found["DEL-03"] == found["DEL-09" if kind == "Ends" else "DEL-02"] == "passed"
    assert said in done.stdout


def test_a_memory_that_hangs_costs_its_row_the_time_and_nothing_else(surly: None) -> None:
    done = field("--system", "surly:Hangs", "--row", "DEL-01", "--row", "DEL-03", "--timeout", "3", "--json")
    assert verdicts(done) == {"DEL-01": "FAILED", "DEL-03": "passed"}
    assert "no answer within 3 s" in done.stdout


def test_a_memory_that_cannot_be_loaded_costs_no_other_its_rows() -> None:
    done = field("--system", "cmd:no-such-program", "--system", "bm25", "--row", "ISO-04")
    assert done.exit_code == 2
    assert "bm25" in done.stdout
    assert done.stderr.splitlines()[-1].startswith(
        "brainbench: inconclusive: usage: --system: cmd:no-such-program: no program 'no-such-program' on PATH"
    )


def test_a_memory_of_pages_is_asked_for_items_as_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["init-adapter", "notes", "--kind", "cmd"]).exit_code == 0
    done = field("--system", "cmd:python3 notes.py", "--row", "DEL-01", "--row", "UPD-05", "--json")
    assert verdicts(done) == {"DEL-01": "n/a", "UPD-05": "FAILED"}


TOLD = """\
bm25 0.1.0, seed 42-7f3a
  DEL-04  P1  n/a     no verb counts what a memory keeps beside items
  ISO-04  P1  passed  `_` and `%` in a scope or id are letters like others

files+grep 0.1.0, seed 42-7f3a
  DEL-04  P1  n/a     no verb counts what a memory keeps beside items
  ISO-04  P1  passed  `_` and `%` in a scope or id are letters like others

                                     bm25                      files+grep
A  delete, forget, residue           0 passed 0 FAILED 1 n/a   0 passed 0 FAILED 1 n/a
C  scope, isolation, identity        1 passed 0 FAILED 0 n/a   1 passed 0 FAILED 0 n/a
all                                  1 passed 0 FAILED 1 n/a   1 passed 0 FAILED 1 n/a
asked                                1 of 2 asked              1 of 2 asked
"""
