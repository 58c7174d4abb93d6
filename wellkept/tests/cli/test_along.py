"""Notes taken in, memory taken along: what a person types, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("WELLKEPT_SOURCE", raising=False)
    monkeypatch.setenv("WELLKEPT_DATA_DIR", str(tmp_path / "memory"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments, stdin=None: CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name in (".git", ".obsidian/plugins", ".venv/lib", "people"):
        (tmp_path / "notes" / name).mkdir(parents=True)
    return tmp_path / "notes"


def test_hidden_and_empty_files_and_links_that_lead_out_are_left_out_and_counted(run: Run, notes: Path) -> None:
    for name in (".git/a.md", ".obsidian/plugins/b.md", ".venv/lib/c.md", ".d.md", "people/ada.md"):
        (notes / name).write_text("Ada drinks tea.")
    (notes / "empty.md").write_text(" \n")
    (notes.parent / "secret.md").write_text("a secret")
    (notes.parent / "elsewhere").mkdir()
    (notes.parent / "elsewhere" / "more.md").write_text("more secrets")
    (notes / "link.md").symlink_to(notes.parent / "secret.md")
    (notes / "folder").symlink_to(notes.parent / "elsewhere")
    (notes / "same.md").symlink_to(notes / "people" / "ada.md")
    (notes / "gone.md").symlink_to(notes / "nowhere.md")
    done = run("import", str(notes))
    assert done.stdout == (
        "2 created, 0 updated, 0 unchanged, 6 left out (1 empty, 4 hidden, 1 linked from elsewhere)\n"
    )
    assert json.loads(run("import", str(notes), "--json").stdout)["skipped"]["hidden"] == 4
    assert run("search", "secret").stdout == "nothing found\n"


def test_a_huge_and_a_binary_file_are_named_and_the_others_kept(run: Run, notes: Path) -> None:
    (notes / "good.md").write_text("Ada drinks tea.")
    with (notes / "huge.md").open("wb") as file:
        file.truncate(3 * 1024**3)
        file.write(b"x")
    (notes / "binary.md").write_bytes(b"\x89PNG\xff\x00")
    (notes / "nul.md").write_bytes(b"a\0b")
    done = run("import", str(notes))
    assert (done.exit_code, done.stdout) == (1, "1 created, 0 updated, 0 unchanged\n")
    for name, why in (("huge.md", "are allowed. Split it"), ("binary.md", "not UTF-8"), ("nul.md", "NUL")):
        assert any(name in line and why in line for line in done.stderr.splitlines())


def test_what_was_forgotten_does_not_come_back_by_an_import_unless_it_is_asked_to(run: Run, notes: Path) -> None:
    (notes / "people" / "ada.md").write_text("Ada drinks tea.")
    run("import", str(notes))
    run("forget", "people/ada", "--reason", "she asked")
    for text in ("Ada drinks tea.", "Ada drinks tea, still."):
        (notes / "people" / "ada.md").write_text(text)
        done = run("import", str(notes))
        assert done.stdout == "0 created, 0 updated, 0 unchanged, 1 forgotten before and left so\n"
        assert "people/ada; bring them back with --again" in done.stderr
        assert run("recall", "tea").stdout == "nothing found\n"
    assert run("import", str(notes), "--again").stdout == "0 created, 1 updated, 0 unchanged\n"
    assert "Ada drinks tea, still." in run("search", "tea").stdout


def test_a_person_who_puts_a_forgotten_page_again_has_it_again_and_is_told(run: Run) -> None:
    run("put", "people/ada", "-", stdin="Ada drinks tea.")
    run("forget", "people/ada")
    left = run("put", "people/ada", "-", stdin="Ada drinks tea.")
    assert left.stdout == "unchanged people/ada (expired)\n"
    assert "was forgotten and stays so; bring it back with --again" in left.stderr
    again = ("put", "people/ada", "-", "--again")
    assert run(*again, stdin="Ada drinks tea.").stdout == "updated people/ada (revived)\n"
    assert "people/ada" in run("recall", "tea").stdout
    assert run(*again, stdin="Ada drinks tea.").stdout == "unchanged people/ada\n"
    run("forget", "people/ada")
    assert run("put", "people/ada", "-", stdin="Ada drinks milk.").stdout == "updated people/ada (revived)\n"


def test_a_forgotten_page_does_not_look_alive(run: Run) -> None:
    run("put", "people/ada", "-", stdin="Ada drinks tea.")
    run("remember", "Ada likes tea")
    assert run("get", "people/ada").stderr == "wellkept: people/ada (unconfirmed, agent-written)\n"
    run("forget", "people/ada", "--reason", "she asked")
    run("remember", "Ada likes coffee", "--replaces", "fact:1")
    page, fact = run("get", "people/ada"), run("get", "fact:1")
    assert page.stdout == "Ada drinks tea.\n"
    assert page.stderr.startswith("wellkept: people/ada is forgotten since 20")
    assert " by owner_local: she asked. Current again with: wellkept correct people/ada restore" in page.stderr
    assert "fact:1 is superseded since " in fact.stderr
    assert " by owner_local: replaced; now: fact:2." in fact.stderr
    told = json.loads(run("get", "people/ada", "--json").stdout)
    named = ("status", "ended_because", "ended_reason", "ended_by")
    assert [told[name] for name in named] == ["expired", "forgotten", "she asked", "owner_local"]
    assert told["expired_at"].startswith("20")


def test_a_memory_is_taken_along_and_is_the_same(run: Run, tmp_path: Path) -> None:
    run("put", "people/ada", "-", stdin="Ada drinks tea.")
    run("remember", "Ada likes tea")
    run("forget", "fact:1")
    run("export", "--out", "memory.ndjson")
    second = ("--data-dir", str(tmp_path / "second"))
    assert run("import", "memory.ndjson", *second).stdout == "1 pages and 1 facts kept, 0 there before\n"
    assert run("import", "memory.ndjson", *second).stdout == "0 pages and 0 facts kept, 2 there before\n"
    assert run("export", *second).stdout == Path("memory.ndjson").read_text()
    assert run("import", "-", *second, stdin=Path("memory.ndjson").read_text()).exit_code == 0
    assert run("import", "memory.ndjson", "--source", "lantern", *second).stdout.startswith("1 pages and 1 facts")
    assert "people/ada" in run("recall", "tea", "--source", "lantern", *second).stdout


def test_a_file_cannot_confirm_and_a_person_at_a_terminal_can(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "Ada likes tea")
    line = run("export").stdout.replace('"agent_written"', '"user_confirmed"')
    done = run("import", "-", "--data-dir", str(tmp_path / "second"), stdin=line)
    assert "1 are kept as from outside" in done.stderr
    assert "(external, untrusted)" in run("recall", "tea", "--data-dir", str(tmp_path / "second")).stdout
    monkeypatch.setattr("wellkept.cli.keeping.at_a_terminal", lambda: True)
    Path("forged.ndjson").write_text(line)
    place = ("--data-dir", str(tmp_path / "third"))
    assert run("import", "forged.ndjson", *place, stdin="short\nother\n").exit_code != 0
    assert "nothing found" in run("recall", "tea", *place).stdout
    assert run("import", "forged.ndjson", *place, stdin="a passphrase\na passphrase\n").exit_code == 0
    assert "(user-confirmed)" in run("recall", "tea", *place).stdout


@pytest.mark.req("T-212", "TC-25")
@pytest.mark.parametrize("field", ["text", "trust", "status", "entity", "seal", "flags"])
def test_an_item_of_an_export_that_was_changed_is_from_outside(run: Run, tmp_path: Path, field: str) -> None:
    run("remember", "Ada likes tea")
    row = json.loads(run("export").stdout)
    assert run("import", "-", "--data-dir", str(tmp_path / "same"), stdin=json.dumps(row)).exit_code == 0
    assert "(unconfirmed, agent-written)" in run("recall", "tea", "--data-dir", str(tmp_path / "same")).stdout
    row[field] = {"trust": "user_written", "status": "active", "flags": ["x"]}.get(field, f"{row[field]} tea")
    place = ("--data-dir", str(tmp_path / field))
    run("import", "-", *place, stdin=json.dumps(row))
    label = "unconfirmed, agent-written" if field == "status" else "external, untrusted"
    assert f"({label})" in run("recall", "tea", *place).stdout


@pytest.mark.parametrize(
    ("arguments", "text", "code", "said"),
    [
        (("import", "x.ndjson"), '{"id": "people/ada"}', 1, "x.ndjson: line 1"),
        (("import", "x.ndjson"), "not an export", 1, "Nothing was kept"),
        (("import", "none.ndjson"), "", 2, "there is no none.ndjson"),
    ],
)
def test_a_file_that_is_no_export_is_refused_in_one_line(
    run: Run, arguments: tuple[str, ...], text: str, code: int, said: str
) -> None:
    Path("x.ndjson").write_text(text)
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_who_has_seen_enough_of_an_export_ends_it_quietly(run: Run, tmp_path: Path) -> None:
    for number in range(40):
        run("put", f"page-{number}", "-", stdin="word " * 4000)
    line = '"$0" -m wellkept export | head -c 10; echo " ${PIPESTATUS[0]}"'
    argv = ["/bin/bash", "-c", line, sys.executable]
    done = subprocess.run(argv, capture_output=True, text=True, env=dict(os.environ), check=True)
    assert done.stdout == '{"id": "pa 141\n'
    assert done.stderr == ""
