"""A run that was cut short goes on, and asks nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from brainbench.errors import IncompatibleError, OutputError
from brainbench.retrieval.layout import Choice
from brainbench.retrieval.running import Measured, measure

from .conftest import item

pytestmark = pytest.mark.req("E-109")
MANY = [item(n, (n % 6,)) for n in range(4)]


@pytest.fixture
def run(made: Callable[..., Path], tmp_path: Path) -> Callable[..., Measured]:
    def once(system: str = "bm25", **changes: object) -> Measured:
        changes = {"checkpoint": tmp_path / "half.jsonl", "allow_unknown": True, **changes}
        return measure(Choice("longmemeval", made(*MANY), system, **changes))  # type: ignore[arg-type]

    return once


def lines(place: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (place / "half.jsonl").read_text().splitlines()]


def test_what_is_done_is_not_asked_again_and_every_start_is_told(run, tmp_path):
    whole = run()
    kept = (tmp_path / "half.jsonl").read_text().splitlines(keepends=True)
    assert [sorted(line) for line in lines(tmp_path)] == [
        ["run", "schema_version"],
        ["attempt"],
        *[["cases", "haystack"]] * 4,
    ]
    (tmp_path / "half.jsonl").write_text("".join(kept[:4]))
    told: list[tuple[int, int]] = []
    again = measure(
        Choice("longmemeval", whole.choice.path, "bm25", checkpoint=tmp_path / "half.jsonl", allow_unknown=True),
        lambda done, of: told.append((done, of)),
    )
    assert told == [(2, 4), (3, 4), (4, 4)]
    assert [case.ranked_ids for case in again.cases] == [case.ranked_ids for case in whole.cases]
    assert [attempt.answered_before for attempt in again.attempts] == [0, 2]
    assert again.cases[0] == whole.cases[0]


def test_a_line_that_was_cut_off_is_dropped(run, tmp_path):
    whole = run()
    place = tmp_path / "half.jsonl"
    place.write_bytes(place.read_bytes()[:-30])
    again = run()
    assert [case.ranked_ids for case in again.cases] == [case.ranked_ids for case in whole.cases]
    assert [attempt.answered_before for attempt in again.attempts] == [0, 3]
    assert len(lines(tmp_path)) == 7


def test_an_error_is_kept_and_not_asked_again(run, tmp_path):
    failed = run("asked_memories:Failing")
    before = (tmp_path / "half.jsonl").read_text()
    again = run("asked_memories:Failing")
    assert again.cases == failed.cases
    assert (tmp_path / "half.jsonl").read_text().startswith(before)
    assert len(lines(tmp_path)) == before.count("\n") + 1


@pytest.mark.parametrize(
    ("system", "changes", "named"),
    [("null", {}, "system 'bm25', not 'null'"), ("bm25", {"granularity": "turn"}, "granularity"),
     ("bm25", {"seed": 7}, "seed 42, not 7"), ("bm25", {"limit": 2}, "limit None, not 2")],
)  # fmt: skip
def test_another_run_does_not_go_on_from_it(run, system, changes, named):
    run()
    with pytest.raises(IncompatibleError, match=named):
        run(system, **changes)


@pytest.mark.parametrize("content", ["[]\n", "{}\n", "no json\n", '{"schema_version": "other", "run": {}}\n', "\xff\n"])
def test_what_is_no_checkpoint_is_left_as_it_is(run, tmp_path, content):
    (tmp_path / "half.jsonl").write_text(content, encoding="latin-1")
    with pytest.raises(IncompatibleError, match="name another file"):
        run()
    assert (tmp_path / "half.jsonl").read_text(encoding="latin-1") == content


def test_one_with_other_questions_is_refused(run, tmp_path):
    run()
    place = tmp_path / "half.jsonl"
    place.write_text(place.read_text().replace("secret-2", "secret-9"))
    with pytest.raises(IncompatibleError, match="other questions"):
        run()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(run, tmp_path):
    with pytest.raises(OutputError):
        run(checkpoint=tmp_path / "none" / "half.jsonl")
    with pytest.raises(OutputError):
        run(checkpoint=tmp_path)
