"""Which of the pages that a memory names does its text tell anything of?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from brainbench.corpus.markdown import names
from brainbench.corpus.words import folded, is_unspaced
from brainbench.model import Edit, Fixture, Replayed, SessionBreak, Turn, Write

_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST = 4
"""The letters of a word that tells something; shorter ones stand in every text."""
_LEAST_UNSPACED = 2


def pages_of(fixture: Fixture, replayed: Replayed) -> Mapping[str, tuple[str, ...]]:
    """All that the script writes on each page, whenever; conversations are under the page that the memory told."""
    found: dict[str, list[str]] = {}
    for event in (*fixture.setup, *fixture.events):
        if isinstance(event, Write) and event.slug is not None:
            found.setdefault(event.slug, []).append(event.content)
        elif isinstance(event, Edit) and event.slug is not None:
            found.setdefault(event.slug, []).append(event.content or " ".join(event.replace or ()))
    kept = [o.session_page for o in replayed.observations if o.session_page is not None]
    said = _said(fixture)
    for page in kept:
        found.setdefault(page, []).extend(said)
    return {slug: tuple(contents) for slug, contents in found.items()}


def told(text: str, ids: Sequence[str], pages: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The ids of which the text holds the id, a name of the page, or a word of it; and those that are no such page."""
    plain = folded(text)
    words: frozenset[str] | None = None
    found = []
    for slug in ids:
        if slug in pages and folded(slug) not in plain:
            words = _words(plain) if words is None else words
            if not (_named(plain, pages[slug]) or words & _words(folded("\n".join((slug, *pages[slug]))))):
                continue
        found.append(slug)
    return tuple(found)


def _said(fixture: Fixture) -> list[str]:
    """What was said before any session was kept, as whole turns and facts: who kept which is the memory's to tell."""
    if not any(isinstance(event, SessionBreak) for event in fixture.events):
        return []
    turns = [event.text for event in fixture.events if isinstance(event, Turn)]
    return [*turns, *(fact.fact for fact in fixture.scripted_facts)]


def _named(plain: str, contents: Iterable[str]) -> bool:
    """Whether the text holds a title or alias of more than a letter."""
    called = [names(content) for content in contents]
    return any(len(name) > 1 and folded(name) in plain for n in called for name in (n.title or "", *n.aliases))


def _words(plain: str) -> frozenset[str]:
    """Words of at least four letters; of scripts without spaces, each two letters that stand side by side."""
    found: set[str] = set()
    for run in _LETTERS.findall(plain):
        if is_unspaced(run[0]):
            found.update(run[i : i + _LEAST_UNSPACED] for i in range(len(run) - 1))
        elif len(run) >= _LEAST:
            found.add(run)
    return frozenset(found)
