"""A claim is found wherever its bytes are, and its tables are told by name."""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import urllib.parse
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from brainbench.replay.images import packed, unpacked
from brainbench.suites.residue import residue

CLAIM = "Zoë's safe opens with 4471-heron"
OTHER = "The ferry office closes at six."
FORMS = ("opens with 4471-heron", CLAIM)

pytestmark = pytest.mark.req("T-1102", "T-904")


def _zipped(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.txt", data)
    return held.getvalue()


WAYS: dict[str, Callable[[str], bytes]] = {
    "utf-8": str.encode,
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "json": lambda text: json.dumps({"text": text}).encode(),
    "percent": lambda text: urllib.parse.quote(text).encode(),
    "form": lambda text: urllib.parse.quote_plus(text).encode(),
    "base64 at 0": lambda text: base64.b64encode(text.encode()),
    "base64 at 1": lambda text: base64.b64encode(b"." + text.encode()),
    "base64 at 2": lambda text: base64.b64encode(b".." + text.encode()),
    "gzip": lambda text: gzip.compress(text.encode()),
    "gzip within bytes": lambda text: b"\0\1" + gzip.compress(text.encode()) + b"tail",
    "zip": lambda text: _zipped(text.encode()),
    "gzip of base64": lambda text: gzip.compress(base64.b64encode(text.encode())),
    "lower case": lambda text: text.casefold().encode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_claim_is_found_in_bytes_however_it_is_encoded(way: str) -> None:
    told = WAYS[way](f"- {CLAIM}.\n")
    assert residue({"a.bin": b"\xff\xfe\0" + told + b"\0"}, FORMS).files == ("a.bin",)


@pytest.mark.parametrize("way", WAYS)
def test_another_claim_is_not_found(way: str) -> None:
    found = residue({"a.bin": WAYS[way](OTHER)}, FORMS)
    assert (found.files, found.count) == ((), 0)


def _database(place: Path, *statements: str) -> dict[str, bytes]:
    file = place / "memory.db"
    base = sqlite3.connect(file)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()
    return {"memory.db": file.read_bytes()}


def test_rows_are_counted_by_their_table(tmp_path: Path) -> None:
    files = _database(
        tmp_path,
        "CREATE TABLE facts (id, text)",
        "CREATE TABLE history (old)",
        f"INSERT INTO facts VALUES (1, '{OTHER}'), (2, 'It OPENS  with 4471-heron.')",
        "INSERT INTO history VALUES (CAST('it opens with 4471-heron' AS BLOB))",
    )
    found = residue(files, FORMS)
    assert found.rows == {"memory.db:facts": 1, "memory.db:history": 1}
    assert found.stores == {"facts", "history"}


def test_the_words_of_an_index_without_text_are_found(tmp_path: Path) -> None:
    files = _database(
        tmp_path,
        "CREATE VIRTUAL TABLE words USING fts5(text, content='')",
        "INSERT INTO words (rowid, text) VALUES (1, 'the safe opens with 4471-heron')",
    )
    assert residue(files, ("safe opens",)).stores == {"words"}
    assert residue(files, ("ferry office",)).stores == set()


def test_a_word_index_and_the_tables_it_keeps_itself_in_are_one_store(tmp_path: Path) -> None:
    files = _database(
        tmp_path,
        "CREATE VIRTUAL TABLE words USING fts5(text)",
        "INSERT INTO words (rowid, text) VALUES (1, 'heron')",
    )
    assert residue(files, ("heron",)).rows == {"memory.db:words": 1}


def test_deleted_rows_that_are_still_in_the_file_are_physical_residue_only(tmp_path: Path) -> None:
    filler = "x" * 200
    files = _database(
        tmp_path,
        "PRAGMA secure_delete = OFF",
        "CREATE TABLE facts (text)",
        *(f"INSERT INTO facts VALUES ('{filler} {n}')" for n in range(50)),
        f"INSERT INTO facts VALUES ('{CLAIM.replace(chr(39), chr(39) * 2)}')",
        "DELETE FROM facts WHERE text LIKE '%heron'",
    )
    found = residue(files, FORMS)
    assert (found.count, found.files) == (0, ("memory.db",))


def test_a_text_file_that_says_it_is_a_store_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "safe.md").write_text(f"# Safe\n\n{CLAIM}\n")
    (tmp_path / "log").write_text(OTHER)
    found = residue(unpacked(packed(str(tmp_path))), FORMS)
    assert (found.texts, found.count, found.stores) == (("notes/safe.md",), 1, {"notes/safe.md"})


def test_what_cannot_be_looked_into_is_told() -> None:
    found = residue({"a.db": b"SQLite format 3\0" + b"\1" * 200, "b.zst": b"\x28\xb5\x2f\xfd...."}, FORMS)
    assert [word.partition(":")[0] for word in found.unread] == ["a.db", "b.zst"]
