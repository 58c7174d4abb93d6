"""Items as HTTP gives and takes them: entities and raw texts are pages, and each is stored once.

An entity's id is the slug of its page. It follows from the caller's own id where there is one, so that the same item
sent again is the same page, else from its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from wellkept import wire
from wellkept.errors import InvalidInput, NotFound, WellkeptError
from wellkept.memory import Memory, check_name
from wellkept.model import Page, Told
from wellkept.names import slugify
from wellkept.verbs import Caller

_HEAD_BEGINS, _HEAD_ENDS = '---\ntitle: "', "\n---\n\n"
_SLUG_CHARS = 60
_PAGES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Entity:
    """One item as a caller sends it."""

    name: str
    type: str
    content: str
    told: Told

    @property
    def slug(self) -> str:
        """The slug of its page; different items never share one, whatever characters their names hold."""
        named = self.told.source_id if self.told.source_id is not None else self.name
        readable = slugify(named)[:_SLUG_CHARS].strip("-")
        plain = self.told.source_id is None and readable == named.lower().replace(" ", "-") and readable.isascii()
        tail = readable if plain else f"{readable}-{sha256(named.encode()).hexdigest()[:12]}".strip("-")
        return f"{self.type}/{tail}"

    @property
    def markdown(self) -> str:
        """Its page: the content below the name and type that the caller gave."""
        return f'{_HEAD_BEGINS}{_quoted(self.name)}"\ntype: {self.type}{_HEAD_ENDS}{self.content}'


def _quoted(name: str) -> str:
    """The name as it stands between double quotes in YAML."""
    return " ".join(name.split()).replace("\\", "\\\\").replace('"', '\\"')


def entity_of(asked: Mapping[str, Any], kind: str, content: str) -> Entity:
    """The entity that a request describes. Its fields were checked by the request's own table."""
    metadata = dict(asked.get("metadata") or {})
    if asked.get("tags"):
        metadata["tags"] = list(asked["tags"])
    told = Told(asked["content_origin"], asked["source_id"], asked["url"], asked["valid_at"], metadata)
    return Entity(asked["name"], kind, content, told)


def put(memory: Memory, caller: Caller, entity: Entity) -> dict[str, Any]:
    """The entity with what became of it: created, updated, duplicate or guarded."""
    check_name("name", entity.name)
    if entity.told.source_id is not None:
        check_name("source_id", entity.told.source_id)
    receipt = memory.put_page(
        caller.source, entity.slug, entity.markdown, told=entity.told, writer=caller.writer, now=caller.now
    )
    guarded = "guarded" in receipt.degraded
    status = "guarded" if guarded else "duplicate" if receipt.status == "unchanged" else receipt.status
    return {"entity": shown(memory.get_page(caller.source, entity.slug)), "status": status}


def put_many(memory: Memory, caller: Caller, entities: Sequence[Entity | WellkeptError]) -> dict[str, Any]:
    """What became of each: all that can be stored are, in one transaction, and the others are named with a code."""
    found: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    counts = {"created": 0, "updated": 0, "duplicate": 0, "guarded": 0}
    with memory.store.transaction():
        for index, entity in enumerate(entities):
            try:
                if isinstance(entity, WellkeptError):
                    raise entity
                one = put(memory, caller, entity)
            except InvalidInput as error:
                failed.append({"index": index, "code": error.problem, "detail": str(error)})
                continue
            counts[one["status"]] += 1
            found.append({"id": one["entity"]["id"], "status": one["status"]})
    batch = uuid4().hex
    stored = {"received": len(entities), "stored": len(found), "searchable": len(found), "failed": len(failed)}
    return {
        "entities": found,
        "created": counts["created"],
        "updated": counts["updated"],
        "duplicates": counts["duplicate"],
        "guarded": counts["guarded"],
        "failed": failed,
        "batch_id": batch,
        "batch": {**stored, "done": True},
    }


def get(memory: Memory, caller: Caller, slug: str) -> dict[str, Any]:
    """One current entity. NotFound also for one that was ended; its history is still there."""
    page = memory.get_page(caller.source, slug)
    if page.status != "active":
        raise NotFound(f"there is no page {slug!r} in source {caller.source!r}")
    return shown(page)


def listed(memory: Memory, caller: Caller, kind: str | None, cursor: str, limit: int) -> dict[str, Any]:
    """Current entities by id beyond a cursor, of one type if named; conversations are none."""
    found: list[Page] = []
    after = cursor
    while len(found) <= limit and (pages := memory.store.every_page(caller.source, after, _PAGES_AT_ONCE)):
        after = pages[-1].slug
        live = (page for page in pages if page.status == "active" and page.type != "conversation")
        found += [page for page in live if kind is None or page.type == kind]
    more = len(found) > limit
    held = found[:limit]
    return {
        "entities": [shown(page) for page in held],
        "has_more": more,
        "cursor": held[-1].slug if more else None,
    }


def shown(page: Page) -> dict[str, Any]:
    """A page as an entity: what was sent as content, or the body of a page that came another way."""
    item: dict[str, Any] = wire.shown(page)
    sent = page.content.partition(_HEAD_ENDS)[2] if page.content.startswith(_HEAD_BEGINS) else page.body
    item |= {"name": item.pop("title"), "content": sent}
    item["entity_type"] = item["type"]
    del item["timeline"]
    return item
