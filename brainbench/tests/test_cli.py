from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from click.testing import CliRunner, Result

from brainbench.cli import frame, main
from brainbench.cli.frame import reported
from brainbench.errors import CorpusError
from brainbench.model import Replayed
from brainbench.replay import observations_hash
from brainbench.run import ALONE, choose, measure

BRAINBENCH = (sys.executable, "-m", "brainbench")
MINI = Path(__file__).parent / "data" / "mini-v1"
LENIENT = 'schema_version = 1\nname = "lenient"\n[floors.v1.all]\nfalse_fire_rate = { max = 1 }\n'


def brainbench(*argv: object, **env: str) -> Result:
    return CliRunner().invoke(main, [str(word) for word in argv], env={"CI": "", **env}, catch_exceptions=False)


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop("misbehaving", None)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout with a lenient gate, as the current directory."""
    (tmp_path / "evidence" / "gates").mkdir(parents=True)
    (tmp_path / "evidence" / "gates" / "conformance.toml").write_text(LENIENT)
    shutil.copytree(MINI, tmp_path / "mini")
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = ("run", "--fixtures", "mini/fixtures", "--gold", "mini/gold", "--system", "bm25", "--jobs", "1")
BASELINE = "evidence/baselines/conformance.json"


@pytest.mark.req("C-110", "C-113")
def test_json_is_one_line_on_stdout_and_the_out_file_is_indented(place: Path) -> None:
    done = brainbench(*RUN, "--json", "--out", "result.json")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") == 1
    line, file = json.loads(done.stdout), (place / "result.json").read_text()
    assert list(line)[:5] == ["receipt", "cells", "turn_rows", "seed_failures", "_meta"]
    assert file.startswith('{\n  "receipt"')
    assert file.endswith("}\n")
    assert json.loads(file)["cells"] == line["cells"]
    assert {cell["harness"] for cell in line["cells"]} == {"openclaw", "claude-code", "codex"}


def test_the_scoreboard_fits_a_hundred_columns_and_has_no_colour_when_piped(place: Path) -> None:
    done = brainbench(*RUN, "--strata")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "\x1b" not in done.stdout
    assert "know_to_ask_failure_rate" in done.stdout
    assert "verdict: none" in done.stdout


@pytest.mark.req("C-103")
def test_every_fault_is_told_at_once_with_exit_code_2(place: Path) -> None:
    broken = place / "mini" / "fixtures"
    first, second = sorted(broken.iterdir())[:2]
    first.write_text('{"schema_version": 1, ')
    second.write_bytes(b"\xef\xbb\xbf{}")
    done = brainbench(*RUN)
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [first.name, second.name, "brainbench"]
    assert lines[-1] == "brainbench: inconclusive: schema: 2 faults in 2 files"
    assert "Traceback" not in done.stderr


@pytest.mark.req("C-120")
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("run", "--out", "--json"), "Option '--out' needs a value, and '--json' is a flag; see"),
        (("run", "--out"), "usage: Option '--out' requires an argument; see `brainbench run --help`"),
        (("run", "--nope"), "No such option"),
        (("run", "--jobs", "0"), "usage: --jobs: 0 is not in the range 1<=x<=64; see `brainbench run --help`"),
        (
            (*RUN, "--system", "nope"),
            "brainbench: inconclusive: usage: --system: unknown system 'nope'; known: wellkept",
        ),
        ((*RUN, "--compare", "nope.json"), "nope.json: No such file or directory; name a baseline"),
        ((*RUN, "--profile", "nope"), "--profile: no"),
        ((*RUN, "--committed-baseline", "x.json"), "--compare: needed"),
        (
            (*RUN, "--update-baseline", "--include-holdout"),
            "--include-holdout: a run with the holdout writes no baseline",
        ),
        (("gate", "--ref", "no/such/ref"), "--ref: 'no/such/ref' is no commit"),
        (("compare", "a.json", "b.json"), "a.json: No such file"),
    ],
)
def test_a_command_that_cannot_be_done_says_why_and_exits_with_2(place: Path, argv: tuple[str, ...], said: str) -> None:
    done = brainbench(*argv)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_no_error_and_has_examples() -> None:
    for command in ("run", "gate", "compare", "validate", "list", "bench-self"):
        done = brainbench(command, "--help")
        assert done.exit_code == 0
        assert f"brainbench {command}" in done.stdout


def test_help_names_the_systems_that_are_measured_where_none_is_named() -> None:
    said = " ".join(brainbench("run", "--help").stdout.split())
    assert f"[default: wellkept; where it is not installed {', '.join(ALONE)}]" in said


def test_an_unwritable_result_names_file_and_remedy_and_leaves_nothing(place: Path) -> None:
    done = brainbench(*RUN, "--out", "no/such/dir/result.json")
    assert done.exit_code == 2
    assert "no/such/dir/result.json" in done.stderr
    assert not (place / "no").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_costs_the_file_and_not_the_scoreboard(place: Path) -> None:
    done = brainbench(*RUN, "--out", "/dev/full")
    assert done.exit_code == 2
    assert "know_to_ask_failure_rate" in done.stdout
    assert "/dev/full: cannot be written: the disk is full" in done.stderr


@pytest.mark.req("C-604")
def test_a_system_that_fails_everywhere_makes_invalid_cells_and_exit_code_2(place: Path) -> None:
    done = brainbench(*RUN, "--system", "misbehaving:Raising", "--suite", "know-to-ask")
    assert done.exit_code == 2
    assert "INVALID" in done.stdout
    assert "error_share: misbehaving:Raising/openclaw/know-to-ask" in done.stderr


def test_what_a_failing_system_said_is_told(place: Path) -> None:
    done = brainbench(*RUN[:5], "--system", "misbehaving:Raising", "--jobs", "1", "--suite", "know-to-ask")
    assert " ".join(done.stdout.split()).count("every event went wrong: Raising.context: ValueError: no") == 1
    assert "ValueError" not in done.stderr
    assert "know-to-ask: invalid; the scoreboard says why" in done.stderr


def test_what_a_failing_system_said_is_told_beside_json_too(place: Path) -> None:
    done = brainbench(*RUN[:5], "--system", "misbehaving:Raising", "--jobs", "1", "--suite", "know-to-ask", "--json")
    assert "know-to-ask: every event went wrong: Raising.context: ValueError: no" in done.stderr


def test_a_run_needs_no_checkout_as_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = brainbench(
        "run", "--fixtures", MINI / "fixtures", "--gold", MINI / "gold", "--system", "bm25", "--jobs", "1"
    )
    assert done.exit_code == 0, done.output
    assert "no fault" in brainbench("validate").stdout


def process(*argv: object, stdout: int, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from brainbench.cli import main; main()", *map(str, argv)]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output_is_no_regression(place: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = process(*RUN, stdout=full.fileno(), folder=place)
        said = done.communicate(timeout=60)[1].decode()
    assert said == "brainbench: inconclusive: output: standard output: No space left on device\n"
    assert done.returncode == 2


def test_a_fault_of_the_bench_itself_is_no_regression(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brainbench.cli.running.print_scoreboard", lambda *_, **__: 1 / 0)
    done = brainbench(*RUN)
    assert done.exit_code == 2
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1] == "brainbench: inconclusive: internal: a fault of brainbench; please report it"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_run_that_is_told_to_stop_leaves_nothing_behind(place: Path, number: signal.Signals) -> None:
    folder = place / "temporary"
    folder.mkdir()
    argv = (*RUN[:5], "--system", "misbehaving:Hanging", "--jobs", "1", "--out", "result.json")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(folder)}
    command = [sys.executable, "-c", "from brainbench.cli import main; main()", *argv]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # what began these tests may have it ignored
    )
    until = time.monotonic() + 30
    while not list(folder.glob("brainbench-*/*/home")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(number)
    said = running.communicate(timeout=60)[1].decode()
    assert said == "brainbench: inconclusive: interrupted: nothing was written\n"
    assert running.returncode == 2
    assert list(folder.iterdir()) == []
    assert not (place / "result.json").exists()


@pytest.mark.req("C-130")
def test_a_seed_failure_leaves_its_fixture_unscored_and_ends_with_2(place: Path) -> None:
    done = brainbench(*RUN[:5], "--system", "misbehaving:Forgetful", "--jobs", "1", "--suite", "know-to-ask,push")
    assert done.exit_code == 2
    assert "seed_failure: misbehaving:Forgetful: " in done.stderr


@pytest.mark.req("C-721")
def test_the_run_ledger_gains_one_line_a_run(place: Path) -> None:
    for _ in range(2):
        assert brainbench(*RUN).exit_code == 0
    lines = [json.loads(line) for line in Path(".brainbench/run-ledger.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines] == ["completed", "completed"]
    assert lines[0]["observations_hash"] == lines[1]["observations_hash"]


@pytest.mark.req("C-706")
def test_a_broken_floor_refuses_the_baseline(place: Path) -> None:
    strict = LENIENT.replace("false_fire_rate = { max = 1 }", "push_recall = { min = 1 }")
    (place / "evidence" / "gates" / "conformance.toml").write_text(strict)
    done = brainbench(*RUN, "--update-baseline")
    assert done.exit_code == 2
    assert "refused: threshold: bm25/" in done.stderr
    assert not (place / BASELINE).exists()


def git(*argv: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *argv], check=True, capture_output=True)


GATE = ("gate", "--ref", "main", *RUN[1:])


@pytest.fixture
def checkout(place: Path) -> Path:
    """The checkout with a banked baseline on main, at work on a branch."""
    assert brainbench(*RUN, "--update-baseline").exit_code == 0
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "change")
    return place


def rewrite(path: Path, change: int) -> None:
    """Shift what the baseline claims of push recall by so many pages."""
    document = json.loads(path.read_text())
    for key, cell in document["cells"].items():
        if key.endswith("/push"):
            for part in (cell, *cell["strata"].values()):
                part["metrics"]["push_recall"]["n"] += change
                part["gold_failed"] -= change
            cell["failed"] = cell["failed"][change:] if change > 0 else [*cell["failed"], *["zzz/1"] * -change]
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.req("C-710")
def test_an_unchanged_tree_passes(checkout: Path) -> None:
    done = brainbench(*GATE)
    assert done.exit_code == 0, done.output
    assert "PASS" in done.stdout


@pytest.mark.req("C-705")
def test_a_regression_fails_and_says_what_got_worse(checkout: Path) -> None:
    rewrite(checkout / BASELINE, +1)
    git("commit", "-am", "main was better")
    git("branch", "-f", "main")
    done = brainbench(*GATE)
    assert done.exit_code == 1
    assert "brainbench: fail: regression: bm25/openclaw/push: push_recall" in done.stderr


@pytest.mark.req("C-709")
def test_an_improvement_passes_but_not_where_it_must_be_banked(checkout: Path) -> None:
    rewrite(checkout / BASELINE, -1)
    git("commit", "-am", "main was worse")
    git("branch", "-f", "main")
    done = brainbench(*GATE)
    assert done.exit_code == 0, done.output
    assert "baseline is stale" in done.stdout
    assert brainbench(*GATE, "--require-fresh").exit_code == 1


@pytest.mark.req("C-707")
def test_a_new_baseline_hides_no_regression_without_a_justification(checkout: Path) -> None:
    honest = (checkout / BASELINE).read_bytes()
    rewrite(checkout / BASELINE, +1)
    git("commit", "-am", "main was better")
    git("branch", "-f", "main")
    (checkout / BASELINE).write_bytes(honest)
    done = brainbench(*GATE)
    assert done.exit_code == 1
    assert "needs a justification" in done.stdout
    words = "the page that was found before is a duplicate of another"
    assert brainbench(*RUN, "--update-baseline", "--justification", words).exit_code == 0
    done = brainbench(*GATE)
    assert done.exit_code == 0, done.output
    assert words in done.stdout


def test_a_deleted_baseline_is_no_way_out(checkout: Path) -> None:
    (checkout / BASELINE).unlink()
    done = brainbench(*GATE)
    assert done.exit_code == 2
    assert "is deleted here and stands at main" in done.stderr


def test_floors_are_the_stricter_of_both_commits(checkout: Path) -> None:
    strict = LENIENT.replace("false_fire_rate = { max = 1 }", "push_recall = { min = 1 }")
    (checkout / "evidence" / "gates" / "conformance.toml").write_text(strict)
    git("commit", "-am", "main is strict")
    git("branch", "-f", "main")
    (checkout / "evidence" / "gates" / "conformance.toml").write_text(LENIENT)
    assert brainbench(*GATE).exit_code == 1


def test_the_step_summary_is_written_where_it_is_asked_for(checkout: Path) -> None:
    assert brainbench(*GATE, GITHUB_STEP_SUMMARY=str(checkout / "summary.md")).exit_code == 0
    assert "know-to-ask" in (checkout / "summary.md").read_text()


def test_saved_observations_can_be_hashed_again(place: Path) -> None:
    assert brainbench(*RUN, "--save-observations", "seen", "--out", "result.json").exit_code == 0
    saved = json.loads((place / "seen" / "observations.json").read_text())
    stated = json.loads((place / "result.json").read_text())["_meta"]["observations_hash"]
    assert observations_hash(msgspec.convert(saved["replays"], list[Replayed])) == stated == saved["observations_hash"]


def test_a_step_summary_that_cannot_be_written_changes_no_verdict(checkout: Path) -> None:
    done = brainbench(*GATE, GITHUB_STEP_SUMMARY=str(checkout / "nowhere" / "summary.md"))
    assert done.exit_code == 0
    assert "GITHUB_STEP_SUMMARY: " in done.stderr
    assert "cannot be written: No such file or directory" in done.stderr
    assert "verdict" in done.stdout


@pytest.mark.req("C-115")
def test_two_stored_runs_compare_and_other_corpora_never_do(place: Path) -> None:
    assert brainbench(*RUN, "--out", "a.json", "--update-baseline").exit_code == 0
    same = brainbench("compare", BASELINE, "a.json", "--json")
    assert (same.exit_code, json.loads(same.stdout)["verdict"]) == (0, "pass")
    gold = next((place / "mini" / "gold").iterdir())
    gold.write_text(gold.read_text() + "\n")
    assert brainbench(*RUN, "--out", "b.json").exit_code == 0
    other = brainbench("compare", "a.json", "b.json", "--json")
    assert (other.exit_code, json.loads(other.stdout)["verdict"]) == (2, "inconclusive")
    assert "so no count of one can be held against the other's; play both on one: `brainbench run" in other.stderr


def test_a_comparison_is_text_and_markdown_only_where_it_is_asked_for(place: Path) -> None:
    assert brainbench(*RUN, "--out", "a.json").exit_code == 0
    same = brainbench("compare", "a.json", "a.json", "--markdown", "verdict.md")
    assert "cells are the same in both" in same.stdout
    assert "verdict: ✓ PASS" in same.stdout
    assert not re.search(r"&#|<code>|^##", same.stdout, re.M)
    assert (place / "verdict.md").read_text().startswith("## brainbench: ✓ PASS\n")


def test_a_comparison_of_two_systems_says_which_and_how_they_are_held_side_by_side(place: Path) -> None:
    assert brainbench(*RUN, "--out", "a.json").exit_code == 0
    assert brainbench(*RUN[:5], "--system", "files+grep", "--jobs", "1", "--out", "b.json").exit_code == 0
    done = brainbench("compare", "a.json", "b.json")
    assert done.exit_code == 2
    assert re.search(r"^bm25/openclaw/push +1/3 failed +not there$", done.stdout, re.M)
    assert "bm25 and then files+grep" in done.stderr
    assert "`brainbench run --system bm25 --system files+grep`" in done.stderr


def test_a_waiver_works_here_and_never_where_ci_is_set(checkout: Path) -> None:
    rewrite(checkout / BASELINE, +1)
    waived = (*RUN, "--compare", BASELINE, "--allow-regression", "trying something out")
    assert brainbench(*waived).exit_code == 0
    assert brainbench(*waived, CI="true").exit_code == 2
    assert brainbench(*RUN, "--compare", BASELINE).exit_code == 1


def test_validate_counts_a_good_corpus(place: Path) -> None:
    done = brainbench("validate", "--fixtures", "mini/fixtures", "--gold", "mini/gold", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["fixture_files"] == len(list((place / "mini" / "fixtures").glob("*.fixture.json")))


def test_list_names_everything(place: Path) -> None:
    found = json.loads(brainbench("list", "--json").stdout)
    assert set(found) == {"systems", "harnesses", "suites", "metrics", "corpora"}
    assert next(iter(json.loads(brainbench("list", "suites", "--json").stdout)["suites"])) == "know-to-ask"


@pytest.mark.slow
@pytest.mark.parametrize("group", [True, False])
def test_an_interrupted_run_leaves_no_file_and_no_process(place: Path, group: bool) -> None:
    """Ctrl-C reaches the whole foreground group of a terminal, workers included; a CI service ends the bench alone."""
    script = "import sys; sys.path.insert(0, sys.argv.pop(1)); from brainbench.cli import main; main()"
    argv = [sys.executable, "-c", script, str(Path(__file__).parent), *RUN, "--system", "misbehaving:Hanging"]
    scratch = place / "scratch"
    scratch.mkdir()
    env = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        [*argv, "--out", "result.json"], start_new_session=True, stderr=subprocess.PIPE, env=env
    ) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(5)
        assert list(scratch.iterdir())
        if group:
            os.killpg(child.pid, signal.SIGINT)
        else:
            child.terminate()
        _, said = child.communicate(timeout=30)
    assert child.returncode == 2
    assert b"interrupted" in said
    assert not (place / "result.json").exists()
    assert ended(child.pid)
    assert list(scratch.iterdir()) == []


def ended(group: int) -> bool:
    """Whether every process of the group ends within a few seconds."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_a_run_that_judges_nothing_needs_no_gate_profile(place: Path) -> None:
    shutil.rmtree(place / "evidence")
    assert brainbench(*RUN).exit_code == 0
    assert "--profile: no " in brainbench(*RUN, "--update-baseline", "--profile", "nope").stderr


@pytest.mark.parametrize("method", ["__init__", "context", "close"])
def test_a_system_that_exits_cannot_make_the_bench_exit_with_success(place: Path, method: str) -> None:
    (place / "leaving.py").write_text(
        "import sys\nfrom misbehaving import Polite\n"
        f"class Leaving(Polite):\n    def {method}(self, *rest):\n        sys.exit(0)\n"
    )
    done = brainbench(*RUN, "--system", "leaving:Leaving")
    assert done.exit_code == 2
    assert "SystemExit" in done.output


@pytest.mark.req("C-640")
def test_gold_that_changes_while_the_corpus_is_played_is_not_used(place: Path) -> None:
    gold = place / "mini" / "gold" / "mini-direct.gold.json"
    choice = choose(fixtures=place / "mini" / "fixtures", gold=place / "mini" / "gold", systems=("bm25",), jobs=1)
    with pytest.raises(CorpusError, match="fixtures or gold changed while the corpus was played"):
        measure(choice, lambda done, of: gold.write_text(gold.read_text() + " "))  # type: ignore[arg-type, return-value]


@pytest.mark.req("C-120")
def test_output_that_cannot_be_printed_is_no_regression(place: Path) -> None:
    script = "from brainbench.cli import main; main()"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", script, *RUN], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"brainbench: inconclusive: output: ")
    assert done.stderr.endswith(b"No space left on device\n")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["validate", "--corpus", "pocket"]])
def test_a_reader_that_has_ended_ends_the_command_without_a_word(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*BRAINBENCH, *words], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_head_gets_its_lines_and_nothing_is_complained_of() -> None:
    command = f"{shlex.join([*BRAINBENCH, 'list'])} | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("systems\n", "")


def test_another_pipe_that_breaks_is_no_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    @reported
    def command() -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as ended:
            command()
    os.close(reading)
    assert ended.value.code == 2
    assert capfd.readouterr().err == "brainbench: inconclusive: output: Broken pipe\n"


def test_a_long_run_in_a_log_says_how_far_it_is_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 30.0, 61.0, 61.0, 90.0, 122.0, 122.0])
    monkeypatch.setattr(frame, "time", SimpleNamespace(monotonic=lambda: next(now)))
    with frame.progress_bar("playing") as progress:
        for done in (10, 20, 30, 1_954):
            progress(done, 1_954)
    assert capsys.readouterr().err == "playing: 20 of 1,954\nplaying: 1,954 of 1,954\n"
