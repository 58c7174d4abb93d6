"""The verbs as a person types them."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept.cli import COMMANDS, SECTIONS, main
from wellkept.memory import Memory
from wellkept.trust.passphrase import Passphrase

ADA = (
    "---\ntitle: Ada Lovelace\ntype: person\naliases: [ada]\nsummary: Wrote the first program.\n---\n\n"
    "## Timeline\n- 1833: met Babbage\n"
)
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("WELLKEPT_SOURCE", raising=False)
    monkeypatch.setenv("WELLKEPT_DATA_DIR", str(tmp_path / "memory"))

    def invoke(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)

    return invoke


def lines(result: Result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return [line.strip() for line in result.stdout.splitlines()]


def test_what_is_remembered_is_recalled_replaced_and_traced(run: Run) -> None:
    assert lines(run("put-page", "people/ada", "-", stdin=ADA)) == ["created people/ada"]
    assert lines(run("remember", "Ada likes tea.", "--entity", "people/ada")) == ["created fact:1"]
    assert lines(run("remember", "Ada likes coffee now.", "--replaces", "fact:1")) == ["created fact:2"]
    assert (
        lines(run("recall", "what does Ada like?"))[0]
        == "1  fact:2  Ada likes coffee now. (unconfirmed, agent-written)"
    )
    assert lines(run("entity", "ada")) == [
        "Ada Lovelace  people/ada (unconfirmed, agent-written)",
        "Wrote the first program. (unconfirmed, agent-written)",
        "- fact:2  Ada likes coffee now. (unconfirmed, agent-written)",
    ]
    assert lines(run("timeline", "ada"))[0] == "1833        met Babbage (unconfirmed, agent-written)"
    said = lines(run("history", "fact:1"))
    assert said[0] == "fact:1  Ada likes tea. (unconfirmed, agent-written, superseded)"
    assert said[-2:] == ["superseded by fact:2", "said to be of use 0 times, to have misled 0"]


def test_what_is_forgotten_or_corrected_says_so(run: Run) -> None:
    for text in ("one thing", "other thing"):
        run("remember", text)
    assert lines(run("correct", "fact:1", "revise", "--replacement", "a better thing")) == [
        "would revise fact:1",
        "nothing was changed; add --no-preview to do it",
    ]
    changed = run("correct", "fact:1", "revise", "--replacement", "a better thing", "--no-preview")
    assert lines(changed) == ["revise fact:1", "created fact:3"]
    assert lines(run("forget", "fact:2", "fact:3")) == [
        "forgotten fact:2; its history is kept",
        "forgotten fact:3; its history is kept",
    ]
    assert lines(run("recall", "thing")) == ["nothing found"]
    again = run("forget", "fact:2")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "wellkept history fact:2" in again.stderr
    refused = run("forget", "fact:1", "--mode", "purge")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Nothing was removed" in refused.stderr
    assert lines(run("delta", "--since", "5"))[-1].startswith("cursor ")


def test_a_use_is_reported_and_an_unknown_id_is_named(run: Run) -> None:
    run("remember", "one thing")
    asked = ("cite", "fact:1", "nothing", "--session", "s", "--message", "m")
    assert lines(run(*asked)) == ["1 recorded, 0 known already, not there: nothing"]
    assert lines(run(*asked)) == ["0 recorded, 1 known already, not there: nothing"]


def test_an_export_is_one_line_an_item_for_the_owner_only(run: Run, tmp_path: Path) -> None:
    run("put-page", "people/ada", "-", stdin=ADA)
    run("remember", "Ada likes tea 🍵")
    out = tmp_path / "memory.ndjson"
    assert run("export", "--out", str(out)).stderr == "wellkept: 2 exported of default\n"
    held = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(item["id"], item["label"]) for item in held] == [
        ("people/ada", "unconfirmed, agent-written"),
        ("fact:1", "unconfirmed, agent-written"),
    ]
    assert held[0]["content"] == ADA
    assert out.stat().st_mode & 0o777 == 0o600
    assert json.loads(run("export", "--json").stdout) == {"items": held, "total": 2}


def test_a_refusal_is_the_same_object_as_over_http_when_json_is_asked_for(run: Run) -> None:
    result = run("history", "fact:9", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr.splitlines()[-1]) == {
        "type": "urn:wellkept:problem:not_found",
        "title": "There is no such thing",
        "status": 404,
        "detail": "there is no fact 'fact:9' in source 'default'",
        "code": "not_found",
    }


def test_an_unknown_source_is_told_apart_from_an_empty_answer(run: Run) -> None:
    run("remember", "one thing", "--source", "notes")
    asked = run("recall", "thing", "--source", "nots")
    assert lines(asked) == ["nothing found"]
    assert "wellkept: nothing was ever kept in source 'nots'\n" in asked.stderr
    assert "ever kept" not in run("recall", "nonsense", "--source", "notes").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember"],
        ["remember", "x", "--kind", "rumour"],
        ["recall", "x", "--limit", "51"],
        ["forget"],
        ["correct", "fact:1", "erase"],
        ["put-page", "a", "-", "--metadata", "{"],
        ["delta", "--since", "-1"],
        ["search", "x", "--after", "soon"],
        ["search", "x", "--label", "mine"],
        ["serch", "x"],
        ["token", "nothing"],
    ],
)
def test_a_wrong_command_line_ends_with_two_and_is_told_as_json_where_that_is_asked_for(
    run: Run, arguments: list[str]
) -> None:
    result = run(*arguments, stdin="x")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    result = run(*arguments, "--json", stdin="x")
    assert (result.exit_code, result.stdout) == (2, "")
    said = json.loads(result.stderr)
    assert said["code"] == "invalid_params"
    assert said["errors"][0]["pointer"] != "/"


def test_a_file_that_cannot_be_read_ends_with_two_and_is_told_as_json_too(run: Run) -> None:
    result = run("put", "a", "/nowhere/at/all", "--json")
    assert (result.exit_code, result.stdout, json.loads(result.stderr)["code"]) == (2, "", "bad_request")


def test_a_slip_in_a_command_is_told_what_was_near(run: Run) -> None:
    assert "Did you mean search?" in run("serch", "x").stderr
    assert "Did you mean" not in run("xyzzy").stderr


def test_whoever_stops_it_is_told_what_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "embed_waiting", stopped)
    result = run("embed")
    assert (result.exit_code, result.stdout) == (130, "")
    assert "what was embedded is kept" in result.stderr
    monkeypatch.setattr(Memory, "recall", stopped)
    result = run("recall", "x")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "wellkept: stopped\n")


def test_the_help_names_every_command_once_with_a_whole_sentence(run: Run) -> None:
    assert len(COMMANDS) == sum(len(names) for names in SECTIONS.values())
    said = run("--help").stdout.partition("Every day:")[2]
    assert "..." not in said
    said = "\nEvery day:" + said
    for section, names in SECTIONS.items():
        assert f"\n{section}:\n" in said
        for name in names:
            assert said.count(f"\n  {name} ") == 1


@pytest.mark.parametrize("text", [b"half \xed\xa0\xbd pair", b"\xff"])
def test_bytes_that_are_no_text_are_refused_by_name(tmp_path: Path, text: bytes) -> None:
    argv = [sys.executable, "-m", "wellkept", "remember", text, "--data-dir", str(tmp_path)]
    for more in ([], ["--json"]):
        done = subprocess.run([*argv, *more], capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"half a surrogate pair at character" in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_search_filters_shows_the_words_that_it_found_and_says_how(run: Run) -> None:
    run("put-page", "d/euros", "-", stdin="---\ntitle: Euros\ntype: decision\n---\n# Euros\n\nWe bill in euros.\n")
    run("put-page", "n/boats", "-", stdin="# Boats\n\nThe euros went into boats. " + "And so on. " * 30)
    run("remember", "Ada counts the euros.")
    found = run("search", "euros", "--type", "decision")
    assert lines(found) == ["1  d/euros  Euros — We bill in euros. (unconfirmed, agent-written)"]
    assert found.stderr == "wellkept: by words and meaning\n"
    (long,) = lines(run("search", "boats"))
    assert long.endswith("… (unconfirmed, agent-written)")
    assert len(long) < 160
    assert lines(run("search", "euros", "--no-pages")) == [
        "1  fact:1  Ada counts the euros. (unconfirmed, agent-written)"
    ]
    assert lines(run("search", "euros", "--no-facts", "--limit", "1"))[-1] == "there is more; go on with --offset 1"
    assert lines(run("search", "euros", "--after", "2999-01-01")) == ["nothing found"]
    assert lines(run("search", "euros", "--label", "user_written")) == ["nothing found"]
    told = lines(run("search", "euros", "--type", "decision", "--explain"))
    assert told[1].startswith("lexical    rank 1, score ")
    assert run("recall", "euros").stderr == found.stderr


def test_a_fact_that_was_just_kept_is_found_by_words_and_by_meaning(run: Run) -> None:
    run("remember", "Ana adopted a puppy from the shelter.")
    for verb in ("recall", "search"):
        for query in ("puppy", "do I know anyone with a dog?"):
            found = run(verb, query)
            assert "fact:1" in found.stdout
            assert found.stderr == "wellkept: by words and meaning\n"


def test_one_thing_is_printed_by_its_id(run: Run) -> None:
    run("put-page", "people/ada", "-", stdin=ADA)
    run("remember", "Ada likes tea.")
    assert run("get", "people/ada").stdout == ADA.rstrip("\n") + "\n"
    assert lines(run("get", "fact:1")) == ["Ada likes tea. (unconfirmed, agent-written)"]
    run("forget", "fact:1")
    assert lines(run("get", "fact:1")) == ["Ada likes tea. (unconfirmed, agent-written, expired)"]
    assert json.loads(run("get", "fact:1", "--json").stdout)["status"] == "expired"
    assert "there is no fact 'fact:9'" in run("get", "fact:9").stderr


@pytest.mark.parametrize("arguments", [["search", "thing"], ["search", "thing", "--json"], ["export"], ["--help"]])
def test_a_reader_that_goes_away_ends_it_without_a_word(run: Run, tmp_path: Path, arguments: list[str]) -> None:
    for number in range(30):
        run("remember", f"thing {number}")
    reading, writing = os.pipe()
    os.close(reading)
    more = [] if arguments == ["--help"] else ["--data-dir", str(tmp_path / "memory")]
    argv = [sys.executable, "-m", "wellkept", *arguments, *more]
    done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


# -- confirming


def test_nobody_confirms_without_a_terminal(run: Run) -> None:
    run("remember", "one thing")
    result = run("confirm", "fact:1", stdin="yes\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "at a terminal" in result.stderr
    assert "(unconfirmed, agent-written)" in run("recall", "thing").stdout


def at_a_terminal(tmp_path: Path, answer: Callable[[str], str]) -> tuple[int, str]:
    """Exit code and screen of `wellkept confirm fact:1` for a person who types what `answer` makes of the screen."""
    parent, child = pty.openpty()
    argv = [sys.executable, "-m", "wellkept", "confirm", "fact:1", "--data-dir", str(tmp_path / "memory")]
    process = subprocess.Popen(argv, stdin=child, stdout=child, stderr=child, close_fds=True)
    os.close(child)
    screen = ""
    while select.select([parent], [], [], 60)[0]:
        try:
            piece = os.read(parent, 4096).decode()
        except OSError:
            break
        screen += piece
        if screen.rstrip(" ").endswith(":"):
            os.write(parent, (answer(screen) + "\n").encode())
            screen += "\n"
    os.close(parent)
    return process.wait(60), screen


def test_a_person_at_a_terminal_confirms_with_the_passphrase(run: Run, tmp_path: Path) -> None:
    run("remember", "one thing\x1b[2K")
    Passphrase(tmp_path / "memory" / "passphrase.json").choose("what only I know")
    code, screen = at_a_terminal(tmp_path, lambda screen: "yes")
    assert code == 1
    assert "(unconfirmed, agent-written)" in run("recall", "thing").stdout
    code, screen = at_a_terminal(tmp_path, lambda screen: "what only I know")
    assert (code, "confirmed: updated fact:1" in screen) == (0, True)
    assert "one thing\\u001b[2K" in screen
    assert "(user-confirmed)" in run("recall", "thing").stdout
