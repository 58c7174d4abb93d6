"""Where a claim stands in the files of a memory: in rows of tables, in words of an index, in bytes however encoded.

It reads what the files hold and trusts nothing that the memory says. Nothing is ever unpickled or run.
"""

from __future__ import annotations

import base64
import io
import json
import sqlite3
import tempfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from brainbench.suites.matching import plain

SQLITE = b"SQLite format 3\0"
MOST_INFLATED = 64 << 20
_LAYERS = 3
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b\x08"
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Residue:
    """What holds a claim: rows by `file:table`, files that hold it as plain text, and files that hold it in any way.

    `unread` are files, or parts of them, that could not be looked into.
    """

    rows: Mapping[str, int]
    texts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Rows and text files."""
        return sum(self.rows.values()) + len(self.texts)

    @property
    def stores(self) -> frozenset[str]:
        """Every table and file by its name."""
        return frozenset({place.rpartition(":")[2] for place in self.rows} | set(self.texts))


def residue(files: Mapping[str, bytes], forms: Sequence[str]) -> Residue:
    """Where one of these forms of a claim stands in these files."""
    wanted = tuple(filter(None, map(plain, forms)))
    needles = _needles(forms)
    rows: dict[str, int] = {}
    texts: list[str] = []
    held: list[str] = []
    unread: list[str] = []
    for name, data in files.items():
        layers = list(_layers(data, unread, name))
        if any(needle in layer for layer in layers for needle in needles):
            held.append(name)
        if data.startswith(SQLITE):
            wal = files.get(f"{name}-wal", b"")
            rows |= {f"{name}:{table}": n for table, n in _tables(data, wal, wanted, unread, name).items()}
        elif not name.endswith(("-wal", "-shm", "-journal")) and _says(_text(data), wanted):
            texts.append(name)
    return Residue(rows, tuple(texts), tuple(held), tuple(dict.fromkeys(unread)))


def _says(text: str | None, wanted: Sequence[str]) -> bool:
    if not text:
        return False
    said = plain(text)
    return any(form in said for form in wanted)


def _text(data: bytes) -> str | None:
    """A file as text, if it is one."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


# -- bytes


def _needles(forms: Iterable[str]) -> frozenset[bytes]:
    """The bytes that a form may be: by encoding, escaping, and in base64 from each of three places."""
    found: set[bytes] = set()
    for form in filter(None, dict.fromkeys((*forms, *(form.casefold() for form in forms)))):
        raw = form.encode("utf-8", "surrogatepass")
        found |= {raw, form.encode("utf-16-le", "surrogatepass"), form.encode("utf-16-be", "surrogatepass")}
        escaped = json.dumps(form)[1:-1].encode()
        quoted = urllib.parse.quote(form, safe="").encode()
        found |= {escaped, escaped.replace(b"\\u", b"\\\\u"), quoted, quoted.replace(b"%20", b"+")}
        found |= set(_base64(raw))
    return frozenset(needle for needle in found if len(needle) >= _FEWEST_WORDS)


def _base64(raw: bytes) -> Iterator[bytes]:
    """The characters that hold these bytes alone, wherever within three bytes they begin."""
    for lead in range(3):
        coded = base64.b64encode(b"\0" * lead + raw)
        start, end = (0, 2, 3)[lead], (len(raw) + lead) // 3 * 4
        if end - start >= 8:
            yield coded[start:end]
            yield coded[start:end].translate(bytes.maketrans(b"+/", b"-_"))


def _layers(data: bytes, unread: list[str], name: str, depth: int = 0) -> Iterator[bytes]:
    """The bytes themselves, and what is packed in them."""
    yield data
    if depth == _LAYERS:
        return
    if _ZSTD in data:
        unread.append(f"{name}: holds zstd, which is not opened here")
    for start in _starts(data, _GZIP):
        yield from _layers(_inflated(data[start:]), unread, name, depth + 1)
    if b"PK\x03\x04" in data:
        for member in _members(data):
            yield from _layers(member, unread, name, depth + 1)


def _members(archive: bytes) -> Iterator[bytes]:
    """What is in a zip file, as far as it can be read without a key."""
    broken = (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, zlib.error)
    with suppress(*broken), zipfile.ZipFile(io.BytesIO(archive)) as packed:
        for member in packed.namelist():
            with packed.open(member) as stream:
                yield stream.read(MOST_INFLATED)


def _inflated(data: bytes) -> bytes:
    """What a gzip stream holds, also of one that is cut or followed by something else, but no bomb."""
    with suppress(zlib.error):
        return zlib.decompressobj(31).decompress(data, MOST_INFLATED)
    return b""


def _starts(data: bytes, mark: bytes) -> Iterator[int]:
    at = data.find(mark)
    while at != -1:
        yield at
        at = data.find(mark, at + 1)


# -- tables


def _tables(data: bytes, wal: bytes, wanted: Sequence[str], unread: list[str], name: str) -> dict[str, int]:
    """How many rows of each table of a database hold one of the forms; of a word index, whether its words do."""
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "copy.db"
        file.write_bytes(data)
        if wal:
            Path(f"{file}-wal").write_bytes(wal)
        try:
            with closing(sqlite3.connect(file)) as base:
                base.text_factory = lambda raw: raw.decode("utf-8", "replace")
                base.execute("PRAGMA trusted_schema=OFF")
                _readable(base)
                listed = base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
                indexes = [table for table, sql in listed if "fts5" in str(sql).casefold()]
                for table, sql in listed:
                    n = _rows(base, table, wanted, unread, name) or _words(base, table, sql or "", wanted)
                    whole = next((index for index in indexes if _is_shadow(table, index)), table)
                    if n:
                        found[whole] = max(n, found.get(whole, 0))
        except sqlite3.Error as error:
            unread.append(f"{name}: {error}")
    return found


def _is_shadow(table: str, index: str) -> bool:
    """Whether a table is one of those in which a word index keeps itself."""
    return table.removeprefix(index) in ("_data", "_idx", "_content", "_docsize", "_config")


def _readable(base: sqlite3.Connection) -> None:
    """Let an older library read word indexes that a newer one wrote: what was securely deleted is all that differs."""
    configs = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '*_config'").fetchall()
    for (name,) in configs:
        quoted = str(name).replace('"', '""')
        with suppress(sqlite3.Error):
            base.execute(f"UPDATE \"{quoted}\" SET v = 4 WHERE k = 'version' AND v = 5")  # noqa: S608 - of a copy
    base.commit()


def _rows(base: sqlite3.Connection, table: str, wanted: Sequence[str], unread: list[str], name: str) -> int:
    quoted = table.replace('"', '""')
    try:
        rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name of the file's own schema
        return sum(any(_says(_cell(cell), wanted) for cell in row) for row in rows)
    except sqlite3.Error as error:
        if "no such module" not in str(error):
            unread.append(f"{name}:{table}: {error}")
        return 0


def _cell(cell: object) -> str | None:
    if isinstance(cell, str):
        return cell
    return _text(cell) if isinstance(cell, bytes) else None


def _words(base: sqlite3.Connection, table: str, sql: str, wanted: Sequence[str]) -> int:
    """1 where one row of a word index without text of its own still has every word of a form."""
    if "fts5" not in sql.casefold():
        return 0
    quoted = table.replace("'", "''")
    try:
        base.execute(f"CREATE VIRTUAL TABLE temp.bench_words USING fts5vocab('main', '{quoted}', 'instance')")
    except sqlite3.Error:
        return 0
    try:
        at: dict[str, set[object]] = {}
        needed = {word for form in wanted for word in form.split()}
        for term, doc in base.execute("SELECT DISTINCT term, doc FROM temp.bench_words"):
            word = plain(str(term))
            if word in needed:
                at.setdefault(word, set()).add(doc)
        docs = [set.intersection(*(at.get(w, set()) for w in form.split())) for form in wanted if form.split()]
        return max(map(len, docs), default=0)
    except sqlite3.Error:
        return 0
    finally:
        with suppress(sqlite3.Error):
            base.execute("DROP TABLE temp.bench_words")
