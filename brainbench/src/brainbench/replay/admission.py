"""Whether a memory that the bench does not know keeps what it claims, asked before anything is played.

A few pages are planted and looked for, each thing that it claims is asked of it once. A memory that fails here is not
played: its cells are invalid, with what went wrong as the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from brainbench.model import (
    Ask,
    Budget,
    Capability,
    Conversation,
    FactIn,
    Injection,
    Message,
    PageIn,
    RunContext,
    SearchHit,
    SourceDecl,
    pointer_ids,
)
from brainbench.replay import FIRST_TIME
from brainbench.systems import System
from brainbench.systems.answers import plain, told_facts, what_happened

HERE, ELSEWHERE = "default", "elsewhere"
HITS = 5
_PAGE_OR_NONE: Any = str | None
PLANTED = (
    ("people/ilka-varnholt", "Ilka Varnholt", "Ilka Varnholt keeps bees on the roof of the ferry office."),
    ("people/tomasz-ardelean", "Tomasz Ardelean", "Tomasz Ardelean restores church organs and collects tide tables."),
    ("companies/quillmere-optics", "Quillmere Optics", "Quillmere Optics grinds lenses for lighthouses."),
)


def planted(slug: str, title: str, body: str, source: str = HERE) -> PageIn:
    """A page as fixtures hold them."""
    kind = "company" if slug.startswith("companies/") else "person"
    return PageIn(source, slug, f"---\ntitle: {title}\ntype: {kind}\n---\n\n{body}\n", ts=FIRST_TIME)


def start(can: frozenset[Capability], directory: str) -> RunContext:
    """An empty memory of one source, or of two where the system tells sources apart."""
    names = (HERE, ELSEWHERE) if Capability.SOURCES in can else (HERE,)
    return RunContext("admission", tuple(SourceDecl(name) for name in names), HERE, directory)


def asked(text: str, session: str = "admission-1") -> Ask:
    """A first user turn."""
    return Ask("direct", session, HERE, (Message("user", text, FIRST_TIME),), (), Budget(3), FIRST_TIME)


def problems(system: System, directory: str) -> Iterator[str]:
    """What the memory does not keep of what it claims; stops at the first thing that cannot be done at all."""
    try:
        system.open(start(system.can, directory))
        system.tell_time(FIRST_TIME)
        for capability, check in _CHECKS.items():
            if capability in system.can:
                yield from check(system)
    except Exception as error:
        yield what_happened(error)


def _pages(system: System) -> Iterator[str]:
    for page in PLANTED:
        system.write_page(planted(*page))
    for slug, _, body in PLANTED:
        if body not in (system.read_page(HERE, slug) or ""):
            yield f"page {slug!r} was written and does not read back with its text"


def _search(system: System) -> Iterator[str]:
    for slug, title, _ in PLANTED:
        found = [hit.id for hit in plain(list(system.search(HERE, title, HITS)), list[SearchHit])]
        if Capability.PAGE_WRITE in system.can and slug not in found:
            gave = f"finds {', '.join(map(repr, found))} instead" if found else "finds nothing"
            yield f"search for {title!r}, the title of page {slug!r}, {gave}"


def _context(system: System) -> Iterator[str]:
    told = []
    for slug, title, _ in PLANTED:
        ask = asked(f"What do I have on {title}?", f"admission-{slug}")
        told.append(_brought(plain(system.context(ask), Injection), slug))
    if Capability.PAGE_WRITE in system.can and not any(told):
        yield f"context brought no planted page in {len(told)} turns that asked for one by its title"


def _brought(injection: Injection, slug: str) -> bool:
    ids = pointer_ids(injection.text) if injection.ids is None else injection.ids
    return slug in ids or slug in injection.text


def _sources(system: System) -> Iterator[str]:
    if Capability.PAGE_WRITE not in system.can:
        return
    slug = "people/odd-one-out"
    system.write_page(planted(slug, "Odd Oneout", "Odd Oneout is known elsewhere only.", ELSEWHERE))
    if system.read_page(HERE, slug) is not None:
        yield f"page {slug!r} of source {ELSEWHERE!r} is read in source {HERE!r}"


def _edit(system: System) -> Iterator[str]:
    slug, title, _ = PLANTED[0]
    body = f"{title} sold the bees."
    system.edit_page(planted(slug, title, body))
    if body not in (system.read_page(HERE, slug) or ""):
        yield f"page {slug!r} was edited and does not read back with its new text"


def _facts(system: System) -> Iterator[str]:
    system.write_fact(FactIn(HERE, PLANTED[0][2], PLANTED[0][0], ts=FIRST_TIME))
    yield from ()


def _conversation(system: System) -> Iterator[str]:
    said = (Message("user", "The ferry leaves at nine.", FIRST_TIME), Message("assistant", "Noted.", FIRST_TIME))
    plain(system.write_conversation(Conversation(HERE, "admission-0", said, now=FIRST_TIME)), _PAGE_OR_NONE)
    yield from ()


def _recall(system: System) -> Iterator[str]:
    told_facts(system.recall_facts(HERE))
    yield from ()


_CHECKS: dict[Capability, Callable[[System], Iterator[str]]] = {
    Capability.PAGE_WRITE: _pages,
    Capability.SEARCH: _search,
    Capability.CONTEXT: _context,
    Capability.SOURCES: _sources,
    Capability.FACT_WRITE: _facts,
    Capability.CONVERSATION_WRITE: _conversation,
    Capability.RECALL_FACTS: _recall,
    Capability.EDIT: _edit,
}
"""What is asked of a memory that claims a capability, in the order in which it is asked."""
