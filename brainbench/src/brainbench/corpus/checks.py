"""What must hold between the fields of a fixture, and between fixtures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brainbench.corpus.files import Document, walk
from brainbench.corpus.formats import (
    NATIVE_SEALED,
    V1_SEALED,
    events_of,
    fixture_shape,
    is_native,
    listed,
    shape_findings,
)
from brainbench.corpus.markdown import has_front_matter
from brainbench.corpus.shape import Finding, Rank, Steps, field_path, shown
from brainbench.corpus.times import has_zone, utc
from brainbench.corpus.words import folded, is_pronoun
from brainbench.model import FACT_KINDS, ITEM_SUITES, V1_SUITES

Findings = dict[str, list[Finding]]
"""What was found, by file."""


def cross_rank(number: int, *then: int) -> Rank:
    """The rank of a check between fields: after all checks of single fields."""
    return ((9, number, ""), *((0, n, "") for n in then))


def fixture_findings(documents: Sequence[Document]) -> Findings:
    """Everything that is wrong with these fixtures, by file."""
    found: Findings = defaultdict(list)
    for document in documents:
        found[document.file].extend(_alone(document.value))
    for file, finding in (*_repeated_ids(documents), *_broken_pairs(documents)):
        found[file].append(finding)
    return found


def fixture_warnings(value: Mapping[str, Any]) -> list[Finding]:
    """What is unusual in a fixture, though it can be used."""
    found = [
        Finding(fixture_shape(value).rank(steps), steps, f"{shown(ts)} names no zone; read as UTC")
        for steps, ts in _times(value)
        if steps[-1] == "ts" and _is_time(ts) and not has_zone(ts)
    ]
    if not is_native(value) and "continuity" in strings(value, "suites") and "continuity" not in value:
        reason = (
            "declares continuity but belongs to no pair, so nothing is asked; add continuity or leave the suite out"
        )
        found.append(Finding(cross_rank(5), ("suites",), reason))
    return sorted(found, key=lambda f: f.rank)


def objects(value: Mapping[str, Any], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects in the list under a key, with their index; anything else there is passed over."""
    return ((i, entry) for i, entry in enumerate(listed(value, name)) if isinstance(entry, dict))


def strings(value: Mapping[str, Any], name: str) -> list[str]:
    """The strings in the list under a key."""
    return [s for s in listed(value, name) if isinstance(s, str)]


def whole(value: object) -> int | None:
    """An integer, also when it is written 1.0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == int(value) else None


def fixture_id(value: Mapping[str, Any]) -> str | None:
    """The id that joins a fixture and its gold, if there is one."""
    found = value.get("fixture_id")
    return found if isinstance(found, str) else None


def repeated(values: Sequence[tuple[Steps, object]]) -> Iterator[tuple[Steps, object, Steps]]:
    """Each value that was there before, with both places."""
    first: dict[object, Steps] = {}
    for steps, value in values:
        if value is None:
            continue
        if value in first:
            yield steps, value, first[value]
        first.setdefault(value, steps)


def kind_warnings(entries: Iterator[tuple[Steps, Mapping[str, Any]]]) -> Iterator[tuple[Steps, str]]:
    """Kinds of facts that the bench does not know."""
    for steps, entry in entries:
        kind = entry.get("kind")
        if isinstance(kind, str) and kind not in FACT_KINDS:
            yield (*steps, "kind"), f"{shown(kind)} is no known kind: {', '.join(FACT_KINDS)}"


def _alone(value: Mapping[str, Any]) -> list[Finding]:
    shape = fixture_shape(value)
    told = [*_sealed_keys(value), *(_native(value) if is_native(value) else _v1(value)), *_wrong_times(value)]
    found = {steps: Finding(shape.rank(steps), steps, reason) for steps, reason in reversed(told)}
    found = {f.steps: f for f in shape_findings(value)} | found
    if not is_native(value):
        found |= {f.steps: f for f in _missing_times(value) if f.steps not in found}
    return list(found.values())


def _sealed_keys(value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    sealed = NATIVE_SEALED if is_native(value) else V1_SEALED
    for steps, part in walk(value):
        for key in part if isinstance(part, dict) else ():
            if key in sealed:
                yield (*steps, key), f"{key!r} may not stand in a fixture; gold belongs in the gold directory"


def _times(value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    places: list[tuple[Steps, Mapping[str, Any]]] = [(("turns", i), turn) for i, turn in objects(value, "turns")]
    if is_native(value):
        places = events_of(value)
    for steps, entry in places:
        for key in ("ts", "valid_from"):
            if isinstance(entry.get(key), str):
                yield (*steps, key), entry[key]
    for i, fact in objects(value, "scripted_facts"):
        if isinstance(fact.get("valid_from"), str):
            yield ("scripted_facts", i, "valid_from"), fact["valid_from"]


def _is_time(text: str) -> bool:
    try:
        utc(text)
    except ValueError:
        return False
    return True


def _wrong_times(value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    for steps, text in _times(value):
        if text and not _is_time(text):
            yield steps, f"{shown(text)} is not allowed; needs an ISO 8601 date and time such as 2026-03-02T17:00:00Z"


def _v1(value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    for i, page in objects(value, "seed_pages"):
        content = page.get("content")
        if isinstance(content, str) and content and not has_front_matter(content):
            steps: Steps = ("seed_pages", i, "content")
            yield (
                steps,
                f"{shown(content)} has no front matter; needs Markdown that begins with a block between two lines ---",
            )
    ids: list[tuple[Steps, object]] = [
        (("turns", i, "turn_id"), whole(turn.get("turn_id"))) for i, turn in objects(value, "turns")
    ]
    yield from _not_unique(ids)


def _not_unique(values: Sequence[tuple[Steps, object]]) -> Iterator[tuple[Steps, str]]:
    for steps, seen, first in repeated(values):
        yield steps, f"{shown(seen)} stands also at {field_path(first)}; needs a value of its own"


def _missing_times(value: Mapping[str, Any]) -> Iterator[Finding]:
    pair = value.get("continuity")
    writer = isinstance(pair, dict) and pair.get("pair_role") == "writer"
    if "write-back" not in strings(value, "suites") and not writer:
        return
    why = "a writer" if writer else "a fixture that declares write-back"
    for i, turn in objects(value, "turns"):
        if "ts" not in turn:
            yield Finding(cross_rank(1, i), ("turns", i, "ts"), f"missing; {why} needs ts on every turn")


def _native(value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    events = events_of(value)
    yield from _mixed_suites(strings(value, "suites"))
    yield from _not_unique([((*steps, "event_id"), whole(e.get("event_id"))) for steps, e in events])
    yield from _sources(value, events)
    for steps, event in events:
        yield from _event_fields(steps, event)
    yield from _names(events)
    for i, fact in objects(value, "scripted_facts"):
        yield from _scripted_fact(("scripted_facts", i), fact, value)


def _mixed_suites(suites: Sequence[str]) -> Iterator[tuple[Steps, str]]:
    acts = [name for name in suites if name in ITEM_SUITES]
    others = [name for name in suites if name in V1_SUITES]
    if acts and others:
        yield (
            ("suites",),
            f"{acts[0]} stands beside {others[0]}; a script of acts is judged by {', '.join(ITEM_SUITES)} only",
        )


def _sources(
    value: Mapping[str, Any], events: Sequence[tuple[Steps, Mapping[str, Any]]]
) -> Iterator[tuple[Steps, str]]:
    declared: list[tuple[Steps, object]] = [
        (("sources", i, "id"), s["id"]) for i, s in objects(value, "sources") if isinstance(s.get("id"), str)
    ]
    yield from _not_unique(declared)
    known = [str(name) for _, name in declared] if "sources" in value else ["default"]
    used: list[tuple[Steps, object]] = [(("active_source",), value.get("active_source", "default"))]
    used.extend(((*steps, "source"), event.get("source")) for steps, event in events)
    for steps, name in used:
        if isinstance(name, str) and name and name not in known:
            yield (
                steps,
                f"{shown(name)} is no declared source; needs one of {', '.join(map(shown, known)) or 'sources'}",
            )


_TARGETS = ("as", "slug", "fact", "text")
_CHANGES = ("content", "replace", "patch")
_PATCHES: Mapping[str, tuple[str, ...]] = {
    "content": ("content",),
    "replace": ("old", "new"),
    "rename": ("to",),
    "copy": ("to",),
    "metadata": ("content",),
    "raw_store": ("sql",),
}
"""What the patch of an edit holds, by its op."""


def _event_fields(steps: Steps, event: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    kind = event.get("kind")
    if kind == "write" and event.get("via") == "page" and "slug" not in event:
        yield (*steps, "slug"), "missing; a page is written under a slug"
    if kind == "edit":
        yield from _edit_fields(steps, event)
    target = event.get("target")
    if isinstance(target, dict) and kind in ("edit", "forget", "confirm"):
        named = [key for key in _TARGETS if key in target]
        if len(named) != 1:
            yield (
                (*steps, "target"),
                f"names {', '.join(named) or 'nothing'}; needs exactly one of {', '.join(_TARGETS)}",
            )


def _edit_fields(steps: Steps, event: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """An edit is of one thing, and changes it in one way."""
    op, patch = event.get("op"), event.get("patch")
    given = [name for name in _CHANGES if name in event]
    if len(given) != 1:
        told = " and ".join(given) or "none"
        yield (*steps, "content"), f"an edit needs exactly one of {', '.join(_CHANGES)}; it has {told}"
    if op != "raw_store" and ("slug" in event) == ("target" in event):
        yield (*steps, "slug"), "an edit needs either slug or target, and not both"
    if isinstance(patch, dict):
        needs = _PATCHES.get(str(op or ("replace" if "old" in patch else "content")), ())
        if set(patch) != set(needs):
            words = f"holds {', '.join(sorted(patch)) or 'nothing'}; op {op or 'content'} needs {', '.join(needs)}"
            yield (*steps, "patch"), words
    elif op in ("rename", "copy", "metadata", "raw_store"):
        yield (*steps, "patch"), f"missing; op {op} needs {', '.join(_PATCHES[str(op)])}"


def _names(events: Sequence[tuple[Steps, Mapping[str, Any]]]) -> Iterator[tuple[Steps, str]]:
    """Each thing has a name of its own, and whatever names one comes after it."""
    known: dict[str, Steps] = {}
    for steps, event in events:
        target = event.get("target")
        meant: list[tuple[Steps, object]] = [((*steps, "replaces"), event.get("replaces"))]
        meant += [((*steps, "lineage", i), one) for i, one in enumerate(listed(event, "lineage"))]
        meant.append(((*steps, "target", "as"), target.get("as") if isinstance(target, dict) else None))
        for place, name in meant:
            if isinstance(name, str) and name and name not in known:
                told = ", ".join(map(shown, known)) or "none"
                yield place, f"{shown(name)} names nothing before this event; named so far: {told}"
        name = event.get("as")
        if isinstance(name, str) and name:
            if name in known:
                yield (*steps, "as"), f"{shown(name)} stands also at {field_path(known[name])}; needs a name of its own"
            known.setdefault(name, (*steps, "as"))


def _scripted_fact(steps: Steps, fact: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    event_id, quote, mention = whole(fact.get("event_id")), fact.get("quote"), fact.get("mention")
    turns = {whole(e.get("event_id")): e.get("text") for _, e in objects(value, "events") if e.get("kind") == "turn"}
    if event_id is not None and event_id not in turns:
        yield (*steps, "event_id"), f"{event_id} is no turn of this script; needs the event_id of a turn"
    text = turns.get(event_id)
    if isinstance(quote, str) and quote and isinstance(text, str) and quote not in text:
        yield (*steps, "quote"), f"{shown(quote)} is not in the text of event {event_id}; needs a verbatim part of it"
    named = isinstance(mention, str) and mention and isinstance(quote, str)
    if named and folded(str(mention)) not in folded(str(quote)) and not is_pronoun(str(mention)):
        yield (*steps, "mention"), f"{shown(mention)} is not in the quote; needs a part of it, a pronoun or null"


def _repeated_ids(documents: Sequence[Document]) -> Iterator[tuple[str, Finding]]:
    first: dict[str, str] = {}
    for document in documents:
        name = fixture_id(document.value)
        if name is None:
            continue
        if name in first:
            steps: Steps = ("fixture_id",)
            reason = f"{shown(name)} is already the id of {first[name]}; needs an id of its own"
            yield document.file, Finding(fixture_shape(document.value).rank(steps), steps, reason)
        first.setdefault(name, document.file)


def _broken_pairs(documents: Sequence[Document]) -> Iterator[tuple[str, Finding]]:
    roles: dict[str, dict[str, list[str]]] = {}
    for document in documents:
        pair = document.value.get("continuity")
        if is_native(document.value) or not isinstance(pair, dict) or not isinstance(pair.get("pair_id"), str):
            continue
        if pair.get("pair_role") in ("writer", "reader"):
            found = roles.setdefault(pair["pair_id"], {"writer": [], "reader": []})
            found[pair["pair_role"]].append(document.file)
    steps: Steps = ("continuity", "pair_id")
    for pair_id, by_role in roles.items():
        if all(len(files) == 1 for files in by_role.values()):
            continue
        seen = ", ".join(f"{len(files)} {role}{'' if len(files) == 1 else 's'}" for role, files in by_role.items())
        reason = f"pair {shown(pair_id)} has {seen}; needs exactly 1 writer and 1 reader"
        for file in sorted({f for files in by_role.values() for f in files}):
            yield file, Finding(cross_rank(10), steps, reason)
