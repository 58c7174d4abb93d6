"""What is forgotten for good is nowhere any more, does not come back, and nothing else goes with it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from wellkept import forgetting
from wellkept.capture import Capture
from wellkept.errors import NotFound, Refused, ScopeDenied, StoreUnavailable
from wellkept.forgetting import Files, PurgeReceipt
from wellkept.memory import Memory
from wellkept.model import CHANNELS, CandidateFact, Message, Told, Writer
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.settings import load_settings, open_memory
from wellkept.storage import open_store, verify
from wellkept.storage.forgetting import COLUMNS, NO_CLAIM
from wellkept.trust.gate import key_file

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLAIM = "Ada keeps zanzibarine frogs in Wolverhampton."
SPELLED = "ADA keeps zanzi\u200bbarine frogs, in Wolverhampton"
FRAGMENTS = [b"zanzib", b"ibarin", b"wolver", b"Wolver", b"hampto"]


def opened(folder: Path) -> Memory:
    files = Files(folder, folder / "memory.db", folder / "queries.ndjson")
    key = key_file(folder.parent / "keys" / "trust.key")
    return Memory(open_store("sqlite", folder / "memory.db"), Capture(files.queries or folder), key=key, files=files)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    found = opened(folder)
    yield found
    found.close()


def fill(memory: Memory) -> None:
    """The claim as a fact, in a page, in a conversation, in what a page said before, and in what was asked."""
    memory.remember("default", CLAIM, entity="people/ada", now=NOW)
    memory.put_page("default", "people/ada", f"---\ntitle: Ada\naliases: [Countess]\n---\nWrites.\n\n- {SPELLED}\n")
    memory.put_page("default", "notes", f"# Notes\n{CLAIM}\n")
    memory.put_page("default", "notes", "# Notes\nNothing of note.\n")
    memory.put_page("default", "people/bob", "# Bob\nBob keeps no frogs.\n")
    memory.bank("default", "s1", [Message("user", f"Well, {CLAIM} Funny?"), Message("assistant", "Noted.")], now=NOW)
    memory.search("default", f"is it so that {CLAIM}")
    memory.search("default", "who is Bob")


def left_in(folder: Path) -> list[tuple[str, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [(path.name, one) for path in files for one in FRAGMENTS if one in path.read_bytes()]


@pytest.mark.req("T-701")
@pytest.mark.req("TC-06")
@pytest.mark.req("TC-11")
def test_a_purged_fact_is_in_no_byte_of_the_memory(memory: Memory, folder: Path) -> None:
    fill(memory)
    assert left_in(folder), "the test sees nothing of the claim even before"
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert receipt.status == "complete"
    assert left_in(folder) == []
    for found in (memory.recall("default", "zanzibarine frogs"), memory.search("default", "zanzibarine frogs")):
        assert "zanzib" not in " ".join(map(repr, found))
    assert memory.get_page("default", "people/ada").content.endswith("- [forgotten]\n")
    assert memory.get_page("default", "people/ada").aliases == ("Countess",)
    assert "Well, [forgotten]" in memory.get_page("default", "conversations/s1").content


@pytest.mark.req("TC-18")
def test_nothing_else_goes_with_it(memory: Memory, folder: Path) -> None:
    fill(memory)
    memory.put_page("work", "people/ada", f"# Ada\n{CLAIM}\n")
    before = memory.get_page("default", "people/bob")
    memory.purge("default", ["fact:1"], now=NOW)
    assert memory.get_page("default", "people/bob") == before
    assert CLAIM in memory.get_page("work", "people/ada").content
    assert [one.slug for one in memory.search("work", "zanzibarine frogs")] == ["people/ada"]
    rows = [json.loads(line) for line in (folder / "queries.ndjson").read_text().splitlines()]
    assert "who is Bob" in [row["query"] for row in rows]


@pytest.mark.req("T-602")
def test_everywhere_means_every_source_that_there_is_and_any_that_is_begun_later(memory: Memory, folder: Path) -> None:
    fill(memory)
    memory.put_page("work", "people/ada", f"# Ada\n{SPELLED}\n")
    memory.bank("lantern", "s7", [Message("user", f"Mind: {CLAIM}")], now=NOW)
    plan = memory.purge_plan("default", ["fact:1"], everywhere=True)
    assert {copy.source for copy in plan.copies} == {"default", "work", "lantern"}
    receipt = memory.purge("default", ["fact:1"], everywhere=True, now=NOW)
    assert receipt.status == "complete"
    assert left_in(folder) == []
    memory.put_page("harbour", "people/ada", f"# Ada\n{CLAIM}\n")
    assert "[forgotten]" in memory.get_page("harbour", "people/ada").content
    assert memory.lift("harbour", receipt.id) == 1
    assert memory.remember("work", CLAIM).status == "created"


@pytest.mark.req("T-602")
def test_in_one_source_means_that_another_may_go_on_saying_it(memory: Memory) -> None:
    fill(memory)
    memory.purge("default", ["fact:1"], now=NOW)
    assert memory.remember("work", CLAIM).status == "created"


@pytest.mark.req("T-709")
@pytest.mark.req("TC-05")
def test_an_export_from_before_does_not_bring_it_back(memory: Memory, folder: Path) -> None:
    fill(memory)
    exported = list(memory.export("default"))
    memory.purge("default", ["fact:1", "people/ada"], now=NOW)
    done = memory.restore(exported)
    assert (done.pages, done.facts, done.forgotten) == (1, 0, 1)
    assert left_in(folder) == []


def test_a_page_that_only_stands_among_conversations_is_not_emptied(memory: Memory) -> None:
    memory.put_page("default", "conversations/notes", f"---\ntype: conversation\n---\nBefore. {CLAIM} After.\n")
    memory.remember("default", CLAIM)
    memory.purge("default", ["fact:1"], now=NOW)
    assert "Before. [forgotten]. After." in memory.get_page("default", "conversations/notes").content


def test_the_name_of_a_page_may_be_what_a_short_fact_said(memory: Memory) -> None:
    memory.remember("default", "Moving")
    memory.purge("default", ["fact:1"], now=NOW)
    assert memory.put_page("default", "moving", "# Boxes\n").status == "created"


TITLED = '---\ntitle: "Ada keeps \\u007aanzibarine frogs in Wolverhampton"\n---\nX\n'
DOORS = {
    "an entity": lambda memory: memory.remember("default", "Something else entirely", entity=CLAIM),
    "a session": lambda memory: memory.remember("default", "Something else entirely", session=CLAIM),
    "a conversation": lambda memory: memory.bank("default", CLAIM, [Message("user", "Hello there")]),
    "a title": lambda memory: memory.put_page("default", "x", TITLED),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_says_it_is_refused(memory: Memory, folder: Path, door: str) -> None:
    fill(memory)
    memory.purge("default", ["fact:1"], now=NOW)
    with pytest.raises(Refused, match="forgotten for good"):
        DOORS[door](memory)
    assert left_in(folder) == []


@pytest.mark.parametrize(
    "told",
    [
        Told(metadata={"k": "Ada keeps zanzibarine\nfrogs in Wolverhampton"}),
        Told(metadata={"Ada keeps zanzibarine": "frogs in Wolverhampton"}),
        Told(metadata={"a": ["Ada keeps", "zanzibarine frogs in Wolverhampton"]}),
        Told(source_id="Ada keeps zanzibarine frogs in Wolverhampton"),
    ],
)
def test_what_is_said_of_an_origin_goes_however_it_is_written_and_does_not_come_back(
    memory: Memory, folder: Path, told: Told
) -> None:
    memory.remember("default", CLAIM, now=NOW)
    memory.put_page("default", "mail", "# Mail\nHello.\n", told=told)
    assert memory.purge("default", ["fact:1"], now=NOW).status == "complete"
    assert memory.get_page("default", "mail").told == Told()
    assert left_in(folder) == []
    memory.put_page("default", "mail", "# Mail\nHello again.\n", told=told)
    assert memory.get_page("default", "mail").told == Told()
    assert left_in(folder) == []


def test_whom_another_fact_is_about_goes_and_the_fact_stays(memory: Memory, folder: Path) -> None:
    memory.remember("default", CLAIM, now=NOW)
    memory.remember("default", "Harmless as such", entity=CLAIM, now=NOW)
    assert memory.purge("default", ["fact:1"], now=NOW).status == "complete"
    assert [(fact.text, fact.entity) for fact in memory.recall_facts("default")] == [("Harmless as such", None)]
    assert left_in(folder) == []


def test_front_matter_keeps_its_keys(memory: Memory) -> None:
    memory.put_page("default", "rome", "---\ntitle: Rome\ntype: person\naliases: [Roma]\n---\nA city.\n")
    memory.remember("default", "Rome type person")
    memory.remember("default", "Rome is a city")
    memory.put_page("default", "trip", "---\ntitle: Rome is a city\ntype: trip\n---\nWe went.\n")
    memory.purge("default", ["fact:1", "fact:2"], now=NOW)
    assert memory.get_page("default", "rome").type == "person"
    trip = memory.get_page("default", "trip")
    assert (trip.title, trip.type) == ("(forgotten)", "trip")


def test_a_page_of_very_many_lines_is_forgotten_and_looked_for(memory: Memory) -> None:
    lines = "\n".join(f"Line {n} of the ledger says quixotic{n}." for n in range(1500))
    memory.put_page("default", "ledger", f"# Ledger\n{lines}\n")
    memory.put_page("default", "copy", "# Copy\nLine 7 of the ledger says quixotic7.\n")
    receipt = memory.purge("default", ["ledger"], now=NOW)
    assert receipt.status == "complete"
    assert "[forgotten]" in memory.get_page("default", "copy").content


def test_what_has_changed_since_it_was_shown_is_not_forgotten(memory: Memory) -> None:
    memory.put_page("default", "notes", f"# Notes\n{CLAIM}\n")
    plan = memory.purge_plan("default", ["notes"])
    memory.put_page("default", "notes", f"# Notes\n{CLAIM}\nAnd a line that nobody was shown.\n")
    with pytest.raises(Refused, match="has changed"):
        memory.purge("default", ["notes"], shown=plan)
    assert CLAIM in memory.get_page("default", "notes").content


def test_a_lift_needs_the_key_too(memory: Memory, folder: Path) -> None:
    fill(memory)
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    (folder.parent / "keys" / "trust.key").unlink()
    with pytest.raises(StoreUnavailable):
        memory.lift("default", receipt.id)


def test_a_purge_that_left_something_has_ended_and_says_what(memory: Memory) -> None:
    fill(memory)
    memory.put_page("default", "ada-keeps-zanzibarine-frogs-in-wolverhampton", "# A page\n")
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert receipt.status == "residual"
    assert {one.name: one.left for one in receipt.stores if one.left}["pages.slug"] == 1
    assert memory.finish_purges() == 0


def test_a_memory_opens_though_a_purge_cannot_be_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings({"HOME": str(tmp_path), "WELLKEPT_DATA_DIR": str(tmp_path / "m")})
    first = open_memory(settings)
    first.remember("default", CLAIM)
    monkeypatch.setattr(forgetting, "WAIT_S", 0.0)
    reader = apsw.Connection(str(settings.database), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    list(reader.execute("SELECT * FROM facts"))
    assert first.purge("default", ["fact:1"]).status == "pending"
    first.close()
    settings.queries.write_text('{"schema_version": 1}\n')
    assert settings.trust_key is not None
    settings.trust_key.unlink()
    again = open_memory(settings)
    assert again.recall_facts("default") == ()
    again.close()
    reader.execute("COMMIT")
    reader.close()


@pytest.mark.req("T-705")
def test_the_receipt_names_every_store_that_held_it_and_no_text(memory: Memory) -> None:
    fill(memory)
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert {store.name: store.found for store in receipt.stores} == {
        "facts.text": 1,
        "facts.entity": 1,
        "pages.content": 2,
        "journal.before": 1,
        "queries": 1,
    }
    assert "zanzib" not in repr(receipt).lower()
    assert receipt.texts_read > 20
    assert receipt.bytes_read > 100_000


@pytest.mark.req("T-709")
@pytest.mark.req("TC-02")
@pytest.mark.req("TC-03")
def test_what_was_forgotten_does_not_come_back_by_any_door(memory: Memory, folder: Path) -> None:
    fill(memory)
    memory.purge("default", ["fact:1"], now=NOW)
    with pytest.raises(Refused, match="forgotten for good"):
        memory.remember("default", SPELLED)
    with pytest.raises(Refused, match="forgotten for good"):
        memory.put_page("default", "ada-keeps-zanzibarine-frogs-in-wolverhampton", "# A page\n")
    memory.put_page("default", "people/ada", f"# Ada\n{SPELLED}\n")
    memory.remember("default", "Bob knows: " + CLAIM)
    memory.bank("default", "s2", [Message("user", f"Well, {CLAIM}")])
    told = CandidateFact(CLAIM, "fact", None, "Well")
    memory.bank("default", "s3", [Message("user", "Well, well")], extractor=ScriptedExtractor((told,)))
    memory.correct("default", "fact:2", "revise", replacement=f"Again: {CLAIM}", preview=False)
    assert left_in(folder) == []


def test_without_the_gate_it_would_come_back(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(memory)
    memory.purge("default", ["fact:1"], now=NOW)
    monkeypatch.setattr("wellkept.trust.forgotten.Forgotten.spans", lambda _, __: ())
    memory.put_page("default", "people/ada", f"# Ada\n{CLAIM}\n")
    assert left_in(folder)


@pytest.mark.req("TC-08")
def test_a_lifted_claim_may_be_said_again_and_nothing_old_returns(memory: Memory) -> None:
    fill(memory)
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert memory.lift("default", receipt.id) == 1
    assert "[forgotten]" in memory.get_page("default", "people/ada").content
    assert memory.remember("default", CLAIM).status == "created"
    with pytest.raises(NotFound):
        memory.lift("default", receipt.id)


def test_a_page_goes_with_its_facts_and_what_it_said_elsewhere(memory: Memory, folder: Path) -> None:
    fill(memory)
    receipt = memory.purge("default", ["people/ada"], now=NOW)
    assert receipt.forgotten == ("page:people/ada", "fact:1")
    with pytest.raises(NotFound):
        memory.get_page("default", "people/ada")
    assert left_in(folder) == []
    assert memory.store.find_names("default", "alias", ["countess"]) == ()


def test_the_sentence_that_a_fact_was_taken_from_goes_too(memory: Memory) -> None:
    told = CandidateFact("Ada lives in Wolverhampton", "fact", "she", "she lives in Wolverhampton now")
    turns = [Message("user", "Ada has moved, she lives in Wolverhampton now."), Message("assistant", "I see.")]
    memory.bank("default", "s1", turns, extractor=ScriptedExtractor((told,)), now=NOW)
    memory.purge("default", ["fact:1"], now=NOW)
    assert "Ada has moved, [forgotten]." in memory.get_page("default", "conversations/s1").content
    memory.bank("default", "s1", turns, now=NOW)
    assert "Wolverhampton" not in memory.get_page("default", "conversations/s1").content


def test_what_a_writer_said_of_a_page_is_searched_as_well(memory: Memory, folder: Path) -> None:
    memory.remember("default", CLAIM, now=NOW)
    told = Told(metadata={"subject": f"Re: {CLAIM}", "thread": 7}, url="https://example.test/a")
    memory.put_page("default", "mail", "# Mail\nHello.\n", told=told)
    memory.purge("default", ["fact:1"], now=NOW)
    assert memory.get_page("default", "mail").told == Told(metadata={"thread": 7}, url="https://example.test/a")
    assert left_in(folder) == []


@pytest.mark.req("T-701")
def test_what_is_not_there_is_not_forgotten(memory: Memory) -> None:
    fill(memory)
    for missing in ("fact:9", "people/adam", "people/ad"):
        with pytest.raises(NotFound):
            memory.purge("default", ["fact:1", missing])
    assert memory.recall_facts("default")[0].text == CLAIM


@pytest.mark.req("T-701")
def test_only_the_owner_forgets_for_good(memory: Memory) -> None:
    fill(memory)
    for channel in set(CHANNELS) - {"owner_tty"}:
        with pytest.raises(ScopeDenied, match="wellkept purge"):
            memory.purge("default", ["fact:1"], writer=Writer(channel))
    with pytest.raises(ScopeDenied, match="wellkept purge"):
        memory.forget("default", ["fact:1"], mode="purge")


def test_a_memory_without_a_key_refuses_and_removes_nothing() -> None:
    memory = Memory(open_store("sqlite", ":memory:"))
    memory.remember("default", CLAIM)
    with pytest.raises(Refused, match="without a key"):
        memory.purge("default", ["fact:1"])
    assert len(memory.recall_facts("default")) == 1


def test_one_in_memory_forgets_too() -> None:
    memory = Memory(open_store("sqlite", ":memory:"), key=lambda _: b"k" * 32)
    memory.remember("default", CLAIM)
    assert memory.purge("default", ["fact:1"]).status == "complete"
    with pytest.raises(Refused):
        memory.remember("default", CLAIM)


@pytest.mark.parametrize("harm", ["gone", "another", "open to all", "cut"])
def test_without_its_key_nothing_is_written_as_nothing_could_be_recognised(
    memory: Memory, folder: Path, harm: str
) -> None:
    fill(memory)
    memory.purge("default", ["fact:1"], now=NOW)
    key = folder.parent / "keys" / "trust.key"
    if harm == "gone":
        key.unlink()
    elif harm == "open to all":
        key.chmod(0o644)
    else:
        key.write_bytes(b"x" * (32 if harm == "another" else 31))
    with pytest.raises(StoreUnavailable):
        memory.put_page("default", "people/ada", f"# Ada\n{CLAIM}\n")
    assert CLAIM not in memory.get_page("default", "people/ada").content


@pytest.mark.req("TC-12")
def test_while_a_reader_holds_the_log_the_purge_is_not_done_and_then_is(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    monkeypatch.setattr(forgetting, "WAIT_S", 0.2)
    reader = apsw.Connection(str(folder / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    list(reader.execute("SELECT * FROM facts"))
    assert pending(memory).status == "pending"
    assert "zanzib" not in repr(list(memory.export("default")))
    reader.execute("COMMIT")
    reader.close()
    assert memory.finish_purges() == 1
    assert left_in(folder) == []
    assert memory.finish_purges() == 0


def pending(memory: Memory) -> PurgeReceipt:
    return memory.purge("default", ["fact:1"], now=NOW)


@pytest.mark.req("T-702")
def test_every_column_that_can_hold_a_text_is_in_the_inventory(folder: Path, memory: Memory) -> None:
    connection = apsw.Connection(str(folder / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute(
        "SELECT t.name, t.type, c.name, upper(c.type) FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c "
        "WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'"
    )
    found = set()
    for table, kind, column, of_type in rows:
        if kind == "virtual":
            found.add(str(table))
        elif kind == "table" and of_type in ("TEXT", "BLOB", ""):
            found.add(f"{table}.{column}")
    assert found - set(COLUMNS) - NO_CLAIM == set(), "say in COLUMNS what becomes of these when something is forgotten"
    assert (set(COLUMNS) | NO_CLAIM) - found == set()


@pytest.mark.req("T-702")
def test_every_file_of_a_memory_is_looked_at_afterwards(memory: Memory, folder: Path) -> None:
    fill(memory)
    (folder / "daemon.log").write_text(f"12:00 asked: {CLAIM}\n")
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert receipt.status == "residual"


@pytest.mark.req("T-705")
@pytest.mark.parametrize("store", ["pages.content", "journal.before", "facts.text"])
def test_one_who_forgets_to_look_somewhere_is_told_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    fill(memory)
    memory.remember("default", "They say: " + CLAIM)
    texts = {name: sql for name, sql in forgetting_texts().items() if name != store}
    monkeypatch.setattr("wellkept.storage.forgetting._TEXTS", texts)
    receipt = memory.purge("default", ["fact:1"], now=NOW)
    assert receipt.status == "residual"
    assert any(one.left for one in receipt.stores)


def forgetting_texts() -> dict[str, str]:
    from wellkept.storage import forgetting as stored

    return dict(stored._TEXTS)


@pytest.mark.req("T-705")
def test_the_one_who_looks_afterwards_knows_nothing_of_who_forgets() -> None:
    code = "import sys, wellkept.storage.verify; print(sorted(m for m in sys.modules if m.startswith('wellkept')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "forgetting" not in found
    assert "trust" not in found
    assert verify.FRAGMENT == 6


KILLED = """
import os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_forgetting import opened
memory = opened(Path({folder!r}))
threading.Thread(target=lambda: (time.sleep({after}), os.kill(os.getpid(), signal.SIGKILL)), daemon=True).start()
began = time.monotonic()
memory.purge("default", ["fact:1"])
print(time.monotonic() - began)
"""


def purged_in_a_process(folder: Path, after: float) -> float | None:
    """How long it took; None when it was killed before its end."""
    folder.mkdir(parents=True)
    before = opened(folder)
    fill(before)
    before.close()
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(folder), after=after)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    return float(done.stdout) if done.stdout.strip() else None


@pytest.mark.slow
@pytest.mark.req("T-703")
@pytest.mark.req("TC-13")
def test_killed_at_any_moment_a_purge_has_not_begun_or_comes_to_its_end(tmp_path: Path) -> None:
    whole = purged_in_a_process(tmp_path / "whole" / "memory", 60.0)
    assert whole is not None
    ends = {"not begun": 0, "gone": 0}
    for number in range(20):
        folder = tmp_path / str(number) / "memory"
        purged_in_a_process(folder, whole * (number + 0.5) / 16)
        again = opened(folder)
        again.finish_purges()
        there = [fact.text for fact in again.recall_facts("default")]
        again.close()
        if there:
            assert there == [CLAIM]
            ends["not begun"] += 1
        else:
            assert left_in(folder) == []
            ends["gone"] += 1
    assert min(ends.values()) > 0, f"all kills came at one side: {ends}"
