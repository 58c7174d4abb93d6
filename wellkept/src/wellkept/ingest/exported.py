"""The lines of an export, read back into pages and facts. What follows from a page's text is read from that text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import msgspec

from wellkept.errors import InvalidInput
from wellkept.model import (
    ContentOrigin,
    Ended,
    Fact,
    FactKind,
    Item,
    Page,
    Provenance,
    Status,
    Told,
    Trust,
)

_Tier = Literal["external_untrusted", "agent_written", "user_written", "user_confirmed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    source: str
    trust: _Tier
    status: Status
    created_at: datetime | None
    superseded_by: str | None
    content_origin: ContentOrigin | None = None
    expired_at: datetime | None = None
    ended_because: str | None = None
    ended_reason: str | None = None
    ended_by: str | None = None
    flags: tuple[str, ...] = ()

    def ended(self) -> Ended | None:
        if self.ended_because is None or (self.ended_by is None and self.ended_reason is None):
            return None
        return Ended(self.expired_at, self.ended_because, self.ended_reason or "", self.ended_by)


@dataclass(frozen=True, slots=True)
class _Origin:
    source_id: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageRow(_Row):
    content: str
    type: str
    title: str
    updated_at: datetime | None
    valid_at: datetime | None = None
    provenance: _Origin = field(default_factory=_Origin)
    metadata: dict[str, Any] = field(default_factory=dict)

    def item(self) -> Page:
        told = Told(self.content_origin, self.provenance.source_id, self.provenance.url, self.valid_at, self.metadata)
        return Page(
            self.source,
            Item.named(self.id).key,
            self.title,
            self.content,
            type=self.type,
            status=self.status,
            superseded_by=self.superseded_by,
            trust=Trust[self.trust.upper()],
            updated_at=self.updated_at,
            created_at=self.created_at,
            told=told,
            flags=self.flags,
            ended=self.ended(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FactRow(_Row):
    text: str
    type: FactKind
    entity: str | None
    provenance: Provenance
    mention: str | None = None
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    attribute: str | None = None
    replaces: str | None = None
    told_until: datetime | None = None
    end_known_at: datetime | None = None

    def item(self) -> Fact:
        return Fact(
            int(Item.named(self.id).key),
            self.source,
            self.text,
            self.entity,
            self.type,
            self.provenance,
            self.mention,
            self.confidence,
            Trust[self.trust.upper()],
            self.status,
            self.valid_from,
            self.valid_until,
            self.created_at,
            _number(self.superseded_by),
            self.content_origin,
            self.end_known_at or self.expired_at,
            self.ended_because,
            self.flags,
            self.ended(),
            attribute=self.attribute,
            replaces=_number(self.replaces),
            told_until=self.told_until,
        )


def _number(named: str | None) -> int | None:
    item = None if named is None else Item.named(named)
    return int(item.key) if item is not None and item.kind == "fact" else None


def read(lines: Iterable[str]) -> Iterator[Page | Fact]:
    """The items, one of each line that is not blank; or those of the one object that `export --json` prints.

    InvalidInput names the line that cannot be read, and what of it.
    """
    return (item(where, row) for where, row in rows(lines))


def rows(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The items as JSON types, each with where it stands."""
    left = iter(lines)
    for number, line in enumerate(left, start=1):
        if line.strip() == "{" and number == 1:
            yield from _listed("".join((line, *left)))
        elif line.strip():
            yield f"line {number}", _json(f"line {number}", line)


def _listed(text: str) -> Iterator[tuple[str, Any]]:
    whole = _json("file", text)
    items = whole.get("items") if isinstance(whole, Mapping) else None
    if not isinstance(items, list):
        raise InvalidInput("items", "is not there; give what `wellkept export` wrote")
    for number, row in enumerate(items):
        yield f"items[{number}]", row


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(where, f"is no JSON: {error}") from None


def item(where: str, row: Any) -> Page | Fact:
    """The item that a row is. InvalidInput says what of it cannot be read."""
    name = row.get("id") if isinstance(row, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput(where, "is no page or fact with an id; give what `wellkept export` wrote")
    shape: type[_PageRow | _FactRow] = _FactRow if Item.named(name).kind == "fact" else _PageRow
    try:
        return msgspec.convert(row, shape).item()
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise InvalidInput(f"{where}{path.rstrip('`')}", reason) from None
