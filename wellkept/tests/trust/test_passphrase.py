"""Only who knows the passphrase passes, and guessing comes to an end."""

from pathlib import Path

import pytest

from wellkept.errors import Refused, StoreUnavailable
from wellkept.trust import passphrase as module
from wellkept.trust.passphrase import MOST_FAILURES, Passphrase


@pytest.fixture
def chosen(tmp_path: Path) -> Passphrase:
    found = Passphrase(tmp_path / "keys" / "passphrase.json")
    found.choose("correct horse")
    return found


def test_the_right_one_passes_and_another_does_not(chosen: Passphrase) -> None:
    chosen.check("correct horse")
    with pytest.raises(Refused, match="not the passphrase"):
        chosen.check("correct hors")


def test_the_file_is_its_owners_only_and_does_not_hold_it(chosen: Passphrase) -> None:
    assert chosen.path.stat().st_mode & 0o777 == 0o600
    assert "horse" not in chosen.path.read_text()


def test_it_is_chosen_once(chosen: Passphrase) -> None:
    with pytest.raises(Refused, match="before"):
        chosen.choose("another passphrase")


def test_a_short_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="8 characters"):
        Passphrase(tmp_path / "p.json").choose("short")


@pytest.mark.req("T-214")
def test_after_five_wrong_ones_even_the_right_one_waits(chosen: Passphrase, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(MOST_FAILURES):
        with pytest.raises(Refused):
            chosen.check("a guess of mine")
    with pytest.raises(Refused, match="try again in 15 min"):
        chosen.check("correct horse")
    monkeypatch.setattr(module, "LOCKED_S", 0)
    chosen.check("correct horse")


@pytest.mark.parametrize("kept", ["{}", "[]", "", '{"salt": "zz", "hash": "00", "failures": 0, "failed_at": 0}'])
def test_a_file_that_holds_none_says_so(chosen: Passphrase, kept: str) -> None:
    chosen.path.write_text(kept)
    with pytest.raises(StoreUnavailable, match="holds no passphrase"):
        chosen.check("correct horse")
