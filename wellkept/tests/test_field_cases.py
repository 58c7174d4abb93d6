"""What went wrong for users of other memories, tried on the public verbs of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wellkept.errors import InvalidInput
from wellkept.memory import Memory
from wellkept.model import Fact
from wellkept.storage import open_store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(open_store("sqlite", tmp_path / "memory.db"))
    yield opened
    opened.close()


def told(memory: Memory, query: str, source: str = "default", limit: int = 10) -> list[str]:
    return [one.item.text for one in memory.recall(source, query, limit=limit)]


# -- an update reaches every index


def test_a_changed_page_is_found_by_its_new_words_only_and_still_so_after_reopening(tmp_path: Path) -> None:
    for round_ in range(2):
        memory = Memory(open_store("sqlite", tmp_path / "memory.db"))
        if round_ == 0:
            memory.put_page("default", "rhea", "Rhea works at a bakery", now=NOW)
            memory.put_page("default", "rhea", "Rhea works at a shipyard", now=NOW)
            memory.put_page("default", "rhea", "Rhea works at a shipyard now", now=NOW)
        (hit,) = memory.search("default", "shipyard job")
        assert (hit.slug, hit.rank) == ("rhea", 1)
        assert not memory.search("default", "bakery")
        assert all("bakery" not in text for text in told(memory, "Rhea bakery job"))
        memory.close()


def test_a_page_put_twice_under_one_slug_is_one_page(memory: Memory) -> None:
    memory.put_page("default", "ns/key", "prefers email", now=NOW)
    memory.put_page("default", "ns/key", "prefers phone", now=NOW)
    assert memory.get_page("default", "ns/key").content == "prefers phone"
    assert len(memory.pages("default")) == 1
    assert told(memory, "prefers") == ["key\nprefers phone"]


def test_a_sentence_told_again_and_again_is_kept_once_and_crowds_nothing_out(memory: Memory) -> None:
    for _ in range(3):
        memory.remember("default", "The boat is green", now=NOW)
    memory.remember("default", "The boat is called Una", now=NOW)
    memory.remember("default", "The boat lies in the harbour", now=NOW)
    assert sorted(told(memory, "the boat", limit=3)) == [
        "The boat is called Una",
        "The boat is green",
        "The boat lies in the harbour",
    ]


def test_spellings_of_one_sentence_are_one_and_another_sentence_is_not_lost(memory: Memory) -> None:
    for text in ("likes  tea", "likes tea ", unicodedata.normalize("NFD", "likes tea"), "LIKES TEA"):
        memory.remember("default", text, now=NOW)
    memory.remember("default", "likes tea?", now=NOW)
    assert len(memory.recall_facts("default")) == 2


# -- scopes


def test_scopes_compare_exactly_and_ending_in_one_leaves_the_others(memory: Memory) -> None:
    scopes = ("team_a", "teamXa", "team%", "user1", "user10", "user1/x", "______")
    for number, scope in enumerate(scopes):
        memory.put_page(scope, "page", f"the harbour of {number}", now=NOW)
        memory.remember(scope, f"harbour {number}", now=NOW)
    memory.forget("team_a", ["page", "fact:1"], now=NOW)
    for number, scope in enumerate(scopes):
        found = told(memory, "harbour", scope, limit=50)
        assert len(found) == (0 if scope == "team_a" else 2)
        assert all(str(number) in text for text in found)


def test_a_scope_with_a_space_at_its_end_is_no_second_scope(memory: Memory) -> None:
    memory.remember("notes", "one thing", now=NOW)
    with pytest.raises(InvalidInput, match="begins or ends with a space"):
        memory.remember("notes ", "another thing", now=NOW)
    assert [source.id for source in memory.store.sources()] == ["notes"]


def test_two_users_may_say_the_same_and_one_of_them_forget_it(memory: Memory) -> None:
    for user in ("u1", "u2"):
        assert memory.remember(user, "my desk is next to the window", now=NOW).status == "created"
    memory.forget("u1", ["fact:1"], now=NOW)
    assert (told(memory, "desk", "u1"), told(memory, "desk", "u2")) == ([], ["my desk is next to the window"])


# -- time


PROGRAM = """
import json, sys
from pathlib import Path
from wellkept.memory import Memory
from wellkept.storage import open_store
from wellkept.verbs import Caller, call
memory, owner = Memory(open_store("sqlite", Path(sys.argv[1]))), Caller("default", "owner")
if sys.argv[2] == "write":
    call(memory, "put_page", {"slug": "noor", "content": "# Noor"}, owner)
    told = {"text": "Noor sailed", "entity": "noor", "valid_from": "2024-05-01T23:30:00+08:00"}
    call(memory, "remember", told, owner)
day = {"entity": "noor", "since": "2024-05-01", "until": "2024-05-01"}
entries = call(memory, "timeline", day, owner)["entries"]
found = call(memory, "recall", {"query": "sailed", "as_of": "2024-05-01T15:30:00"}, owner)["memories"]
print(json.dumps([[one["date"] for one in entries], [one["valid_from"] for one in found]]))
memory.close()
"""


def test_a_moment_is_the_same_in_every_time_zone_of_the_machine_and_on_every_path(tmp_path: Path) -> None:
    said = []
    for zone, what in (("Asia/Shanghai", "write"), ("UTC", "read"), ("America/Lima", "read")):
        argv = [sys.executable, "-c", PROGRAM, str(tmp_path / "memory.db"), what]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, "TZ": zone})
        said.append(json.loads(done.stdout))
    assert said == [[["2024-05-01"], ["2024-05-01T15:30:00Z"]]] * 3


def test_when_something_was_and_when_it_was_told_are_both_readable(memory: Memory) -> None:
    then = datetime(2019, 3, 2, tzinfo=UTC)
    memory.put_page("default", "noor", "# Noor\n", now=NOW)
    memory.remember("default", "Noor bought the boat", entity="noor", valid_from=then, now=NOW)
    (entry,) = memory.timeline(
        "default", "noor", since=datetime(2019, 3, 1, tzinfo=UTC), until=datetime(2019, 3, 31, tzinfo=UTC)
    )
    assert entry.date == "2019-03-02"
    assert isinstance(entry.item, Fact)
    assert (entry.item.valid_from, entry.item.recorded_at) == (then, NOW)


# -- text


SENTENCES = {
    "zh": ("明天下午三点在会议室讨论预算", "会议室"),
    "ja": ("昨日友達としりとりをして遊んだ", "しりとり"),
    "th": ("พรุ่งนี้เราจะประชุมที่ห้องประชุมใหญ่", "ห้องประชุม"),
    "km": ("ខ្ញុំចូលចិត្តផឹកកាហ្វេនៅពេលព្រឹក", "កាហ្វេ"),
    "glued": ("昨天重跑build-7f后通过", "build-7f"),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_word_inside_a_sentence_without_spaces_is_found(memory: Memory, language: str) -> None:
    sentence, word = SENTENCES[language]
    for number, (other, _) in enumerate(SENTENCES.values()):
        if other != sentence:
            memory.put_page("default", f"other-{number}", other, now=NOW)
            memory.remember("default", other, now=NOW)
    memory.put_page("default", "wanted", sentence, now=NOW)
    memory.remember("default", sentence, now=NOW)
    assert "wanted" in [hit.slug for hit in memory.search("default", word, 3)]
    assert sentence in told(memory, word, limit=3)


@pytest.mark.parametrize(
    "query",
    [
        "don't",
        "pre-edit",
        "GB/s",
        "20.04",
        '"--flag"',
        "a*b",
        "NOT ready",
        "col:x",
        "(",
        " ",
        "NEAR(a b)",
        '"',
        "'",
        "^x",
    ],
)
def test_operators_in_a_plain_question_are_text(memory: Memory, query: str) -> None:
    memory.put_page(
        "default", "a", "We don't ship before the pre-edit at 2 GB/s on 20.04 with --flag, NOT ready.", now=NOW
    )
    memory.remember("default", "pre-edit comes first", now=NOW)
    memory.search("default", query)
    found = told(memory, query)
    if query == "pre-edit":
        assert len(found) == 2


@pytest.mark.parametrize(
    ("kept", "query"),
    [
        ("Zoë Ångström paints", unicodedata.normalize("NFD", "Zoë Ångström")),
        ("Zoë Ångström paints", "zoe angstrom"),
        ("İrem paints", "irem"),
        ("Ｗｉｄｅ letters", "wide"),
        ("Łukasz Źrebiec mieszka w Świdnicy", "lukasz zrebiec"),
    ],
)
def test_accents_case_and_width_are_forgiven_in_the_question_and_kept_in_the_answer(
    memory: Memory, kept: str, query: str
) -> None:
    memory.put_page("default", "a", kept, now=NOW)
    memory.remember("default", kept, now=NOW)
    assert told(memory, query) == [kept, f"a\n{kept}"]


def test_half_an_emoji_costs_itself_only_and_whole_ones_are_kept(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="half a surrogate pair"):
        memory.remember("default", "half \ud83d", now=NOW)
    with pytest.raises(InvalidInput, match="NUL"):
        memory.remember("default", "a\0b", now=NOW)
    for number in (1180, 1196, 1199, 1200, 1201):
        text = "x" * number + " 👨\u200d👩\u200d👧 harbour"
        memory.put_page("default", f"p{number}", text, now=NOW)
        assert memory.get_page("default", f"p{number}").content == text
    assert len(memory.search("default", "harbour")) == 5
    assert all("\ufffd" not in text for text in told(memory, "harbour"))


def test_a_needle_is_found_wherever_it_stands_in_a_long_text_or_a_long_question(memory: Memory) -> None:
    hay = [f"word{number}" for number in range(600)]
    for slug, position in (("first", 0), ("middle", 300), ("last", 600)):
        memory.put_page(
            "default", slug, " ".join([*hay[:position], f"the {slug} heliotrope", *hay[position:]]), now=NOW
        )
    for slug in ("first", "middle", "last"):
        assert memory.search("default", f"{slug} heliotrope")[0].slug == slug
    assert memory.search("default", "please tell me about it " * 40 + "where is the last heliotrope?")[0].slug == "last"


# -- several at once


WRITER = """
import sys
from pathlib import Path
from wellkept.memory import Memory
from wellkept.storage import open_store
memory = Memory(open_store("sqlite", Path(sys.argv[1])))
for number in range(20):
    memory.remember("default", f"{sys.argv[2]} says {number}")
    memory.forget("default", [f"fact:{memory.recall('default', f'{sys.argv[2]} says {number}', limit=1)[0].item.id}"])
    memory.remember("default", f"{sys.argv[2]} says {number}")
memory.close()
"""


def test_two_processes_lose_nothing_of_each_other_and_the_journal_has_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("ann", "bob")]
    assert [writer.wait(90) for writer in writers] == [0, 0]
    memory = Memory(open_store("sqlite", path))
    assert len(memory.recall_facts("default")) == 40
    changes = memory.delta("default", limit=1000).changes
    assert (len(changes), len({one.seq for one in changes})) == (120, 120)
    memory.close()


def test_the_clock_may_go_back_and_nothing_is_lost_or_out_of_order(memory: Memory) -> None:
    memory.remember("default", "one", now=NOW)
    memory.remember("default", "two", now=NOW - timedelta(days=400))
    memory.put_page("default", "a", "x", now=NOW)
    memory.put_page("default", "a", "y", now=NOW - timedelta(days=400))
    assert [one.id for one in memory.delta("default").changes] == ["fact:1", "fact:2", "a", "a"]
    page = memory.get_page("default", "a")
    assert (page.content, page.created_at) == ("y", NOW)
