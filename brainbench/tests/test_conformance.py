from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brainbench.conformance import LONG, MemoryContract

from .forgetful import BROKEN

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parent
RULES = [name for name in vars(MemoryContract) if name.startswith("test_")]


def outcomes(place: Path, systems: list[str]) -> dict[tuple[int, str], str]:
    """What each contract test said of each system, as its user would run them: `passed`, `failed` or `skipped`."""
    return told(place, systems)[0]


def told(place: Path, systems: list[str], setting: str = "") -> tuple[dict[tuple[int, str], str], str]:
    """The outcomes, and all that was printed, with a line in each test class."""
    lines = ["from brainbench.conformance import MemoryContract"]
    lines += [
        f"class Test{n}(MemoryContract):\n    system = {system!r}\n    {setting}" for n, system in enumerate(systems)
    ]
    file = place / "test_mine.py"
    file.write_text("\n\n".join(lines))
    (place / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rs", "--tb=short", str(file)],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TESTS), "HOME": str(place), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    found = re.findall(r"::Test(\d+)::(test_\w+) (PASSED|FAILED|SKIPPED)", done.stdout)
    assert len(found) == len(systems) * len(RULES), done.stdout[-3000:] + done.stderr[-3000:]
    return {(int(n), rule): word.lower() for n, rule, word in found}, done.stdout


@pytest.mark.req("C-1202")
def test_the_built_in_memories_keep_the_contract_and_null_only_where_it_says_nothing(tmp_path: Path) -> None:
    systems = ["wellkept", "null", "bm25", "files+grep"]
    found = outcomes(tmp_path, systems)
    failed = {(systems[n], rule) for (n, rule), word in found.items() if word == "failed"}
    assert failed == {
        ("null", "test_it_is_admitted"),
        ("null", "test_a_page_is_found_by_its_title"),
        ("null", "test_a_fact_is_told_again_in_its_source_only"),
        ("null", "test_an_item_is_had_again_by_its_id"),
        ("null", "test_an_item_is_found_by_its_words"),
        ("null", "test_an_updated_item_reads_as_updated"),
        ("null", "test_items_are_listed"),
        ("null", "test_a_source_is_emptied_alone"),
        ("null", "test_items_are_there_when_it_is_opened_again"),
    }
    assert {systems[n] for (n, _), word in found.items() if word == "skipped"} == {"bm25", "files+grep"}


def test_every_rule_of_the_contract_is_seen_to_fail_where_it_is_broken(tmp_path: Path) -> None:
    found = outcomes(tmp_path, ["forgetful:Sound", *(f"forgetful:{name}" for name in BROKEN)])
    assert {rule: found[0, rule] for rule in RULES} == dict.fromkeys(RULES, "passed")
    noticed = {name: found[n, rule] for n, (name, rule) in enumerate(BROKEN.items(), 1)}
    assert noticed == dict.fromkeys(BROKEN, "failed")
    assert sorted(BROKEN.values()) == sorted(RULES)


def test_what_is_not_claimed_is_told_as_not_applicable(tmp_path: Path) -> None:
    found = outcomes(tmp_path, ["misbehaving:Polite"])
    assert found[0, "test_a_page_is_found_by_its_title"] == "skipped"
    assert found[0, "test_a_page_reads_back_with_its_text"] == "passed"


def test_a_memory_that_hangs_fails_by_name_and_holds_up_no_other_test(tmp_path: Path) -> None:
    started = time.monotonic()
    found, printed = told(tmp_path, ["misbehaving:Hanging", "misbehaving:Polite"], "seconds = 1")
    hung = {rule for (n, rule), word in found.items() if (n, word) == (0, "failed")}
    assert hung == {
        "test_it_is_admitted",
        "test_the_same_pages_give_the_same_answers",
        "test_context_is_a_text_with_ids_of_pages",
    }
    assert printed.count("context: no answer in 1 s; where a memory needs longer set `seconds` in its test class") >= 3
    assert "failed" not in {word for (n, _), word in found.items() if n == 1}
    assert time.monotonic() - started < 60


def test_a_program_that_hangs_fails_by_name_in_the_time_that_is_set(tmp_path: Path) -> None:
    started = time.monotonic()
    program = f"cmd:{sys.executable} {TESTS / 'uncivil.py'} hang context"
    found, printed = told(tmp_path, [program], "seconds = 2")
    assert found[0, "test_context_is_a_text_with_ids_of_pages"] == "failed"
    assert found[0, "test_a_page_reads_back_with_its_text"] == "passed"
    assert "context: no answer in 2 s; its process was ended" in printed
    assert time.monotonic() - started < 90


def test_what_belongs_to_the_thread_that_opened_it_can_be_asked_on(tmp_path: Path) -> None:
    assert outcomes(tmp_path, ["misbehaving:Threaded"])[0, "test_a_page_reads_back_with_its_text"] == "passed"


def test_the_long_page_is_long() -> None:
    assert len(LONG) > 10_000
