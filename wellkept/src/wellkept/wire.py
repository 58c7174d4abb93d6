"""Values as JSON, with the label on each thing that is read. Every door shows them through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from wellkept.model import (
    Change,
    Changed,
    Dated,
    Fact,
    Found,
    History,
    Hit,
    Item,
    Message,
    Omitted,
    PackItem,
    Page,
    PageRef,
    Pointer,
    Recalled,
    Result,
    Results,
    Said,
    Told,
    Trust,
)
from wellkept.recall.degraded import found_by
from wellkept.trust import Label, Labelled, label, label_of_change

TOLD = ("content_origin", "source_id", "url", "valid_at", "metadata")


def answer(found: object, many: str) -> dict[str, Any]:
    """The answer of a verb: an object, in which a list has the name `many`."""
    if isinstance(found, Recalled):
        return {"memories": shown(found.memories), "total": len(found)} | _how(found)
    if isinstance(found, Results):
        paged = {name: getattr(found, name) for name in ("total", "limit", "offset", "has_more")}
        told = {"results": shown(found.results), **paged, "policy_reason": None, "usage": shown(found.usage)}
        return told | _how(found)
    if many:
        listed = [shown(one) for one in found]  # type: ignore[attr-defined]
        return {many: listed, "total": len(listed)}
    return dict(shown(found))


def shown(value: object) -> Any:
    """A value as JSON types. A page, fact, hit or pointer carries its own label, wherever it stands."""
    if isinstance(value, Page):
        return _page(value)
    if isinstance(value, Fact):
        return _fact(value)
    if isinstance(value, Found):
        return {"id": value.id, "origin": value.origin} | shown(value.item) | _ranked(value)
    if isinstance(value, Result):
        return _result(value)
    if isinstance(value, Hit):
        plain = {"id": str(Item("page", value.slug)), "title": value.title, "text": value.text}
        return plain | _ranked(value) | {"superseded_by": value.superseded_by} | _label(value)
    if isinstance(value, Pointer):
        return _plain(value, but=("trust", "source", "slug")) | {"id": str(Item("page", value.slug))} | _label(value)
    if isinstance(value, Said):
        return {"id": str(Item("page", value.slug))} | _plain(value, but=("trust", "source", "slug")) | _label(value)
    if isinstance(value, Dated):
        return {"id": value.id, "date": value.date, "text": value.text} | _label(value.item)
    if isinstance(value, PackItem):
        return _pack_item(value)
    if isinstance(value, PageRef):
        return {"id": str(Item("page", value.slug)), "title": value.title} | _label(value)
    if isinstance(value, Omitted):
        return {"id": value.id, "reason": value.reason} | ({} if value.item is None else _label(value.item))
    if isinstance(value, Changed):
        return _plain(value) | ({} if value.item is None else _label(value.item))
    if isinstance(value, History):
        return _plain(value) | {"changes": _changes(value.changes)} | _label(value.item)
    if isinstance(value, Item):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {str(key): shown(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(value)
    if isinstance(value, tuple | list | frozenset | Iterator):
        return [shown(one) for one in value]
    return value


def window(text: str, earlier: Iterable[Any]) -> tuple[Message, ...]:
    """A conversation up to what the user just said."""
    return (*(Message(turn.role, turn.text) for turn in earlier), Message("user", text))


def folded(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with those that say where a text is from folded into one `told`; None when nothing is said."""
    said = {name: arguments[name] for name in TOLD if arguments.get(name) is not None}
    rest = {name: value for name, value in arguments.items() if name not in TOLD}
    return {**rest, "told": Told(**said) if said else None}


def _plain(value: Any, but: tuple[str, ...] = ()) -> dict[str, Any]:
    return {one.name: shown(getattr(value, one.name)) for one in fields(value) if one.name not in but}


def _ranked(value: Found | Hit) -> dict[str, Any]:
    return {"score": value.score, "rank": value.rank, "faint": value.faint}


def _label(value: Labelled) -> dict[str, Any]:
    return _plain(label(value))


def _changes(lines: Sequence[Change]) -> list[dict[str, Any]]:
    """The history of one item. What a line replaced is as far to be trusted as who wrote that, which is told before."""
    found = []
    for before, line in zip((None, *lines), lines, strict=False):
        written_by = None if line.before is None else Trust.EXTERNAL_UNTRUSTED if before is None else before.trust
        said: Label = label_of_change(line, written_by)
        found.append(_plain(line, but=("item", "trust", "source")) | _plain(said))
    return found


def _how(found: Recalled | Results) -> dict[str, Any]:
    """Which lanes ran, which did not and why."""
    said = found_by(found.lanes, found.degraded)
    return {"lanes": list(found.lanes), "degraded": list(found.degraded), "found_by": said}


def _result(value: Result) -> dict[str, Any]:
    item = shown(value.item)
    page = isinstance(value.item, Page)
    placed = {
        name: shown(getattr(value, name)) for name in ("id", "origin", "name", "content", "score", "rank", "faint")
    }
    kept = {name: item[name] for name in ("type", "created_at", "provenance")}
    kept |= {"valid_at": item["valid_at"] if page else item["valid_from"], "metadata": item.get("metadata", {})}
    kept |= {"turn": value.turn, "at": shown(value.at)} if value.turn is not None else {}
    if value.lanes is not None:
        kept["diagnostics"] = shown(value.lanes)
        kept["factors"] = {one.name: one.factor for one in value.factors or ()}
    if value.superseded_by is not None:
        over = {"status": "superseded", "superseded_by": value.superseded_by or None}
        return placed | kept | _label(value.item) | over
    return placed | kept | _label(value.item)


def _page(page: Page) -> dict[str, Any]:
    told = page.told
    return {
        "id": str(Item("page", page.slug)),
        "type": page.type,
        "title": page.title,
        "summary": page.summary,
        "aliases": list(page.aliases),
        "content": page.content,
        "timeline": shown(page.timeline),
        "created_at": shown(page.created_at),
        "updated_at": shown(page.updated_at),
        "valid_at": shown(told.valid_at),
        "superseded_by": page.superseded_by,
        "expired_at": shown(page.ended and page.ended.at),
        "ended_because": page.ended and page.ended.because,
        **_end(page),
        "provenance": {"source_id": told.source_id, "url": told.url},
        "metadata": shown(told.metadata),
        **_label(page),
    }


def _end(item: Page | Fact) -> dict[str, Any]:
    """What a person said when it was ended, and who it was, where that is known."""
    return {"ended_reason": item.ended and item.ended.reason, "ended_by": item.ended and item.ended.by}


def _fact(fact: Fact) -> dict[str, Any]:
    later = None if fact.superseded_by is None else f"fact:{fact.superseded_by}"
    return {
        "id": f"fact:{fact.id}",
        "type": fact.kind,
        "text": fact.text,
        "entity": fact.entity,
        "mention": fact.mention,
        "confidence": fact.confidence,
        "created_at": shown(fact.recorded_at),
        "valid_from": shown(fact.valid_from),
        "valid_until": shown(fact.valid_until),
        # One that makes way only later has not ended.
        "expired_at": None if fact.status == "active" else shown(fact.expired_at),
        "ended_because": fact.ended_because,
        **_end(fact),
        "superseded_by": later,
        "attribute": fact.attribute,
        "replaces": None if fact.replaces is None else f"fact:{fact.replaces}",
        "told_until": shown(fact.told_until),
        "end_known_at": shown(fact.expired_at),
        "provenance": shown(fact.provenance),
        **_label(fact),
    }


def _pack_item(value: PackItem) -> dict[str, Any]:
    item = shown(value.item)
    kept = {name: item[name] for name in ("id", "type", "created_at", "provenance")}
    page = value.item if isinstance(value.item, Page) else None
    kept |= {"title": page.title} if page else {}
    kept |= {"text": value.text, "score": value.score, "facet": value.facet, "reason": value.reason}
    kept |= {"valid_at": item["valid_at"] if page else item["valid_from"], "metadata": item.get("metadata", {})}
    related = [{"id": str(Item("page", one.slug)), "title": one.title} | _label(one) for one in value.related]
    return {**kept, "related": related, **_label(value.item)}
