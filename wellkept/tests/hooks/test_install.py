"""Our entries in somebody else's settings: in, again, out, and nothing else touched."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wellkept.errors import InstallRefused
from wellkept.hooks import HOOKS
from wellkept.hooks.install import (
    TARGETS,
    Bound,
    apply_install,
    apply_uninstall,
    installed,
    plan_install,
    plan_uninstall,
)
from wellkept.hooks.json_text import parse

FOREIGN = {"type": "command", "command": "afplay done.aiff", "timeout": 5}
SETTINGS = json.dumps({"z": 1, "hooks": {"Stop": [{"hooks": [FOREIGN]}]}, "a": "é"}, indent=2, ensure_ascii=False)
ALL = ("session-start", "user-prompt", "stop", "pre-compact", "session-end")


class Place:
    """A harness's home and a data directory."""

    def __init__(self, root: Path, harness: str) -> None:
        self.harness, self.home, self.data = harness, root / "home", root / "data"
        self.home.mkdir()
        self.file = self.home / TARGETS[harness].file

    def install(self, *, capture: bool = True, source: str = "default", data: Path | None = None) -> bool:
        """Install; whether something changed."""
        bound = Bound((data or self.data) / "wellkept.sock", data or self.data, source, capture)
        change = plan_install(self.harness, self.home, bound)
        if not change.is_none:
            apply_install(change, data or self.data)
        return not change.is_none

    def uninstall(self) -> str:
        change, how = plan_uninstall(self.harness, self.home, self.data)
        apply_uninstall(change, self.data)
        return how

    def events(self) -> list[str]:
        return sorted(argv[5] for argv in installed(self.harness, self.home))


Make = Callable[[str], Place]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda harness: Place(tmp_path, harness)


TEXTS = {
    "plain": SETTINGS + "\n",
    "no line end": SETTINGS,
    "windows": SETTINGS.replace("\n", "\r\n"),
    "tabs": json.dumps({"hooks": {}, "b": []}, indent="\t"),
    "one line": '{"hooks":{"Stop":[{"hooks":[]}],"PreToolUse":[]},"b":[1,2]}',
    "a mark in front": "\ufeff" + SETTINGS,
    "empty object": "{}",
    "empty file": "",
    "blank": "\n\n",
}


@pytest.mark.req("C-417")
@pytest.mark.parametrize("harness", HOOKS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_was_there_comes_back_byte_for_byte(make: Make, harness: str, text: str) -> None:
    place = make(harness)
    place.file.write_bytes(text.encode())
    assert place.install()
    assert place.events() == sorted(ALL)
    assert not place.install()
    assert place.uninstall() == "restored"
    assert place.file.read_bytes() == text.encode()
    assert place.uninstall() == "absent"
    assert place.file.read_bytes() == text.encode()


@pytest.mark.parametrize("harness", HOOKS)
def test_a_file_that_was_not_there_is_gone_again(make: Make, harness: str) -> None:
    place = make(harness)
    assert place.install()
    assert place.file.stat().st_mode & 0o777 == 0o600
    assert place.uninstall() == "restored"
    assert list(place.home.iterdir()) == []


@pytest.mark.parametrize("harness", HOOKS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_without_the_copy_only_our_entries_go(make: Make, harness: str, text: str) -> None:
    place = make(harness)
    place.file.write_bytes(text.encode())
    place.install()
    for kept in (place.data / "installed").iterdir():
        kept.unlink()
    assert place.uninstall() == "removed"
    relaxed = TARGETS[harness].relaxed
    before = parse(text, relaxed=relaxed).plain() or {}
    assert _without_empty(parse(place.file.read_text(), relaxed=relaxed).plain()) == _without_empty(before)
    assert place.events() == []


def _without_empty(settings: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if value != {}}


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_what_changed_since_stays_and_only_our_entries_go(make: Make, harness: str) -> None:
    place = make(harness)
    place.file.write_text(SETTINGS)
    place.install()
    changed = place.file.read_text().replace('"z": 1', '"z": 2').replace('"hooks": [', '"hooks":  [', 1)
    place.file.write_text(changed)
    assert place.uninstall() == "removed"
    expected = SETTINGS.replace('"z": 1', '"z": 2').replace('"hooks": [', '"hooks":  [', 1)
    assert place.file.read_text() == expected


def test_a_foreign_hook_beside_ours_in_one_group_stays(make: Make) -> None:
    place = make("claude-code")
    place.install()
    settings = json.loads(place.file.read_text())
    settings["hooks"]["Stop"][0]["hooks"].insert(0, FOREIGN)
    settings["hooks"]["PreCompact"][0]["hooks"].append(FOREIGN)
    place.file.write_text(json.dumps(settings))
    assert place.uninstall() == "removed"
    kept = [{"hooks": [FOREIGN]}]
    assert json.loads(place.file.read_text()) == {"hooks": {"Stop": kept, "PreCompact": kept}}


@pytest.mark.parametrize("harness", HOOKS)
def test_installed_again_for_another_store_it_replaces_the_first(make: Make, harness: str, tmp_path: Path) -> None:
    place = make(harness)
    place.file.write_text(SETTINGS)
    place.install()
    assert place.install(source="team")
    assert {argv[-1] for argv in installed(harness, place.home)} == {"team"}
    assert place.events() == sorted(ALL)
    assert place.uninstall() == "restored"
    assert place.file.read_text() == SETTINGS


@pytest.mark.parametrize("harness", HOOKS)
def test_installed_over_changes_it_goes_back_to_those_without_us(make: Make, harness: str) -> None:
    place = make(harness)
    place.file.write_text(SETTINGS)
    place.install()
    place.file.write_text(place.file.read_text().replace('"z": 1', '"z": 2'))
    assert place.install(capture=False)
    assert place.events() == ["session-start", "user-prompt"]
    assert place.uninstall() == "restored"
    assert place.file.read_text() == SETTINGS.replace('"z": 1', '"z": 2')


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n  // why\n}', "line 3, column 3"),
        ('{\n  "a": tru\n}', "line 2, column 8"),
        ("[]", "not an object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
    ],
)
def test_settings_that_cannot_be_used_are_named_and_left_alone(
    make: Make, harness: str, text: str | bytes, said: str
) -> None:
    place = make(harness)
    raw = text if isinstance(text, bytes) else text.encode()
    place.file.write_bytes(raw)
    with pytest.raises(InstallRefused) as refused:
        place.install()
    message = str(refused.value)
    assert message.startswith(str(place.file))
    assert said in message
    assert "mend the file, then try again" in message
    assert place.file.read_bytes() == raw
    assert not place.data.exists()


def test_a_harness_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InstallRefused, match="Start Codex once"):
        plan_install("codex", tmp_path / "none", Bound(tmp_path / "s", tmp_path, "default"))


def test_a_read_only_file_is_left_alone(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text(SETTINGS)
    place.file.chmod(0o444)
    with pytest.raises(InstallRefused, match=r"chmod u\+w"):
        place.install()
    assert place.file.read_text() == SETTINGS


def test_a_place_that_takes_no_copy_is_named_and_nothing_is_changed(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text(SETTINGS)
    place.data.write_text("in the way")
    with pytest.raises(InstallRefused, match=r"installed cannot keep a copy .*Nothing was changed"):
        place.install()
    assert place.file.read_text() == SETTINGS


def test_a_copy_that_is_gone_leaves_only_our_entries_to_take_out(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text(SETTINGS)
    place.install()
    (place.data / "installed" / "claude-code.before").unlink()
    assert place.uninstall() == "removed"
    assert place.file.read_text() == SETTINGS


def test_the_permissions_stay(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text(SETTINGS)
    place.file.chmod(0o640)
    place.install()
    assert place.file.stat().st_mode & 0o777 == 0o640
    assert (place.data / "installed" / "claude-code.before").stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(make: Make, tmp_path: Path) -> None:
    place = make("claude-code")
    real = tmp_path / "dotfiles.json"
    real.write_text(SETTINGS)
    place.file.symlink_to(real)
    assert place.install()
    assert place.file.is_symlink()
    assert "client.py" in real.read_text()
    assert place.uninstall() == "restored"
    assert place.file.is_symlink()
    assert real.read_text() == SETTINGS


def test_a_link_to_nothing_and_what_is_no_file_are_refused(make: Make, tmp_path: Path) -> None:
    place = make("claude-code")
    place.file.symlink_to(tmp_path / "gone.json")
    with pytest.raises(InstallRefused, match=r"is a link to .*, which is not there"):
        place.install()
    place.file.unlink()
    place.file.mkdir()
    with pytest.raises(InstallRefused, match="is no file"):
        place.install()


def test_a_file_that_changes_between_reading_and_writing_is_left_alone(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text(SETTINGS)
    change = plan_install("claude-code", place.home, Bound(place.data / "s", place.data, "default"))
    place.file.write_text("{}")
    with pytest.raises(InstallRefused, match="has changed meanwhile"):
        apply_install(change, place.data)
    assert place.file.read_text() == "{}"


def test_the_diff_shows_each_line_and_a_missing_line_end(make: Make) -> None:
    place = make("claude-code")
    place.file.write_text('{"a": 1}')
    change = plan_install("claude-code", place.home, Bound(place.data / "s", place.data, "default"))
    lines = change.diff().splitlines()
    assert lines[:2] == [f"--- {place.file}", f"+++ {place.file}"]
    assert '-{"a": 1}' in lines
    assert any(line.startswith("+") and "client.py claude-code stop" in line for line in lines)
    assert lines.count("\\ no line end at the end of the file") == 2
    assert place.file.read_text() == '{"a": 1}'


@pytest.mark.req("C-417")
def test_the_commands_are_pinned_and_fail_nothing_once_wellkept_is_gone(make: Make, tmp_path: Path) -> None:
    place = make("claude-code")
    place.data = tmp_path / "a place with 'quotes'"
    place.install()
    for groups in json.loads(place.file.read_text())["hooks"].values():
        ((hook,),) = (group["hooks"] for group in groups)
        argv = shlex.split(hook["command"])
        assert all(os.path.isabs(argv[n]) for n in (0, 3, 6, 8))
        gone = hook["command"].replace("client.py", "gone.py")
        assert subprocess.run(["/bin/sh", "-c", gone], input=b"{}", capture_output=True, check=False).returncode == 0


RELAXED = """// mine
{
  plugins: {
    allow: ['one'], // only these
    load: { paths: ["~/p"] },
  },
}
"""


def test_openclaw_s_remarks_stay_and_its_list_of_trusted_plugins_names_ours(make: Make) -> None:
    place = make("openclaw")
    place.file.write_text(RELAXED)
    place.install()
    text = place.file.read_text()
    plugins = parse(text, relaxed=True).plain()["plugins"]
    assert plugins["allow"] == ["one", "wellkept"]
    assert plugins["load"]["paths"][0] == "~/p"
    assert (Path(plugins["load"]["paths"][1]) / "openclaw.plugin.json").is_file()
    assert plugins["entries"]["wellkept"]["hooks"] == {"allowConversationAccess": True}
    assert "// mine" in text
    assert "// only these" in text
    place.file.write_text(text.replace("// mine", "// still mine"))
    assert place.uninstall() == "removed"
    assert place.file.read_text() == RELAXED.replace("// mine", "// still mine")
