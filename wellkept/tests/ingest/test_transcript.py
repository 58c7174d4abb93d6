from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.ingest import transcript
from wellkept.ingest.transcript import TranscriptRefused, confine, ends, read_time, write_time


def refusal(path: str | None, *roots: Path) -> str:
    with pytest.raises(TranscriptRefused) as refused:
        confine(path, roots)
    return refused.value.code


@pytest.mark.req("C-411")
def test_a_file_below_a_root_is_read(tmp_path: Path) -> None:
    file = tmp_path / "project" / "a.jsonl"
    file.parent.mkdir()
    file.write_bytes(b'{"x":1}\n')
    assert confine(str(file), [tmp_path / "elsewhere", tmp_path]) == b'{"x":1}\n'


@pytest.mark.req("C-411")
def test_each_reason_to_refuse_has_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, outside = tmp_path / "projects", tmp_path / "projects-not"
    root.mkdir()
    outside.mkdir()
    (root / "link.jsonl").symlink_to(root / "there.jsonl")
    (root / "there.jsonl").write_bytes(b"{}")
    (outside / "o.jsonl").write_bytes(b"{}")
    (root / "dir.jsonl").mkdir()
    os.mkfifo(root / "pipe.jsonl")
    (root / "way-out").symlink_to(outside)
    with (root / "big.jsonl").open("wb") as big:
        big.truncate(50 * 1024 * 1024 + 1)
    found = {
        "": "missing_path",
        str(root / "a.json"): "not_jsonl",
        str(root / "absent.jsonl"): "unreadable",
        str(root / "nul\0.jsonl"): "unreadable",
        str(root / "link.jsonl"): "symlink",
        str(root / "dir.jsonl"): "not_file",
        str(root / "pipe.jsonl"): "not_file",
        str(root / "big.jsonl"): "too_large",
        str(outside / "o.jsonl"): "outside_projects_dir",
        str(root / ".." / "projects-not" / "o.jsonl"): "outside_projects_dir",
        str(root / "way-out" / "o.jsonl"): "outside_projects_dir",
    }
    assert {path: refusal(path, root) for path in found} == found
    assert refusal(None, root) == "missing_path"
    assert refusal(str(root / "there.jsonl")) == "outside_projects_dir"


@pytest.mark.req("C-411")
def test_a_link_put_in_place_after_the_first_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, file = tmp_path / "secret", tmp_path / "a.jsonl"
    secret.write_bytes(b"secret")
    file.write_bytes(b"{}")
    look = os.lstat

    def look_then_swap(path: str) -> os.stat_result:
        seen = look(path)
        file.unlink()
        file.symlink_to(secret)
        return seen

    monkeypatch.setattr(transcript.os, "lstat", look_then_swap)
    with pytest.raises(TranscriptRefused) as refused:
        confine(str(file), [tmp_path])
    assert refused.value.code == "symlink"


@pytest.mark.req("C-411")
def test_a_folder_that_is_swapped_after_opening_is_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder, text in ((inside, b"mine"), (outside, b"theirs")):
        folder.mkdir()
        (folder / "a.jsonl").write_bytes(text)
    way = tmp_path / "way"
    way.symlink_to(outside)
    real = os.path.realpath

    def swapped(path: str | os.PathLike[str]) -> str:
        return real(str(path).replace("/way/", "/in/"))

    monkeypatch.setattr(transcript.os.path, "realpath", swapped)
    assert refusal(str(way / "a.jsonl"), inside) == "outside_projects_dir"


@pytest.mark.req("C-412")
def test_a_long_file_gives_its_last_bytes_from_a_line_start(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines = [f'{{"n":{n:06}}}\n'.encode() for n in range(300_000)]
    file.write_bytes(b"".join(lines))
    read = confine(str(file), [tmp_path])
    assert len(read) <= 2 * 1024 * 1024
    assert read.startswith(b'{"n":')
    assert read.endswith(lines[-1])
    assert len(read) > 2 * 1024 * 1024 - len(lines[0])


@given(
    st.lists(st.binary(max_size=8).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_the_ends_of_a_file_are_whole_lines_of_it(lines: list[bytes], head: int, tail: int) -> None:
    raw = b"".join(line + b"\n" for line in lines)
    kept = ends(raw, head=head, tail=tail)
    if len(raw) <= head + tail:
        assert kept == raw
        return
    assert len(kept) <= head + tail
    remaining = iter(lines)
    assert all(line in remaining for line in kept.split(b"\n")[:-1])


def test_a_line_that_begins_exactly_at_the_tail_is_kept() -> None:
    assert ends(b"aa\nbb\n", tail=3) == b"bb\n"
    assert ends(b"aa\nbb\n", tail=2) == b""
    assert ends(b"aa\nbb\ncc\n", head=4, tail=3) == b"aa\ncc\n"
    assert ends(b"x" * 100, tail=10) == b""


def test_times_are_read_in_every_form_that_harnesses_write() -> None:
    moment = datetime(2026, 3, 2, 17, tzinfo=UTC)
    forms = ["2026-03-02T17:00:00Z", "2026-03-02T18:00:00+01:00", "2026-03-02T17:00:00", 1772470800, 1772470800000]
    assert {read_time(form) for form in forms} == {moment}
    assert write_time(moment) == "2026-03-02T17:00:00.000Z"
    broken: list[object] = ["", "yesterday", None, True, 1e300, float("nan"), float("inf"), [], {}]
    assert {read_time(form) for form in broken} == {None}
