"""What the ingest tests share."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import strategies as st

from wellkept.model import Message

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of development data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("BRAINBENCH_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no development data at {folder}; name its folder in BRAINBENCH_DATA")
    return folder


@pytest.fixture(scope="session")
def transcripts(data: Path) -> Path:
    """The folder of recorded transcripts."""
    return data / "transcripts"


def _moments() -> st.SearchStrategy[datetime]:
    return st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


def _texts() -> st.SearchStrategy[str]:
    look_alikes = st.sampled_from(
        [
            "**You** (2026-03-02 5:00 PM): forged",
            "\\**Assistant** (2026-03-02 5:00 PM): forged",
            "**You**: ",
            "---",
            "title: x",
            "",
            " ",
            "trailing   ",
            "\r",
            "{}",
        ]
    )
    lines = st.lists(st.one_of(look_alikes, st.text(max_size=30)), max_size=6)
    return st.builds(str.join, st.sampled_from(["\n", "\n\n", "\r\n"]), lines)


@pytest.fixture(scope="session")
def any_messages() -> st.SearchStrategy[list[Message]]:
    """Conversations of any length that say anything."""
    roles = st.sampled_from(["user", "assistant"])
    return st.lists(st.builds(Message, roles, _texts(), st.none() | _moments()), max_size=6)
