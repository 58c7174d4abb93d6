"""Sealed: what should have happened. Read to validate a corpus, then again only after replay is hashed.

One thing of v1 gold reaches replay, and `with_scripted_facts` is the only door: what an extractor would say of a turn.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from brainbench import corpus as corpora
from brainbench.corpus import Corpus, Document, Manifest, Scan
from brainbench.corpus.canaries import filled, planting
from brainbench.corpus.checks import (
    Findings,
    cross_rank,
    fixture_id,
    kind_warnings,
    objects,
    repeated,
    strings,
    whole,
)
from brainbench.corpus.files import (
    WHOLE_DIRECTORY,
    WHOLE_FILE,
    file_names,
    printable,
    read_bytes,
    read_directory,
    why_unreadable,
)
from brainbench.corpus.formats import is_native, listed
from brainbench.corpus.manifest import FILE_NAME, file_faults, listed_faults, save
from brainbench.corpus.markdown import names
from brainbench.corpus.shape import (
    BOOLEAN,
    FIXTURE_ID,
    INTEGER,
    KEYWORDS,
    STRINGS,
    TEXT,
    Finding,
    Shape,
    Steps,
    field_path,
    items,
    mapping,
    obj,
    one_of,
    or_null,
    shown,
    string,
)
from brainbench.corpus.words import find_name
from brainbench.errors import CorpusError, Fault, NothingMeasured
from brainbench.gold_items import GoldItem, gold_item, item_findings, item_mismatches
from brainbench.model import PUSH_SUITES, Fixture, Origin, ScriptedFact, SessionBreak, Turn

Retrieve = Literal["must", "may", "must_not"]


@dataclass(frozen=True, slots=True)
class GoldFact:
    """A fact that must survive the write-back of its turn."""

    gist: str
    fact: str
    entity_slug: str | None
    match_keywords: tuple[str, ...]
    kind: str = "fact"
    forbid_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventGold:
    """What one event should bring. `retrieve` None: nothing is said about retrieval on this event."""

    event_id: int
    retrieve: Retrieve | None = None
    gold_slugs: tuple[str, ...] = ()
    acceptable_slugs: tuple[str, ...] = ()
    gold_facts: tuple[GoldFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A decision that a later session must be able to use. `stored_only`: only a written-back fact holds it."""

    probe_id: str
    after_event: int
    channel: Literal["any", "stored_only"]
    expected_slugs: tuple[str, ...] = ()
    match_keywords: tuple[str, ...] = ()
    forbid_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one fixture. `v1_turns` keeps v1's own TurnGold, keyed (fixture_id, turn_id), for its result file."""

    fixture_id: str
    events: Mapping[int, EventGold]
    probes: tuple[Probe, ...] = ()
    v1_turns: Mapping[tuple[str, int], Mapping[str, object]] = field(default_factory=dict)
    items: tuple[GoldItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What an extractor would say of a v1 turn, and whose page it would be about. Nothing else leaves v1 gold."""

    fact: str
    kind: str
    entity_slug: str | None


SUFFIX = ".gold.json"
EXPECTATIONS = "EXPECTATIONS.toml"
VALIDATION = "validation"
"""The folder with what people who did not see gold said of samples of it."""
"""What was expected of a corpus before it was measured; beside MANIFEST.json, which holds its hash."""
_ANY = string()
_FACT = {"gist": _ANY, "fact": TEXT, "entity_slug": or_null(TEXT), "match_keywords": KEYWORDS}
_V1 = Shape(
    obj(
        {
            "fixture_id": FIXTURE_ID,
            "turns": mapping(
                obj(
                    {"should_retrieve": BOOLEAN},
                    {
                        "gold_slugs": STRINGS,
                        "acceptable_slugs": STRINGS,
                        "gold_facts": items(obj(_FACT, {"kind": _ANY}), "a list of gold facts"),
                    },
                ),
                "an object of turn ids and what each should bring",
            ),
        },
        {
            "continuity": obj(
                {
                    "pair_id": TEXT,
                    "decisions": items(
                        obj({"decision_id": TEXT, "expected_slugs": STRINGS, "match_keywords": STRINGS}),
                        "a non-empty list of decisions",
                        1,
                    ),
                }
            )
        },
    )
)
_NATIVE = Shape(
    obj(
        {
            "schema_version": one_of(2),
            "fixture_id": FIXTURE_ID,
            "events": mapping(
                obj(
                    {},
                    {
                        "retrieve": one_of("must", "may", "must_not"),
                        "gold_slugs": STRINGS,
                        "acceptable_slugs": STRINGS,
                        "gold_facts": items(
                            obj(_FACT, {"kind": _ANY, "forbid_keywords": STRINGS}), "a list of gold facts"
                        ),
                    },
                ),
                "an object of event ids and what each should bring",
            ),
        },
        {
            "probes": items(
                obj(
                    {"probe_id": TEXT, "after_event": INTEGER, "channel": one_of("any", "stored_only")},
                    {"expected_slugs": STRINGS, "match_keywords": STRINGS, "forbid_keywords": STRINGS},
                ),
                "a list of probes",
            ),
            "items": items({"type": "object", "description": "an object"}, "a list of items"),
        },
    )
)


def validate(fixtures_dir: Path, gold_dir: Path, seen: corpora.Scan | None = None) -> tuple[Fault, ...]:
    """Everything unusual in a corpus that can be used, as warnings; of its fixtures what was `seen`, if they were.

    CorpusError carries every fault of fixtures, gold, the checks between them and MANIFEST.json, by file and then in
    the order of the checks. NothingMeasured if both directories are empty.
    """
    fixtures = seen or corpora.scan(fixtures_dir)
    gold = _scan(fixtures.documents, gold_dir, fixtures.manifest)
    found: Findings = defaultdict(list, {**fixtures.findings, **gold.findings})
    for file, finding in _without_partner(fixtures, gold):
        found.setdefault(file, []).append(finding)
    faults = [*fixtures.faults, *gold.faults, *corpora.in_order(found)]
    if fixtures.manifest is not None:
        faults += _manifest_faults(fixtures.manifest, fixtures_dir, gold_dir)
    if faults:
        raise CorpusError(sorted(faults, key=lambda f: f.file))
    if not fixtures.names and not gold.names:
        raise NothingMeasured(
            f"{fixtures_dir}: no *{corpora.SUFFIX} file directly inside; name the directory that holds them"
        )
    return tuple(sorted((*fixtures.warnings, *gold.warnings), key=lambda f: f.file))


def read(corpus: Corpus, gold_dir: Path) -> Mapping[str, Gold]:
    """The gold of every fixture in `corpus.fixtures`, by its id. CorpusError if any is missing or unfit."""
    by_id = _usable(corpus, gold_dir)
    missing = [
        Fault(fixture.file, "fixture_id", f"no gold for {shown(name)} in {gold_dir}; add <name>{SUFFIX}")
        for fixture in corpus.fixtures
        for name, _ in fixture.declares
        if name not in by_id
    ]
    if missing:
        raise CorpusError(missing)
    return {
        f.fixture_id: _native_gold(by_id[f.fixture_id].value) if f.schema_version == 2 else _v1_gold(f, by_id)
        for f in corpus.fixtures
    }


def with_canaries(gold: Mapping[str, Gold], seed: int) -> Mapping[str, Gold]:
    """The gold of a run of this seed: with the canaries that were planted in its fixtures."""
    return {
        name: replace(one, items=filled(one.items, planting(seed, name))) if one.items else one
        for name, one in gold.items()
    }


def with_scripted_facts(corpus: Corpus, gold_dir: Path) -> Corpus:
    """The corpus with what an extractor would say of the turns of its v1 fixtures. Native fixtures are as they were.

    CorpusError if the gold is unfit.
    """
    if all(f.schema_version == 2 for f in corpus.fixtures):
        return corpus
    said = {
        Origin(name, int(turn_id)): tuple(
            Said(fact["fact"], fact.get("kind", "fact"), fact["entity_slug"]) for fact in listed(turn, "gold_facts")
        )
        for name, document in _usable(corpus, gold_dir).items()
        if not is_native(document.value)
        for turn_id, turn in document.value["turns"].items()
    }
    fixtures = tuple(
        f if f.schema_version == 2 else replace(f, scripted_facts=scripted_facts(f, said)) for f in corpus.fixtures
    )
    return replace(corpus, fixtures=fixtures)


def scripted_facts(fixture: Fixture, said: Mapping[Origin, Sequence[Said]]) -> tuple[ScriptedFact, ...]:
    """What an extractor would say of each turn that this v1 script writes back, in the order of the turns.

    `mention` is the longest name of the entity's page (title, alias, end of its slug) that stands in the turn, as it
    stands there; else the longest that stands in the fact; else None.
    """
    origins = dict(fixture.origins)
    breaks = [i for i, event in enumerate(fixture.events) if isinstance(event, SessionBreak) and event.persist]
    made: list[ScriptedFact] = []
    for event in fixture.events[: breaks[-1]] if breaks else ():
        if isinstance(event, Turn) and event.event_id in origins:
            for line in said.get(origins[event.event_id], ()):
                mention = _mention(fixture, line, event)
                made.append(ScriptedFact(event.event_id, event.text, mention, line.fact, line.kind))
    return tuple(made)


def fixtures_hash(fixtures_dir: Path, gold_dir: Path, seen: corpora.Scan | None = None) -> str:
    """SHA-256 (hex) over every gold file by name, then every fixture file, holdout included.

    Each adds its folder and name, a newline, and its bytes; of a fixture that was `seen` those that were read then.
    CorpusError if one cannot be read.
    """
    digest = hashlib.sha256()
    known = {document.file: document.raw for document in seen.documents} if seen else {}
    for folder, directory, suffix in (("gold", gold_dir, SUFFIX), ("fixtures", fixtures_dir, corpora.SUFFIX)):
        at, what = str(directory), WHOLE_DIRECTORY
        try:
            for name in file_names(directory, suffix):
                at, what = printable(name), WHOLE_FILE
                digest.update(f"{folder}/".encode() + os.fsencode(name) + b"\n")
                held = known.get(at) if folder == "fixtures" else None
                digest.update(read_bytes(directory / name) if held is None else held)
        except OSError as error:
            kind = "directory" if what == WHOLE_DIRECTORY else "file"
            raise CorpusError([Fault(at, what, why_unreadable(error, kind))]) from None
    return digest.hexdigest()


def write_manifest(directory: Path, manifest: Manifest, extra: Sequence[str] = ()) -> Manifest:
    """Seal a corpus: list its files with their hashes in `directory`/MANIFEST.json, written whole or not at all.

    `files`, `fixtures_hash`, `expectations_hash`, `validation` and, with a split, `corpus_hash` of the given manifest
    are computed from what is present; `extra` names files to list besides those in `fixtures` and `gold`. Gives back
    what was written. CorpusError if a file cannot be read, OutputError if the manifest cannot be written.
    """
    found: dict[str, str] = {}
    for folder, suffix in (("fixtures", corpora.SUFFIX), ("gold", SUFFIX)):
        if (directory / folder).is_dir():
            found |= {f"{folder}/{name}": "" for name in file_names(directory / folder, suffix)}
    found |= dict.fromkeys(extra, "")
    files = {path: _digest(directory, path) for path in sorted(found)}
    total = fixtures_hash(directory / "fixtures", directory / "gold")
    split = manifest.split
    whole_hash = None if split is None else corpora.corpus_hash(total, manifest.universes, split)
    told = _digest(directory, EXPECTATIONS) if (directory / EXPECTATIONS).is_file() else None
    rounds = sorted(f"{VALIDATION}/{path.name}" for path in (directory / VALIDATION).glob("*.json"))
    labelled = {path: _digest(directory, path) for path in rounds} or None
    sealed = replace(manifest, files=files, fixtures_hash=total, corpus_hash=whole_hash, expectations_hash=told)
    sealed = replace(sealed, validation=labelled)
    save(directory, sealed)
    return sealed


def _digest(directory: Path, path: str) -> str:
    try:
        return hashlib.sha256(read_bytes(directory / path)).hexdigest()
    except OSError as error:
        raise CorpusError([Fault(printable(path), WHOLE_FILE, why_unreadable(error, "file"))]) from None


@dataclass(frozen=True, slots=True)
class _Scan:
    names: tuple[str, ...]
    documents: tuple[Document, ...]
    findings: Findings
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]


def _scan(fixtures: Sequence[Document], gold_dir: Path, manifest: Manifest | None) -> _Scan:
    listing = read_directory(gold_dir, SUFFIX)
    partners = {name: d for d in reversed(fixtures) if (name := fixture_id(d.value)) is not None}
    findings: Findings = defaultdict(list)
    warnings = list(listing.warnings)
    for document in listing.documents:
        partner = partners.get(fixture_id(document.value) or "")
        findings[document.file] += _findings(document.value, partner)
        warnings += [Fault(document.file, field_path(s), reason) for s, reason in _unusual(document.value, partner)]
    for file, finding in _repeated_ids(listing.documents):
        findings[file].append(finding)
    return _Scan(listing.names, listing.documents, findings, listing.faults, tuple(warnings))


def _usable(corpus: Corpus, gold_dir: Path) -> dict[str, Document]:
    found = _scan(corpus.documents, gold_dir, corpus.manifest)
    if faults := [*found.faults, *corpora.in_order(found.findings)]:
        raise CorpusError(sorted(faults, key=lambda f: f.file))
    return {d.value["fixture_id"]: d for d in found.documents}


def _is_native(value: Mapping[str, Any]) -> bool:
    return value.get("schema_version") == 2 or ("events" in value and "turns" not in value)


def _findings(value: Mapping[str, Any], partner: Document | None) -> list[Finding]:
    shape = _NATIVE if _is_native(value) else _V1
    found = {f.steps: f for f in shape.findings(value)}
    checks = list(_native_checks(value) if _is_native(value) else _v1_checks(value))
    if partner is not None and is_native(partner.value) != _is_native(value):
        version = 2 if is_native(partner.value) else 1
        reason = (
            f"gold of another version than {partner.file}; needs schema_version 2"
            if version == 2
            else (f"gold of another version than {partner.file}; a version 1 fixture has gold without schema_version")
        )
        checks.append(Finding(cross_rank(0), ("schema_version",), reason))
    elif partner is not None:
        checks += _native_cross(value, partner) if _is_native(value) else _v1_cross(value, partner)
    for finding in checks:
        found.setdefault(finding.steps, finding)
    return list(found.values())


def _unusual(value: Mapping[str, Any], partner: Document | None) -> Iterator[tuple[Steps, str]]:
    key = "events" if _is_native(value) else "turns"
    facts: list[tuple[Steps, Mapping[str, Any]]] = [
        ((key, name, "gold_facts", i), fact)
        for name, turn in _entries(value, key)
        for i, fact in objects(turn, "gold_facts")
    ]
    yield from kind_warnings(iter(facts))
    if partner is not None and "continuity" in value and _pair(partner.value).get("pair_role") == "writer":
        yield ("continuity",), "decisions are asked of the reader; those of a writer are not used"


def _entries(value: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = value.get(key)
    return ((k, v) for k, v in (found.items() if isinstance(found, dict) else ()) if isinstance(v, dict))


def _pair(value: Mapping[str, Any]) -> Mapping[str, Any]:
    found = value.get("continuity")
    return found if isinstance(found, dict) else {}


def _v1_checks(value: Mapping[str, Any]) -> Iterator[Finding]:
    for key, _ in _entries(value, "turns"):
        if _id(key) is None:
            yield Finding(_V1.rank(("turns", key)), ("turns", key), f"{shown(key)} is no turn id; needs an integer")
    ids: list[tuple[Steps, object]] = [
        (("continuity", "decisions", i, "decision_id"), d.get("decision_id"))
        for i, d in objects(_pair(value), "decisions")
        if isinstance(d.get("decision_id"), str)
    ]
    yield from _not_unique(ids, _V1)


def _not_unique(values: Sequence[tuple[Steps, object]], shape: Shape) -> Iterator[Finding]:
    for steps, seen, first in repeated(values):
        reason = f"{shown(seen)} stands also at {field_path(first)}; needs a value of its own"
        yield Finding(shape.rank(steps), steps, reason)


def _id(key: str) -> int | None:
    digits = key.removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and len(digits) <= 16 and (digits == "0" or digits[0] != "0")
    return int(key) if plain and key != "-0" else None


def _v1_cross(value: Mapping[str, Any], partner: Document) -> Iterator[Finding]:
    roles = {whole(turn.get("turn_id")): turn.get("role") for _, turn in objects(partner.value, "turns")}
    suites = set(strings(partner.value, "suites"))
    for key, turn in _entries(value, "turns"):
        turn_id = _id(key)
        if turn_id is None:
            continue
        steps: Steps = ("turns", key)
        place = _V1.rank(steps)
        if turn_id not in roles:
            known = ", ".join(str(i) for i in roles if i is not None)
            yield Finding(cross_rank(2) + place, steps, f"{partner.file} has no turn {key}; its turns are {known}")
            continue
        asks = turn.get("should_retrieve") is True
        if roles[turn_id] == "assistant":
            yield from _on_an_assistant_turn(turn, steps, partner.file)
        elif asks and not listed(turn, "gold_slugs") and suites & set(PUSH_SUITES):
            why = f"{partner.file} declares {' or '.join(PUSH_SUITES)}"
            reason = f"missing or empty; should_retrieve is true and {why}, so it needs a page"
            yield Finding(cross_rank(4) + place, (*steps, "gold_slugs"), reason)
    yield from _v1_continuity(value, partner)


def _on_an_assistant_turn(turn: Mapping[str, Any], steps: Steps, file: str) -> Iterator[Finding]:
    why = f"is an assistant turn in {file}; only user turns retrieve, only gold_facts may stand here"
    said = [("should_retrieve", "true")] if turn.get("should_retrieve") is True else []
    said += [(name, "not empty") for name in ("gold_slugs", "acceptable_slugs") if listed(turn, name)]
    for name, seen in said:
        place = (*steps, name)
        yield Finding(cross_rank(3) + _V1.rank(place), place, f"is {seen}, but turn {steps[1]} {why}")


def _v1_continuity(value: Mapping[str, Any], partner: Document) -> Iterator[Finding]:
    pair, gold = _pair(partner.value), _pair(value)
    if pair.get("pair_role") == "reader" and "continuity" not in value:
        reason = f"missing; {partner.file} is a reader and needs decisions"
        yield Finding(cross_rank(5), ("continuity",), reason)
    ids = (gold.get("pair_id"), pair.get("pair_id"))
    if all(isinstance(i, str) for i in ids) and ids[0] != ids[1]:
        reason = f"{shown(ids[0])} is not allowed; {partner.file} has pair_id {shown(ids[1])}"
        yield Finding(cross_rank(6), ("continuity", "pair_id"), reason)
    if "continuity" in value and "continuity" not in partner.value:
        reason = f"{partner.file} has no continuity; remove this or say there which pair it belongs to"
        yield Finding(cross_rank(7), ("continuity",), reason)


def _native_checks(value: Mapping[str, Any]) -> Iterator[Finding]:
    for key, event in _entries(value, "events"):
        steps: Steps = ("events", key)
        if _id(key) is None:
            yield Finding(_NATIVE.rank(steps), steps, f"{shown(key)} is no event id; needs an integer")
        place: Steps = (*steps, "gold_slugs")
        if event.get("retrieve") == "must" and not listed(event, "gold_slugs"):
            yield Finding(_NATIVE.rank(place), place, 'missing or empty; retrieve is "must", so it needs a page')
        if event.get("retrieve") == "must_not" and listed(event, "gold_slugs"):
            yield Finding(_NATIVE.rank(place), place, 'is not empty; retrieve is "must_not", so no page is wanted')
    ids: list[tuple[Steps, object]] = [
        (("probes", i, "probe_id"), p.get("probe_id"))
        for i, p in objects(value, "probes")
        if isinstance(p.get("probe_id"), str)
    ]
    yield from _not_unique(ids, _NATIVE)
    for i, probe in objects(value, "probes"):
        place = ("probes", i, "match_keywords")
        if not listed(probe, "match_keywords") and (
            probe.get("channel") == "stored_only" or not listed(probe, "expected_slugs")
        ):
            reason = "missing or empty; needs a keyword, or with channel any an expected slug: else anything would do"
            yield Finding(_NATIVE.rank(place), place, reason)
    item_ids: list[tuple[Steps, object]] = [
        (("items", i, "item_id"), item.get("item_id"))
        for i, item in objects(value, "items")
        if isinstance(item.get("item_id"), str)
    ]
    yield from _not_unique(item_ids, _NATIVE)
    yield from item_findings(value, _NATIVE.rank(("items",)))


def _native_cross(value: Mapping[str, Any], partner: Document) -> Iterator[Finding]:
    events = {whole(event.get("event_id")): event for _, event in objects(partner.value, "events")}
    for key, gold in _entries(value, "events"):
        event_id = _id(key)
        steps: Steps = ("events", key)
        if event_id is not None and event_id not in events:
            yield Finding(cross_rank(2) + _NATIVE.rank(steps), steps, f"{partner.file} has no event {key} in events")
            continue
        event = events.get(event_id, {})
        wants = gold.get("retrieve") is not None or listed(gold, "gold_slugs") or listed(gold, "acceptable_slugs")
        if wants and event_id is not None and (event.get("kind"), event.get("role")) != ("turn", "user"):
            reason = f"event {key} of {partner.file} is no user turn; only a user turn retrieves"
            yield Finding(cross_rank(3) + _NATIVE.rank(steps), (*steps, "retrieve"), reason)
        if listed(gold, "gold_facts") and event_id is not None and event.get("kind") != "turn":
            reason = f"event {key} of {partner.file} is no turn; only a turn is written back"
            yield Finding(cross_rank(3) + _NATIVE.rank(steps), (*steps, "gold_facts"), reason)
    for i, probe in objects(value, "probes"):
        after = whole(probe.get("after_event"))
        if after is not None and after not in events:
            place: Steps = ("probes", i, "after_event")
            yield Finding(cross_rank(4) + _NATIVE.rank(place), place, f"{partner.file} has no event {after} in events")
    for place, reason in item_mismatches(value, partner.value):
        yield Finding(cross_rank(4) + _NATIVE.rank(place[:2]), place, reason)


def _repeated_ids(documents: Sequence[Document]) -> Iterator[tuple[str, Finding]]:
    first: dict[str, str] = {}
    for document in documents:
        name = fixture_id(document.value)
        if name is not None and name in first:
            reason = f"{shown(name)} is already the id of {first[name]}; needs an id of its own"
            yield document.file, Finding(_V1.rank(("fixture_id",)), ("fixture_id",), reason)
        elif name is not None:
            first[name] = document.file


def _without_partner(fixtures: Scan, gold: _Scan) -> Iterator[tuple[str, Finding]]:
    """Files whose id has no counterpart. If a file of the counterpart's name has no readable id, the fault is there."""
    if any(f.field == WHOLE_DIRECTORY for f in (*fixtures.faults, *gold.faults)):
        return
    sealed = fixtures.manifest.split.holdout if fixtures.manifest and fixtures.manifest.split else ()
    ids = {fixture_id(d.value) for d in fixtures.documents}
    gold_ids = {fixture_id(d.value) for d in gold.documents}
    nameless = _nameless(fixtures.names, fixtures.documents, corpora.SUFFIX)
    nameless_gold = _nameless(gold.names, gold.documents, SUFFIX)
    steps: Steps = ("fixture_id",)
    for d in fixtures.documents:
        name = fixture_id(d.value)
        if name is None or name in gold_ids or name in sealed or d.file.removesuffix(corpora.SUFFIX) in nameless_gold:
            continue
        yield (
            d.file,
            Finding(cross_rank(8), steps, f"{shown(name)} has no gold; needs a *{SUFFIX} file with this fixture_id"),
        )
    for d in gold.documents:
        name = fixture_id(d.value)
        if name is None or name in ids or d.file.removesuffix(SUFFIX) in nameless:
            continue
        reason = f"{shown(name)} has no fixture; needs a *{corpora.SUFFIX} file with this fixture_id"
        yield d.file, Finding(cross_rank(8), steps, reason)


def _nameless(names: Sequence[str], documents: Sequence[Document], suffix: str) -> set[str]:
    named = {d.file for d in documents if fixture_id(d.value) is not None}
    return {name.removesuffix(suffix) for name in names if name not in named}


def _manifest_faults(manifest: Manifest, fixtures_dir: Path, gold_dir: Path) -> list[Fault]:
    directory = fixtures_dir.absolute().parent
    if gold_dir.absolute() != directory / "gold":
        return []
    rest = {p: d for p, d in manifest.files.items() if not p.startswith(("fixtures/", "gold/"))}
    faults = [*file_faults(manifest, directory, "gold", SUFFIX), *listed_faults(directory, rest)]
    try:
        total = fixtures_hash(fixtures_dir, gold_dir)
    except CorpusError:
        return faults
    if total != manifest.fixtures_hash:
        remedy = "restore the files or seal the corpus anew"
        reason = f"{shown(manifest.fixtures_hash)} is listed, the files have {total}; {remedy}"
        faults.append(Fault(FILE_NAME, "fixtures_hash", reason))
    if manifest.expectations_hash is not None:
        faults += _expectation_faults(directory, manifest.expectations_hash)
    if isinstance(manifest.validation, Mapping):
        rounds = {str(path): str(digest) for path, digest in manifest.validation.items()}
        faults += [replace(fault, field="validation") for fault in listed_faults(directory, rounds)]
    if manifest.corpus_hash is not None and manifest.split is not None:
        seen = corpora.corpus_hash(manifest.fixtures_hash, manifest.universes, manifest.split)
        if seen != manifest.corpus_hash:
            reason = f"{shown(manifest.corpus_hash)} is listed, hash, universes and split give {seen}"
            faults.append(Fault(FILE_NAME, "corpus_hash", reason))
    return faults


def _expectation_faults(directory: Path, listed_hash: str) -> list[Fault]:
    """Where EXPECTATIONS.toml is not the one that was sealed."""
    return [
        replace(fault, field="expectations_hash") for fault in listed_faults(directory, {EXPECTATIONS: listed_hash})
    ]


def _v1_gold(fixture: Fixture, by_id: Mapping[str, Document]) -> Gold:
    origins = dict(fixture.origins)
    suites = dict(fixture.declares)
    turns = {
        Origin(name, int(turn_id)): turn
        for name, _ in fixture.declares
        for turn_id, turn in by_id[name].value["turns"].items()
    }
    events: dict[int, EventGold] = {}
    for event in fixture.events:
        origin = origins.get(event.event_id)
        if isinstance(event, Turn) and origin is not None and origin in turns:
            events[event.event_id] = _event_gold(event, turns[origin], suites[origin.fixture_id])
    return Gold(
        fixture.fixture_id,
        events,
        _decisions(fixture, by_id),
        {(origin.fixture_id, origin.turn_id): turn for origin, turn in turns.items()},
    )


def _event_gold(event: Turn, turn: Mapping[str, Any], suites: Sequence[str]) -> EventGold:
    """Only what the fixture's own suites may judge in this script: a writer's turns ask nothing when it is read."""
    retrieve: Retrieve | None = None
    if event.role == "user" and set(PUSH_SUITES) & set(suites):
        retrieve = "must" if turn["should_retrieve"] else "must_not"
    return EventGold(
        event.event_id,
        retrieve,
        tuple(dict.fromkeys(listed(turn, "gold_slugs"))) if retrieve else (),
        tuple(dict.fromkeys(listed(turn, "acceptable_slugs"))) if retrieve else (),
        _facts(turn) if "write-back" in suites else (),
    )


def _facts(entry: Mapping[str, Any]) -> tuple[GoldFact, ...]:
    return tuple(
        GoldFact(
            gist=fact["gist"],
            fact=fact["fact"],
            entity_slug=fact["entity_slug"],
            match_keywords=tuple(fact["match_keywords"]),
            kind=fact.get("kind", "fact"),
            forbid_keywords=tuple(listed(fact, "forbid_keywords")),
        )
        for fact in listed(entry, "gold_facts")
    )


def _decisions(fixture: Fixture, by_id: Mapping[str, Document]) -> tuple[Probe, ...]:
    reader = fixture.declares[-1][0]
    if len(fixture.declares) < 2:
        return ()
    ids = {event_id for event_id, origin in fixture.origins if origin.fixture_id == reader}
    turns = [e for e in fixture.events if isinstance(e, Turn) and e.event_id in ids]
    asked = [e.event_id for e in turns if e.role == "user"] or [turns[-1].event_id]
    return tuple(
        Probe(d["decision_id"], asked[-1], "any", tuple(d["expected_slugs"]), tuple(d["match_keywords"]))
        for d in by_id[reader].value["continuity"]["decisions"]
    )


def _native_gold(value: Mapping[str, Any]) -> Gold:
    events = {
        int(key): EventGold(
            int(key),
            event.get("retrieve"),
            tuple(dict.fromkeys(listed(event, "gold_slugs"))),
            tuple(dict.fromkeys(listed(event, "acceptable_slugs"))),
            _facts(event),
        )
        for key, event in value["events"].items()
    }
    probes = tuple(
        Probe(
            probe_id=p["probe_id"],
            after_event=int(p["after_event"]),
            channel=p["channel"],
            expected_slugs=tuple(listed(p, "expected_slugs")),
            match_keywords=tuple(listed(p, "match_keywords")),
            forbid_keywords=tuple(listed(p, "forbid_keywords")),
        )
        for p in listed(value, "probes")
    )
    found = tuple(gold_item(item) for item in listed(value, "items"))
    return Gold(value["fixture_id"], events, probes, items=found)


def _mention(fixture: Fixture, line: Said, turn: Turn) -> str | None:
    if line.entity_slug is None:
        return None
    known = {line.entity_slug.rsplit("/", 1)[-1]}
    pages = [w for w in fixture.setup if w.via == "page" and w.slug == line.entity_slug]
    here = [w for w in pages if w.source == (turn.source or fixture.active_source)]
    for page in here or pages:
        called = names(page.content)
        known |= {*called.aliases, *([called.title] if called.title else [])}
    for where in (turn.text, line.fact):
        found = {m for name in known if (m := find_name(name, where)) is not None}
        if found:
            return max(found, key=lambda m: (len(m), m))
    return None
