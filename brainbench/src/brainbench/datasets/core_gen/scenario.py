"""Reads scene files: conversations written by hand, with a part for everybody and what each turn should bring.

A scene starts at `== stratum [language] [once|apart|fresh]`. Each further line is `verb parts: text`; `//` parts
several ways to say it, of which a later round of the same scene takes the next. `#` starts a comment line.

    cast: p1 person, c1 company, ?p2 person   who has a part; "?" has no page, "=p1" bears the title of p1,
                                              "~p1" has the surname of p1; `company/Freight` adds a common word
    swap: p1 c1+p2           who is a stranger in one of the two plays, c1 and p2 in the same one; without this line
                             everybody, one by one
    slot day: Monday / Friday    a word that is drawn once per fixture and written {day}
    page p1: summary | body | alias, alias | key=value; key=value    seeded before the first event
    later p1: summary | body ...    the same for a page that `write p1` brings
    ask p1 c1 +p2: text      a user turn that wants the pages of p1 and c1 as far as these have one; p2 does no harm
    quiet: text / may p1: text      a user turn that wants none / to which the page of p1 may come, whoever plays p1
    reply: text              an assistant turn; `answer:` when the asked is known, `blank:` when not
    user: text               a user turn judged by what is kept of it, by the lines that follow:
    fact p1 event: quote | mention | fact | keyword; keyword | forbidden; forbidden
                             of nobody's page with "-"; a quote `*` is the whole turn, a fact `=` repeats the quote;
                             without keywords it is told but not wanted, as a later turn corrects it
    probe stored: keyword; keyword | forbidden      and `probe any p1: keyword`
    write p1: / edit p1: old => new / gap: 50 / session: 60 / persist: 60    (minutes)

A scene is played twice, and each part is taken once by somebody who has a page and once by a stranger, in either
order. Where somebody else's page might pass for the stranger's, that page must not be there yet: a `fresh` scene is
played with strangers first, and then the pages of others are written; one that is played `apart` fills two fixtures. A
scene that says `once` is played once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from brainbench.datasets import core_words
from brainbench.model import Stratum

_STRATA = ("easy", "medium", "hard")
_DIRECTIONS = ("cast", "swap", "slot", "page", "later")
_STEPS = ("ask", "quiet", "may", "reply", "answer", "blank", "user", "fact", "probe", "write", "edit", "gap")
_VERBS = frozenset((*_DIRECTIONS, *_STEPS, "session", "persist"))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a scene: `verb parts: text`, the text in all the ways it can be said."""

    verb: str
    parts: tuple[str, ...]
    ways: tuple[str, ...]

    def way(self, round_: int) -> str:
        """How a round says it."""
        return self.ways[round_ % len(self.ways)]


@dataclass(frozen=True, slots=True)
class Scene:
    """A conversation with its cast. `cast` gives each part a kind; who is in `strangers` has no page; `plays` is
    `once`, `apart`, `fresh` or `twice`."""

    name: str
    stratum: Stratum
    language: str
    plays: str
    cast: dict[str, str]
    strangers: frozenset[str]
    lines: tuple[Line, ...]

    @property
    def swaps(self) -> tuple[frozenset[str], ...]:
        """The parts that strangers take, in groups that go together.

        Without a `swap` line each part that is asked about is a group, and the others go with the first of them.
        """
        named = [frozenset(group.split("+")) for line in self.directions("swap") for group in line.way(0).split()]
        if named:
            return tuple(named)
        asked = [part for line in self.lines if line.verb == "ask" for part in line.parts if not part.startswith("+")]
        rest = list(dict.fromkeys(asked))[1:]
        return (frozenset(self.cast).difference(rest), *(frozenset({part}) for part in rest))

    def directions(self, verb: str) -> Iterator[Line]:
        """The lines of one verb that come before the play: `page`, `later`, `slot`, `swap`."""
        return (line for line in self.lines if line.verb == verb)

    def direction(self, verb: str, part: str) -> Line | None:
        """The line of a verb for one part."""
        return next((line for line in self.directions(verb) if line.parts == (part,)), None)

    def steps(self) -> Iterator[Line]:
        """What happens, in order."""
        return (line for line in self.lines if line.verb not in _DIRECTIONS)


@cache
def scenes(name: str) -> tuple[Scene, ...]:
    """The scenes of `scenes/<name>.scene`, in order. ValueError names the line that cannot be read."""
    text = files(core_words).joinpath("scenes", f"{name}.scene").read_text(encoding="utf-8")
    return tuple(parsed(name, text))


def parsed(name: str, text: str) -> Iterator[Scene]:
    """The scenes of a text. ValueError names the line that cannot be read."""
    head, lines, at = "", list[Line](), 0
    for number, raw in enumerate([*text.splitlines(), "=="], 1):
        row = raw.strip()
        if row.startswith("=="):
            if head:
                yield _scene(f"{name}:{at}", head, lines)
            head, lines, at = row.removeprefix("==").strip(), [], number
        elif row and not row.startswith("#"):
            lines.append(_line(f"{name}:{number}", row))


def _line(where: str, row: str) -> Line:
    before, colon, text = row.partition(":")
    verb, *parts = before.split()
    if verb not in _VERBS or not colon:
        raise ValueError(f"{where}: {row[:40]!r} does not start with a verb and a colon; verbs: {sorted(_VERBS)}")
    return Line(verb, tuple(parts), tuple(way.strip() for way in text.split(" // ")))


def _scene(where: str, head: str, lines: list[Line]) -> Scene:
    stratum, *rest = head.split()
    if stratum not in _STRATA:
        raise ValueError(f"{where}: a scene starts with its stratum, {', '.join(_STRATA)}; got {stratum!r}")
    plays = next((word for word in rest if word in ("once", "apart", "fresh")), "twice")
    language = next((word for word in rest if word != plays), "en")
    cast_, strangers = dict[str, str](), set[str]()
    for line in lines:
        for entry in line.way(0).split(",") if line.verb == "cast" else ():
            part, _, kind = entry.strip().partition(" ")
            cast_[part.lstrip("?")] = kind
            strangers |= {part[1:]} if part.startswith("?") else set()
    known = {*cast_, "-", "stored", "any"}
    for line in lines:
        parts = tuple(line.way(0).replace("+", " ").split()) if line.verb == "swap" else line.parts
        parts = parts[:1] if line.verb == "fact" else () if line.verb == "slot" else parts
        for part in parts:
            if part.lstrip("+") not in known:
                raise ValueError(f"{where}: {part!r} of `{line.verb}` has no part in the cast {sorted(cast_)}")
    return Scene(where, cast(Stratum, stratum), language, plays, cast_, frozenset(strangers), tuple(lines))
