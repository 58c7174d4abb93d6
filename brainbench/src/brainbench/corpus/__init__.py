"""Read, validate, hash and split fixtures. Nothing here knows gold.

`read` gives the scripts of a directory; `scan` the same as findings, for those who report faults of several places
at once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from brainbench.corpus.checks import Findings, fixture_findings, fixture_id, fixture_warnings
from brainbench.corpus.files import Document, read_directory
from brainbench.corpus.formats import is_native
from brainbench.corpus.manifest import (
    FILE_NAME,
    Generator,
    Manifest,
    Split,
    Universe,
    corpus_hash,
    file_faults,
    read_manifest,
    split_faults,
    universe_faults,
)
from brainbench.corpus.scripts import scripts
from brainbench.errors import CorpusError, Fault, NothingMeasured, UsageError
from brainbench.model import Fixture

__all__ = [
    "SUFFIX",
    "Corpus",
    "Document",
    "Generator",
    "Manifest",
    "Scan",
    "Split",
    "Universe",
    "corpus_hash",
    "find",
    "installed",
    "opaque_id",
    "read",
    "read_manifest",
    "scan",
    "script_hash",
]
SUFFIX = ".fixture.json"
CHECKOUT = Path(__file__).resolve().parents[4]
"""The repository, where the bench is installed from a checkout of it."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The scripts of one directory, by file.

    `fixtures` leaves the holdout out unless it was asked for; `documents` are all fixture files, holdout included,
    as they were read.
    """

    directory: Path
    fixtures: tuple[Fixture, ...]
    documents: tuple[Document, ...]
    warnings: tuple[Fault, ...] = ()
    held_out: int = 0
    """Scripts of the holdout, whether or not they are in `fixtures`."""
    manifest: Manifest | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found in a directory of fixtures. With any fault in it, it cannot be played."""

    directory: Path
    names: tuple[str, ...]
    documents: tuple[Document, ...]
    findings: Findings
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    manifest: Manifest | None = None

    def all_faults(self) -> tuple[Fault, ...]:
        """Everything wrong, by file and then in the order of the checks."""
        found = [*self.faults, *in_order(self.findings)]
        return tuple(sorted(found, key=lambda f: f.file))


def read(fixtures_dir: Path, *, include_holdout: bool, seen: Scan | None = None) -> Corpus:
    """The scripts in a directory of `*.fixture.json` files, v1 and native alike; gold is not needed.

    With `seen` those that were found there before. CorpusError carries every fault at once. NothingMeasured if no
    script is left to play.
    """
    seen = seen or scan(fixtures_dir)
    if faults := seen.all_faults():
        raise CorpusError(faults)
    held_out = frozenset(seen.manifest.split.holdout if seen.manifest and seen.manifest.split else ())
    every = scripts(seen.documents, held_out)
    chosen = tuple(f for f in every if include_holdout or not f.holdout)
    if not every:
        raise NothingMeasured(f"{fixtures_dir}: no *{SUFFIX} file directly inside; name the directory that holds them")
    if not chosen:
        raise NothingMeasured(
            f"{fixtures_dir}: all {len(every)} fixtures are holdout; add --include-holdout to play them"
        )
    count = sum(f.holdout for f in every)
    return Corpus(fixtures_dir, chosen, seen.documents, seen.warnings, count, seen.manifest)


def scan(fixtures_dir: Path) -> Scan:
    """Everything that can be said about a directory of fixtures without reading gold; raises nothing."""
    listing = read_directory(fixtures_dir, SUFFIX)
    findings = fixture_findings(listing.documents)
    warnings = list(listing.warnings)
    for document in listing.documents:
        warnings.extend(w.fault(document.file) for w in fixture_warnings(document.value))
    manifest, faults = _manifest_beside(fixtures_dir, listing.documents)
    return Scan(
        directory=fixtures_dir,
        names=listing.names,
        documents=listing.documents,
        findings=findings,
        faults=(*listing.faults, *faults),
        warnings=tuple(sorted(warnings, key=lambda w: w.file)),
        manifest=manifest,
    )


def in_order(findings: Findings) -> tuple[Fault, ...]:
    """Findings as faults, by file and then in the order of the checks."""
    return tuple(
        finding.fault(file) for file in sorted(findings) for finding in sorted(findings[file], key=lambda f: f.rank)
    )


def script_hash(corpus: Corpus) -> str:
    """SHA-256 (hex) over the fixture files alone, holdout included: replay needs no gold to know it."""
    digest = hashlib.sha256()
    for document in corpus.documents:
        digest.update(f"fixtures/{document.file}\n".encode())
        digest.update(document.raw)
    return digest.hexdigest()


def opaque_id(fixture: Fixture, seed: int, script_hash: str, place: str = "") -> str:
    """The name under which a system meets a fixture in one place: 32 hex digits that tell nothing about it.

    Another place gives another name, so that what was seen in one seam cannot be looked up by name in the next.
    """
    key = hashlib.sha256(f"{seed}\n{script_hash}\n{place}".encode()).digest()
    return hmac.new(key, fixture.fixture_id.encode(), hashlib.sha256).hexdigest()[:32]


def find(name: str) -> Path:
    """The directory of a corpus by name: `corpus/<name>` here or in a parent directory, else the bundled one.

    UsageError lists the names that were found.
    """
    places = corpus_places()
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        for place in places:
            if os.path.isfile(place / name / FILE_NAME):
                return place / name
    known = (
        ", ".join(sorted({directory.name for directory in installed()}))
        or "none; name a corpus with --fixtures DIR --gold DIR"
    )
    raise UsageError(f"--corpus: unknown corpus {name!r}; found: {known}")


def installed() -> tuple[Path, ...]:
    """The directories of all corpora that `find` knows, nearest first."""
    return tuple(entry.parent for place in corpus_places() for entry in sorted(place.glob(f"*/{FILE_NAME}")))


def corpus_places() -> Sequence[Path]:
    """The directories in which corpora are looked for, nearest first."""
    here = Path.cwd()
    places = [directory / "corpus" for directory in (here, *here.parents)]
    return [*places, shipped("", "corpus")]


def shipped(in_wheel: str, in_checkout: str) -> Path:
    """The directory that comes with the bench: inside its package, or in the checkout that it was installed from."""
    bundled = Path(str(resources.files("brainbench"))) / "bundled"
    return bundled / in_wheel if bundled.is_dir() else CHECKOUT / in_checkout


def _manifest_beside(fixtures_dir: Path, documents: Sequence[Document]) -> tuple[Manifest | None, tuple[Fault, ...]]:
    directory = fixtures_dir.absolute().parent
    if fixtures_dir.absolute().name != "fixtures" or not (directory / FILE_NAME).exists():
        return None, ()
    native = [d for d in documents if is_native(d.value)]
    try:
        manifest = read_manifest(directory)
    except CorpusError as error:
        return None, error.faults if native else ()
    ids = [name for d in documents if (name := fixture_id(d.value)) is not None]
    must = [name for d in native if (name := fixture_id(d.value)) is not None]
    faults = [*file_faults(manifest, directory, "fixtures", SUFFIX), *split_faults(manifest, ids, must)]
    played_in = {d.file: d.value["universe"] for d in native if isinstance(d.value.get("universe"), str)}
    return manifest, (*faults, *universe_faults(manifest, played_in))
