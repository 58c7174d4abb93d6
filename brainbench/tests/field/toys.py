"""A small memory that does everything right, and one for each row that gets just that wrong.

Hosted as toys:Class where a row kills its process. It keeps a line of JSON for everything that happens.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
import unicodedata
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from brainbench.errors import SystemFailure
from brainbench.model import Ask, Capability, Conversation, Injection, ItemIn, ItemRow, PageIn, RunContext, SearchHit
from brainbench.systems import System

_SECRETS = re.compile(
    r"sk-\w{20,}|ghp_\w{20,}|(?<=://)[^:/\s]+:[^@\s]+(?=@)|-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----", re.DOTALL
)
_TITLE = re.compile(r"^title: (.+)$", re.MULTILINE)


_EMPTY = frozenset("a about and do in is it of on the to was what with you".split())
_LETTERS = re.compile(r"\w+")


def fold(text: str) -> str:
    """Case, form and marks aside."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not "\u0300" <= c <= "\u036f")


class Sound(System):
    """Gets every row right."""

    version = "1"
    can = frozenset(
        {
            *(Capability.ADD, Capability.GET, Capability.UPDATE, Capability.DELETE, Capability.DELETE_ALL),
            *(Capability.LIST, Capability.META, Capability.EVENT_TIME, Capability.SUPERSEDE, Capability.AS_OF),
            *(Capability.REOPEN, Capability.SOURCES, Capability.PAGE_WRITE, Capability.SEARCH),
            *(Capability.CONVERSATION_WRITE, Capability.CONTEXT),
        }
    )

    def open(self, run: RunContext) -> None:
        self.reopen(run)

    def reopen(self, run: RunContext) -> None:
        self.path = Path(run.directory) / "items.jsonl"
        self.scopes = {source.id for source in run.sources}
        self.read = 0
        self.items: dict[str, dict[str, Any]] = {}
        self.by_name: dict[tuple[str, str], str] = {}
        self.by_text: dict[tuple[str, str], str] = {}
        self.pages: dict[tuple[str, str], str] = {}
        self.now = ""
        self.sync()

    def tell_time(self, now: str) -> None:
        self.now = now

    # The file.

    def write(self, **event: Any) -> None:
        line = json.dumps(event).encode() + b"\n"
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(file, line)
        finally:
            os.close(file)
        self.sync()

    def sync(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.read)
            told = file.read()
        whole = told.rfind(b"\n") + 1
        self.read += whole
        for line in told[:whole].splitlines():
            self.line(line)

    def line(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        getattr(self, f"do_{event.pop('do')}")(**event)

    def do_put(self, **item: Any) -> None:
        self.items[item["id"]] = {**item, "superseded_by": None, "until": None}
        self.by_name[item["source"], item["name"]] = item["id"]
        self.by_text[item["source"], item["text"]] = item["id"]

    def do_set(self, id: str, text: str) -> None:  # noqa: A002
        self.items[id]["text"] = text

    def do_end(self, id: str, by: str, until: str) -> None:  # noqa: A002
        self.items[id] |= {"superseded_by": by, "until": until}

    def do_drop(self, id: str) -> None:  # noqa: A002
        self.items.pop(id, None)

    def do_wipe(self, source: str) -> None:
        self.items = {key: item for key, item in self.items.items() if item["source"] != source}

    def do_page(self, source: str, slug: str, text: str) -> None:
        self.pages[source, slug] = text

    # Items.

    def known(self, source: str) -> None:
        if source not in self.scopes:
            raise SystemFailure(f"there is no scope {source!r}")

    def mended(self, text: str) -> str:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def given_before(self, item: ItemIn, text: str) -> str | None:
        for found in (self.by_name.get((item.source, item.name)), self.by_text.get((item.source, text))):
            if found in self.items and self.items[found]["superseded_by"] is None:
                return found
        return None

    def new_id(self, item: ItemIn) -> str:
        return f"item-{uuid.uuid4().hex}"

    def at(self, item: ItemIn) -> str:
        return item.ts or ""

    def meta(self, item: ItemIn) -> Mapping[str, Any]:
        return dict(item.meta)

    def add_item(self, item: ItemIn) -> str:
        self.known(item.source)
        self.sync()
        text = self.mended(item.text)
        if found := self.given_before(item, text):
            return found
        made = self.new_id(item)
        told = {"source": item.source, "name": item.name, "text": text, "at": self.at(item), "meta": self.meta(item)}
        self.write(do="put", id=made, made=self.now, **told)
        if item.replaces is not None:
            self.retire(item.replaces, made, item.ts or self.now)
        return made

    def retire(self, old: str, by: str, until: str) -> None:
        self.write(do="end", id=old, by=by, until=until)

    def live(self, source: str) -> list[dict[str, Any]]:
        return [item for item in self.items.values() if self.fits(item["source"], source)]

    def fits(self, stored: str, asked: str) -> bool:
        return stored == asked

    def row(self, item: Mapping[str, Any]) -> ItemRow:
        return ItemRow(item["id"], item["text"], item["at"], item["made"], item["meta"], item["superseded_by"])

    def current(self, source: str, as_of: str | None) -> list[dict[str, Any]]:
        found = self.live(source)
        if as_of is None:
            return [item for item in found if item["superseded_by"] is None]
        return [item for item in found if item["at"] <= as_of and (item["until"] is None or as_of < item["until"])]

    def indexed(self, item: Mapping[str, Any]) -> str:
        return str(item["text"])

    def fold(self, text: str) -> str:
        return fold(text)

    def query_words(self, query: str) -> list[str]:
        """Telling words; in scripts without spaces what stands between two. Of a long query not the short ones."""
        words = [
            word for part in self.fold(query).split() for word in (_LETTERS.findall(part) if part.isascii() else [part])
        ]
        words = [word for word in words if word not in _EMPTY] or words
        return words if len(words) < 12 else [word for word in words if len(word) > 4 or not word.isascii()]

    def word_in(self, word: str, text: str, words: Counter[str]) -> bool:
        return word in words or (not text.isascii() and word in text)

    def ranked(self, items: Sequence[dict[str, Any]], query: str) -> list[dict[str, Any]]:
        texts = [self.fold(self.indexed(item)) for item in items]
        bags = [Counter(re.findall(r"\w+", text)) for text in texts]
        scores = [0.0] * len(items)
        for word in set(self.query_words(query)):
            holders = [n for n, text in enumerate(texts) if self.word_in(word, text, bags[n])]
            for n in holders:
                scores[n] += math.log(1 + len(items) / len(holders))
        best = max(scores, default=0.0)
        found = [n for n, score in enumerate(scores) if score > 0]
        return [items[n] for n in sorted(found, key=lambda n: self.order(scores[n], best, n))]

    def order(self, score: float, best: float, n: int) -> tuple[float, ...]:
        """What fits about as well as the best comes newest first."""
        return (0.0, -n, 0.0) if score > best * 0.45 else (1.0, -score, n)

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        self.known(source)
        self.sync()
        return [self.row(item) for item in self.ranked(self.current(source, as_of), query)[:limit]]

    def of(self, source: str, item_id: str) -> dict[str, Any] | None:
        self.sync()
        item = self.items.get(item_id)
        return item if item is not None and item["source"] == source else None

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        item = self.of(source, item_id)
        return None if item is None else self.row(item)

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        if self.of(source, item_id) is None:
            return None
        self.write(do="set", id=item_id, text=text)
        return item_id

    def delete_item(self, source: str, item_id: str) -> bool:
        if self.of(source, item_id) is None:
            return False
        self.write(do="drop", id=item_id)
        return True

    def delete_items(self, source: str) -> None:
        self.write(do="wipe", source=source)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        self.sync()
        return [self.row(item) for item in self.current(source, None)]

    # Pages and conversations.

    def write_page(self, page: PageIn) -> None:
        self.write(do="page", source=page.source, slug=page.slug, text=page.content)

    def read_page(self, source: str, slug: str) -> str | None:
        self.sync()
        return self.pages.get((source, slug))

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        items = [{"slug": slug, "text": text} for (where, slug), text in self.pages.items() if where == source]
        return [SearchHit(item["slug"], text=item["text"]) for item in self.ranked(items, query)[:limit]]

    def masked(self, text: str) -> str:
        return _SECRETS.sub("[secret]", text)

    def write_conversation(self, conversation: Conversation) -> str | None:
        text = self.masked("\n".join(f"{said.role}: {said.text}" for said in conversation.messages))
        slug = f"conversations/{conversation.session}"
        self.write_page(PageIn(conversation.source, slug, text))
        return slug

    def context(self, ask: Ask) -> Injection:
        prompt = ask.messages[-1].text
        named = [
            slug
            for (source, slug), text in self.pages.items()
            if source == ask.source and (title := _TITLE.search(text)) and title[1] in prompt
        ]
        return Injection("".join(f"→ `{slug}`\n" for slug in named), ids=tuple(named))


# One for each row.


class WipesEverybody(Sound):
    def delete_items(self, source: str) -> None:
        for scope in self.scopes:
            super().delete_items(scope)


class CachesSearches(Sound):
    def reopen(self, run: RunContext) -> None:
        super().reopen(run)
        self.cache: dict[tuple[Any, ...], Sequence[ItemRow]] = {}

    def write(self, **event: Any) -> None:
        if event["do"] != "wipe":
            self.cache.clear()
        super().write(**event)

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        key = (source, query, limit, as_of)
        if key not in self.cache:
            self.cache[key] = super().find_items(*key)
        return self.cache[key]


class FindsTheDead(Sound):
    """Its keyword path drops what is deleted, its path for whole sentences does not."""

    def reopen(self, run: RunContext) -> None:
        self.dead: list[dict[str, Any]] = []
        super().reopen(run)

    def do_drop(self, id: str) -> None:  # noqa: A002
        if id in self.items:
            self.dead.append(self.items[id])
        super().do_drop(id)

    def current(self, source: str, as_of: str | None) -> list[dict[str, Any]]:
        return super().current(source, as_of) + (self.dead if self.sentence else [])

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        self.sentence = query.count(" ") > 1
        found = super().find_items(source, query, limit, as_of)
        self.sentence = False
        return found

    sentence = False


class IndexesTheDeadAgain(Sound):
    """Deletions hold until it is opened again."""

    def do_drop(self, id: str) -> None:  # noqa: A002
        if self.now:
            super().do_drop(id)


class SaysDeleted(Sound):
    def delete_item(self, source: str, item_id: str) -> bool:
        super().delete_item(source, item_id)
        return True


class ListsOtherIds(Sound):
    def list_items(self, source: str) -> Sequence[ItemRow]:
        return [replace(row, id=f"row:{row.id}") for row in super().list_items(source)]


class NeverAgain(Sound):
    def given_before(self, item: ItemIn, text: str) -> str | None:
        return self.by_text.get((item.source, text)) or super().given_before(item, text)


class DeletesTheWholeSession(Sound):
    def delete_item(self, source: str, item_id: str) -> bool:
        there = self.of(source, item_id) is not None
        if there:
            self.delete_items(source)
        return there


class CompactsSeldom(Sound):
    """Of many deletions it carries out the first twenty."""

    def reopen(self, run: RunContext) -> None:
        self.dropped = 0
        super().reopen(run)

    def do_drop(self, id: str) -> None:  # noqa: A002
        self.dropped += 1
        if self.dropped <= 20:
            super().do_drop(id)


class KeepsTheOldIndex(Sound):
    def do_put(self, **item: Any) -> None:
        super().do_put(**item)
        self.items[item["id"]]["first"] = item["text"]

    def indexed(self, item: Mapping[str, Any]) -> str:
        return str(item.get("first", item["text"]))


class LosesTheSecondUpdate(Sound):
    def do_set(self, id: str, text: str) -> None:  # noqa: A002
        item = self.items[id]
        item["changes"] = item.get("changes", 0) + 1
        super().do_set(id, text)

    def indexed(self, item: Mapping[str, Any]) -> str:
        return "" if item.get("changes", 0) > 1 else str(item["text"])


class DropsMetadata(Sound):
    def do_set(self, id: str, text: str) -> None:  # noqa: A002
        super().do_set(id, text)
        self.items[id]["meta"] = {}


class SecondSayingDeletes(Sound):
    def add_item(self, item: ItemIn) -> str:
        before = self.by_text.get((item.source, item.text))
        made = super().add_item(item)
        if before == made:
            self.write(do="drop", id=made)
        return made


class OldFirst(Sound):
    def order(self, score: float, best: float, n: int) -> tuple[float, ...]:
        return (-score, n)


class KeepsBoth(Sound):
    def retire(self, old: str, by: str, until: str) -> None:
        """Nothing takes the place of anything."""


class RetiresByName(Sound):
    def add_item(self, item: ItemIn) -> str:
        name = item.text.split(" ")[0]
        before = [one["id"] for one in self.current(item.source, None) if one["text"].startswith(f"{name} ")]
        made = super().add_item(item)
        for old in before:
            if name.istitle() and old != made and name not in ("The", "I") and item.replaces is None:
                self.retire(old, made, self.now)
        return made


class OneInterval(Sound):
    """What became true again gets back the interval that it had."""

    def add_item(self, item: ItemIn) -> str:
        old = self.by_text.get((item.source, item.text))
        if old is None or item.replaces is None:
            return super().add_item(item)
        self.items[old] |= {"superseded_by": None, "until": None}
        self.retire(item.replaces, old, item.ts or self.now)
        return old


class KeyedTwice(Sound):
    def do_page(self, source: str, slug: str, text: str) -> None:
        if (source, slug) in self.pages:
            self.pages[source, f"{slug}-old"] = self.pages[source, slug]
        super().do_page(source, slug, text)


class HidesForGood(Sound):
    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        row = super().get_item(source, item_id)
        return None if row is None or row.superseded_by else row


class SearchesEverybody(Sound):
    """It filters after ranking, and not where many are asked for."""

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        self.all = limit >= 50 and query.startswith(("where", *"BDFGHJKLMNPRSTV"))
        found = super().find_items(source, query, limit, as_of)
        self.all = False
        return found

    def fits(self, stored: str, asked: str) -> bool:
        return self.all or super().fits(stored, asked)

    all = False


class UpdatesAnybodys(Sound):
    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        return super().update_item(self.items[item_id]["source"] if item_id in self.items else source, item_id, text)


class LikePatterns(Sound):
    def fits(self, stored: str, asked: str) -> bool:
        return fnmatchcase(stored, asked.replace("_", "?").replace("%", "*"))


class PrefixScopes(Sound):
    def fits(self, stored: str, asked: str) -> bool:
        return stored.startswith(asked)


class TakesAnyScope(Sound):
    def known(self, source: str) -> None:
        """Whatever is named is a scope."""


class OneTextForAll(Sound):
    def given_before(self, item: ItemIn, text: str) -> str | None:
        found = [one["id"] for one in self.items.values() if one["text"] == text and one["superseded_by"] is None]
        return found[0] if found else super().given_before(item, text)


class SharesProjects(Sound):
    def fits(self, stored: str, asked: str) -> bool:
        return super().fits(stored, asked) or (stored.startswith("project-") and asked.startswith("project-"))


class LocalTime(Sound):
    """It writes instants as its own clock shows them, and no zone."""

    def at(self, item: ItemIn) -> str:
        if item.ts is None:
            return ""
        seconds = time.mktime(time.strptime(item.ts, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))


class IngestionTime(Sound):
    def at(self, item: ItemIn) -> str:
        return self.now


class WholeWords(Sound):
    def word_in(self, word: str, text: str, words: Counter[str]) -> bool:
        return word in words


class LosesIdentifiers(Sound):
    def word_in(self, word: str, text: str, words: Counter[str]) -> bool:
        return word in words or (not text.isascii() and not word.isascii() and word in text)


class IdsFromTitles(Sound):
    def new_id(self, item: ItemIn) -> str:
        if not item.title:
            return super().new_id(item)
        return f"title-{re.sub('[^a-z0-9]', '', item.title.lower())}"


class KeepsHalves(Sound):
    def mended(self, text: str) -> str:
        return text


class QueryLanguage(Sound):
    def query_words(self, query: str) -> list[str]:
        if query.count('"') % 2 or "(" in query or "*" in query:
            raise SystemFailure("syntax error near the end of the query")
        return super().query_words(query)


class Romanises(Sound):
    def mended(self, text: str) -> str:
        return "".join("x" if "CYRILLIC" in unicodedata.name(c, "") else c for c in super().mended(text))


class KnowsOneForm(Sound):
    def fold(self, text: str) -> str:
        return text.casefold()


class IgnoresMarks(Sound):
    def given_before(self, item: ItemIn, text: str) -> str | None:
        words = re.findall(r"\w+", text)
        alike = [one["id"] for one in self.current(item.source, None) if re.findall(r"\w+", one["text"]) == words]
        return alike[0] if alike else super().given_before(item, text)


class Inverts(Sound):
    def mended(self, text: str) -> str:
        return super().mended(text).replace("whenever", "never")


class FirstWordsOnly(Sound):
    def indexed(self, item: Mapping[str, Any]) -> str:
        return " ".join(str(item["text"]).split()[:256])


class RewritesAll(Sound):
    def write(self, **event: Any) -> None:
        super().write(**event)
        self.path.with_name("all.json").write_text(json.dumps(self.items) * 4)


class LastWriterWins(Sound):
    """It reads the store when it is opened, and writes all of it each time."""

    def sync(self) -> None:
        if not self.read:
            super().sync()
            self.lines = self.path.read_bytes() if self.path.exists() else b""
            self.read = 1

    def write(self, **event: Any) -> None:
        line = json.dumps(event).encode() + b"\n"
        self.lines += line
        fresh = self.path.with_name(f"{id(self)}.new")
        fresh.write_bytes(self.lines)
        fresh.replace(self.path)
        self.line(line)


class StrictReader(Sound):
    def line(self, line: bytes) -> None:
        json.loads(line)
        super().line(line)

    def write(self, **event: Any) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(event).encode() + b"\n")
        self.sync()


class ThirdSeesNothing(Sound):
    opened: ClassVar[Counter[str]] = Counter()

    def reopen(self, run: RunContext) -> None:
        self.opened[run.directory] += 1
        self.blind = self.opened[run.directory] > 3
        super().reopen(run)

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return () if self.blind else super().find_items(source, query, limit, as_of)


class SaysKeptTooSoon(Sound):
    """What it acknowledged waits for a while before it is written."""

    waiting: Sequence[Any] = ()

    def reopen(self, run: RunContext) -> None:
        self.waiting = []
        super().reopen(run)

    def write(self, **event: Any) -> None:
        self.waiting = [*self.waiting, event]
        self.line(json.dumps(event).encode())
        if len(self.waiting) > 100:
            self.close()

    def sync(self) -> None:
        if not self.read:
            super().sync()

    def close(self) -> None:
        for event in self.waiting:
            with self.path.open("ab") as file:
                file.write(json.dumps(event).encode() + b"\n")
        self.waiting = []


class QuarantinesTheEnd(Sound):
    """When it was killed for the third time, what was written last is put aside."""

    def reopen(self, run: RunContext) -> None:
        count = Path(run.directory) / "opened"
        times = int(count.read_text()) + 1 if count.exists() else 1
        count.write_text(str(times))
        path = Path(run.directory) / "items.jsonl"
        if times > 3 and path.exists():
            path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
        super().reopen(run)


class KeepsEveryRetry(Sound):
    def given_before(self, item: ItemIn, text: str) -> str | None:
        return None


class KeepsEveryRepetition(Sound):
    def given_before(self, item: ItemIn, text: str) -> str | None:
        return self.by_name.get((item.source, item.name))


class LeavesItsLock(Sound):
    lock: Path | None = None

    def reopen(self, run: RunContext) -> None:
        self.lock = Path(run.directory) / "lock"
        if self.lock.exists():
            raise SystemFailure("the store is locked by another process")
        self.lock.touch()
        super().reopen(run)

    def close(self) -> None:
        if self.lock is not None:
            self.lock.unlink(missing_ok=True)


class FirstWordsOfTheQuery(Sound):
    def query_words(self, query: str) -> list[str]:
        return super().query_words(query)[:50]


class KeepsSecrets(Sound):
    def masked(self, text: str) -> str:
        return text


class KeepsSomeInMemory(Sound):
    """What is added fifth since it was opened is acknowledged and not written."""

    def reopen(self, run: RunContext) -> None:
        self.added = 0
        super().reopen(run)

    def write(self, **event: Any) -> None:
        self.added += event["do"] == "put"
        if event["do"] == "put" and self.added == 5:
            self.line(json.dumps(event).encode())
        else:
            super().write(**event)


class PushesStrays(Sound):
    def context(self, ask: Ask) -> Injection:
        found = super().context(ask)
        return Injection(f"{found.text}→ `people/nobody`\n", ids=(*(found.ids or ()), "people/nobody"))


# What would like to pass without being a memory.


class SaysYes(Sound):
    """Everything is fine, and nothing is kept."""

    def write(self, **event: Any) -> None:
        """Done."""

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return ()

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        return None

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        return item_id

    def delete_item(self, source: str, item_id: str) -> bool:
        return True

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return ()


class Echoes(Sound):
    """It repeats what it is asked."""

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [ItemRow("echo", query)]

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit("echo", text=query)]


class GivesEverything(Sound):
    """Whatever it is asked, it gives all that it ever heard, in the order in which it heard it."""

    def ranked(self, items: Sequence[dict[str, Any]], query: str) -> list[dict[str, Any]]:
        return list(items)


class GivesTheNewest(Sound):
    """Whatever it is asked, it gives all that it ever heard, the newest first."""

    def ranked(self, items: Sequence[dict[str, Any]], query: str) -> list[dict[str, Any]]:
        return list(items)[::-1]
