"""Fixtures of either version as scripts of events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brainbench.corpus.checks import fixture_id, whole
from brainbench.corpus.files import Document
from brainbench.corpus.formats import is_native, listed
from brainbench.corpus.times import utc
from brainbench.model import (
    DOORS_OF,
    PUSH_SUITES,
    SUITE_NAMES,
    By,
    Capability,
    Confirm,
    Edit,
    Event,
    Fixture,
    Forget,
    Origin,
    Resync,
    ScriptedFact,
    SessionBreak,
    SourceDecl,
    Target,
    Turn,
    Write,
)


def scripts(documents: Iterable[Document], held_out: frozenset[str]) -> tuple[Fixture, ...]:
    """Every script of the corpus, by file. The documents must be free of faults.

    A v1 writer and its reader are one script, named `<writer>+<reader>`. A writer that declares push suites is a
    plain script as well, for those suites only, so that it is written back once. A pair is held out if either is.
    """
    made: list[Fixture] = []
    pairs: dict[str, dict[str, Document]] = {}
    for document in documents:
        pair = document.value.get("continuity")
        if is_native(document.value):
            made.append(_native(document, held_out))
        elif pair is None:
            made.append(_plain(document, declared(document.value), held_out))
        else:
            pairs.setdefault(pair["pair_id"], {})[pair["pair_role"]] = document
    for pair in pairs.values():
        made.extend(_pair(pair["writer"], pair["reader"], held_out))
    return tuple(sorted(made, key=lambda f: (f.file, f.fixture_id)))


def declared(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The suites that a fixture declares, in the order of the suites and each once."""
    return tuple(name for name in SUITE_NAMES if name in value["suites"])


UNNAMED = "default"
"""The source of a v1 seed that names none, whichever source is active."""


@dataclass(slots=True)
class _Draft:
    """A v1 script while it is put together: ids count from 1 over setup and events."""

    setup: list[Write] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    origins: list[tuple[int, Origin]] = field(default_factory=list)

    def next_id(self) -> int:
        return len(self.setup) + len(self.events) + 1

    def seed(self, *values: Mapping[str, Any]) -> None:
        """Pages first, then facts. A page that both fixtures of a pair seed is the later one's."""
        pages = {
            (page.get("source_id", UNNAMED), page["slug"]): page["content"]
            for value in values
            for page in listed(value, "seed_pages")
        }
        for (source, slug), content in pages.items():
            self.setup.append(Write(self.next_id(), "page", "owner", content, slug, source=source))
        for value in values:
            for fact in listed(value, "seed_facts"):
                source = fact.get("source_id", UNNAMED)
                session = fact.get("source_session")
                made = Write(self.next_id(), "fact", "owner", fact["fact"], fact.get("entity_slug"), source=source)
                self.setup.append(_with_session(made, session))

    def say(self, value: Mapping[str, Any], source: str | None) -> None:
        """The turns of a fixture."""
        for turn in value["turns"]:
            event_id, ts = self.next_id(), turn.get("ts")
            made = Turn(event_id, turn["role"], turn["text"], None if ts is None else utc(ts), source)
            self.events.append(made)
            self.origins.append((event_id, Origin(value["fixture_id"], int(turn["turn_id"]))))

    def persist(self) -> None:
        """End the session and write it back."""
        self.events.append(SessionBreak(self.next_id(), persist=True))


def _with_session(write: Write, session: str | None) -> Write:
    return Write(
        write.event_id, write.via, write.actor, write.content, write.slug, source=write.source, session=session
    )


def active(value: Mapping[str, Any]) -> str:
    """The source that a v1 fixture speaks in."""
    found: str = value.get("active_source", "default")
    return found


def _plain(document: Document, suites: tuple[str, ...], held_out: frozenset[str]) -> Fixture:
    value = document.value
    draft = _Draft()
    draft.seed(value)
    draft.say(value, None)
    if "write-back" in suites:
        draft.persist()
    return _v1_script(draft, [document], ((value["fixture_id"], suites),), held_out)


def _pair(writer: Document, reader: Document, held_out: frozenset[str]) -> Iterator[Fixture]:
    pushed = tuple(name for name in declared(writer.value) if name in PUSH_SUITES)
    if pushed:
        yield _plain(writer, pushed, held_out)
    written = tuple(name for name in declared(writer.value) if name not in PUSH_SUITES)
    read = declared(reader.value)
    draft = _Draft()
    draft.seed(writer.value, reader.value)
    draft.say(writer.value, None)
    draft.persist()
    source = active(reader.value)
    draft.say(reader.value, source if source != active(writer.value) else None)
    if "write-back" in read:
        draft.persist()
    declares = ((writer.value["fixture_id"], written), (reader.value["fixture_id"], read))
    yield _v1_script(draft, [writer, reader], declares, held_out)


def _v1_script(
    draft: _Draft,
    documents: Sequence[Document],
    declares: tuple[tuple[str, tuple[str, ...]], ...],
    held_out: frozenset[str],
) -> Fixture:
    values = [d.value for d in documents]
    suites = {name for _, names in declares for name in names}
    return Fixture(
        fixture_id="+".join(v["fixture_id"] for v in values),
        suites=tuple(name for name in SUITE_NAMES if name in suites),
        category=next((v["category"] for v in values if "category" in v), ""),
        stratum="medium",
        language="und",
        events=tuple(draft.events),
        setup=tuple(draft.setup),
        sources=_v1_sources(values, draft.setup),
        active_source=active(values[0]),
        requires=_v1_needs(draft.setup),
        holdout=any(v.get("holdout", False) or v["fixture_id"] in held_out for v in values),
        schema_version=1,
        file=documents[0].file,
        declares=declares,
        origins=tuple(draft.origins),
    )


def _v1_sources(values: Sequence[Mapping[str, Any]], setup: Sequence[Write]) -> tuple[SourceDecl, ...]:
    names = ["default"]
    for value in values:
        names += [*listed(value, "sources"), active(value)]
    names += [write.source for write in setup if write.source is not None]
    return tuple(SourceDecl(name) for name in dict.fromkeys(names))


def _v1_needs(setup: Sequence[Write]) -> frozenset[Capability]:
    needs = {Capability.PAGE_WRITE if write.via == "page" else Capability.FACT_WRITE for write in setup}
    if len({write.source for write in setup}) > 1:
        needs.add(Capability.SOURCES)
    return frozenset(needs)


def _native(document: Document, held_out: frozenset[str]) -> Fixture:
    value = document.value
    name = fixture_id(value) or ""
    return Fixture(
        fixture_id=name,
        suites=declared(value),
        category=value["category"],
        stratum=value["stratum"],
        language=value["language"],
        events=tuple(_event(e) for e in value["events"]),
        setup=tuple(_write(e) for e in listed(value, "setup")),
        scripted_facts=tuple(_scripted(f) for f in listed(value, "scripted_facts")),
        sources=tuple(SourceDecl(s["id"], s.get("owner", "user")) for s in value.get("sources", [{"id": "default"}])),
        active_source=active(value),
        requires=frozenset(Capability(c) for c in listed(value, "requires")),
        tags=tuple(listed(value, "tags")),
        universe=value.get("universe"),
        holdout=name in held_out,
        schema_version=2,
        file=document.file,
        declares=((name, declared(value)),),
    )


def _scripted(fact: Mapping[str, Any]) -> ScriptedFact:
    since = fact.get("valid_from")
    return ScriptedFact(
        event_id=int(fact["event_id"]),
        quote=fact["quote"],
        mention=fact["mention"],
        fact=fact["fact"],
        kind=fact["kind"],
        valid_from=None if since is None else utc(since),
    )


def _event(event: Mapping[str, Any]) -> Event:
    event_id = whole(event["event_id"]) or 0
    ts = utc(event["ts"]) if "ts" in event else None
    source, by, name = event.get("source"), _by(event), event.get("as")
    match event["kind"]:
        case "turn":
            return Turn(event_id, event["role"], event["text"], ts, source, event.get("speaker"))
        case "write":
            return _write(event)
        case "edit":
            return _edit(event)
        case "forget":
            challenge = event.get("challenge", "absent")
            return Forget(
                event_id, _target(event), event["mode"], event["actor"], ts, source, by, name, challenge=challenge
            )
        case "confirm":
            op, challenge = event.get("op", "confirm"), event.get("challenge", "absent")
            target, actor, door = _target(event), event["actor"], event["door"]
            return Confirm(event_id, target, actor, door, ts, source, by, name, op=op, challenge=challenge)
        case "resync":
            files = tuple(sorted(event["snapshot"].items()))
            return Resync(event_id, files, ts, source, by, name, op=event.get("op", "git"))
        case _:
            breaks = {key: event.get(key, False) for key in ("persist", "jobs", "crash")}
            return SessionBreak(event_id, event.get("harness"), ts=ts, source=source, **breaks)


def _by(event: Mapping[str, Any]) -> By | None:
    """Who does it, where the event says more than the actor."""
    if "door" not in event and "principal" not in event:
        return None
    actor = event.get("actor", "owner")
    door = event.get("door", DOORS_OF[actor])
    return By(actor, door, event.get("principal", principal_of(actor, door)))


def principal_of(actor: str, door: str) -> str:
    """Who that is where nobody is named.

    >>> principal_of("owner", "tty"), principal_of("agent", "mcp"), principal_of("external", "connector:mail")
    ('owner', 'agent:agent', 'connector:mail')
    """
    if actor == "owner":
        return "owner"
    return "agent:agent" if actor == "agent" else f"connector:{door.partition(':')[2] or 'outside'}"


def _edit(event: Mapping[str, Any]) -> Edit:
    patch = event.get("patch", {})
    change = event.get("replace") or (patch if "old" in patch else None)
    return Edit(
        event_id=whole(event["event_id"]) or 0,
        slug=event.get("slug"),
        actor=event["actor"],
        content=event.get("content", patch.get("content")),
        replace=None if change is None else (change["old"], change.get("new", "")),
        ts=utc(event["ts"]) if "ts" in event else None,
        source=event.get("source"),
        by=_by(event),
        name=event.get("as"),
        target=_target(event) if "target" in event else None,
        op=event.get("op"),
        to=patch.get("to"),
        sql=patch.get("sql"),
    )


def _write(event: Mapping[str, Any]) -> Write:
    return Write(
        event_id=int(event["event_id"]),
        via=event["via"],
        actor=event["actor"],
        content=event["content"],
        slug=event.get("slug"),
        claims=tuple(listed(event, "claims")),
        ts=utc(event["ts"]) if "ts" in event else None,
        source=event.get("source"),
        by=_by(event),
        name=event.get("as"),
        origin=event.get("origin"),
        entity=event.get("entity"),
        attribute=event.get("attribute"),
        replaces=event.get("replaces"),
        valid_from=utc(event["valid_from"]) if "valid_from" in event else None,
        lineage=tuple(listed(event, "lineage")),
        part=event.get("part"),
    )


def _target(event: Mapping[str, Any]) -> Target:
    return Target(**{"name" if key == "as" else key: value for key, value in event["target"].items()})
