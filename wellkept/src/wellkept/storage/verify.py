"""Looks for what a purge should have taken out, knowing nothing of how it was done.

It opens the file by itself, reads the schema as it is, every text in every table, and then the bytes of every file of
the memory. It shares no code with what forgets, and has its own idea of when two texts say the same.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

FRAGMENT = 6
"""So many characters of a rare word are looked for among the bytes."""
MOST_FRAGMENTS = 4
_MOST_ASKED = 200
_LARGEST_NOTE = 64 * 1024 * 1024
_LEAST_WORDS = 3
_ALIKE = dict(zip(map(ord, "аәвгеёзіїјкӏмнорстуүхһьѕԁԛԝαβγεηικμνορτυχωϲϳօսհցոզɑɡıȷʟɪᴀᴏᴜᴠᴡᴢ"),
                  "aabreeziijklmhopctyyxhbsdqwabyenikuvoptuxwcjouhgnqagijliaouvwz", strict=True))  # fmt: skip
_IGNORED = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


@dataclass(frozen=True, slots=True)
class Needles:
    """What is looked for in which source (None: in all): claims, and spellings of them that were found."""

    source: str | None
    claims: Sequence[str]
    spellings: Sequence[str] = ()


@dataclass(slots=True)
class Seen:
    """What was found: `left` counts texts by "table.column", `bytes_left` the files that hold a fragment.

    `notes_left` are the Markdown files that hold a claim; they count in `left` as "files".
    """

    left: Counter[str] = field(default_factory=Counter)
    notes_left: tuple[str, ...] = ()
    bytes_left: tuple[str, ...] = ()
    texts_read: int = 0
    bytes_read: int = 0


def look_for(database: Path | bytes, folder: Path | None, needles: Needles, notes: Sequence[Path] = ()) -> Seen:
    """Read every text of the database, then every byte of the files of the folder, then the Markdown below `notes`.

    A fragment that other texts hold rightly, as those of another source, says nothing and is not looked for.
    """
    seen = Seen()
    wanted = [plain for claim in needles.claims if (plain := plainly(claim))]
    fragments = _fragments((*needles.claims, *needles.spellings))
    connection = _open(database)
    try:
        pages = dict(connection.execute("SELECT id, source FROM pages"))
        for table, columns in _tables(connection).items():
            asked = [max(plain.split(), key=len) for plain in wanted] + [one.lower() for one in fragments]
            for source, column, text in _texts(connection, table, columns, asked, pages, seen):
                lower = text.lower()
                fragments = [one for one in fragments if one.lower() not in lower]
                if (needles.source is None or source in (None, needles.source)) and _holds(text, wanted):
                    seen.left[f"{table}.{column}"] += 1
    finally:
        connection.close()
    looked = _forms(fragments)
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder is not None else []
    seen.bytes_left = tuple(str(path) for path in files if _bytes_hold(path, looked, seen))
    seen.notes_left = tuple(str(path) for place in notes for path in _notes(place) if _note_holds(path, wanted, seen))
    if seen.notes_left:
        seen.left["files"] = len(seen.notes_left)
    return seen


def _notes(place: Path) -> Iterator[Path]:
    """Every Markdown file, hidden ones too; what a version control keeps for itself is no note."""
    for found in sorted(place.rglob("*")):
        if found.suffix.lower() == ".md" and ".git" not in found.parts and found.is_file() and not found.is_symlink():
            yield found


def _note_holds(path: Path, wanted: Sequence[str], seen: Seen) -> bool:
    try:
        if path.stat().st_size > _LARGEST_NOTE:
            return True
        raw = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True  # nobody can say what is in it
    seen.texts_read += 1
    seen.bytes_read += len(raw)
    return _holds(raw.decode("utf-8", "replace"), wanted)


def plainly(text: str) -> str:
    """The words of a text as they read, with a blank between them.

    >>> plainly("Ａda’s ZERO\\u200bwidth 東京")
    'ada s zerowidth 東 京'
    """
    if text.isascii():
        return " ".join(re.findall(r"[a-z0-9]+", text.lower()))
    composed = unicodedata.normalize("NFKC", text)
    shown = "".join(char for char in composed if not _is_unseen(char))
    folded = unicodedata.normalize("NFKC", shown.casefold()).translate(_ALIKE)
    return " ".join("".join(_spaced(folded)).split())


def _is_unseen(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) == "Cf"
        or char in _IGNORED
        or 0xFE00 <= code <= 0xFE0F
        or 0x180B <= code <= 0x180F
        or 0xE0100 <= code <= 0xE01EF
    )


def _spaced(text: str) -> Iterator[str]:
    alone = False
    for char in text:
        kind = unicodedata.category(char)
        if kind[0] == "M":
            yield char
            continue
        before, alone = alone, _stands_alone(char)
        if kind[0] not in "LN" and kind != "Co":
            yield " "
        else:
            yield f" {char}" if alone or before else char


# Thai and Lao, Myanmar, Khmer, kana, Han.
_ALONE = (range(0xE00, 0xF00), range(0x1000, 0x10A0), range(0x1780, 0x1800), range(0x3040, 0x3100),
          range(0x31F0, 0x3200), range(0x3400, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x40000))  # fmt: skip


def _stands_alone(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" and any(ord(char) in block for block in _ALONE)


def _holds(text: str, wanted: Sequence[str]) -> bool:
    """Whether one of the claims stands in the text; one of a word or two only if it is all of the text."""
    said = plainly(_unescaped(text))
    return any(
        f" {claim} " in f" {said} " if claim.count(" ") + 1 >= _LEAST_WORDS else claim == said for claim in wanted
    )


def _unescaped(text: str) -> str:
    """What JSON says, where a text is that."""
    if text[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text + " " + " ".join(_leaves(value))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for pair in value.items():
            for part in pair:
                yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, str):
        yield value


def _fragments(texts: Iterable[str]) -> list[str]:
    """Beginnings and ends of the longest words, as they are written."""
    words = {word for text in texts for word in re.findall(rf"\w{{{FRAGMENT},}}", text)}
    longest = sorted(words, key=lambda word: (-len(word), word))
    return list(dict.fromkeys(end for word in longest for end in (word[:FRAGMENT], word[-FRAGMENT:])))[:MOST_FRAGMENTS]


def _forms(fragments: Sequence[str]) -> list[bytes]:
    """The fragments as they are written and, as a word index has them, in small letters."""
    forms = dict.fromkeys(form for one in fragments for form in (one, one.lower()))
    return [form.encode("utf-8", "surrogatepass") for form in forms]


def _open(database: Path | bytes) -> apsw.Connection:
    if isinstance(database, bytes):
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", database)
        return connection
    return apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)


def _tables(connection: apsw.Connection) -> Mapping[str, Sequence[str]]:
    """Every ordinary table with its columns. A word index keeps its words in blobs, which are read as bytes."""
    rows = connection.execute(
        "SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c "
        "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid"
    )
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(str(table), []).append(str(column))
    return tables


def _texts(
    connection: apsw.Connection,
    table: str,
    columns: Sequence[str],
    asked: Sequence[str],
    pages: Mapping[object, object],
    seen: Seen,
) -> Iterator[tuple[object, str, str]]:
    """The texts that may hold one of the words: source (None where that cannot be told), column, text.

    A text with other than ASCII letters may hold them in another spelling, so that all of those are given.
    """
    owner = next((column for column in ("source", "page_id") if column in columns), "NULL")
    # SQLite reads no condition of more parts than some hundred; then every text is looked at.
    asked = asked if len(asked) <= _MOST_ASKED else ()
    may = " OR ".join(
        ["octet_length({0}) <> length({0})" if asked else "1", *(f"{{0}} LIKE ?{n + 1}" for n in range(len(asked)))]
    )
    for column in columns:
        name = f'"{column}"'
        ((count,),) = connection.execute(f"SELECT count(*) FROM \"{table}\" WHERE typeof({name}) = 'text'")  # noqa: S608
        seen.texts_read += int(str(count))
        sql = f"SELECT {owner}, {name} FROM \"{table}\" WHERE typeof({name}) = 'text' AND ({may.format(name)})"  # noqa: S608
        for whose, text in connection.execute(sql, tuple(f"%{one}%" for one in asked)):
            yield (pages.get(whose) if owner == "page_id" else whose), column, str(text)


def _bytes_hold(path: Path, looked: Sequence[bytes], seen: Seen) -> bool:
    try:
        size = os.path.getsize(path)
        seen.bytes_read += size
        if not size:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            return any(held.find(one) >= 0 for one in looked)
    except FileNotFoundError:
        return False  # it went while we looked: a lock, an empty log
    except (OSError, ValueError):
        return True  # nobody can say what is in it
