"""Play a fixture through a seam of a system and return what was seen. Knows nothing of gold."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any, Protocol

import msgspec
import rfc8785

from brainbench.errors import SystemFailure
from brainbench.model import (
    ONCE,
    PUSH_SUITES,
    Ask,
    Capability,
    Confirm,
    Conversation,
    Edit,
    Event,
    Extraction,
    FactIn,
    FactRow,
    Fixture,
    Forget,
    Injection,
    Message,
    Observation,
    PageIn,
    Replayed,
    Resync,
    RunContext,
    SeamConfig,
    SessionBreak,
    Sight,
    Turn,
    Write,
)
from brainbench.replay.acting import Acting, claimed, is_acted, lacking, needs_place
from brainbench.seams import Codec, load_codec, seam_named
from brainbench.systems import System
from brainbench.systems.answers import plain, told_facts, what_happened

FIRST_TIME = "2026-01-01T00:00:00Z"
"""The bench's clock when a script names no time."""
ANSWER_LIMIT = 1 << 20
"""Characters of one injection above which a system is in error; real harnesses cut at 10,000."""
FACTS_PER_TURN = 10
"""How many facts a reader may be handed on one turn."""


class TooSlow(SystemFailure):
    """A system had not taken all pages of a large brain when its time was up."""


class LargeBrain(Protocol):
    """Many pages that are put into a system before a fixture is played."""

    def pour(self, system: System, source: str) -> None:
        """Make them the pages of `source`. TooSlow if that takes the system too long."""


def estimated_tokens(text: str) -> int:
    """Tokens of a text as the v1 format counts them: UTF-16 units / 4, rounded up.

    >>> estimated_tokens("abcde"), estimated_tokens("😀😀"), estimated_tokens("")
    (2, 1, 0)
    """
    return -(-(len(text.encode("utf-16-le", "surrogatepass")) // 2) // 4)


def missing_capabilities(fixture: Fixture, can: frozenset[Capability]) -> tuple[str, ...]:
    """What the fixture requires and a system that `can` do this does not claim, sorted."""
    if is_acted(fixture):
        return lacking(fixture, can)
    needs = set(fixture.requires)
    writes = [*fixture.setup, *(e for e in fixture.events if isinstance(e, Write))]
    needs |= {Capability.PAGE_WRITE for w in writes if w.via == "page"}
    needs |= {Capability.FACT_WRITE for w in writes if w.via == "fact"}
    if fixture.universe is not None:
        needs.add(Capability.PAGE_WRITE)
    if len(fixture.sources) > 1:
        needs.add(Capability.SOURCES)
    return tuple(sorted(needs - can))


def replay(
    system: System, seam: SeamConfig, fixture: Fixture, run: RunContext, brain: LargeBrain | None = None
) -> Replayed:
    """What was observed on every event of the fixture that this seam asks about.

    The pages of `brain` are there before those of the fixture.
    """
    played = Replayed(fixture.fixture_id, system.name, seam.name)
    missing = missing_capabilities(fixture, system.can)
    if missing:
        return replace(played, missing=missing)
    if is_acted(fixture):
        return _acted(played, system, seam, fixture, run, brain)
    try:
        fill(system, fixture, run, brain)
    except TooSlow:
        raise
    except Exception as error:
        return replace(played, seed_failure=what_happened(error))
    session = _Play(system, seam, fixture, run)
    try:
        observations = tuple(session.observations())
    finally:
        session.close()
    facts, problem = session.stored_facts()
    if problem:
        observations += (Observation(_last_id(fixture), "persist", error=problem),)
    return replace(played, observations=observations, facts=facts)


def _acted(
    played: Replayed, system: System, seam: SeamConfig, fixture: Fixture, run: RunContext, brain: LargeBrain | None
) -> Replayed:
    """The same for a script of acts. Where its files matter the memory is opened in the directory of the run."""
    can = claimed(system.can)
    played = replace(played, can=tuple(sorted(can)), protected=run.protected)
    try:
        (system.reopen if Capability.REOPEN in can and needs_place(fixture) else system.open)(run)
        if brain is not None:
            system.tell_time(FIRST_TIME)
            brain.pour(system, fixture.active_source)
        system.tell_time(_first_time(fixture))
        acting = Acting(system, seam, fixture, run, _first_time(fixture))
        sights = tuple(acting.sights(_later))
    except TooSlow:
        raise
    except Exception as error:
        return replace(played, seed_failure=what_happened(error))
    asks = bool(set(fixture.suites) - set(ONCE))
    return replace(played, sights=sights, later=tuple(acting.later()) if asks else ())


def fill(system: System, fixture: Fixture, run: RunContext, brain: LargeBrain | None = None) -> None:
    """Open the system's memory and put into it what the fixture starts with. Whatever goes wrong there is raised."""
    system.open(run)
    if brain is not None:
        system.tell_time(FIRST_TIME)
        brain.pour(system, fixture.active_source)
    system.tell_time(_first_time(fixture))
    _set_up(system, fixture)


def observations_hash(replays: Iterable[Replayed]) -> str:
    """SHA-256 over all that was seen, whatever the order of playing.

    Latency, free error text, the files of a memory and the numbers that it draws by lot are left out.
    """
    digest = hashlib.sha256()
    lines = sorted(rfc8785.dumps(_comparable(r)) for r in replays)
    for line in lines:
        digest.update(line + b"\n")
    return digest.hexdigest()


_NONCE = re.compile(r'nonce="[^"]*"')


def _comparable(replayed: Replayed) -> dict[str, Any]:
    told = replace(
        replayed,
        seed_failure="failed" if replayed.seed_failure else None,
        observations=tuple(
            replace(o, latency_ms=0.0, error="error" if o.error else None) for o in replayed.observations
        ),
        sights=tuple(_comparable_sight(sight) for sight in replayed.sights),
        later=tuple(
            replace(heard, text=_NONCE.sub("", heard.text), error="error" if heard.error else None)
            for heard in replayed.later
        ),
    )
    found: dict[str, Any] = msgspec.to_builtins(told)
    if not is_told_of_acts(replayed):
        for name in ("can", "protected", "sights", "later"):
            del found[name]
    return found


def is_told_of_acts(replayed: Replayed) -> bool:
    """Whether a replay is of a script of acts."""
    return bool(replayed.sights or replayed.later or replayed.protected)


def _comparable_sight(sight: Sight) -> Sight:
    shown = tuple(replace(s, error="error" if s.error else None) for s in sight.shown)
    reply = None if sight.reply is None else replace(sight.reply, why="")
    return replace(sight, before=b"", after=b"", error="error" if sight.error else None, shown=shown, reply=reply)


def _set_up(system: System, fixture: Fixture) -> None:
    """Write the setup in its order; pages that follow each other are given to the system at once."""
    for via, writes in groupby(fixture.setup, key=lambda write: write.via == "fact"):
        if via:
            for write in writes:
                _seed(system, write, fixture.active_source)
            continue
        pages = [PageIn(w.source or fixture.active_source, w.slug or "", w.content, w.actor, w.ts) for w in writes]
        system.write_pages(pages)
        for source in dict.fromkeys(page.source for page in pages):
            _check_landed(system, source, [page.slug for page in pages if page.source == source])


def _check_landed(system: System, source: str, slugs: Sequence[str]) -> None:
    for slug, content in zip(slugs, system.read_pages(source, slugs), strict=True):
        if not isinstance(content, str):
            raise SystemFailure(f"page {slug!r} was written to source {source!r} and cannot be read back")


def _seed(system: System, write: Write, active_source: str) -> None:
    source = write.source or active_source
    if write.via == "fact":
        system.write_fact(FactIn(source, write.content, write.slug, write.session, write.actor, write.ts))
        return
    slug = write.slug or ""
    system.write_page(PageIn(source, slug, write.content, write.actor, write.ts))
    _check_landed(system, source, [slug])


def _first_time(fixture: Fixture) -> str:
    return next((e.ts for e in fixture.events if e.ts), FIRST_TIME)


def _last_id(fixture: Fixture) -> int:
    return fixture.events[-1].event_id


def _parse_time(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00"))


def _later(stamp: str, seconds: int) -> str:
    return (_parse_time(stamp) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


@dataclass(slots=True)
class _Session:
    """One conversation: what was said, what was injected, and the codec that carries it."""

    id: str
    seam: SeamConfig
    codec: Codec | None
    turns: list[Turn]
    injected: list[str]


class _Play:
    """One fixture being played. Keeps the clock and the current session."""

    def __init__(self, system: System, seam: SeamConfig, fixture: Fixture, run: RunContext) -> None:
        self.system, self.seam, self.fixture, self.run = system, seam, fixture, run
        self.now = _first_time(fixture)
        self.persisted = False
        self.session_pages: set[str] = set()
        self.number = 0
        self.origins = dict(fixture.origins)
        self.declares = dict(fixture.declares) or {fixture.fixture_id: fixture.suites}
        self.session = self._open_session(seam)

    def observations(self) -> Iterable[Observation]:
        for event in self.fixture.events:
            self.now = event.ts or _later(self.now, 60)
            seen = self._observe(event)
            if seen is not None:
                yield seen

    def close(self) -> None:
        if self.session.codec is not None:
            self.session.codec.close()

    def stored_facts(self) -> tuple[tuple[FactRow, ...], str | None]:
        if not self.persisted or Capability.RECALL_FACTS not in self.system.can:
            return (), None
        try:
            return told_facts(self.system.recall_facts(self.fixture.active_source)), None
        except Exception as error:
            return (), what_happened(error)

    def _open_session(self, seam: SeamConfig) -> _Session:
        self.number += 1
        return _Session(f"{self.run.run_id}-{self.number}", seam, None, [], [])

    def _observe(self, event: Event) -> Observation | None:
        if isinstance(event, Turn):
            return self._turn(event)
        if isinstance(event, SessionBreak):
            return self._break(event)
        return self._timed(event.event_id, "write", lambda: self._change(event))

    def _timed(self, event_id: int, kind: str, act: Callable[[], Observation]) -> Observation:
        """The observation of an act, or one that says why there is none. The edge where a system may fail."""
        started = time.perf_counter()
        try:
            self.system.tell_time(self.now)
            seen = act()
        except Exception as error:
            seen = Observation(event_id, kind, error=what_happened(error))  # type: ignore[arg-type]
        return replace(seen, latency_ms=round((time.perf_counter() - started) * 1000, 3))

    def _turn(self, turn: Turn) -> Observation | None:
        asked = turn.role == "user" and self._asks(turn)
        seen = self._timed(turn.event_id, "turn", lambda: self._ask(turn)) if asked else None
        self.session.turns.append(turn)
        if seen is not None and seen.text:
            self.session.injected.append(seen.text)
        return seen

    def _asks(self, turn: Turn) -> bool:
        """Whether a suite of this seam judges the turn: all push turns, and every turn after a first session."""
        origin = self.origins.get(turn.event_id)
        suites = set(self.declares[origin.fixture_id] if origin else self.fixture.suites)
        wanted = suites & set(self.seam.suites)
        return bool(wanted & set(PUSH_SUITES)) or ("continuity" in wanted and self.number > 1)

    def _ask(self, turn: Turn) -> Observation:
        session = self.session
        if session.codec is None:
            session.codec = load_codec(session.seam)(self.system, session.seam)
        earlier = [Message(t.role, t.text, t.ts) for t in session.turns]
        source = turn.source or self.fixture.active_source
        injection = session.codec.ask(
            Ask(
                harness=session.seam.name,
                session=session.id,
                source=source,
                messages=(*earlier, Message(turn.role, turn.text, turn.ts)),
                injected=tuple(session.injected),
                budget=session.seam.budget,
                now=self.now,
                window=session.seam.window,
                roles=session.seam.roles,
            )
        )
        seen = _injected(turn.event_id, injection, session.seam.capacity)
        if self.number > 1 and Capability.RECALL_FACTS in self.system.can:
            facts = islice(self.system.recall_facts(source, turn.text, FACTS_PER_TURN), FACTS_PER_TURN)
            seen = replace(seen, facts=told_facts(facts))
        return seen

    def _break(self, event: SessionBreak) -> Observation | None:
        closed = self.session
        self.close()
        seen = None
        if event.persist and closed.turns and Capability.CONVERSATION_WRITE in self.system.can:
            seen = self._timed(event.event_id, "persist", lambda: self._persist(event, closed))
            if self.run.door is not None and seen.error is not None:
                seen = replace(seen, extraction=Extraction())
            self.persisted = True
        self.session = self._open_session(seam_named(event.harness) if event.harness else self.seam)
        return seen

    def _persist(self, event: SessionBreak, closed: _Session) -> Observation:
        said = {t.event_id for t in closed.turns} if self.run.door is None else set()
        page = self.system.write_conversation(
            Conversation(
                source=self.fixture.active_source,
                session=closed.id,
                messages=tuple(Message(t.role, t.text, t.ts) for t in closed.turns),
                scripted=tuple(f for f in self.fixture.scripted_facts if f.event_id in said),
                now=self.now,
            )
        )
        if page is not None and not self._is_kept(plain(page, str)):
            page = None
        heard = self.system.heard() if self.run.door is not None else None
        return Observation(
            event.event_id,
            "persist",
            session_page=None if page is None else plain(page, str),
            extraction=None if heard is None else plain(heard, Extraction),
        )

    def _is_kept(self, page: str) -> bool:
        """Whether a session has a page of its own that can be read, where the system can be asked for one."""
        if page in self.session_pages:
            return False
        self.session_pages.add(page)
        if Capability.PAGE_WRITE not in self.system.can:
            return True
        return isinstance(self.system.read_page(self.fixture.active_source, page), str)

    def _change(self, event: Write | Edit | Forget | Confirm | Resync) -> Observation:
        source = event.source or self.fixture.active_source
        if isinstance(event, Write):
            _seed(self.system, event, source)
        elif isinstance(event, Edit):
            self.system.edit_page(PageIn(source, event.slug or "", self._edited(event, source), event.actor, event.ts))
        else:
            raise SystemFailure(f"no seam plays a {type(event).__name__.lower()} event yet")
        return Observation(event.event_id, "write")

    def _edited(self, event: Edit, source: str) -> str:
        if event.content is not None:
            return event.content
        before = self.system.read_page(source, event.slug or "")
        old, new = event.replace or ("", "")
        if before is None or old not in before:
            raise SystemFailure(f"page {event.slug!r} does not hold the text that the edit replaces")
        return before.replace(old, new, 1)


def _injected(event_id: int, injection: object, most: int) -> Observation:
    """What crossed the seam. Pages beyond its capacity are what the harness would cut; their tokens still count."""
    told = plain(injection, Injection)
    ids = told.brought
    size = len(told.text) + len(told.preamble) + sum(map(len, (*ids[:most], *told.degraded)))
    if size > ANSWER_LIMIT:
        raise SystemFailure(f"answered {size:,} characters; more than {ANSWER_LIMIT:,} is an error")
    return Observation(
        event_id,
        "turn",
        text=told.text,
        ids=ids[:most],
        tokens=estimated_tokens(told.text) + estimated_tokens(told.preamble),
        degraded=told.degraded,
    )
