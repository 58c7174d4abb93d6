"""Issues, pull requests and what was said to them, of a repository on GitHub or what speaks as it does.

Each is a page of its own, from outside, whoever wrote it: a stranger may write into an issue. Read again it stays one
page; that something was closed or is gone there changes nothing that its owner said here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from wellkept.connectors.rest import Batch, Service, batches
from wellkept.errors import InvalidInput, Refused, Unreachable
from wellkept.memory import Memory
from wellkept.model import Source, Told, Writer
from wellkept.storage import Cursor

API = "https://api.github.com"
GITHUB = Writer("connector", "connector:github")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
_PER_PAGE = 100
_TITLE_CHARS = 400


@dataclass(frozen=True, slots=True)
class _Item:
    """An issue, a pull request or a comment, as it will be kept."""

    slug: str
    content: str
    told: Told
    updated_at: datetime


@dataclass(slots=True)
class Fetched:
    """What one run read and kept; `held` waits for its owner's look, `left` names what could not be kept, and why."""

    repository: str
    source: str
    issues: int = 0
    comments: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    held: int = 0
    left: list[str] = field(default_factory=list)


def fetch(
    memory: Memory,
    source: str,
    repository: str,
    service: Service,
    *,
    progress: Callable[[int], object] = bool,
    now: datetime | None = None,
) -> Fetched:
    """Keep what is new or changed in a repository since it was read last. `progress` hears how many items were read.

    A page of answers is looked at as a whole before any of it is kept, and where reading stops is kept with it: after
    an error the next run goes on there. Unreachable says what is wrong.
    """
    if _NAME.fullmatch(repository) is None or repository.rpartition("/")[2] in (".", ".."):
        raise InvalidInput("repository", f"is {repository!r}; use OWNER/NAME")
    done = Fetched(repository, source)
    for stream in _STREAMS:
        for batch in _since(memory, source, repository, service, stream):
            waiting = _waiting(memory, source)
            for item in batch:
                if (item.slug, item.content) in waiting:
                    done.held += 1
                else:
                    _keep(memory, source, item, done, now)
                done.issues += stream.counts == "issues"
                done.comments += stream.counts == "comments"
                progress(done.issues + done.comments)
    return done


@dataclass(frozen=True, slots=True)
class _Stream:
    """One list of the service: its path below the repository, what it asks with, and how its items are read."""

    path: str
    asks: Mapping[str, str]
    counts: str
    read: Callable[[str, Mapping[str, Any]], _Item]


def _since(
    memory: Memory, source: str, repository: str, service: Service, stream: _Stream
) -> Iterator[tuple[_Item, ...]]:
    """The items of a list that changed since it was read last, oldest change first. Keeps how far it came."""
    name = f"github:{urlsplit(service.url).netloc}:{repository}:{stream.path}"
    cursor = memory.store.folders.cursor(source, name) or Cursor(None, None)
    asked = {**stream.asks, "sort": "updated", "direction": "asc", "per_page": str(_PER_PAGE)}
    if cursor.at is not None:
        asked["since"] = cursor.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = f"/repos/{quote(repository)}/{stream.path}?{urlencode(asked)}"
    known: set[str] = set()
    since, etag = cursor.at, None
    for number, batch in enumerate(batches(service, path, cursor.etag), start=1):
        items = tuple(_read(stream, repository, batch, number))
        if items and known.issuperset(item.slug for item in items):
            raise Unreachable(service.url, f"page {number} of {stream.path} holds nothing new: its pages never end")
        known.update(item.slug for item in items)
        yield items
        etag = batch.etag or etag
        newest = max((item.updated_at for item in items), default=cursor.at)
        newest = newest if cursor.at is None or newest is None else max(newest, cursor.at)
        # The mark is of this very question: once that goes on from a later moment it says nothing any more.
        moved = Cursor(newest, etag if newest == since else None)
        if moved != cursor:
            with memory.store.transaction():
                memory.store.add_source(Source(source))
                memory.store.folders.reach(source, name, moved)
            cursor = moved


def _read(stream: _Stream, repository: str, batch: Batch, number: int) -> Iterator[_Item]:
    for place, item in enumerate(batch.items, start=1):
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("item", f"is {type(item).__name__} and no object")
            yield stream.read(repository, item)
        except InvalidInput as error:
            where = f"item {place} of page {number} of {stream.path}"
            raise Unreachable(repository, f"{where}: {error}. Nothing of this page was kept; is --api right?") from None


def _keep(memory: Memory, source: str, item: _Item, done: Fetched, now: datetime | None) -> None:
    try:
        receipt = memory.put_page(source, item.slug, item.content, told=item.told, writer=GITHUB, now=now)
    except (InvalidInput, Refused) as error:
        done.left.append(f"{item.slug}: {error}")
        return
    if "guarded" in receipt.degraded:
        done.left.append(f"{item.slug}: a page of your own stands there, and stays")
    else:
        setattr(done, receipt.status, getattr(done, receipt.status) + 1)


def _waiting(memory: Memory, source: str) -> set[tuple[str, str]]:
    """The pages that are held back already, and what they say: the newest of a list is sent again."""
    held = (json.loads(write.request) for write in memory.held(source) if write.writer == GITHUB)
    return {(said.get("slug", ""), said.get("content", "")) for said in held}


# -- what GitHub says


def _issue(repository: str, item: Mapping[str, Any]) -> _Item:
    number = _count(item, "number")
    kind = "pull request" if isinstance(item.get("pull_request"), Mapping) else "issue"
    title = _line(_text(item, "title"))
    said: dict[str, object] = {"title": title, "type": kind, "number": number, "state": _line(_text(item, "state"))}
    said |= {"author": _author(item), "labels": _labels(item)}
    return _page(f"github/{repository}/issues/{number}", said, item, f"github:{repository}#{number}")


def _comment(repository: str, item: Mapping[str, Any]) -> _Item:
    number = _count(item, "id")
    on = _text(item, "issue_url").rstrip("/").rpartition("/")[2]
    if not (on.isascii() and on.isdigit()):
        raise InvalidInput("issue_url", f"is {on[:80]!r}, which names no issue")
    author = _author(item)
    said: dict[str, object] = {"title": f"{author} on {repository}#{on}", "type": "comment", "author": author}
    slug = f"github/{repository}/issues/{on}/comments/{number}"
    return _page(slug, said, item, f"github:{repository}#{on}-{number}")


_STREAMS: tuple[_Stream, ...] = (
    _Stream("issues", {"state": "all"}, "issues", _issue),
    _Stream("issues/comments", {}, "comments", _comment),
)


def _page(slug: str, said: Mapping[str, object], item: Mapping[str, Any], named: str) -> _Item:
    body = item.get("body")
    if body is not None and not isinstance(body, str):
        raise InvalidInput("body", f"is {type(body).__name__} and no text")
    updated = _moment(item, "updated_at")
    # Each value as JSON is one line of YAML that says nothing but itself.
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in said.items() if value != "")
    url = _text(item, "html_url")
    kept = url if urlsplit(url).scheme in ("http", "https") and len(url) <= 400 and url.isprintable() else None
    told = Told(
        content_origin="document",
        source_id=named,
        url=kept,
        valid_at=updated,
        metadata={key: value for key, value in said.items() if key in ("author", "state") and value != ""},
    )
    return _Item(slug, f"---\n{head}---\n\n{body or ''}", told, updated)


def _text(item: Mapping[str, Any], field_: str) -> str:
    value = item.get(field_)
    if not isinstance(value, str):
        raise InvalidInput(field_, f"is {type(value).__name__} and no text")
    return value


def _count(item: Mapping[str, Any], field_: str) -> int:
    value = item.get(field_)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**18:
        raise InvalidInput(field_, f"is {str(value)[:80]!r} and no number from 1")
    return value


def _moment(item: Mapping[str, Any], field_: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text(item, field_))
    except ValueError:
        raise InvalidInput(field_, f"is {_text(item, field_)[:80]!r} and no moment") from None
    if found.utcoffset() is None:
        raise InvalidInput(field_, "has no time zone")
    # One from ahead would keep all that comes before it from being asked for again.
    return min(found.astimezone(UTC), datetime.now(UTC) + timedelta(days=1))


def _author(item: Mapping[str, Any]) -> str:
    """Who wrote it; one who left is called ghost, as there."""
    user = item.get("user")
    if user is None:
        return "ghost"
    if not isinstance(user, Mapping):
        raise InvalidInput("user", f"is {type(user).__name__} and no object")
    return _line(_text(user, "login"))


def _labels(item: Mapping[str, Any]) -> Sequence[str]:
    found = item.get("labels")
    if not isinstance(found, list):
        return []
    names = (label.get("name") if isinstance(label, Mapping) else label for label in found)
    return [_line(name) for name in names if isinstance(name, str)]


def _line(text: str) -> str:
    return " ".join(_UNSHOWN.sub(" ", text).split())[:_TITLE_CHARS]
