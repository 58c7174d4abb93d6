"""The command line: what it prints, and how it refuses."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from wellkept.cli import frame, main
from wellkept.ingest.claude_code import write

ADA = "---\ntitle: Ada Lovelace\ntype: person\n---\nShe wrote the first program.\n"

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("WELLKEPT_SOURCE", "WELLKEPT_HOOKS", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WELLKEPT_DATA_DIR", str(tmp_path / "memory"))

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)

    return invoke


def refused(result: Result, code: int, *words: str) -> None:
    assert result.exit_code == code
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


def test_a_conversation_is_kept_without_facts_where_no_model_is_named(run: Run) -> None:
    talk = "You: Greta moves the delivery to 14 June.\nAssistant: Noted.\n"
    assert run("bank", "monday", "-", stdin=talk).stdout == "created conversations/monday, 0 facts\n"
    assert run("bank", "monday", "-", stdin=talk).stdout == "unchanged conversations/monday, 0 facts\n"
    refused(run("bank", "monday", "-", stdin="nobody speaks here"), 2, "each turn needs a speaker")


def test_a_model_that_cannot_be_asked_costs_the_facts_and_not_the_conversation(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WELLKEPT_EXTRACTOR_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("WELLKEPT_EXTRACTOR_MODEL", "small")
    result = run("bank", "monday", "-", stdin="You: Greta moves the delivery to 14 June.\n")
    assert (result.exit_code, result.stdout) == (1, "created conversations/monday, 0 facts\n")
    assert "bank it again" in result.stderr


def test_a_page_that_was_put_can_be_got_and_found(run: Run) -> None:
    assert run("put", "people/ada", "-", stdin=ADA).stdout == "created people/ada\n"
    assert run("get", "people/ada").stdout == ADA
    assert "people/ada" in run("search", "program").stdout
    assert "people/ada" in run("context", "What did Ada Lovelace write?").stdout


def test_every_answer_can_be_had_as_json(run: Run, tmp_path: Path) -> None:
    assert json.loads(run("put", "people/ada", "-", "--json", stdin=ADA).stdout)["status"] == "created"
    assert json.loads(run("get", "people/ada", "--json").stdout)["content"] == ADA
    assert json.loads(run("search", "program", "--json").stdout)["results"][0]["id"] == "people/ada"
    assert json.loads(run("facts", "--json").stdout) == []
    found = json.loads(run("context", "What did Ada Lovelace write?", "--json").stdout)
    assert found["pointers"][0]["id"] == "people/ada"
    assert json.loads(run("import", str(tmp_path), "--json").stdout)["created"] == 0
    assert json.loads(run("hook-command", "codex", "--json").stdout)[1:3] == ["-I", "-S"]


def test_sources_are_kept_apart(run: Run) -> None:
    run("put", "a", "-", "--source", "one", stdin="# Something\n")
    refused(run("get", "a"), 1, "'a'")
    assert run("get", "a", "--source", "one").stdout == "# Something\n"
    assert run("search", "something", "--source", "two").stdout == "nothing found\n"


def test_another_data_directory_is_another_memory(run: Run, tmp_path: Path) -> None:
    run("put", "a", "-", "--data-dir", str(tmp_path / "other"), stdin="x")
    refused(run("get", "a"), 1)
    assert run("get", "a", "--data-dir", str(tmp_path / "other")).exit_code == 0


def test_facts_are_listed_with_who_said_so(run: Run, tmp_path: Path) -> None:
    from wellkept.settings import load_settings, open_memory

    assert run("facts").stdout == "nothing found\n"
    memory = open_memory(load_settings(overrides={"data_dir": tmp_path / "memory"}))
    memory.remember("default", "Ada likes tea.")
    memory.close()
    assert run("facts").stdout == "- Ada likes tea. (user-written)\n"
    assert run("facts", "tea", "--limit", "1").stdout == "- Ada likes tea. (user-written)\n"


def test_a_directory_is_imported_by_its_paths(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "people").mkdir(parents=True)
    (notes / "people" / "ada.lovelace.md").write_text(ADA)
    (notes / "bom.md").write_bytes(b"\xef\xbb\xbf# With a mark\n")
    (notes / "picture.png").write_bytes(b"\x89")
    assert run("import", str(notes)).stdout == "2 created, 0 updated, 0 unchanged\n"
    assert run("get", "people/ada.lovelace").stdout == ADA
    assert run("get", "bom").stdout == "# With a mark\n"


def test_a_file_that_is_no_text_is_named_and_the_others_are_kept(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_bytes(b"\xff\xfe")
    (notes / "b.md").write_text("fine")
    result = run("import", str(notes))
    assert result.stderr == f"wellkept: refused {notes / 'a.md'}: not UTF-8 text (byte 0)\n"
    assert result.exit_code == 1
    assert result.stdout == "1 created, 0 updated, 0 unchanged\n"
    assert result.stderr.count("\n") == 1
    assert str(notes / "a.md") in result.stderr


def test_a_long_import_tells_a_terminal_how_far_it_is(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(3):
        (notes / f"{n}.md").write_text("x")
    reading, writing = os.openpty()
    program = "from wellkept.cli import keeping, main; keeping.SLOW_S = -1.0; main()"
    argv = [sys.executable, "-c", program, "import", str(notes)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=writing, check=True)
    os.close(writing)
    assert done.stdout == b"3 created, 0 updated, 0 unchanged\n"
    assert os.read(reading, 1000).split(b"\r")[1:-1] == [f"{n} of 3 files".encode() for n in (0, 1, 2, 3)]
    os.close(reading)
    assert run("import", str(notes)).stderr == ""


def test_mistakes_are_said_in_one_line(run: Run, tmp_path: Path) -> None:
    refused(run("get", "none"), 1, "wellkept: ", "none")
    refused(run("ping"), 1, "wellkept daemon")
    refused(run("put", "", "-", stdin="x"), 1, "slug")
    refused(run("put", "a", str(tmp_path / "none.md")), 2, "none.md")
    refused(run("put", "a", str(tmp_path)), 2, str(tmp_path))
    refused(run("put", "a", "-", stdin=b"\xff"), 2, "UTF-8")
    (tmp_path / "memory" / "settings.toml").write_text("colour = 1")
    refused(run("facts"), 1, "settings.toml", "colour")
    for result in (run("get", "none"), run("ping"), run("facts")):
        assert result.stderr.count("\n") == 1


def test_a_wrong_command_line_is_told_apart(run: Run, tmp_path: Path) -> None:
    for arguments in (
        ["nonsense"],
        ["get"],
        ["get", "a", "--colour"],
        ["search", "x", "--limit", "0"],
        ["hook-command", "emacs"],
        ["hook", "user-prompt", "--harness", "emacs"],
        ["import", str(tmp_path / "none")],
    ):
        refused(run(*arguments), 2)


def test_a_database_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.db").write_bytes(b"not a database" * 500)
    refused(run("facts"), 1, "memory.db")


def test_a_data_directory_that_cannot_be_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(run("facts", "--data-dir", str(tmp_path / "file" / "below")), 1, "file/below")


@pytest.mark.req("C-417")
def test_the_hook_command_can_be_pasted_into_a_shell(run: Run, tmp_path: Path) -> None:
    argv = shlex.split(run("hook-command", "claude-code", "--deadline-ms", "900").stdout)
    assert argv[1:3] == ["-I", "-S"]
    assert argv[4:] == ["claude-code", "user-prompt", str(tmp_path / "memory" / "wellkept.sock"), "900"]


@pytest.mark.req("C-417")
def test_the_hook_can_be_tried_by_hand(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "projects" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(write([], session="s"))
    event = json.dumps({"prompt": "Ada Lovelace?", "transcript_path": str(path)})
    run("put", "people/ada", "-", stdin=ADA)
    result = run("hook", "user-prompt", stdin=event)
    assert "people/ada" in json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"]
    assert result.stderr == "injected\n"
    assert run("hook", "user-prompt", stdin="garbage").stderr == "failed no_stdin\n"
    assert run("hook", "user-prompt", "--harness", "codex", stdin="garbage").stdout == "{}"
    monkeypatch.setenv("WELLKEPT_HOOKS", "0")
    assert json.loads(run("hook", "user-prompt", "--json", stdin=event).stdout)["outcome"] == "disabled"


WITHOUT_A_MEMORY = {("bench",)}
"""Commands that make a memory of their own."""


def test_every_command_has_help_with_an_example() -> None:
    def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, (*path, name))
            else:
                yield (*path, name)

    found = [*commands(main)]
    assert {("search",), ("bank",), ("hook", "user-prompt")} <= set(found)
    for path in found:
        shown = CliRunner().invoke(main, [*path, "--help"]).stdout
        assert "wellkept " + " ".join(path) in shown.split("Example")[1]
        of_a_memory = () if path in WITHOUT_A_MEMORY else ("--source", "--data-dir")
        for option in ("--json", *of_a_memory):
            assert option in shown


def test_help_loads_nothing_heavy() -> None:
    probe = (
        "import sys\nfrom wellkept.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('apsw', 'msgspec', 'yaml', 'regex', 'http.server', 'fastapi', 'mcp')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


def test_a_reader_that_goes_away_is_no_traceback(run: Run, tmp_path: Path) -> None:
    run("put", "long", "-", stdin="word " * 200_000)
    program = "from wellkept.cli import main; main()"
    line = f'"$0" -c "{program}" get long --data-dir "$1" | head -c 10'
    argv = ["/bin/sh", "-c", line, sys.executable, str(tmp_path / "memory")]
    done = subprocess.run(argv, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.stderr in ("", "wellkept: long (unconfirmed, agent-written)\n")


@pytest.mark.req("C-901")
def test_captured_questions_are_exported_as_lines_and_can_be_deleted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("put", "people/ada", "-", stdin=ADA)
    run("search", "not captured")
    monkeypatch.setenv("WELLKEPT_CAPTURE_QUERIES", "1")
    run("search", "program")
    run("facts", "tea")
    run("context", "What did Ada Lovelace write?", "--source", "team")
    done = run("export-queries")
    assert [json.loads(line)["tool_name"] for line in done.stdout.splitlines()] == ["context", "recall_facts", "search"]
    assert done.stderr == "wellkept: 3 exported\n"
    assert [row["query"] for row in json.loads(run("export-queries", "--json", "--tool", "search").stdout)] == [
        "program"
    ]
    assert run("export-queries", "--source", "team").stdout.count("\n") == 1
    assert run("export-queries", "--limit", "1", "--since", "2026-01-01").stdout.count("\n") == 1
    assert run("export-queries", "--since", "2999-01-01").stdout == ""
    out = tmp_path / "out.ndjson"
    assert run("export-queries", "--out", str(out)).stdout == ""
    assert out.read_text() == done.stdout
    assert out.stat().st_mode & 0o777 == 0o600
    assert run("export-queries", "--clear").stdout == "3 deleted\n"
    monkeypatch.delenv("WELLKEPT_CAPTURE_QUERIES")
    assert run("export-queries").stderr == "wellkept: 0 exported; capture is off (capture_queries in settings.toml)\n"


def test_an_export_says_what_is_missing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WELLKEPT_CAPTURE_QUERIES", "1")
    file = tmp_path / "memory" / "queries.ndjson"
    file.mkdir(parents=True)
    assert run("search", "tea").stdout == "nothing found\n"
    refused(run("export-queries"), 1, "queries.ndjson", "Is a directory")
    file.rmdir()
    assert run("export-queries").stderr == "wellkept: 0 exported; 1 captures failed and are missing\n"
    refused(run("export-queries", "--since", "yesterday"), 2, "--since", "ISO 8601")
    refused(run("export-queries", "--clear", "--limit", "1"), 2, "--clear")
    refused(run("export-queries", "--out", str(tmp_path)), 2, str(tmp_path))


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a Claude Code, which is the only harness there is."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "openclaw"))
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "settings.json").write_text('{"model": "opus"}\n')
    return tmp_path / "claude" / "settings.json"


@pytest.mark.req("C-417")
def test_hooks_are_installed_shown_and_taken_out_again(run: Run, claude: Path, tmp_path: Path) -> None:
    before = claude.read_text()
    assert run("install", "claude-code", "--dry-run").stdout.startswith(f"--- {claude}\n+++ {claude}\n")
    assert (claude.read_text(), (tmp_path / "memory").exists()) == (before, False)
    backup = tmp_path / "memory" / "installed" / "claude-code.before"
    assert run("install", "claude-code").stdout.splitlines() == [
        f"installed in {claude}",
        "sessions are kept by project (git repository), and find what it holds and what is your own (default)",
        f"what was there before: {backup}",
        "It holds from the next session of Claude Code.",
    ]
    assert backup.read_text() == before
    assert run("install", "claude-code").stdout == f"already installed in {claude}\n"
    assert run("install", "claude-code", "--dry-run").stdout == "nothing would change\n"
    said = run("status").stdout
    assert f"claude-code  installed, 5 hooks in {claude}\n" in said
    assert "daemon       sleeps; the next hook starts it\n" in said
    assert json.loads(run("uninstall", "claude-code", "--dry-run", "--json").stdout)["outcome"] == "restored"
    assert run("uninstall", "claude-code").stdout == f"restored {claude} as it was\n"
    assert claude.read_text() == before
    assert run("uninstall", "claude-code").stdout == f"nothing of ours is in {claude}\n"


def test_a_dry_run_says_whose_memory_it_will_be(run: Run, claude: Path) -> None:
    assert "kept by project (git repository)" in run("install", "claude-code", "--dry-run").stderr
    assert json.loads(run("install", "claude-code", "--dry-run", "--json").stdout)["source"] == "@project"
    assert "kept in the source team" in run("install", "claude-code", "--dry-run", "--source", "team").stderr


def test_in_a_project_what_is_its_own_is_found_too_and_told_apart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("lantern", "harbour"):
        (tmp_path / name / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lantern")
    run("remember", "I drink tea")
    assert run("status").stdout.splitlines()[1].startswith("here         sessions are kept in lantern-")
    run("remember", "Lantern is tea-coloured", "--source", "@project")
    found = run("recall", "tea").stdout
    assert "I drink tea (unconfirmed, agent-written)\n" in found
    assert "Lantern is tea-coloured (unconfirmed, agent-written, in lantern-" in found
    monkeypatch.chdir(tmp_path / "harbour")
    assert "Lantern" not in run("recall", "tea").stdout
    assert "I drink tea" in run("recall", "tea").stdout
    monkeypatch.chdir(tmp_path)
    assert (
        run("recall", "tea", "--source", "@project").stdout == "  1  fact:1  I drink tea (unconfirmed, agent-written)\n"
    )


def test_without_capture_only_what_brings_is_installed(run: Run, claude: Path) -> None:
    run("install", "claude-code", "--no-capture")
    assert sorted(json.loads(claude.read_text())["hooks"]) == ["SessionStart", "UserPromptSubmit"]


def test_what_cannot_be_installed_into_is_refused_in_one_line(run: Run, claude: Path, tmp_path: Path) -> None:
    claude.write_text('{"model": "opus",}')
    refused(run("install", "claude-code"), 1, f"wellkept: {claude} line 1, column ", "mend the file, then try again")
    refused(run("uninstall", "claude-code"), 1, f"wellkept: {claude} line 1, column ")
    refused(run("install", "codex"), 1, f"{tmp_path / 'codex'} is not there. Start Codex once")
    refused(run("install", "emacs"), 2, "emacs")
    assert claude.read_text() == '{"model": "opus",}'


@pytest.mark.req("C-420")
def test_a_place_in_which_no_daemon_would_serve_is_refused_before_anything_is_installed(
    run: Run, claude: Path, tmp_path: Path
) -> None:
    (tmp_path / "memory").mkdir(mode=0o755)
    before = claude.read_text()
    refused(run("install", "claude-code"), 1, f"chmod 700 {tmp_path / 'memory'}")
    assert claude.read_text() == before


def test_a_status_says_where_memory_is_and_that_nothing_would_start_a_daemon(run: Run, tmp_path: Path) -> None:
    said = run("status").stdout.splitlines()
    assert said[0].startswith("memory       /")
    assert said[0].endswith("memory.db, nothing kept yet")
    assert "daemon       does not run; no hook is installed to start it" in said
    run("put", "people/ada", "-", stdin=ADA)
    assert run("status").stdout.splitlines()[0].endswith("memory.db")
    assert json.loads(run("status", "--json").stdout)["database"].endswith("memory.db")


def test_a_settings_file_that_is_refused_is_no_fault_of_ours(run: Run, claude: Path) -> None:
    claude.write_text('{"hooks": []}')
    result = run("install", "claude-code", "--json")
    assert (result.exit_code, json.loads(result.stderr)["code"]) == (1, "refused")


def test_a_status_that_is_not_well_says_why_and_exits_with_1(run: Run, claude: Path, tmp_path: Path) -> None:
    assert run("status").exit_code == 0
    run("install", "claude-code")
    claude.write_text(claude.read_text().replace("client.py", "client.py.gone/wellkept/hooks/client.py"))
    found = run("status")
    assert found.exit_code == 1
    assert "is not there any more. Run: wellkept install claude-code" in found.stdout
    (tmp_path / "memory" / "heartbeat.jsonl").write_text(
        '{"ts":"T","event":"codex/stop","outcome":"failed","reason":"no_daemon"}\n'
    )
    assert run("status").stdout.splitlines()[-1] == f"{'T':<24} codex/stop: failed no_daemon"
    assert json.loads(run("status", "--json").stdout)["well"] is False


def test_a_hook_is_timed_only_with_a_daemon_that_answers(run: Run) -> None:
    refused(run("hook", "time", "Ada?"), 1, "no daemon answers", "wellkept daemon")


def test_a_little_that_was_just_kept_is_found_by_its_meaning_and_much_once_it_is_embedded(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("put", "n/car", "-", stdin="Somebody took my red automobile.\n")
    with monkeypatch.context() as much:
        much.setattr(frame, "FEW", 0)
        assert run("search", "stolen vehicle").stdout == "nothing found\n"
    assert "n/car" in run("search", "stolen vehicle").stdout
    assert run("embed").stdout == "0 embedded, 1 of 1 pieces have a vector of all-MiniLM-L6-v2-int8\n"
    assert json.loads(run("embed", "--again", "--json").stdout) == {
        "embedded": 1,
        "vectors": 1,
        "waiting": 0,
        "model": "all-MiniLM-L6-v2-int8",
    }


def test_vectors_of_another_model_are_told_with_the_command_that_replaces_them(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run("put", "n/car", "-", stdin="Somebody took my red automobile.\n")
    monkeypatch.setenv("WELLKEPT_EMBEDDER", "off")
    refused(run("embed"), 1, "no embedder")
    monkeypatch.delenv("WELLKEPT_EMBEDDER")
    run("embed")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"x")
    (folder / "config.json").write_text('{"hidden_size": 8}')
    monkeypatch.setenv("WELLKEPT_EMBEDDER", str(folder))
    refused(run("embed"), 1, "all-MiniLM-L6-v2-int8 (384 numbers each)", "wellkept embed --again")
    refused(run("embed", "--again"), 1, "cannot be loaded")
    assert "n/car" in run("search", "automobile").stdout
    monkeypatch.delenv("WELLKEPT_EMBEDDER")
    assert run("embed").stdout.startswith("0 embedded, 1 of 1")
