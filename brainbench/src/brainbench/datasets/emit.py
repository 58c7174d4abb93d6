"""Writes what a generator made: fixtures, gold and MANIFEST.json with the split, the same bytes on every machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from brainbench import gold
from brainbench.corpus.manifest import Generator, Manifest, Split, Universe
from brainbench.datasets.splitmix import substream
from brainbench.errors import OutputError

HOLDOUT_RULE = "in emission order, index % 7 == 6 is holdout; a group goes where its first fixture goes"


class Made(Protocol):
    """A fixture with its gold, as a generator made it."""

    @property
    def fixture_id(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def stratum(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def group(self) -> str | None: ...
    def fixture(self) -> dict[str, Any]:
        """The script as it is stored."""

    def gold(self) -> dict[str, Any]:
        """What should happen, as it is stored."""


def write_corpus(out: Path, made: Sequence[Made], manifest: Manifest, prefix: str) -> None:
    """Write `fixtures`, `gold` and MANIFEST.json below `out`.

    Files of an earlier build, which begin with `prefix`, go. OutputError if that is not possible.
    """
    try:
        for folder in ("fixtures", "gold"):
            (out / folder).mkdir(parents=True, exist_ok=True)
            for old in (out / folder).glob(f"{prefix}-*.{folder.removesuffix('s')}.json"):
                old.unlink()
        for script in made:
            _write(out / "fixtures" / f"{script.fixture_id}.fixture.json", script.fixture())
            _write(out / "gold" / f"{script.fixture_id}.gold.json", script.gold())
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}; name a directory you may write") from None
    gold.write_manifest(out, manifest)


def manifest_of(
    name: str, generator: Generator, made: Sequence[Made], split: Split, universes: Mapping[str, Universe]
) -> Manifest:
    """What MANIFEST.json says of these fixtures; its hashes are added when it is written."""
    return Manifest(
        name=name,
        version=generator.version,
        licence="CC-BY-4.0",
        generator=generator,
        split=split,
        groups=groups(made),
        counts={
            "category": _counted(script.category for script in made),
            "stratum": _counted(script.stratum for script in made),
            "language": _counted(script.language for script in made),
        },
        universes=universes,
        canary=f"canary:{name}-corpus-{substream(generator.seed, 'corpus canary').next_u64():016x}",
    )


def split_of(made: Sequence[Made]) -> Split:
    """Which fixtures gate and which are held out, by HOLDOUT_RULE."""
    held_out: dict[str, bool] = {}
    for at, script in enumerate(made):
        held_out.setdefault(script.group or script.fixture_id, at % 7 == 6)
    sides = [(script.fixture_id, held_out[script.group or script.fixture_id]) for script in made]
    return Split(tuple(n for n, held in sides if not held), tuple(n for n, held in sides if held), HOLDOUT_RULE)


def groups(made: Sequence[Made]) -> Mapping[str, tuple[str, ...]]:
    """The fixtures of each group, in emission order."""
    found: dict[str, tuple[str, ...]] = {}
    for script in made:
        if script.group is not None:
            found[script.group] = (*found.get(script.group, ()), script.fixture_id)
    return found


def _counted(values: Iterator[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(values).items()))


def _write(path: Path, value: Mapping[str, Any]) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_bytes(text.encode())
