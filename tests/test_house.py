"""The repository stays small at the root, and says nothing of the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

PLACES = re.compile(r"(?<![\w.~])/(?:home|Users|root|work|mnt|var/folders)/[\w.-]+")
ADDRESSES = re.compile(
    r"(?:\"resolved\"|\"(?:git\+)?https?://|--(?:extra-)?index-url|--find-links|--trusted-host|registry\s*=|@ (?:https?|file)://)"
)


def texts(names: list[str], root: Path) -> list[tuple[str, str]]:
    found = []
    for name in names:
        content = (root / name).read_bytes()
        if b"\0" not in content[:8192]:
            found.append((name, content.decode("utf-8", "replace")))
    return found


def test_at_most_fifteen_things_stand_at_the_root(own_files):
    top = {Path(name).parts[0] for name in own_files}
    visible = sorted(name for name in top if not name.startswith("."))
    assert len(visible) <= 15, visible


def test_no_file_holds_a_path_of_somebodys_machine(root, own_files):
    found = [
        f"{name}: {match[0]}"
        for name, text in texts([n for n in own_files if not n.startswith("corpus/")], root)
        for match in PLACES.finditer(text)
        if not name.startswith(("tests/", "brainbench/tests/", "wellkept/tests/"))
    ]
    assert found == []


def test_a_path_of_a_machine_would_be_found():
    assert PLACES.search("open('/" + "home/ann/x')")
    assert PLACES.search('"/' + 'Users/ann/x"')
    assert not PLACES.search("~/.claude/projects, people/home/ann")


def test_no_lock_file_records_where_packages_were_fetched(root, own_files):
    locks = [
        name for name in own_files if "lock" in Path(name).name and Path(name).suffix in ("", ".lock", ".txt", ".json")
    ]
    assert "requirements.lock" in locks
    assert any(Path(name).name == "package-lock.json" for name in locks)
    assert not [name for name in own_files if Path(name).name in ("uv.lock", "poetry.lock", "Pipfile.lock")]
    assert [name for name, text in texts(locks, root) if ADDRESSES.search(text)] == []


def test_an_address_in_a_lock_would_be_found():
    assert ADDRESSES.search('"resolved": "https:' + '//registry.example.test/a.tgz"')
    assert ADDRESSES.search('"version": "git+https:' + '//example.test/a.git"')
    assert not ADDRESSES.search('"http-errors": "^2.0.1", "integrity": "sha512-a"')


def test_every_dependency_is_pinned_by_hash(root):
    text = (root / "requirements.lock").read_text()
    pinned = re.findall(r"^[a-z0-9][\w.-]*==\S+.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(pinned) > 20
    assert [entry.split()[0] for entry in pinned if "--hash=sha256:" not in entry] == []
