"""Runs that are judged from real scripts, so that breaking an observation breaks the board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from brainbench.evidence import Config, Scoreboard
from brainbench.evidence.profile import Profile, read_profile
from brainbench.gold import EventGold, Gold, GoldFact, Probe
from brainbench.model import (
    V1_SUITES,
    FactRow,
    Fixture,
    Observation,
    Replayed,
    SeamConfig,
    SessionBreak,
    SourceDecl,
    Stratum,
    Turn,
    Write,
)
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge

ROOT = Path(__file__).parents[3]
STRATA: tuple[Stratum, ...] = ("easy", "medium", "hard")
Break = Callable[[Fixture, Replayed], Replayed]
Played = tuple[Fixture, Gold, Replayed]


def _fixture(name: str, stratum: Stratum) -> Fixture:
    return Fixture(
        fixture_id=name,
        suites=V1_SUITES,
        category="direct",
        stratum=stratum,
        language="en",
        sources=(SourceDecl("default"), SourceDecl("team")),
        setup=(
            Write(90, via="page", actor="owner", slug="people/ada", content="Ada", source="default"),
            Write(91, via="page", actor="owner", slug="people/cy", content="canary:pz41qq", source="team"),
        ),
        events=(
            Turn(1, "user", "Ada moved the launch to May."),
            SessionBreak(2, persist=True),
            Turn(3, "user", "When does Ada launch?"),
            Turn(4, "user", "Nice weather."),
        ),
    )


def _gold(name: str) -> Gold:
    return Gold(
        name,
        {
            1: EventGold(1, "must", ("people/ada",), gold_facts=(_FACT,)),
            3: EventGold(3, "must", ("people/ada",)),
            4: EventGold(4, "must_not"),
        },
        (
            Probe("d1", 3, "any", ("people/ada",), ("launch", "May")),
            Probe("d2", 3, "stored_only", (), ("launch", "May")),
        ),
    )


_FACT = GoldFact("launch", "Launch moved to May", "people/ada", ("launch", "May"))
_ROW = FactRow("Ada moved the launch to May", "people/ada", "memory", "default:s/1", "s/1")


def _perfect(name: str) -> Replayed:
    pages = ("people/ada",)
    seen = (
        Observation(1, "turn", ids=pages, text="→ `people/ada`", tokens=4),
        Observation(2, "persist", session_page="s/1"),
        Observation(3, "turn", ids=pages, text="→ `people/ada`", tokens=4, facts=(_ROW,)),
        Observation(4, "turn"),
    )
    return Replayed(name, "sut", "openclaw", seen, (_ROW,))


def on_event(event_id: int, **changes: object) -> Break:
    """A break that changes what was seen on one event."""

    def broken(fixture: Fixture, replayed: Replayed) -> Replayed:
        seen = tuple(
            replace(o, **changes) if o.event_id == event_id else o  # type: ignore[arg-type]
            for o in replayed.observations
        )
        return replace(replayed, observations=seen)

    return broken


@dataclass(frozen=True)
class World:
    """A corpus with a perfect memory, which can be broken fixture by fixture."""

    names: tuple[tuple[str, Stratum], ...] = field(
        default_factory=lambda: tuple((f"{s}-{n}", s) for s in STRATA for n in range(10))
    )
    seams: tuple[str, ...] = ("openclaw", "claude-code")
    fixtures_hash: str = "f" * 64
    corpus_hash: str | None = "c" * 64

    def played(self, breaks: dict[str, Break]) -> list[Played]:
        found = []
        for name, stratum in self.names:
            fixture = _fixture(name, stratum)
            replayed = _perfect(name)
            for key in ("*", name):
                replayed = breaks[key](fixture, replayed) if key in breaks else replayed
            found.append((fixture, _gold(name), replayed))
        return found

    def board(self, breaks: dict[str, Break] | None = None, suites: Sequence[str] = V1_SUITES) -> Scoreboard:
        """The board of a run in which some fixtures (or "*": all) were seen broken."""
        played = self.played(breaks or {})
        seams = [SEAMS[name] for name in self.seams]
        cells = [self._cell(name, seam, played) for seam in seams for name in suites]
        return Scoreboard(
            corpus="tiny",
            fixtures_hash=self.fixtures_hash,
            corpus_hash=self.corpus_hash,
            observations_hash="0" * 64,
            config=Config(
                include_holdout=False,
                llm=False,
                systems=("sut",),
                harnesses=self.seams,
                suites=tuple(suites),
                modes={"hook": "process"},
                deviations={seam.name: seam.deviations for seam in seams},
            ),
            cells=tuple(cells),
            receipt={"fixtures_hash": self.fixtures_hash},
            corpus_kind="v1" if self.corpus_hash is None else "v2",
            capabilities={"sut": ("context", "page_write", "recall_facts")},
        )

    def _cell(self, name: str, seam: SeamConfig, played: list[Played]) -> Cell:
        cell = judge(SUITES[name], "sut", seam, played)
        assert cell is not None
        return cell


@pytest.fixture
def world() -> World:
    """Thirty fixtures in three strata, one perfect memory, two seams."""
    return World()


@pytest.fixture
def v1_world() -> World:
    """The same as a version 1 corpus."""
    return World(corpus_hash=None)


@pytest.fixture
def seen() -> Callable[..., Break]:
    """Makes a break: `seen(3, ids=())`."""
    return on_event


@pytest.fixture(scope="session")
def profile() -> Profile:
    """The conformance gate as it ships."""
    path = ROOT / "evidence" / "gates" / "conformance.toml"
    return read_profile(path.read_bytes(), str(path))


@pytest.fixture(scope="session")
def lenient() -> Profile:
    """A gate whose floor nothing here breaks, so that regressions are seen by themselves."""
    text = b'schema_version = 1\nname = "lenient"\n[floors.v2.all]\nknow_to_ask_failure_rate = { max = 1 }\n'
    return read_profile(text, "lenient.toml")
