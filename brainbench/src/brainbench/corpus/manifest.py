"""MANIFEST.json of a corpus: what it is, what belongs to it byte for byte, and how it is split."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import rfc8785

from brainbench.corpus.files import WHOLE_FILE, file_names, parse_object, printable, read_bytes, why_unreadable
from brainbench.corpus.shape import (
    FIXTURE_ID,
    INTEGER,
    Schema,
    Shape,
    field_path,
    items,
    mapping,
    obj,
    one_of,
    or_null,
    shown,
    string,
)
from brainbench.errors import CorpusError, Fault
from brainbench.write import write_json

FILE_NAME = "MANIFEST.json"
_SHA256 = string("64 lower-case hexadecimal digits", 1, r"^[0-9a-f]{64}$")
_TEXT = string("a non-empty string", 1)
_IDS = items(FIXTURE_ID, "a list of fixture ids")
_FREE: Schema = {"description": "any value"}
_SHAPE = Shape(
    obj(
        {
            "name": string(
                "a name of letters, digits, dots, hyphens and underscores", 1, r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
            ),
            "version": _TEXT,
            "schema_version": one_of(1, 2),
            "licence": _TEXT,
            "files": mapping(_SHA256, "an object of file paths and their SHA-256"),
            "fixtures_hash": _SHA256,
        },
        {
            "generator": obj({"module": _TEXT, "version": _TEXT, "seed": INTEGER}),
            "corpus_hash": _SHA256,
            "split": obj({"gate": _IDS, "holdout": _IDS, "rule": string()}),
            "groups": mapping(_IDS, "an object of group names and their fixture ids"),
            "counts": mapping(mapping(INTEGER, "an object of numbers"), "an object of counts"),
            "universes": mapping(
                obj({"pages": INTEGER, "seed": INTEGER, "sha256": _SHA256}), "an object of universes by name"
            ),
            "canary": or_null(string()),
            "validation": _FREE,
            "expectations_hash": or_null(_SHA256),
        },
        order="name version schema_version licence generator files fixtures_hash corpus_hash split groups counts "
        "universes canary validation expectations_hash",
    )
)


@dataclass(frozen=True, slots=True)
class Split:
    """Which fixtures gate and which are held out, and by what rule."""

    gate: tuple[str, ...] = ()
    holdout: tuple[str, ...] = ()
    rule: str = ""

    def as_json(self) -> dict[str, object]:
        """The split as MANIFEST.json holds it."""
        return {"gate": list(self.gate), "holdout": list(self.holdout), "rule": self.rule}


@dataclass(frozen=True, slots=True)
class Universe:
    """A shared brain of distractor pages: how many, from which seed, and the hash of what is made."""

    pages: int
    seed: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generator:
    """What made a corpus."""

    module: str
    version: str
    seed: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a corpus says of itself. `files` maps paths below its directory to their SHA-256."""

    name: str
    version: str
    licence: str
    schema_version: Literal[1, 2] = 2
    generator: Generator | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    fixtures_hash: str = ""
    corpus_hash: str | None = None
    split: Split | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    universes: Mapping[str, Universe] = field(default_factory=dict)
    canary: str | None = None
    validation: object = None
    expectations_hash: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The manifest as MANIFEST.json holds it; what was never said is left out."""
        made: dict[str, Any] = {
            "name": self.name,
            "version": self.version,
            "schema_version": self.schema_version,
            "licence": self.licence,
        }
        if self.generator is not None:
            g = self.generator
            made["generator"] = {"module": g.module, "version": g.version, "seed": g.seed}
        made |= {"files": dict(sorted(self.files.items())), "fixtures_hash": self.fixtures_hash}
        optional: dict[str, Any] = {
            "corpus_hash": self.corpus_hash,
            "split": None if self.split is None else self.split.as_json(),
            "groups": {name: list(ids) for name, ids in self.groups.items()} or None,
            "counts": {name: dict(counts) for name, counts in self.counts.items()} or None,
            "universes": {
                name: {"pages": u.pages, "seed": u.seed, "sha256": u.sha256} for name, u in self.universes.items()
            }
            or None,
            "canary": self.canary,
            "validation": self.validation,
            "expectations_hash": self.expectations_hash,
        }
        return made | {key: value for key, value in optional.items() if value is not None}


def read_manifest(directory: Path) -> Manifest:
    """The MANIFEST.json in a corpus directory, its fields checked but not yet its files. CorpusError if it is unfit."""
    try:
        raw = read_bytes(directory / FILE_NAME)
    except OSError as error:
        raise CorpusError([Fault(FILE_NAME, WHOLE_FILE, why_unreadable(error, "file"))]) from None
    value, _ = parse_object(raw, FILE_NAME)
    if findings := _SHAPE.findings(value):
        raise CorpusError(f.fault(FILE_NAME) for f in findings)
    return _built(value)


def save(directory: Path, manifest: Manifest) -> None:
    """Write MANIFEST.json whole or not at all. OutputError if that is not possible."""
    write_json(directory / FILE_NAME, manifest.as_json())


def corpus_hash(fixtures_hash: str, universes: Mapping[str, Universe], split: Split) -> str:
    """SHA-256 (hex) over `fixtures_hash`, one line `<name> <pages> <seed> <sha256>` per universe by name, and the
    split as canonical JSON; each followed by a newline."""
    lines = [f"{name} {u.pages} {u.seed} {u.sha256}" for name, u in sorted(universes.items())]
    text = "".join(f"{line}\n" for line in (fixtures_hash, *lines))
    return hashlib.sha256(text.encode() + rfc8785.dumps(_json(split.as_json())) + b"\n").hexdigest()


def file_faults(manifest: Manifest, directory: Path, folder: str, suffix: str) -> list[Fault]:
    """Where what is listed under one folder and what is present there differ, by path or by content."""
    listed = {path: digest for path, digest in manifest.files.items() if path.startswith(f"{folder}/")}
    try:
        present = {f"{folder}/{printable(name)}" for name in file_names(directory / folder, suffix)}
    except OSError:
        present = set()
    faults = [
        Fault(FILE_NAME, field_path(("files", path)), "missing; the file is present, so list it or remove it")
        for path in sorted(present - listed.keys())
    ]
    return faults + listed_faults(directory, listed)


def listed_faults(directory: Path, listed: Mapping[str, str]) -> list[Fault]:
    """The listed files that are absent or have another content."""
    faults: list[Fault] = []
    for path, digest in sorted(listed.items()):
        name = field_path(("files", path))
        parts = PurePosixPath(path).parts
        if PurePosixPath(path).is_absolute() or ".." in parts or "\\" in path or not parts:
            faults.append(Fault(FILE_NAME, name, "leads out of the corpus; needs a path below its directory"))
            continue
        try:
            seen = hashlib.sha256(read_bytes(directory / path)).hexdigest()
        except (OSError, ValueError) as error:
            why = why_unreadable(error, "file") if isinstance(error, OSError) else "is no file name"
            faults.append(Fault(FILE_NAME, name, f"listed, but {why}"))
            continue
        if seen != digest:
            faults.append(Fault(FILE_NAME, name, f"the file has SHA-256 {seen}, listed is {digest}; restore the file"))
    return faults


def split_faults(manifest: Manifest, known: Sequence[str], native: Sequence[str]) -> list[Fault]:
    """Where the split and the fixtures differ. `known` are all fixture ids, `native` those that must be in it."""
    if manifest.split is None:
        return []
    sides = {"gate": manifest.split.gate, "holdout": manifest.split.holdout}
    faults = [
        Fault(FILE_NAME, f"split.{side}[{i}]", f"{shown(name)} is no fixture of this corpus")
        for side, ids in sides.items()
        for i, name in enumerate(ids)
        if name not in known
    ]
    both = set(sides["gate"]) & set(sides["holdout"])
    faults += [
        Fault(FILE_NAME, "split", f'"{name}" is in gate and in holdout; needs to be in one') for name in sorted(both)
    ]
    absent = set(native) - set(sides["gate"]) - set(sides["holdout"])
    faults += [Fault(FILE_NAME, "split", f'"{name}" is in neither gate nor holdout') for name in sorted(absent)]
    return faults + _torn_groups(manifest, set(sides["gate"]), set(sides["holdout"]))


def universe_faults(manifest: Manifest, played_in: Mapping[str, str]) -> list[Fault]:
    """The fixture files that are played in a universe which the manifest does not list; `played_in` maps file to it."""
    known = ", ".join(sorted(manifest.universes)) or "none"
    return [
        Fault(file, "universe", f"{shown(name)} is no universe of {FILE_NAME}; it lists {known}")
        for file, name in sorted(played_in.items())
        if name not in manifest.universes
    ]


def _torn_groups(manifest: Manifest, gate: set[str], holdout: set[str]) -> list[Fault]:
    return [
        Fault(FILE_NAME, field_path(("groups", name)), "is torn between gate and holdout; a group moves together")
        for name, ids in manifest.groups.items()
        if gate & set(ids) and holdout & set(ids)
    ]


def _built(value: Mapping[str, Any]) -> Manifest:
    split, generator = value.get("split"), value.get("generator")
    return Manifest(
        name=value["name"],
        version=value["version"],
        licence=value["licence"],
        schema_version=2 if value["schema_version"] == 2 else 1,
        generator=None
        if generator is None
        else Generator(generator["module"], generator["version"], int(generator["seed"])),
        files=value["files"],
        fixtures_hash=value["fixtures_hash"],
        corpus_hash=value.get("corpus_hash"),
        split=None if split is None else Split(tuple(split["gate"]), tuple(split["holdout"]), split["rule"]),
        groups={name: tuple(ids) for name, ids in value.get("groups", {}).items()},
        counts={name: {k: int(n) for k, n in c.items()} for name, c in value.get("counts", {}).items()},
        universes={
            name: Universe(int(u["pages"]), int(u["seed"]), u["sha256"])
            for name, u in value.get("universes", {}).items()
        },
        canary=value.get("canary"),
        validation=value.get("validation"),
        expectations_hash=value.get("expectations_hash"),
    )


def _json(value: object) -> Any:
    return json.loads(json.dumps(value))
