"""The doctor tells whether something else changed the memory, and seals it anew for a person only."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

Type = Callable[[Sequence[str], Sequence[str]], tuple[int, str]]


def forge(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "memory" / "memory.db")
    connection.execute("DROP TRIGGER guard_facts_update")
    connection.execute("UPDATE facts SET trust = 3 WHERE id = 1")
    connection.commit()
    connection.close()


def test_before_there_is_a_memory_the_doctor_makes_none(piped: Callable[..., Result], tmp_path: Path) -> None:
    said = piped("doctor", "--verify")
    assert (said.exit_code, said.stdout) == (0, "there is no memory yet, so that nothing can be wrong with it\n")
    assert not (tmp_path / "memory").exists()


@pytest.mark.req("T-221")
def test_the_doctor_names_what_failed(piped: Callable[..., Result], tmp_path: Path) -> None:
    piped("remember", "Ada likes tea.")
    piped("remember", "Bob likes jam.")
    said = piped("doctor", "--verify")
    assert (said.exit_code, said.stdout) == (0, "sealed rows: 2; every one is as it was written\n")
    forge(tmp_path)
    said = piped("doctor", "--verify")
    assert said.exit_code == 1
    assert said.stdout.startswith("fact:1 in default: it was changed from outside\n")
    told = json.loads(piped("doctor", "--verify", "--json").stdout)
    assert [one["name"] for one in told["problems"]] == ["fact:1"]
    (found,) = json.loads(piped("recall", "Ada tea", "--json").stdout)["memories"]
    assert (found["integrity"], found["trust"]) == ("failed", "external_untrusted")


@pytest.mark.req("T-221")
def test_only_a_person_with_the_passphrase_has_it_sealed_anew(
    piped: Callable[..., Result], typed: Type, tmp_path: Path
) -> None:
    piped("remember", "Ada likes tea.")
    forge(tmp_path)
    refused = piped("doctor", "--reseal")
    assert refused.exit_code == 2
    assert "terminal" in refused.stderr
    code, seen = typed(["doctor", "--reseal"], ["correct horse", "correct horse"])
    assert code == 0, seen
    assert "fact:1 in default: it was changed from outside" in seen
    assert "sealed anew, as external and untrusted: 1" in seen
    forge(tmp_path)
    code, seen = typed(["doctor", "--reseal"], ["wrong horse"])
    assert code == 1, seen
    assert piped("doctor", "--verify").exit_code == 1


@pytest.mark.req("T-218")
def test_an_old_file_is_told_of_by_the_quick_look_too(
    piped: Callable[..., Result], typed: Type, tmp_path: Path
) -> None:
    file = tmp_path / "memory" / "memory.db"
    piped("remember", "Ada likes tea.")
    old = file.read_bytes()
    piped("remember", "Ada likes coffee now.")
    file.write_bytes(old)
    said = piped("doctor")
    assert (said.exit_code, "an old copy" in said.stdout) == (1, True)
    code, seen = typed(["doctor", "--reseal"], ["correct horse", "correct horse"])
    assert code == 0, seen
    assert piped("doctor").exit_code == 0
    assert "tea" in piped("recall", "Ada").stdout


@pytest.mark.req("T-216")
def test_a_key_that_others_may_read_is_said(piped: Callable[..., Result], tmp_path: Path) -> None:
    piped("remember", "Ada likes tea.")
    key = tmp_path / "c" / "wellkept" / "trust.key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    said = piped("doctor")
    assert (said.exit_code, "the trust key cannot be used" in said.stdout) == (1, True)
    refused = piped("remember", "Bob likes jam.")
    assert refused.exit_code == 1
    assert "chmod 600" in refused.stderr
    assert "tea" in piped("recall", "Ada").stdout
