"""Result files are written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import signal
import stat
import sys
from pathlib import Path
from subprocess import PIPE, Popen, run
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainbench.errors import OutputError
from brainbench.write import to_json, to_line, write_json, write_text

AS_A_PROGRAM = """
import resource, sys
from brainbench.errors import OutputError
from brainbench.write import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_text(sys.argv[1], "x" * 100_000)
except OutputError as error:
    print(error)
"""
INTERRUPTED = """
import os, sys
from brainbench import write
def stop(descriptor):
    print("writing", flush=True)
    sys.stdin.read()
os.fsync = stop
write.write_text(sys.argv[1], "new")
"""


@pytest.mark.req("C-001", "C-113")
def test_a_document_is_utf8_indented_by_two_with_a_final_newline(tmp_path):
    file = tmp_path / "result.json"
    write_json(file, {"b": [1, "ö漢"], "a": None})
    assert file.read_bytes() == '{\n  "b": [\n    1,\n    "ö漢"\n  ],\n  "a": null\n}\n'.encode()


@pytest.mark.req("C-113")
@given(st.dictionaries(st.text(), st.text() | st.just("\ud800") | st.integers() | st.none()))
def test_a_line_is_one_line_and_reads_back(document):
    line = to_line(document)
    assert line.count("\n") == 1
    assert line.endswith("\n")
    assert json.loads(line) == json.loads(to_json(document)) == document
    assert json.loads(to_json(document).encode()) == document


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@pytest.mark.req("C-113")
@given(NESTED)
def test_a_document_is_indented_as_the_standard_library_does_it(document):
    assert to_json(document) == json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.req("C-001")
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused_and_nothing_is_written(tmp_path, number):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "result.json", {"rate": number})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("C-113")
def test_an_old_file_is_replaced_with_its_permissions_and_through_a_link(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert real.read_text() == "new"
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "f", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


@pytest.mark.req("C-113")
def test_a_full_disk_leaves_the_old_file_and_no_debris(tmp_path):
    file = tmp_path / "result.json"
    file.write_text("old")
    done = run([sys.executable, "-c", AS_A_PROGRAM, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{file}: cannot be written: the file would exceed the size limit")
    assert done.stderr == ""
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.req("C-113")
def test_ctrl_c_leaves_the_old_file_and_no_debris(tmp_path):
    file = tmp_path / "result.json"
    file.write_text("old")
    with Popen([sys.executable, "-c", INTERRUPTED, str(file)], stdin=PIPE, stdout=PIPE, stderr=PIPE) as writer:
        assert writer.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        writer.send_signal(signal.SIGINT)
        assert writer.wait(30) != 0
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_device_is_named_with_the_remedy():
    for device in Path("/dev").glob("full"):
        with pytest.raises(OutputError, match=f"{device}: cannot be written: the disk is full: free some space"):
            write_text(device, "text")


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/result.json", "directory .*/missing does not exist: create it"),
        ("folder", "is a directory: name a file in it"),
        ("new/", "directory .* does not exist|names a directory that does not exist"),
        ("file/result.json", "does not exist"),
        ("n" * 300, "the name is too long"),
        ("nul\0byte", "choose another file"),
        ("loop", "circle of symbolic links|does not exist"),
    ],
)
def test_a_place_that_cannot_be_written_is_named_with_the_remedy(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OutputError, match=reason) as caught:
        write_text(f"{tmp_path}/{name}", "text")
    assert name.split("\0")[0].rstrip("/") in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_name_is_refused():
    with pytest.raises(OutputError, match="name a file"):
        write_text("", "text")


@pytest.mark.parametrize("protected", ["folder", "folder/result.json"])
def test_what_is_not_writable_is_named_with_the_remedy(protected):
    program = AS_A_PROGRAM.replace("resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))", BECOME_NOBODY)
    with TemporaryDirectory() as place:
        file = Path(place, "folder", "result.json")
        file.parent.mkdir()
        file.write_text("old")
        for path, mode in ((Path(place), 0o755), (file.parent, 0o755), (file, 0o644)):
            path.chmod(mode & ~0o222 if path == Path(place, protected) else mode)
        done = run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False)
        assert done.stdout == (
            f"{file}: cannot be written: permission denied: make the file and its directory writable or choose "
            "another file\n"
        ), done.stderr
        assert file.read_text() == "old"
        file.parent.chmod(0o755)


BECOME_NOBODY = """
import os
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""
