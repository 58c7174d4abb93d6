"""What memory holds can be put right, ended and traced, and nothing of that loses what was there before."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.errors import Conflict, InvalidInput, NotFound, ScopeDenied
from wellkept.memory import LARGEST_METADATA, Memory
from wellkept.model import AGENT, CHANNELS, OUTSIDE, OWNER, CandidateFact, Fact, Message, Page, Told, Trust, Writer
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
NOOR = (
    "---\ntitle: Noor Wrenhaven\ntype: person\naliases: [Nono]\n---\nKeeps bees.\n\n"
    "## Timeline\n- 2019: moved to the sea\n"
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"))
    yield opened
    opened.close()


def texts(memory: Memory, query: str, **more: object) -> list[str]:
    found = memory.recall("default", query, **more)  # type: ignore[arg-type]
    return [one.item.text for one in found]


# -- one fact takes the place of another


def test_a_replaced_fact_is_found_no_longer_and_names_its_successor(memory: Memory) -> None:
    memory.remember("default", "the SSH port of the build box is 22", entity="box", now=NOW)
    memory.remember("default", "SSH of the build box listens on 49222", replaces="fact:1", now=NOW + DAY)
    assert texts(memory, "what SSH port does the build box use") == ["SSH of the build box listens on 49222"]
    everything = memory.recall("default", "SSH port build box", include_history=True)
    assert {(one.id, one.item.status) for one in everything if isinstance(one.item, Fact)} == {
        ("fact:1", "superseded"),
        ("fact:2", "active"),
    }
    assert memory.history("default", "fact:1").superseded_by == "fact:2"
    assert memory.history("default", "fact:2").supersedes == ("fact:1",)
    assert memory.recall_facts("default")[0].entity == "box"


@pytest.mark.field("UPD-11")
def test_what_was_true_again_is_a_fact_of_its_own_and_each_time_answers_for_itself(memory: Memory) -> None:
    months = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 4, 7)]
    for number, (team, start) in enumerate(zip(("Payments", "Search", "Payments"), months, strict=True)):
        before = f"fact:{number}" if number else None
        memory.remember("default", f"Ines works on {team}", replaces=before, valid_from=start, now=start)
    for month, team in ((2, "Payments"), (5, "Search"), (8, "Payments")):
        then = datetime(2026, month, 15, tzinfo=UTC)
        assert texts(memory, "what does Ines work on", as_of=then) == [f"Ines works on {team}"]
    assert len(memory.recall("default", "Ines works", include_history=True)) == 3


def test_facts_about_the_same_thing_stand_beside_each_other(memory: Memory) -> None:
    for text in ("Kofi is employed by Meridian", "Kofi administers the code host", "Kofi uses Vim"):
        memory.remember("default", text, entity="people/kofi", now=NOW)
    assert len(memory.recall_facts("default", entity="people/kofi")) == 3


def test_a_writer_of_lower_trust_replaces_and_ends_nothing(memory: Memory) -> None:
    memory.remember("default", "The meeting is on Monday", now=NOW)
    memory.put_page("default", "a", "# Kept\n", now=NOW)
    receipt = memory.remember("default", "The meeting is on Friday", replaces="fact:1", writer=AGENT, now=NOW)
    assert (receipt.status, receipt.degraded) == ("unchanged", ("guarded",))
    forgot = memory.forget("default", ["fact:1", "a"], writer=AGENT, now=NOW)
    assert (forgot.status, forgot.forgotten, forgot.guarded) == ("guarded", (), ("fact:1", "a"))
    corrected = memory.correct("default", "fact:1", "mark_wrong", preview=False, writer=AGENT, now=NOW)
    assert corrected.status == "guarded"
    assert texts(memory, "when is the meeting") == ["The meeting is on Monday"]
    assert memory.get_page("default", "a").status == "active"


def test_an_agent_may_end_what_an_agent_wrote(memory: Memory) -> None:
    memory.remember("default", "The lamp is blue", writer=AGENT, now=NOW)
    assert memory.forget("default", ["fact:1"], writer=AGENT, now=NOW).forgotten == ("fact:1",)


# -- forgetting


def test_a_forgotten_item_is_gone_from_every_read_and_kept_in_its_history(memory: Memory) -> None:
    memory.put_page("default", "people/noor", NOOR, now=NOW)
    memory.remember("default", "Noor keeps bees", entity="people/noor", now=NOW)
    memory.forget("default", ["people/noor", "fact:1"], reason="asked to", now=NOW + DAY)
    assert not memory.search("default", "bees")
    assert not memory.recall("default", "bees")
    assert memory.recall_facts("default") == ()
    assert memory.pages("default") == ()
    assert memory.context("default", [Message("user", "How is Noor Wrenhaven?")], now=NOW).text == ""
    with pytest.raises(NotFound):
        memory.entity("default", "Nono")
    for item in ("people/noor", "fact:1"):
        last = memory.history("default", item).changes[-1]
        assert (last.change, last.because, last.at) == ("expired", "forgotten: asked to", NOW + DAY)
    assert memory.get_page("default", "people/noor").content == NOOR


def test_forgetting_nothing_is_never_a_success(memory: Memory) -> None:
    memory.remember("default", "x y", now=NOW)
    with pytest.raises(NotFound, match="fact 'fact:9'"):
        memory.forget("default", ["fact:1", "fact:9"])
    assert texts(memory, "x y") == ["x y"]
    memory.forget("default", ["fact:1"])
    with pytest.raises(NotFound, match="expired, not current"):
        memory.forget("default", ["fact:1"])


def test_a_purge_is_refused_and_says_that_nothing_was_removed(memory: Memory) -> None:
    memory.remember("default", "x y", now=NOW)
    with pytest.raises(ScopeDenied, match="Nothing was removed"):
        memory.forget("default", ["fact:1"], mode="purge")
    assert texts(memory, "x y") == ["x y"]


def test_a_forgotten_claim_may_be_remembered_again_as_a_new_fact(memory: Memory) -> None:
    memory.remember("default", "Ada likes tea", now=NOW)
    memory.forget("default", ["fact:1"], now=NOW)
    receipt = memory.remember("default", "Ada likes tea", now=NOW + DAY)
    assert (receipt.status, receipt.facts) == ("created", (2,))
    assert memory.history("default", "fact:1").item.status == "expired"


def test_a_page_that_was_forgotten_stays_so_when_the_same_text_is_imported_again(memory: Memory) -> None:
    memory.put_page("default", "a", "# Old\n", now=NOW)
    memory.forget("default", ["a"], now=NOW)
    again = memory.put_page("default", "a", "# Old\n", now=NOW)
    assert (again.status, again.degraded) == ("unchanged", ("expired",))
    assert not memory.search("default", "old")
    assert memory.put_page("default", "a", "# New\n", now=NOW).status == "updated"
    assert memory.get_page("default", "a").status == "active"


def test_a_fact_of_a_conversation_that_was_forgotten_stays_so_when_it_is_banked_again(memory: Memory) -> None:
    said = [Message("user", "I moved to the lighthouse.", NOW)]
    scripted = ScriptedExtractor([CandidateFact("Lives in the lighthouse", "fact", None, said[0].text)])
    memory.bank("default", "s1", said, extractor=scripted, now=NOW)
    (fact,) = memory.recall_facts("default")
    memory.forget("default", [f"fact:{fact.id}"], now=NOW)
    assert memory.bank("default", "s1", said, extractor=scripted, now=NOW).status == "unchanged"
    again = [*said, Message("user", "And now?", NOW)]
    assert memory.bank("default", "s1", again, extractor=scripted, now=NOW + DAY).facts == ()
    assert memory.recall_facts("default") == ()


# -- correcting


def test_a_correction_is_a_preview_until_it_is_asked_for(memory: Memory) -> None:
    memory.remember("default", "Noor has two hives", entity="people/noor", kind="preference", now=NOW)
    shown = memory.correct("default", "fact:1", "revise", replacement="Noor has three hives")
    assert (shown.status, shown.affected, shown.created) == ("preview", ("fact:1",), None)
    assert texts(memory, "hives") == ["Noor has two hives"]
    done = memory.correct(
        "default", "fact:1", "revise", replacement="Noor has three hives", preview=False, now=NOW + DAY
    )
    assert (done.status, done.created) == ("applied", "fact:2")
    assert texts(memory, "hives") == ["Noor has three hives"]
    (fact,) = memory.recall_facts("default")
    assert (fact.entity, fact.kind) == ("people/noor", "preference")


def test_what_was_wrong_never_held_and_what_is_stale_did(memory: Memory) -> None:
    for text in ("The harbour is deep", "The harbour is busy"):
        memory.remember("default", text, now=NOW)
    memory.correct("default", "fact:1", "mark_wrong", reason="a typo", preview=False, now=NOW + 2 * DAY)
    memory.correct("default", "fact:2", "mark_stale", preview=False, now=NOW + 2 * DAY)
    assert texts(memory, "harbour") == []
    assert texts(memory, "harbour", as_of=NOW + DAY) == ["The harbour is busy"]
    assert memory.history("default", "fact:1").changes[-1].because == "wrong: a typo"


def test_what_was_ended_can_be_restored_unless_the_same_was_told_since(memory: Memory) -> None:
    memory.put_page("default", "a", "# Kept\n", now=NOW)
    memory.remember("default", "one thing", now=NOW)
    memory.forget("default", ["a", "fact:1"], now=NOW)
    for item in ("a", "fact:1"):
        assert memory.correct("default", item, "restore", preview=False, now=NOW).status == "applied"
    assert [one.id for one in memory.recall("default", "thing kept")] == ["fact:1", "a"]
    memory.forget("default", ["fact:1"], now=NOW)
    memory.remember("default", "ONE thing", now=NOW)
    with pytest.raises(Conflict, match="told by another"):
        memory.correct("default", "fact:1", "restore", preview=False, now=NOW)


def test_a_page_is_superseded_by_another_and_its_names_lead_there(memory: Memory) -> None:
    memory.put_page("default", "people/noor", NOOR, now=NOW)
    memory.put_page("default", "people/noor-w", "# Noor W\n", now=NOW)
    done = memory.correct("default", "people/noor", "supersede", replacement="people/noor-w", preview=False, now=NOW)
    assert done.affected == ("people/noor", "people/noor-w")
    assert memory.entity("default", "Nono").page.slug == "people/noor-w"
    assert memory.history("default", "people/noor").superseded_by == "people/noor-w"
    with pytest.raises(InvalidInput, match="another page"):
        memory.correct("default", "people/noor-w", "supersede", replacement="page:people/noor-w")


def test_a_page_is_revised_and_its_earlier_text_stays_in_the_history(memory: Memory) -> None:
    memory.put_page("default", "a", "# One\n", now=NOW)
    memory.correct("default", "a", "revise", replacement="# Two\n", preview=False, now=NOW + DAY)
    memory.put_page("default", "a", "# Three\n", now=NOW + 2 * DAY)
    changes = memory.history("default", "a").changes
    assert [(one.change, one.before) for one in changes] == [
        ("created", None),
        ("updated", "# One\n"),
        ("updated", "# Two\n"),
    ]
    kept = memory.get_page("default", "a")
    assert (kept.created_at, kept.updated_at) == (NOW, NOW + 2 * DAY)


def test_a_conversation_does_not_keep_each_of_its_earlier_lengths(memory: Memory) -> None:
    said = [Message("user", f"line {number}", NOW) for number in range(4)]
    for end in (1, 2, 3, 4):
        memory.bank("default", "s", said[:end], now=NOW)
    changes = memory.history("default", "conversations/s").changes
    assert [(one.change, one.before) for one in changes] == [("created", None)] + [("updated", None)] * 3


# -- confirming


def test_only_the_owner_confirms_and_a_change_takes_it_back(memory: Memory) -> None:
    memory.put_page("default", "a", "# Said\n", writer=AGENT, now=NOW)
    memory.remember("default", "The key is under the mat", writer=AGENT, now=NOW)
    for channel in CHANNELS:
        if channel != "owner_tty":
            with pytest.raises(ScopeDenied, match="at a terminal"):
                memory.confirm("default", "a", writer=Writer(channel))
    assert memory.confirm("default", "a", now=NOW).status == "updated"
    assert memory.confirm("default", "a", now=NOW).status == "unchanged"
    assert memory.confirm("default", "fact:1", now=NOW).facts == (1,)
    assert memory.get_page("default", "a").trust is memory.recall_facts("default")[0].trust is Trust.USER_CONFIRMED
    assert memory.put_page("default", "a", "# Said\n", now=NOW).status == "unchanged"
    assert memory.put_page("default", "a", "# Agent\n", writer=AGENT).degraded == ("guarded",)
    assert memory.put_page("default", "a", "# Mine\n", now=NOW).status == "updated"
    assert memory.get_page("default", "a").trust is Trust.USER_WRITTEN


def test_a_claim_about_its_origin_lowers_the_trust_of_a_text_and_never_raises_it(memory: Memory) -> None:
    wanted = {
        (OWNER, "user_said"): 2,
        (OWNER, "agent_inferred"): 1,
        (OWNER, "document"): 2,
        (OWNER, "tool_output"): 0,
        (OWNER, "import"): 0,
        (AGENT, "user_said"): 1,
        (AGENT, "document"): 0,
        (OUTSIDE, "user_said"): 0,
    }
    for number, ((writer, origin), tier) in enumerate(wanted.items(), start=1):
        receipt = memory.remember("default", f"n {number}", writer=writer, content_origin=origin, now=NOW)  # type: ignore[arg-type]
        memory.put_page("default", f"p{number}", "x", writer=writer, told=Told(origin), now=NOW)  # type: ignore[arg-type]
        fact = memory.store.fact("default", receipt.facts[0])
        assert (fact.trust, fact.content_origin) == (tier, origin)
        assert memory.get_page("default", f"p{number}").trust == tier


# -- what is told of a page


def test_where_a_page_is_from_comes_back_as_it_was_told_and_outlives_an_edit(memory: Memory) -> None:
    told = Told("document", "mail/7 ", "https://example.org/7", NOW - 30 * DAY, {"prio": 3, "näme": [1, None]})
    with pytest.raises(InvalidInput, match="source_id"):
        memory.put_page("default", "a", "x", told=told)
    told = Told("document", "mail/7", told.url, told.valid_at, told.metadata)
    memory.put_page("default", "a", "x", told=told, now=NOW)
    assert memory.get_page("default", "a").told == told
    memory.put_page("default", "a", "y", now=NOW + DAY)
    kept = memory.get_page("default", "a")
    assert (kept.told, kept.created_at, kept.updated_at) == (told, NOW, NOW + DAY)


@pytest.mark.parametrize(
    ("told", "field"),
    [
        (Told(metadata={"a": object()}), "metadata"),
        (Told(metadata={"a": float("nan")}), "metadata"),
        (Told(metadata={"a": "x" * LARGEST_METADATA}), "metadata"),
        (Told(metadata={"a": "\ud800"}), "metadata"),
        (Told(url=""), "url"),
        (Told(valid_at=datetime(2026, 1, 1)), "valid_at"),
        (Told("gossip"), "content_origin"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_told_is_refused_by_name(memory: Memory, told: Told, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.put_page("default", "a", "x", told=told)
    assert caught.value.field == field
    assert memory.store.sources() == ()


# -- entity, timeline, delta, cite, export


def test_a_thing_is_known_by_any_of_its_names(memory: Memory) -> None:
    memory.put_page("default", "people/noor", NOOR, now=NOW)
    memory.remember("default", "Noor keeps bees", entity="people/noor", now=NOW)
    for name in ("people/noor", "Nono", "nono", "Noor Wrenhaven", "noor", "NOOR WRENHÄVEN"):
        card = memory.entity("default", name)
        assert (card.page.slug, [fact.text for fact in card.facts]) == ("people/noor", ["Noor keeps bees"])
    with pytest.raises(NotFound, match="goes by the name 'Ada'"):
        memory.entity("default", "Ada")
    memory.put_page("default", "people/other", NOOR.replace("Wrenhaven", "Other"), now=NOW)
    card = memory.entity("default", "Nono")
    assert (card.page.slug, [page.slug for page in card.also]) == ("people/noor", ["people/other"])


def test_a_timeline_runs_from_the_oldest_to_the_newest_whatever_told_it(memory: Memory) -> None:
    memory.put_page("default", "people/noor", NOOR + "- 2021-05-03: bought a boat\n- 2021-06: sailed\n", now=NOW)
    memory.remember(
        "default", "Sold the boat", entity="people/noor", valid_from=datetime(2021, 5, 20, tzinfo=UTC), now=NOW
    )
    dates = [entry.date for entry in memory.timeline("default", "Nono")]
    assert dates == ["2019", "2021-05-03", "2021-05-20", "2021-06"]
    within = memory.timeline(
        "default", "Nono", since=datetime(2019, 12, 31, tzinfo=UTC), until=datetime(2021, 5, 10, tzinfo=UTC)
    )
    assert [entry.text for entry in within] == ["moved to the sea", "bought a boat"]


def test_a_delta_tells_each_change_once_and_where_to_go_on(memory: Memory) -> None:
    assert memory.delta("default").changes == ()
    memory.put_page("default", "a", "x", now=NOW)
    memory.remember("default", "one", now=NOW)
    memory.remember("other", "not here", now=NOW)
    first = memory.delta("default", limit=1)
    assert ([one.id for one in first.changes], first.more) == (["a"], True)
    rest = memory.delta("default", since=first.cursor)
    assert ([(one.id, one.change) for one in rest.changes], rest.more) == ([("fact:1", "created")], False)
    memory.put_page("default", "a", "x", now=NOW)
    memory.remember("default", "one", now=NOW)
    assert memory.delta("default", since=rest.cursor).changes == ()
    memory.forget("default", ["fact:1"], now=NOW)
    (last,) = memory.delta("default", since=rest.cursor).changes
    assert (last.id, last.change, last.item.status) == ("fact:1", "expired", "expired")


def test_the_same_word_of_a_message_counts_once_and_foreign_items_not_at_all(memory: Memory) -> None:
    memory.remember("default", "one", now=NOW)
    memory.remember("other", "two", now=NOW)
    asked = {"session": "s", "message": "m1", "now": NOW}
    first = memory.cite("default", ["fact:1", "fact:2", "page:none"], **asked)  # type: ignore[arg-type]
    assert (first.recorded, first.duplicates, first.rejected) == (1, 0, ("fact:2", "none"))
    again = memory.cite("default", ["fact:1"], **{**asked, "now": NOW + DAY})  # type: ignore[arg-type]
    assert (again.recorded, again.duplicates) == (0, 1)
    memory.cite("default", ["fact:1"], session="s", message="m2", now=NOW + DAY)
    memory.cite("default", ["fact:1"], misled=True, session="s", message="m2", now=NOW + 2 * DAY)
    usage = memory.history("default", "fact:1").usage
    assert (usage.citations, usage.misled, usage.last_used_at) == (2, 1, NOW + DAY)
    assert memory.history("other", "fact:2").usage.citations == 0


def test_an_export_holds_everything_whatever_its_status_and_nothing_of_another_source(memory: Memory) -> None:
    for number in range(230):
        memory.put_page("default", f"p{number:03}", f"# {number}\n", now=NOW)
    memory.bank("default", "s", [Message("user", "hello there", NOW)], now=NOW)
    memory.remember("default", "one", now=NOW)
    memory.put_page("other", "foreign", "x", now=NOW)
    memory.forget("default", ["p007", "fact:1"], now=NOW)
    held = list(memory.export("default"))
    assert len(held) == 232
    assert {item.slug if isinstance(item, Page) else item.text for item in held} > {"p007", "one", "conversations/s"}
    assert [item.status for item in held if isinstance(item, Fact)] == ["expired"]


def test_no_verb_sees_or_changes_another_source(memory: Memory) -> None:
    memory.put_page("team_a", "people/noor", NOOR, now=NOW)
    memory.remember("team_a", "Noor keeps bees", entity="people/noor", now=NOW)
    for source in ("teamXa", "team%", "team_", "team_a/x", "TEAM_A"):
        assert not memory.recall(source, "bees")
        assert not memory.search(source, "bees")
        assert memory.delta(source).changes == tuple(memory.export(source)) == ()
        denied: list[Callable[[], object]] = [
            lambda source=source: memory.entity(source, "Nono"),  # type: ignore[misc]
            lambda source=source: memory.timeline(source, "Nono"),  # type: ignore[misc]
            lambda source=source: memory.history(source, "fact:1"),  # type: ignore[misc]
            lambda source=source: memory.forget(source, ["fact:1"]),  # type: ignore[misc]
            lambda source=source: memory.confirm(source, "people/noor"),  # type: ignore[misc]
            lambda source=source: memory.correct(source, "fact:1", "mark_wrong", preview=False),  # type: ignore[misc]
        ]
        for attempt in denied:
            with pytest.raises(NotFound):
                attempt()
    assert [one.id for one in memory.recall("team_a", "bees")] == ["fact:1", "people/noor"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["tell", "forget", "restore", "put"]), st.integers(1, 3)), max_size=12))
def test_the_journal_explains_how_every_item_stands(steps: list[tuple[str, int]]) -> None:
    memory = Memory(SqliteStore(":memory:"))
    for step, number in steps:
        try:
            if step == "tell":
                memory.remember("default", f"fact {number}", now=NOW)
            elif step == "put":
                memory.put_page("default", f"p{number}", f"{len(steps)} {number}", now=NOW)
            elif step == "forget":
                memory.forget("default", [f"fact:{number}"], now=NOW)
            else:
                memory.correct("default", f"fact:{number}", "restore", preview=False, now=NOW)
        except (NotFound, Conflict):
            pass
    standing = {"created": "active", "updated": "active", "restored": "active", "expired": "expired"}
    for item in memory.export("default"):
        named = item.slug if isinstance(item, Page) else f"fact:{item.id}"
        assert standing[memory.history("default", named).changes[-1].change] == item.status
    assert len(memory.recall_facts("default")) == len({fact.text for fact in memory.recall_facts("default")})
    memory.close()
