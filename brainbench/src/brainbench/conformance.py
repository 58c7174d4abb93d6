"""What every memory must keep, as pytest classes for those who write an adapter.

    from brainbench.conformance import MemoryContract

    class TestMine(MemoryContract):
        system = "my_memory:MyMemory"

`system` is what `brainbench run --system` takes; paths in it start at the folder of the test file. What the memory does
not claim is reported as not applicable and never as passed. A call that is not answered in `seconds` fails its test by
name, and the memory is loaded anew for the next one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar, cast

import pytest

from brainbench.errors import SystemFailure
from brainbench.model import (
    Capability,
    Conversation,
    FactIn,
    FactRow,
    Injection,
    ItemIn,
    ItemRow,
    Message,
    SearchHit,
)
from brainbench.replay import FIRST_TIME
from brainbench.replay.admission import ELSEWHERE, HERE, HITS, PLANTED, asked, planted, problems, start
from brainbench.systems import DOORS, System, load_system
from brainbench.systems.access import CALL_SECONDS, Access
from brainbench.systems.answers import plain

ODD = 'Zoë Ångström 👩‍🚀 keeps «заметки», 日本語のメモ and ملاحظات; 50 % of `a|b` <b>\\n</b> "quoted".'
LONG = " ".join(f"Entry {number} of the long list." for number in range(400))
_LOADING_SECONDS, _ROOM = 30.0, 3
_DOORS = {target.partition(":")[0] for target in DOORS.values()}
_SAID = (Message("user", "The ferry leaves at nine.", FIRST_TIME), Message("assistant", "Noted.", FIRST_TIME))
_BEES, _ORGANS = "Ilka Varnholt keeps bees", "Tomasz Ardelean restores organs"
_UNCLAIMED: Mapping[Capability, Callable[[System], object]] = {
    Capability.PAGE_WRITE: lambda system: system.write_page(planted(*PLANTED[0])),
    Capability.EDIT: lambda system: system.edit_page(planted(*PLANTED[0])),
    Capability.FACT_WRITE: lambda system: system.write_fact(FactIn(HERE, "x")),
    Capability.CONVERSATION_WRITE: lambda system: system.write_conversation(Conversation(HERE, "s", _SAID)),
    Capability.RECALL_FACTS: lambda system: list(system.recall_facts(HERE)),
    Capability.SEARCH: lambda system: list(system.search(HERE, "x", HITS)),
    Capability.CONTEXT: lambda system: system.context(asked("x")),
    Capability.ADD: lambda system: system.add_item(ItemIn(HERE, "x", "x")),
    Capability.GET: lambda system: system.get_item(HERE, "x"),
    Capability.UPDATE: lambda system: system.update_item(HERE, "x", "y"),
    Capability.DELETE: lambda system: system.delete_item(HERE, "x"),
    Capability.DELETE_ALL: lambda system: system.delete_items(HERE),
    Capability.LIST: lambda system: system.list_items(HERE),
}


class _Caller:
    """A thread that makes calls, one after the other, and is given up where one does not end.

    It is always the same one: what a memory opens may belong to the thread that opened it.
    """

    def __init__(self) -> None:
        self.hung: str | None = None
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    def made(self, what: str, call: Callable[[], Any], seconds: float) -> Any:
        """What the call gives or raises. The test fails where that takes longer than so many seconds."""
        if seconds == math.inf:
            return call()
        _expect(self.hung is None, f"not asked: {self.hung}")
        ended: Future[Any] = Future()
        self._calls.put((call, ended))
        wait([ended], seconds)
        if not ended.done():
            self.hung = f"{what}: no answer in {seconds:g} s"
            _expect(False, f"{self.hung}; where a memory needs longer set `seconds` in its test class")
        return ended.result()

    def _work(self) -> None:
        while self.hung is None:
            call, ended = self._calls.get()
            try:
                ended.set_result(call())
            except BaseException as error:
                ended.set_exception(error)


class _ByName:
    """A system that is called as the bench calls it: by the names of the arguments, and not without end."""

    def __init__(self, system: System, caller: _Caller, seconds: float) -> None:
        self._system, self._caller, self._seconds = system, caller, seconds

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._system, name)
        if not callable(found) or not hasattr(System, name):
            return found
        names = [*inspect.signature(getattr(System, name)).parameters][1:]

        def called(*given: object, **named: object) -> Any:
            named |= dict(zip(names, given, strict=False))
            return self._caller.made(name, lambda: _drawn(found(**named)), self._seconds)

        return called


def _drawn(told: Any) -> Any:
    """What a call gave, an iterator gone through: that may take as long as the call."""
    return list(told) if isinstance(told, Iterator) else told


class MemoryContract:
    """Subclass as `Test...` with `system` set. Each test starts with an empty memory."""

    system: ClassVar[str] = ""
    access: ClassVar[Access] = Access()
    seconds: ClassVar[float] = CALL_SECONDS
    """How long one call may take. With `math.inf`, as for a debugger, calls are made in the thread of the test."""

    _loaded: ClassVar[System]
    _caller: ClassVar[_Caller]

    @classmethod
    def setup_class(cls) -> None:
        """Load the memory as the bench would, but a Python class into this process, where its author can follow it."""
        folder = str(Path(inspect.getfile(cls)).parent)
        bounded = cls.seconds if math.isfinite(cls.seconds) else cls.access.call_seconds
        access = replace(cls.access, directory=folder, call_seconds=bounded)
        cls._caller = _Caller()
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(folder)
            loaded = cls._caller.made(
                f"loading {cls.system}",
                lambda: load_system(cls.system, access, here=True),
                max(_LOADING_SECONDS, _ROOM * cls.seconds),
            )
        # What is behind a door ends a call that takes too long by itself, and may be started again within it.
        room = cls.seconds if type(loaded).__module__ not in _DOORS else max(_LOADING_SECONDS, _ROOM * cls.seconds)
        cls._loaded = cast(System, _ByName(loaded, cls._caller, room))

    @classmethod
    def teardown_class(cls) -> None:
        """Let the memory end what it started, unless it hangs."""
        if cls._caller.hung is None:
            cls._loaded.close()

    @pytest.fixture(autouse=True)
    def _loaded_anew(self) -> None:
        """Leave what hung to itself: each test is to say what is wrong with the memory, and not with another test."""
        if self._caller.hung is not None:
            self.setup_class()

    @pytest.fixture
    def memory(self, tmp_path: Path) -> System:
        """The memory, empty."""
        self._open(self._loaded, tmp_path / "first")
        return self._loaded

    def test_it_is_admitted(self, tmp_path: Path) -> None:
        found = list(problems(self._loaded, str(tmp_path)))
        _expect(not found, "; ".join(found))

    def test_what_it_does_not_claim_is_refused(self, memory: System) -> None:
        for capability, act in _UNCLAIMED.items():
            if capability not in memory.can:
                with pytest.raises(SystemFailure):
                    act(memory)

    def test_it_is_empty_after_open(self, memory: System, tmp_path: Path) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        self._plant(memory)
        self._open(memory, tmp_path / "second")
        for slug, title, _ in PLANTED:
            _expect(memory.read_page(HERE, slug) is None, f"page {slug!r} is still there after `open`")
            if Capability.SEARCH in memory.can:
                _expect(not self._hits(memory, title), f"search for {title!r} still finds something after `open`")

    def test_a_page_that_was_never_written_reads_as_none(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        read = memory.read_page(HERE, "people/nobody-at-all")
        _expect(read is None, f"a page that was never written reads as {read!r}; give None")

    def test_a_page_reads_back_with_its_text(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        self._plant(memory)
        for slug, _, body in PLANTED:
            _reads(memory, slug, body)

    def test_a_text_in_any_script_survives(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        memory.write_page(planted("people/zoe-angstrom", "Zoë Ångström", ODD))
        _reads(memory, "people/zoe-angstrom", ODD)

    def test_a_page_of_ten_thousand_characters_survives(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        memory.write_page(planted("lists/long", "Long List", LONG))
        _reads(memory, "lists/long", LONG)

    def test_a_page_that_is_written_again_is_replaced(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        slug, title, body = PLANTED[0]
        memory.write_page(planted(slug, title, body))
        memory.write_page(planted(slug, title, "Nothing of the first text."))
        _reads(memory, slug, "Nothing of the first text.", without=body)

    def test_an_edited_page_reads_back_as_edited(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE, Capability.EDIT)
        self._plant(memory)
        slug, title, body = PLANTED[0]
        memory.edit_page(planted(slug, title, "The bees were sold."))
        _reads(memory, slug, "The bees were sold.", without=body)

    def test_sources_are_kept_apart(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE, Capability.SOURCES)
        slug, title, body = PLANTED[0]
        memory.write_page(planted(slug, title, body, ELSEWHERE))
        _expect(memory.read_page(HERE, slug) is None, f"page {slug!r} of source {ELSEWHERE!r} is read in {HERE!r}")
        _reads(memory, slug, body, source=ELSEWHERE)
        if Capability.SEARCH in memory.can:
            found = [hit.id for hit in self._hits(memory, title)]
            _expect(slug not in found, f"a search in source {HERE!r} finds page {slug!r} of source {ELSEWHERE!r}")

    def test_a_page_is_found_by_its_title(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE, Capability.SEARCH)
        self._plant(memory)
        for slug, title, _ in PLANTED:
            found = [hit.id for hit in self._hits(memory, title)]
            _expect(slug in found, f"search for {title!r} finds {found}, not page {slug!r}")

    def test_a_search_gives_no_more_than_was_asked_for(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE, Capability.SEARCH)
        for number in range(4):
            memory.write_page(planted(f"people/twin-{number}", "Selma Twin", f"Selma Twin number {number}."))
        found = [hit.id for hit in self._hits(memory, "Selma Twin", 2)]
        _expect(len(found) <= 2, f"search with limit 2 gives {found}")

    def test_odd_queries_are_answered(self, memory: System) -> None:
        self._needs(memory, Capability.SEARCH)
        for query in ("", '"', "a AND (", "%_'; --", "👩‍🚀", "x" * 2000):
            self._hits(memory, query)

    def test_the_same_pages_give_the_same_answers(self, memory: System, tmp_path: Path) -> None:
        self._needs(memory, Capability.PAGE_WRITE)
        told = []
        for again in ("one", "two"):
            self._open(memory, tmp_path / again)
            self._plant(memory)
            told.append(self._answers(memory))
        _expect(told[0] == told[1], f"the same pages, written twice, answer {told[0]} and then {told[1]}")

    def test_context_is_a_text_with_ids_of_pages(self, memory: System) -> None:
        self._needs(memory, Capability.PAGE_WRITE, Capability.CONTEXT)
        self._plant(memory)
        known = {slug for slug, _, _ in PLANTED}
        for _, title, _ in PLANTED:
            told = plain(memory.context(asked(f"What do I have on {title}?")), Injection)
            strange = sorted(set(told.brought) - known)
            _expect(not strange, f"context brings {strange}, which no page is called")

    def test_a_fact_is_told_again_in_its_source_only(self, memory: System) -> None:
        self._needs(memory, Capability.FACT_WRITE, Capability.RECALL_FACTS)
        memory.write_fact(FactIn(HERE, "The ferry leaves at nine.", ts=FIRST_TIME))
        told = [row.text for row in plain(list(memory.recall_facts(HERE)), list[FactRow])]
        _expect(any("ferry" in text for text in told), f"a fact was written, and recall_facts tells {told}")
        if Capability.SOURCES in memory.can:
            told = [row.text for row in plain(list(memory.recall_facts(ELSEWHERE)), list[FactRow])]
            _expect(not told, f"recall_facts of source {ELSEWHERE!r} tells {told} of source {HERE!r}")

    def test_a_conversation_is_taken(self, memory: System) -> None:
        self._needs(memory, Capability.CONVERSATION_WRITE)
        page = memory.write_conversation(Conversation(HERE, "session-1", _SAID, now=FIRST_TIME))
        _expect(page is None or isinstance(page, str), f"write_conversation gives {page!r}; give a page id or None")

    def test_an_item_is_had_again_by_its_id(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.GET)
        told = memory.get_item(HERE, self._add(memory, _BEES))
        _expect(told is not None and told.text == _BEES, f"an item was added and reads as {told!r:.200}")

    def test_an_item_is_found_by_its_words(self, memory: System) -> None:
        self._needs(memory, Capability.ADD)
        self._add(memory, _ORGANS)
        bees = self._add(memory, _BEES)
        found = [row.id for row in memory.find_items(HERE, "bees", 1)]
        _expect(found == [bees], f"find_items('bees', 1) gives {found}, not the item {bees!r}")

    def test_an_updated_item_reads_as_updated(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.GET, Capability.UPDATE)
        now = memory.update_item(HERE, self._add(memory, _BEES), _ORGANS)
        told = None if now is None else memory.get_item(HERE, now)
        _expect(told is not None and told.text == _ORGANS, f"an item was updated and reads as {told!r:.200}")

    def test_a_deleted_item_is_gone(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.GET, Capability.DELETE)
        gone = self._add(memory, _BEES)
        _expect(memory.delete_item(HERE, gone), f"delete_item says that there is no item {gone!r}, which was added")
        told = memory.get_item(HERE, gone)
        _expect(told is None, f"a deleted item reads as {told!r:.200}; give None")

    def test_items_are_listed(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.LIST)
        added = {self._add(memory, text) for text in (_BEES, _ORGANS)}
        found = {row.id for row in self._listed(memory)}
        _expect(found == added, f"items {sorted(added)} were added and {sorted(found)} are listed")

    def test_items_of_sources_are_kept_apart(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.SOURCES)
        self._add(memory, _BEES, ELSEWHERE)
        self._add(memory, _ORGANS)
        found = [row.text for row in memory.find_items(HERE, "bees", HITS)]
        _expect(_BEES not in found, f"find_items in source {HERE!r} gives an item of source {ELSEWHERE!r}")

    def test_a_source_is_emptied_alone(self, memory: System) -> None:
        self._needs(memory, Capability.ADD, Capability.LIST, Capability.DELETE_ALL, Capability.SOURCES)
        self._add(memory, _BEES)
        self._add(memory, _ORGANS, ELSEWHERE)
        memory.delete_items(HERE)
        _expect(not self._listed(memory), "delete_items leaves items in its source")
        _expect(len(self._listed(memory, ELSEWHERE)) == 1, f"delete_items of {HERE!r} takes items of {ELSEWHERE!r}")

    def test_items_are_there_when_it_is_opened_again(self, memory: System, tmp_path: Path) -> None:
        self._needs(memory, Capability.ADD, Capability.LIST, Capability.REOPEN)
        kept, other = (start(memory.can, str(tmp_path / name)) for name in ("kept", "other"))
        for run in (kept, other):
            Path(run.directory).mkdir()
        memory.reopen(kept)
        memory.tell_time(FIRST_TIME)
        self._add(memory, _BEES)
        memory.reopen(other)
        _expect(not self._listed(memory), "a directory with nothing in it opens with items")
        memory.reopen(kept)
        found = [row.text for row in self._listed(memory)]
        _expect(found == [_BEES], f"one item was kept in a directory, which opens again with {found}")

    @staticmethod
    def _add(memory: System, text: str, source: str = HERE) -> str:
        return plain(memory.add_item(ItemIn(source, text, f"item-{len(text)}", ts=None)), str)

    @staticmethod
    def _listed(memory: System, source: str = HERE) -> list[ItemRow]:
        return plain(list(memory.list_items(source)), list[ItemRow])

    @staticmethod
    def _needs(memory: System, *capabilities: Capability) -> None:
        lacking = [str(c) for c in capabilities if c not in memory.can]
        if lacking:
            pytest.skip(f"not applicable: {memory.name} does not claim {', '.join(lacking)}")

    @staticmethod
    def _open(memory: System, place: Path) -> None:
        place.mkdir()
        memory.open(start(memory.can, str(place)))
        memory.tell_time(FIRST_TIME)

    @staticmethod
    def _plant(memory: System) -> None:
        for page in PLANTED:
            memory.write_page(planted(*page))

    @staticmethod
    def _hits(memory: System, query: str, limit: int = HITS) -> list[SearchHit]:
        return plain(list(memory.search(HERE, query, limit)), list[SearchHit])

    def _answers(self, memory: System) -> list[object]:
        told: list[object] = [memory.read_page(HERE, slug) for slug, _, _ in PLANTED]
        for _, title, _ in PLANTED:
            if Capability.SEARCH in memory.can:
                told.append([hit.id for hit in self._hits(memory, title)])
            if Capability.CONTEXT in memory.can:
                told.append(memory.context(asked(f"What do I have on {title}?")).text)
        return told


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        pytest.fail(otherwise, pytrace=False)


def _reads(memory: System, slug: str, text: str, *, without: str | None = None, source: str = HERE) -> None:
    """The page holds a text, and not another."""
    read = memory.read_page(source, slug)
    _expect(read is not None and text in read, f"page {slug!r} reads as {read!r:.300}, without {text!r:.200}")
    if without is not None:
        _expect(without not in (read or ""), f"page {slug!r} still holds its former text {without!r}")
