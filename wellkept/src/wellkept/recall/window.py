"""Which of the names in a conversation's last turns matter now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wellkept.model import Message, PageRef
from wellkept.recall.arms import Arm, NameIndex, Resolution, resolve
from wellkept.recall.sighting import Sighting

TURNS = 12
STRONG = 12
WEAK = 32


@dataclass(frozen=True, slots=True)
class Mention:
    """A page named in a window: how, how often and by whom. `turns` are places in the window, oldest first."""

    page: PageRef
    arm: Arm
    display: str
    turns: tuple[int, ...]
    in_newest: bool
    by_user: bool


@dataclass(frozen=True, slots=True)
class _Said:
    turn: int
    role: str
    resolution: Resolution


def mentions_in_turn(index: NameIndex, sighted: Sequence[Sighting], text: str) -> tuple[Mention, ...]:
    """Pages named in one turn, in text order per arm class; at most 12 by a strong and 32 by a weak sighting."""
    said = [_Said(0, "user", found) for found in resolve(index, sighted, text)]
    groups = list(_by_query(said).values())
    return _one_per_page(_capped(groups), newest=0)


def mentions_in_window(
    index: NameIndex, window: Sequence[Message], sighted: Sequence[Sequence[Sighting]]
) -> tuple[Mention, ...]:
    """Pages named in a window, most telling first: strong sightings, recent turns, repeated names, the user's own."""
    said = [
        _Said(turn, message.role, found)
        for turn, (message, seen) in enumerate(zip(window, sighted, strict=True))
        for found in resolve(index, seen, message.text)
    ]
    groups = sorted(_by_query(said).values(), key=lambda group: (_is_weak(group), -_weight(group, len(window))))
    return _one_per_page(_capped(groups), newest=len(window) - 1)


def _by_query(said: Sequence[_Said]) -> dict[str, list[_Said]]:
    groups: dict[str, list[_Said]] = {}
    for one in said:
        groups.setdefault(one.resolution.sighting.query, []).append(one)
    return groups


def _is_weak(group: Sequence[_Said]) -> bool:
    return all(one.resolution.sighting.weak for one in group)


def _weight(group: Sequence[_Said], turns: int) -> float:
    said_in = {one.turn for one in group}
    by_user = any(one.role == "user" for one in group)
    return (max(said_in) + 1) / turns + 0.1 * min(len(said_in), 4) + (0.15 if by_user else 0.0)


def _capped(groups: Sequence[list[_Said]]) -> list[list[_Said]]:
    room = {False: STRONG, True: WEAK}
    kept = []
    for group in groups:
        weak = _is_weak(group)
        if room[weak] > 0:
            room[weak] -= 1
            kept.append(group)
    return kept


def _one_per_page(groups: Sequence[list[_Said]], newest: int) -> tuple[Mention, ...]:
    """One mention for each page, under the first arm that found it, in the order of arms class and position."""
    by_page: dict[str, list[tuple[int, _Said]]] = {}
    for position, group in enumerate(groups):
        for one in group:
            by_page.setdefault(one.resolution.page.slug, []).append((position, one))
    ranked = []
    for slug, all_said in by_page.items():
        position, first = min(all_said, key=lambda pair: (pair[1].resolution.arm.row, pair[0]))
        arm = first.resolution.arm
        ranked.append(((arm.rank, position, arm.row, slug), _mention(first, [one for _, one in all_said], newest)))
    return tuple(mention for _, mention in sorted(ranked, key=lambda pair: pair[0]))


def _mention(first: _Said, all_said: Sequence[_Said], newest: int) -> Mention:
    same = [one for one in all_said if one.resolution.arm is first.resolution.arm]
    shown = next((one for one in same if one.role == "user"), first)
    turns = tuple(sorted({one.turn for one in all_said}))
    by_user = any(one.role == "user" for one in all_said)
    resolution = first.resolution
    return Mention(
        resolution.page, resolution.arm, shown.resolution.sighting.display, turns, turns[-1] == newest, by_user
    )
