"""What is to be written, as one value that can wait: the arguments of a call, and back from how they are held."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from wellkept.model import ContentOrigin, FactKind, HeldWrite, Told, Trust, Writer


@dataclass(frozen=True, slots=True)
class PageWrite:
    """A page to be put."""

    source: str
    slug: str
    content: str
    told: Told | None
    again: bool
    writer: Writer
    at: datetime
    lineage: tuple[Trust, ...] = ()

    def request(self) -> str:
        """As JSON, without who writes and when, which is held apart."""
        told = None
        if self.told is not None:
            said = self.told
            told = [said.content_origin, said.source_id, said.url, _written(said.valid_at), dict(said.metadata)]
        tiers = [int(tier) for tier in self.lineage]
        named = {"slug": self.slug, "content": self.content, "told": told, "again": self.again, "lineage": tiers}
        return _json(named)

    @staticmethod
    def of(held: HeldWrite, at: datetime) -> PageWrite:
        """The write that is held."""
        said = json.loads(held.request)
        told = said["told"]
        if told is not None:
            origin, source_id, url, valid_at, metadata = told
            told = Told(origin, source_id, url, _read(valid_at), metadata)
        lineage = tuple(Trust(tier) for tier in said.get("lineage", ()))
        return PageWrite(held.source, said["slug"], said["content"], told, said["again"], held.writer, at, lineage)


@dataclass(frozen=True, slots=True)
class FactWrite:
    """A statement to be remembered."""

    source: str
    text: str
    entity: str | None
    kind: FactKind
    session: str | None
    replaces: str | None
    valid_from: datetime | None
    content_origin: ContentOrigin | None
    writer: Writer
    at: datetime
    attribute: str | None = None
    valid_until: datetime | None = None
    lineage: tuple[Trust, ...] = ()

    def request(self) -> str:
        """As JSON, without who writes and when, which is held apart."""
        names = ("text", "entity", "attribute", "kind", "session", "replaces", "content_origin")
        said = {name: getattr(self, name) for name in names}
        times = {name: _written(getattr(self, name)) for name in ("valid_from", "valid_until")}
        return _json({**said, **times, "lineage": [int(tier) for tier in self.lineage]})

    @staticmethod
    def of(held: HeldWrite, at: datetime) -> FactWrite:
        """The write that is held."""
        said = json.loads(held.request)
        since, until = _read(said.pop("valid_from")), _read(said.pop("valid_until", None))
        tiers = tuple(Trust(tier) for tier in said.pop("lineage", ()))
        return FactWrite(
            source=held.source,
            valid_from=since,
            valid_until=until,
            writer=held.writer,
            at=at,
            lineage=tiers,
            **said,
        )


def strings(value: object) -> tuple[str, ...]:
    """Every text in JSON types, names of fields too."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        return tuple(text for pair in value.items() for part in pair for text in strings(part))
    if isinstance(value, list | tuple):
        return tuple(text for part in value for text in strings(part))
    return ()


def _json(said: Mapping[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, allow_nan=False)


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _read(text: object) -> datetime | None:
    return None if text is None else datetime.fromisoformat(cast(str, text))
