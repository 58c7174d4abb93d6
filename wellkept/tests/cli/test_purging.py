"""Forgetting for good asks for a person: a terminal, a look at what goes, and the passphrase."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

CLAIM = "Ada keeps zanzibarine frogs."
Type = Callable[[Sequence[str], Sequence[str]], tuple[int, str]]


@pytest.mark.req("T-213")
@pytest.mark.req("TC-26")
def test_a_pipe_is_refused_and_nothing_goes(piped: Callable[..., Result]) -> None:
    piped("remember", CLAIM)
    refused = piped("purge", "fact:1")
    assert refused.exit_code == 2
    assert "terminal" in refused.stderr
    assert CLAIM in piped("facts").stdout


@pytest.mark.req("T-214")
def test_at_a_terminal_the_passphrase_is_chosen_once_and_then_asked(piped: Callable[..., Result], typed: Type) -> None:
    for claim in (CLAIM, "Bob keeps zanzibarine newts."):
        piped("remember", claim)
    code, seen = typed(["purge", "fact:1"], ["correct horse", "correct horse"])
    assert code == 0, seen
    assert CLAIM in seen
    assert "complete: receipt " in seen
    assert "facts.text: 1 erased" in seen
    assert "horse" not in seen
    code, seen = typed(["purge", "fact:2"], ["wrong horse"])
    assert code == 1
    assert "not the passphrase; nothing was changed" in seen
    assert "newts" in piped("facts").stdout
    code, seen = typed(["purge", "fact:2", "--json"], ["correct horse"])
    assert code == 0, seen
    assert '"status": "complete"' in seen
    assert "nothing" in piped("recall", "newts").stdout


def test_a_claim_can_be_let_in_again(piped: Callable[..., Result], typed: Type) -> None:
    piped("remember", CLAIM)
    _, seen = typed(["purge", "fact:1"], ["correct horse", "correct horse"])
    receipt = seen.partition("receipt ")[2].split()[0]
    again = piped("remember", CLAIM)
    assert again.exit_code == 1
    assert "forgotten for good" in again.stderr
    code, seen = typed(["purge", "--lift", receipt], ["correct horse"])
    assert code == 0, seen
    assert piped("remember", CLAIM).exit_code == 0


def test_a_dry_run_shows_what_would_go_and_needs_no_terminal(piped: Callable[..., Result], tmp_path: Path) -> None:
    piped("remember", CLAIM)
    (tmp_path / "a.md").write_text(f"# Notes\n{CLAIM}\n")
    piped("put", "notes", str(tmp_path / "a.md"))
    planned = json.loads(piped("purge", "fact:1", "--dry-run", "--json").stdout)
    assert planned["found_in"] == {"facts.text": 1, "pages.content": 1}
    assert planned["claims"] == [CLAIM]
    assert CLAIM in piped("facts").stdout


def test_ids_or_a_receipt_are_needed_and_not_both(piped: Callable[..., Result]) -> None:
    assert piped("purge").exit_code == 2
    assert piped("purge", "fact:1", "--lift", "abc").exit_code == 2


@pytest.mark.req("T-203")
def test_what_is_typed_at_a_terminal_is_the_owners_and_what_a_script_writes_is_not(
    typed: Type, piped: Callable[..., Result]
) -> None:
    assert typed(["remember", "Ada owns a kiln."], [])[0] == 0
    assert piped("remember", "Ada owns a loom.").exit_code == 0
    facts = {one["text"]: one["trust"] for one in json.loads(piped("facts", "--json").stdout)}
    assert facts == {"Ada owns a kiln.": "user_written", "Ada owns a loom.": "agent_written"}
    assert "guarded" in piped("forget", "fact:1").stdout
    assert "forgotten fact:1" in typed(["forget", "fact:1"], [])[1]
