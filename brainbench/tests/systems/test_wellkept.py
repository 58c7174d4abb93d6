from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from brainbench.model import PageIn, RunContext
from brainbench.systems.wellkept import Wellkept

from ..conftest import page


def test_a_closed_memory_leaves_nothing_on_disk(
    run: RunContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    system = Wellkept()
    system.open(run)
    system.tell_time("2026-01-01T00:00:00Z")
    system.write_page(PageIn("default", "people/ada-lovelace", page("Ada Lovelace")))
    assert list(place.iterdir())
    system.close()
    assert list(place.iterdir()) == []
