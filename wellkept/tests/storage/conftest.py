"""Files as earlier versions left them: what each step of the schema added is taken away again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import apsw
import pytest

from wellkept.storage.schema import migrations
from wellkept.storage.sealing import guards

_SEALS = next(step.number for step in migrations() if step.name == "0016_seals.sql")
UNDO: Mapping[int, Sequence[str]] = {
    _SEALS: (
        *(f"DROP TRIGGER {name}" for name in guards()),
        "DROP TRIGGER trust_key_removed",
        "DROP TABLE heads",
        "DROP TABLE seals",
    ),
    15: (
        *(f"DROP INDEX facts_{name}" for name in ("of_slot", "not_open", "identity")),
        *(f"ALTER TABLE facts DROP COLUMN {name}" for name in ("attribute", "replaces", "told_until")),
        "CREATE UNIQUE INDEX facts_identity ON facts (source, ifnull(session_page, ''), text_hash, ifnull(entity, '')) "
        "WHERE status = 'active'",
    ),
    14: ("DROP TABLE cursors", "DROP TABLE folder_files", "DROP TABLE folders"),
    13: tuple(f"DROP INDEX {name}" for name in ("statements_placed", "pages_in_reach")),
    12: ("DROP TABLE holds", "DROP TABLE modes", "DROP INDEX journal_of_writer"),
    11: ("ALTER TABLE pages DROP COLUMN flags", "ALTER TABLE facts DROP COLUMN flags"),
    10: tuple(f"DROP TABLE {name}" for name in ("tombstones", "purges", "trust_key")),
    9: (
        "DROP TABLE fact_signs",
        "DROP TABLE fact_vectors",
        "DROP INDEX facts_to_embed",
        "ALTER TABLE facts DROP COLUMN embedded",
    ),
    8: ("DROP TRIGGER chunk_removed", "ALTER TABLE clock DROP COLUMN cleared"),
    7: ("DROP TABLE statements_fts", "DROP TABLE statements"),
    6: ("ALTER TABLE journal DROP COLUMN actor",),
    5: ("ALTER TABLE chunks DROP COLUMN answer",),
    4: (
        "DROP TABLE facts_fts",
        "DROP TABLE written_fts",
        "DROP VIEW written_searched",
        *(f"DROP INDEX facts_{name}" for name in ("of_session", "told_in", "by_age", "by_validity")),
    ),
}
"""A step -> what takes away what it added, the newest step first."""


@pytest.fixture
def take_back() -> Callable[[Path, int], None]:
    """Makes a file what it was before a step and all later ones."""

    def back(path: Path, step: int) -> None:
        connection = apsw.Connection(str(path))
        for number, statements in UNDO.items():
            for statement in statements if number >= step else ():
                list(connection.execute(statement))
        list(connection.execute("DELETE FROM schema_version WHERE version >= ?", (step,)))
        connection.close()

    return back
