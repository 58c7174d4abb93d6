"""One row of the field suite: the script that is played, and what must be seen of it, which no memory is shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from brainbench.field.draw import Draw
from brainbench.model import Capability, ItemRow
from brainbench.replay.items import Script, Seen, Step, every_step

Verdict = Literal["passed", "FAILED", "n/a"]
GROUPS: Mapping[str, str] = {
    "A": "delete, forget, residue",
    "B": "update, supersede, contradiction",
    "C": "scope, isolation, identity",
    "D": "time",
    "E": "text, language, query syntax",
    "F": "size, limits",
    "G": "concurrency, crash, durability",
    "H": "hooks, injection, capture",
}
_MOST = 60
_NAMED = ("add", "converse", "context")


class Told:
    """What was seen of a case, by label, and sentences about what is not as it should be."""

    def __init__(self, steps: Iterable[Step], seen: Iterable[Seen]) -> None:
        self._steps = {step.label: step for step in every_step(tuple(steps))}
        self._seen = {each.label: each for each in seen}

    def __getitem__(self, label: str) -> Seen:
        return self._seen.get(label, Seen(label, skipped=True))

    def asked(self, label: str) -> bool:
        """Whether the step was played and answered."""
        return not self[label].skipped and self[label].error is None

    def texts(self, label: str) -> list[str]:
        """The texts of the rows that a step gave."""
        return [row.text for row in self[label].rows]

    def call(self, label: str) -> str:
        """A step as it would be typed."""
        return described(self._steps[label]) if label in self._steps else label

    def holds(self, label: str, *texts: str) -> Iterator[str]:
        """That all of these are among the rows."""
        for text in texts:
            if self.asked(label) and not any(same(text, told) for told in self.texts(label)):
                yield f"{self.call(label)}: expected {short(text)}, got {self.gave(label)}"

    def lacks(self, label: str, *texts: str) -> Iterator[str]:
        """That none of these is among the rows, and stands in none of them."""
        for text in texts:
            if any(normal(text) in normal(told) for told in self.texts(label)):
                yield f"{self.call(label)}: expected nothing of {short(text)}, got {self.gave(label)}"

    def empty(self, label: str) -> Iterator[str]:
        """That there are no rows."""
        if self[label].rows:
            yield f"{self.call(label)}: expected nothing, got {self.gave(label)}"

    def first(self, label: str, text: str) -> Iterator[str]:
        """That this is the first row."""
        if self.asked(label) and not (self.texts(label) and same(self.texts(label)[0], text)):
            yield f"{self.call(label)}: expected {short(text)} first, got {self.gave(label)}"

    def times(self, label: str, text: str, count: int) -> Iterator[str]:
        """That this is among the rows so often."""
        found = sum(same(text, told) for told in self.texts(label))
        if self.asked(label) and found != count:
            yield f"{self.call(label)}: expected {short(text)} {count} times, got it {found} times"

    def says(self, label: str, *, yes: bool, otherwise: str) -> Iterator[str]:
        """That the step answered yes or no."""
        if self.asked(label) and self[label].yes is not yes:
            yield f"{self.call(label)}: {otherwise}"

    def row(self, label: str, text: str) -> ItemRow | None:
        """The row with this text."""
        return next((row for row in self[label].rows if same(row.text, text)), None)

    def gave(self, label: str) -> str:
        """The rows that a step gave, in short."""
        texts = self.texts(label)
        more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
        return f"{', '.join(map(short, texts[:2]))}{more}" if texts else "nothing"

    def errors(self) -> Iterator[str]:
        """The steps that answered with an error and may not."""
        for label, seen in self._seen.items():
            step = self._steps.get(label)
            if seen.error is not None and not (step and step.may_fail) and label != "empty":
                yield f"{self.call(label)}: error: {seen.error}"

    def beginning(self, start: str) -> list[str]:
        """The labels that begin so."""
        return [label for label in self._seen if label.startswith(start)]


@dataclass(frozen=True, slots=True)
class Case:
    """What is played in which scopes, and the check of what was seen: sentences, none where all is right."""

    scopes: tuple[str, ...]
    steps: tuple[Step, ...]
    check: Callable[[Told], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """A failure that was reported of a real memory, as something to ask of any.

    `right` is the right behaviour in a sentence. Without `make` it cannot be asked through the verbs of a system, and
    `unasked` says why. `seconds` is added to the time that a row may take.
    """

    id: str
    priority: Literal[1, 2, 3]
    right: str
    make: Callable[[Draw], Case] | None = None
    needs: frozenset[Capability] = field(default_factory=frozenset)
    unasked: str = ""
    group: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Laid:
    """A row with its words drawn: what is played, and the check that stays here."""

    script: Script
    check: Callable[[Told], Iterable[str]]


def laid(row: Row, seed: str) -> Laid:
    """The row as it is played: its own steps, then a few texts beside them of which the right one must be found.

    That last part fails a memory that says nothing, repeats what it is asked, or gives back everything.
    """
    if row.make is None:
        raise ValueError(f"{row.id} is not asked")
    draw = Draw(seed, row.id)
    case = row.make(draw)
    scope, beside = case.scopes[0], draw.controls()
    middle = 2 + draw.random.randrange(3)
    control = [add(f"beside-{number}", scope, text) for number, (text, _) in enumerate(beside)]
    wanted, word = beside[middle]
    steps = (*case.steps, *control, find("alive", scope, word, 2))

    def check(told: Told) -> Iterator[str]:
        yield from told.errors()
        yield from case.check(told)
        yield from told.holds("alive", wanted)

    return Laid(Script(case.scopes, tuple(_named(step, draw) for step in steps), row.needs), check)


def _named(step: Step, draw: Draw) -> Step:
    """The step with a drawn name where a memory is told one: a label would tell it what is looked for."""
    parts = tuple(tuple(_named(inner, draw) for inner in part) for part in step.parts)
    return replace(step, parts=parts, name=step.name or (draw.key() if step.verb in _NAMED else ""))


# Steps, as they are written in rows.


def add(label: str, scope: str, text: str, **more: object) -> Step:
    """Keep a text."""
    return replace(Step(label, "add", scope, text), **more)  # type: ignore[arg-type]


def find(label: str, scope: str, query: str, limit: int = 5, **more: object) -> Step:
    """Search."""
    return replace(Step(label, "find", scope, query, limit=limit), **more)  # type: ignore[arg-type]


def get(label: str, scope: str, of: str, **more: object) -> Step:
    """What is kept under an id."""
    return replace(Step(label, "get", scope, of=of), **more)  # type: ignore[arg-type]


def update(label: str, scope: str, of: str, text: str, **more: object) -> Step:
    """Another text."""
    return replace(Step(label, "update", scope, text, of=of), **more)  # type: ignore[arg-type]


def delete(label: str, scope: str, of: str, **more: object) -> Step:
    """Delete one."""
    return replace(Step(label, "delete", scope, of=of), **more)  # type: ignore[arg-type]


def listed(label: str, scope: str, **more: object) -> Step:
    """All of a scope."""
    return replace(Step(label, "list", scope), **more)  # type: ignore[arg-type]


def reopen(label: str = "reopen", **more: object) -> Step:
    """Close it and open it again in another process."""
    return replace(Step(label, "reopen"), **more)  # type: ignore[arg-type]


def described(step: Step) -> str:
    """A step as it would be typed.

    >>> described(find("f", "u1", "oboe"))
    'find(u1, "oboe", 5)'
    """
    said = [step.scope] if step.scope else []
    said += [short(step.text)] if step.text and not step.of else []
    said += [f"id of {step.of}"] if step.of else [repr(step.id)] if step.id else []
    said += [str(step.limit)] if step.verb in ("find", "search") else []
    said += [f"as_of={step.as_of}"] if step.as_of else []
    by = f" by process {step.by + 1}" if step.by else ""
    return f"{step.verb}({', '.join(said)}){by}"


def short(text: str) -> str:
    """A text in quotes, cut where it is long, without what moves a cursor."""
    clean = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return f'"{clean}"' if len(clean) <= _MOST else f'"{clean[:_MOST]}…"'


def normal(text: str) -> str:
    """A text in one form, without what stands around it."""
    return unicodedata.normalize("NFC", text).strip()


def same(one: str, other: str) -> bool:
    """Whether two texts are one, but for their form and what stands around them."""
    return normal(one) == normal(other)


def moment(stamp: str) -> datetime | None:
    """A time that a memory told, or None where it is none."""
    try:
        found = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else datetime.fromisoformat(stamp + "+00:00")


def clipped(texts: Iterable[str], most: int = 220) -> str:
    """What is wrong, as one line: the first thing, and how many more there are."""
    told = list(texts)
    more = f" ({len(told) - 1} more)" if len(told) > 1 else ""
    first = "".join(c if c.isprintable() else "\ufffd" for c in told[0])
    return (first if len(first) <= most else first[:most] + "…") + more
