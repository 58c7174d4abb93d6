"""No system gains a count by cheating: each cheater beside its honest twin, on a corpus where its trick would pay.

The corpus is made here, so that no other copy of it is on the disk. Played outside the bench's walls, beside the script
and in the order of the files, every cheater beats its twin: the tricks work. Played by the bench none does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import msgspec
import pytest

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.model import Fixture, Replayed
from brainbench.replay import observations_hash
from brainbench.replay.sweep import sweep
from brainbench.run import choose, measure, tasks_of
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, judge
from brainbench.systems.fence import can_fence

pytestmark = [pytest.mark.req("C-642"), pytest.mark.timeout(300), pytest.mark.xdist_group("cheaters")]
PAIRS = 8
HARNESSES = ("openclaw", "codex")
CHEATERS = (
    "Finder",
    "Decoder",
    "EverySecond",
    "Twin",
    "Alternating",
    "Rememberer",
    "Diarist",
    "Sorter",
    "Prophet",
    "Patcher",
)


@pytest.fixture(autouse=True)
def _importable_by_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop("cheating", None)


def names() -> Iterator[str]:
    """Names that stand in no other file."""
    for first, second in product(ascii_lowercase[:16], repeat=2):
        yield f"Quor{first}vel Tash{second}nim"


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Pairs of a fixture that asks and its silent twin with the same brain, one after the other.

    It is removed, or the next run would find its gold in what this one has left.
    """
    place, named = tmp_path_factory.mktemp("private"), names()
    for folder in ("fixtures", "gold"):
        (place / folder).mkdir()
    for number in range(PAIRS):
        known, other = next(named), next(named)
        write(place, f"{number:02}-asks", "direct", [known, other], asking(known, other))
        write(place, f"{number:02}-silent", "silent", [known, other], quiet(known))
    yield place
    shutil.rmtree(place)


Line = tuple[str, str, str | None]
"""Who says what, and which name it calls for; "-" calls for silence."""


def asking(known: str, other: str) -> list[Line]:
    return [
        ("user", f"What did {known} say about the boat?", known),
        ("assistant", "That it leaks.", None),
        ("user", f"And the one who sold it to {known.split()[0]}'s aunt, what did they want?", other),
        ("assistant", f"{other} wanted cash.", None),
        ("user", "Fine, then we walk.", "-"),
    ]


def quiet(known: str) -> list[Line]:
    return [("user", f"Would {known} be a good name for a cat in my story?", "-"), ("assistant", "Why not.", None)]


def slug(name: str) -> str:
    return "people/" + name.lower().replace(" ", "-")


def write(place: Path, name: str, category: str, pages: Sequence[str], said: Sequence[Line]) -> None:
    events = [{"event_id": 10 + n, "kind": "turn", "role": r, "text": t} for n, (r, t, _) in enumerate(said)]
    setup = [
        {
            "event_id": n,
            "kind": "write",
            "via": "page",
            "actor": "owner",
            "slug": slug(page),
            "content": f"---\ntitle: {page}\ntype: person\n---\n\n{page} sails.\n",
        }
        for n, page in enumerate(pages)
    ]
    fixture = {
        "schema_version": 2,
        "fixture_id": f"private-{name}",
        "suites": ["know-to-ask", "push"],
        "category": category,
        "stratum": "easy",
        "language": "en",
        "tags": [],
        "requires": [],
        "sources": [{"id": "default", "owner": "user"}],
        "active_source": "default",
        "setup": setup,
        "events": events,
        "scripted_facts": [],
    }
    wanted = {
        str(10 + n): {"retrieve": "must_not"} if page == "-" else {"retrieve": "must", "gold_slugs": [slug(page)]}
        for n, (_, _, page) in enumerate(said)
        if page is not None
    }
    gold = {"schema_version": 2, "fixture_id": fixture["fixture_id"], "events": wanted}
    (place / "fixtures" / f"{name}.fixture.json").write_text(json.dumps(fixture))
    (place / "gold" / f"{name}.gold.json").write_text(json.dumps(gold))


def chosen(place: Path, *systems: str, **flags: Any) -> Any:
    named = tuple(f"cheating:{name}" for name in systems)
    known = {"fixtures": place / "fixtures", "gold": place / "gold", "harness": ",".join(HARNESSES), "jobs": 1}
    return choose(systems=named, **{**known, **flags})


def failed(place: Path, *systems: str) -> dict[str, dict[str, int]]:
    """Failures by system and place, as the bench counts them."""
    board = measure(chosen(place, *systems)).board
    assert {c.reason for c in board.cells} == {""}
    found: dict[str, dict[str, int]] = {}
    for cell in board.cells:
        found.setdefault(cell.system.removeprefix("cheating:"), {})[f"{cell.seam}/{cell.suite}"] = cell.gold_failed
    return found


def failed_outside(place: Path, name: str, directory: Path) -> int:
    """Failures of a system that shares a process with the script, as far as the first word on each replay tells."""
    corpus = corpora.read(place / "fixtures", include_holdout=False)
    gold = golds.read(corpus, place / "gold")
    script = Path(__file__).with_name("outside.py")
    argv = [sys.executable, str(script), name, str(place / "fixtures"), str(directory), *HARNESSES]
    done = subprocess.run(argv, cwd=place, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
    told: dict[tuple[str, str], Replayed] = {}
    for line in done.stdout.splitlines():
        replayed = msgspec.json.decode(line, type=Replayed)
        told.setdefault((replayed.seam, replayed.fixture_id), replayed)
    count = 0
    for harness in HARNESSES:
        played = [(f, gold[f.fixture_id], told[harness, f.fixture_id]) for f in corpus.fixtures]
        cell = judge(SUITES["know-to-ask"], name, SEAMS[harness], played)
        assert cell is not None
        assert cell.errors == 0, cell.reason
        count += cell.gold_failed
    return count


@pytest.fixture(scope="module")
def within(private: Path) -> dict[str, dict[str, int]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        patch.chdir(private)
        patch.setattr(sys, "argv", ["brainbench", "run", "--gold", str(private / "gold")])
        return failed(private, "Honest", *CHEATERS)


@pytest.mark.skipif(not can_fence(), reason="files can only be hidden by a kernel with Landlock; a run says so")
@pytest.mark.parametrize("name", CHEATERS)
def test_a_cheater_gains_no_count(within: dict[str, dict[str, int]], name: str) -> None:
    gained = {where: n - within[name][where] for where, n in within["Honest"].items() if within[name][where] < n}
    assert gained == {}


@pytest.mark.parametrize("name", [name for name in (*CHEATERS, "Piper") if name != "Alternating"])
def test_its_trick_would_pay_outside_the_walls(
    private: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        assert failed_outside(private, name, tmp_path) < failed_outside(private, "Honest", tmp_path)
    finally:
        remove_diaries(private)


def remove_diaries(place: Path) -> list[Path]:
    """The diaries that were left where a cheater may write outside the walls; they are removed."""
    from cheating import Diarist  # type: ignore[import-not-found]

    books = {*Diarist().books(), place / ".diary-of-a-cheater"}
    found = [book for book in books if book.exists()]
    for book in found:
        book.unlink()
    return found


@pytest.mark.parametrize("harness", HARNESSES)
def test_what_a_cheater_writes_into_its_pipes_is_an_error_of_its_own(private: Path, harness: str) -> None:
    """A cell with that many errors is no result; what was asked of the honest twin beside it is."""
    board = measure(chosen(private, "Piper", "Honest", harness=harness)).board
    found = {cell.system: cell for cell in board.cells if cell.suite == "know-to-ask"}
    assert found["cheating:Piper"].status == "invalid"
    assert found["cheating:Piper"].gold_failed > found["cheating:Honest"].gold_failed
    assert found["cheating:Honest"].errors == 0


@pytest.mark.skipif(not can_fence(), reason="files can only be hidden by a kernel with Landlock; a run says so")
def test_a_system_that_knows_where_gold_is_can_read_none_of_it(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(private))
    choice = chosen(private, "Witness", harness="openclaw")
    corpus = corpora.read(private / "fixtures", include_holdout=False)
    tasks = tasks_of(choice, replace(corpus, fixtures=corpus.fixtures[:1]))
    (seen,) = sweep(tasks, 1, access=choice.access).replays
    assert seen.observations[0].error is None
    told = json.loads(seen.observations[0].text)
    assert told["files"] > 0
    assert [file for file in told["readable"] if file.startswith(str(private))] == []
    assert told["memory"] == 0
    (open_to_all,) = sweep(tasks, 1).replays
    told = json.loads(open_to_all.observations[0].text)
    assert [file for file in told["readable"] if file.startswith(str(private))] != []


def test_a_kernel_that_cannot_hide_files_is_named_in_the_run(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from brainbench import run

    choice = chosen(private, "Honest", harness="openclaw")
    said = "this kernel has no Landlock"
    assert any(said in note for note in measure(choice).board.warnings) is not can_fence()
    monkeypatch.setattr(run, "can_fence", lambda: False)
    assert any(said in note for note in measure(choice).board.warnings)


def test_a_fixture_has_another_name_in_each_seam_system_and_seed(private: Path) -> None:
    corpus = corpora.read(private / "fixtures", include_holdout=False)
    plain = tasks_of(chosen(private, "Honest", "Twin"), corpus)
    other = tasks_of(chosen(private, "Honest", "Twin", seed=43), corpus)
    ids = [task.run_id for task in (*plain, *other)]
    assert len(ids) == len(set(ids)) == 2 * 2 * 2 * 2 * PAIRS


def test_neighbours_in_the_corpus_are_not_played_one_after_the_other(private: Path) -> None:
    corpus = corpora.read(private / "fixtures", include_holdout=False)
    tasks = [t for t in tasks_of(chosen(private, "Honest"), corpus) if t.seam.name == "openclaw"]
    order = [t.fixture.fixture_id for t in sorted(tasks, key=lambda task: task.run_id)]
    together = sum(one[:10] == two[:10] for one, two in pairwise(order))
    assert order != sorted(order)
    assert together <= PAIRS // 3


V1 = Path(__file__).parents[1] / "data" / "mini-v1"


@pytest.mark.req("C-640")
def test_no_gold_but_scripted_facts_reaches_a_v1_replay(tmp_path: Path) -> None:
    def seen(gold: Path) -> str:
        choice = choose(fixtures=V1 / "fixtures", gold=gold, systems=("null",), harness="openclaw")
        corpus = corpora.read(V1 / "fixtures", include_holdout=False)
        return observations_hash(_inputs(f) for f in golds.with_scripted_facts(corpus, choice.gold).fixtures)

    for path in (V1 / "gold").iterdir():
        gold = json.loads(path.read_text())
        for turn in gold["turns"].values():
            turn["should_retrieve"] = False
            for key in ("gold_slugs", "acceptable_slugs"):
                turn.pop(key, None)
            for fact in turn.get("gold_facts", ()):
                fact["match_keywords"] = ["other"]
                fact["gist"] = "other"
        for decision in gold.get("continuity", {}).get("decisions", ()):
            decision["match_keywords"] = ["other"]
        (tmp_path / path.name).write_text(json.dumps(gold))
    assert seen(tmp_path) == seen(V1 / "gold")


def _inputs(fixture: Fixture) -> Any:
    """A script as something that can be hashed like a replay."""
    from brainbench.model import Observation, Replayed

    return Replayed(fixture.fixture_id, "", "", (Observation(1, "turn", text=repr(fixture)),))


@pytest.mark.slow
def test_an_order_learner_gains_nothing_on_the_bundled_corpus() -> None:
    names = ("Honest", "Alternating", "Opening", "Closing", "EverySecond", "Twin")
    choice = choose(systems=tuple(f"cheating:{n}" for n in names), harness="openclaw", suite="know-to-ask", jobs=1)
    choice = replace(choice, most_fixtures=100)
    counts = {cell.system.removeprefix("cheating:"): cell.gold_failed for cell in measure(choice).board.cells}
    assert {name: n for name, n in counts.items() if n < counts["Honest"]} == {}


def test_what_a_system_writes_stays_below_its_own_directory(private: Path) -> None:
    if not can_fence():
        return
    measure(chosen(private, "Diarist", harness="openclaw"))
    assert remove_diaries(private) == []
