"""What is so now, what was so when, and that nobody ends what somebody of a higher tier said."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from wellkept.errors import Conflict, InvalidInput, NotFound, Refused
from wellkept.memory import Memory
from wellkept.model import AGENT, OUTSIDE, OWNER, CandidateFact, Fact, Hit, Message, Trust, Writer, WriteReceipt
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.state import attribute_named, held, holds_one, is_current, prevails, standing
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
OTHER_AGENT = Writer("agent_http", "agent:other")


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"))
    yield opened
    opened.close()


def year(number: int, month: int = 1) -> datetime:
    return datetime(number, month, 1, tzinfo=UTC)


def home(memory: Memory, city: str, **more: object) -> WriteReceipt:
    more = {"now": NOW, **more}
    return memory.remember("default", f"Ada lives in {city}", entity="ada", attribute="home", **more)  # type: ignore[arg-type]


def texts(memory: Memory, query: str, **more: object) -> list[str]:
    more = {"now": NOW + 30 * DAY, **more}
    return [one.item.text for one in memory.recall("default", query, **more)]  # type: ignore[arg-type]


def cities(memory: Memory, **more: object) -> list[str]:
    return [text.removeprefix("Ada lives in ") for text in texts(memory, "where does Ada live", **more)]


def fact(memory: Memory, number: int) -> Fact:
    found = memory.store.fact("default", number)
    assert found is not None
    return found


# -- slots and time


@pytest.mark.req("T-501", "T-502", "TC-43")
def test_a_new_value_of_an_attribute_closes_the_one_before_however_it_is_worded(memory: Memory) -> None:
    memory.remember("default", "The queue listens on 5433", entity="queue", attribute="port", now=NOW)
    memory.remember("default", "Connect at 6000", entity="queue", attribute="Port", now=NOW + DAY)
    old, new = fact(memory, 1), fact(memory, 2)
    assert (old.status, old.superseded_by, old.valid_until, old.expired_at) == ("superseded", 2, NOW + DAY, NOW + DAY)
    assert (new.status, new.attribute, new.valid_from, new.valid_until) == ("active", "port", None, None)
    assert texts(memory, "queue port 5433") == ["Connect at 6000"]


@pytest.mark.req("TC-43")
def test_facts_that_are_merely_alike_stand_beside_each_other(memory: Memory) -> None:
    for text in ("Ada reviews the billing page", "Ada reviews the login page", "Ada reviews the landing page"):
        memory.remember("default", text, entity="ada", now=NOW)
    assert len(memory.recall_facts("default")) == 3


@pytest.mark.req("T-502")
def test_values_gather_without_an_attribute_and_in_one_that_may_have_several(memory: Memory) -> None:
    for text, attribute in (("Rows", "hobbies[]"), ("Sings", "hobbies []"), ("Tall", None), ("Left-handed", None)):
        memory.remember("default", text, entity="ada", attribute=attribute, now=NOW)
    assert len(memory.recall_facts("default")) == 4


def test_an_attribute_is_the_same_however_it_is_typed() -> None:
    assert {attribute_named(text) for text in ("Deploy-Day", "deploy_day", " deploy   DAY")} == {"deploy day"}
    assert [holds_one(name) for name in ("deploy day", "hobbies[]", None)] == [True, False, False]


@pytest.mark.parametrize("attribute", ["_-_", "[]"])
def test_an_attribute_without_a_word_is_refused(memory: Memory, attribute: str) -> None:
    with pytest.raises(InvalidInput, match="attribute"):
        memory.remember("default", "x y", attribute=attribute)


@pytest.mark.req("T-504", "T-506", "TC-46")
def test_a_value_that_is_true_again_opens_an_interval_of_its_own(memory: Memory) -> None:
    for city, start in (("Berlin", year(2019)), ("Paris", year(2021)), ("Berlin", year(2023))):
        home(memory, city, valid_from=start, now=start)
    assert [(one.valid_from, one.valid_until) for one in memory.store.facts("default", ended=True)] == [
        (year(2019), year(2021)),
        (year(2021), year(2023)),
        (year(2023), None),
    ]
    for then, city in ((year(2020), "Berlin"), (year(2022), "Paris"), (year(2024), "Berlin")):
        assert cities(memory, as_of=then) == [city]
    assert cities(memory, as_of=year(2018)) == []


@pytest.mark.req("T-507")
def test_what_is_so_from_later_leaves_the_present_value_until_then(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", valid_from=year(2027))
    assert fact(memory, 1).status == "active"
    assert cities(memory) == ["Berlin"]
    assert cities(memory, now=year(2027) + DAY) == ["Paris"]
    assert cities(memory, as_of=year(2027, 6)) == ["Paris"]
    assert standing(fact(memory, 1), year(2028)) == "superseded"
    # Memory did not know of it before it was told.
    home(memory, "Delft", valid_from=year(2028), now=NOW + DAY)
    assert cities(memory, as_of=year(2029), known_at=NOW) == ["Paris"]
    assert cities(memory, as_of=year(2029)) == ["Delft"]


def test_what_would_have_made_way_stays_where_its_successor_is_called_off(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", valid_from=year(2027), now=NOW + DAY)
    memory.forget("default", ["fact:2"], now=NOW + 2 * DAY)
    assert (fact(memory, 1).valid_until, fact(memory, 1).superseded_by) == (None, None)
    assert cities(memory, now=year(2028)) == ["Berlin"]


def test_a_value_to_come_that_is_put_right_still_takes_the_place(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", valid_from=year(2027), now=NOW + DAY)
    memory.correct("default", "fact:2", "revise", replacement="Ada lives in Delft", preview=False, now=NOW + 2 * DAY)
    assert [cities(memory, now=then) for then in (NOW + 3 * DAY, year(2028))] == [["Berlin"], ["Delft"]]
    memory.forget("default", ["fact:3"], now=NOW + 4 * DAY)
    assert cities(memory, now=year(2028)) == ["Berlin"]


def test_what_is_told_late_holds_until_the_next_value_began(memory: Memory) -> None:
    home(memory, "Berlin", valid_from=year(2023))
    home(memory, "Paris", valid_from=year(2020), now=NOW + DAY)
    assert cities(memory) == ["Berlin"]
    assert cities(memory, as_of=year(2021)) == ["Paris"]


def test_what_is_so_since_a_day_before_it_is_told_takes_the_place_of_what_says_no_day(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", valid_from=NOW - 30 * DAY, now=NOW + DAY)
    assert cities(memory) == ["Paris"]


def test_a_value_with_an_end_interrupts_the_one_that_holds(memory: Memory) -> None:
    home(memory, "Berlin", valid_from=year(2020))
    home(memory, "Paris", valid_from=year(2026, 6), valid_until=year(2026, 9), now=NOW + DAY)
    wanted = {year(2026, 5): "Berlin", year(2026, 7): "Paris", year(2026, 10): "Berlin"}
    assert {then: cities(memory, as_of=then) for then in wanted} == {then: [city] for then, city in wanted.items()}
    assert {then: cities(memory, now=then) for then in wanted} == {then: [city] for then, city in wanted.items()}


def test_what_has_an_end_is_current_until_then_and_in_its_history_after(memory: Memory) -> None:
    memory.remember("default", "The pass is valid", entity="pass", valid_until=NOW + 2 * DAY, now=NOW)
    assert texts(memory, "pass valid", now=NOW + DAY) == ["The pass is valid"]
    for gone in (texts(memory, "pass"), memory.recall_facts("default", now=NOW + 2 * DAY)):
        assert not gone
    assert not memory.search("default", "pass valid", now=NOW + 3 * DAY)
    (kept,) = memory.recall("default", "pass", include_history=True, now=NOW + 3 * DAY)
    assert isinstance(kept.item, Fact)
    assert kept.item.status == "expired"
    with pytest.raises(NotFound, match="expired, not current"):
        memory.remember("default", "The pass is void", replaces="fact:1", now=NOW + 3 * DAY)
    again = memory.remember("default", "The pass is valid", entity="pass", now=NOW + 4 * DAY)
    assert (again.status, again.facts) == ("created", (2,))


def test_an_event_that_is_to_come_is_known_at_once(memory: Memory) -> None:
    memory.remember("default", "The launch is in Delft", kind="event", valid_from=NOW + 60 * DAY, now=NOW)
    assert texts(memory, "launch Delft") == ["The launch is in Delft"]


def test_an_end_before_its_beginning_is_refused(memory: Memory) -> None:
    for since, until in ((year(2026), year(2026)), (None, NOW)):
        with pytest.raises(InvalidInput, match="valid_until"):
            memory.remember("default", "x y", valid_from=since, valid_until=until, now=NOW)


@pytest.mark.req("T-504", "T-507", "TC-48")
def test_what_was_believed_is_told_apart_from_what_was_so(memory: Memory) -> None:
    memory.remember("default", "The lease ends in June", entity="lease", valid_from=year(2026, 1), now=year(2026, 2))
    memory.correct(
        "default", "fact:1", "revise", replacement="The lease ends in July", preview=False, now=year(2026, 8)
    )
    may = year(2026, 5)
    assert texts(memory, "when does the lease end", known_at=may) == ["The lease ends in June"]
    assert texts(memory, "when does the lease end", as_of=may) == ["The lease ends in July"]
    assert texts(memory, "when does the lease end", as_of=may, known_at=may) == ["The lease ends in June"]
    assert texts(memory, "when does the lease end", as_of=may, known_at=year(2026, 9)) == ["The lease ends in July"]
    assert texts(memory, "lease", known_at=year(2026, 1)) == []
    found = memory.search("default", "when does the lease end", known_at=may, now=year(2026, 9))
    assert [one.item.text for one in found if isinstance(one.item, Fact)] == ["The lease ends in June"]
    old = fact(memory, 1)
    assert (old.status, old.ended_because, old.superseded_by) == ("superseded", "wrong", 2)


def test_a_page_that_was_written_later_was_not_known_then(memory: Memory) -> None:
    memory.put_page("default", "a", "# Bees\n\nThe hives are green.", now=NOW)
    assert not memory.search("default", "hives", known_at=NOW - DAY)
    assert memory.search("default", "hives", known_at=NOW + DAY)


def test_one_moment_has_one_value_even_where_the_earlier_one_had_been_forgotten(memory: Memory) -> None:
    home(memory, "Berlin", valid_from=NOW)
    memory.forget("default", ["fact:1"], now=NOW + 10 * DAY)
    home(memory, "Paris", valid_from=NOW + 5 * DAY, now=NOW + 11 * DAY)
    assert cities(memory, as_of=NOW + 6 * DAY) == ["Paris"]
    assert cities(memory, as_of=NOW + 4 * DAY) == ["Berlin"]
    found = memory.search("default", "where does Ada live", as_of=NOW + 6 * DAY, include_documents=False)
    assert [one.item.text for one in found if isinstance(one.item, Fact)] == ["Ada lives in Paris"]


# -- who ranks lower ends nothing


@pytest.mark.req("T-503", "TC-45", "TC-30")
@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("how", ["slot", "replaces", "revise"])
def test_who_ranks_lower_ends_nothing_and_waits_for_the_owner(memory: Memory, how: str, confirmed: bool) -> None:
    home(memory, "Berlin")
    if confirmed:
        memory.confirm("default", "fact:1", now=NOW)
    before = fact(memory, 1)
    if how == "revise":
        done = memory.correct(
            "default", "fact:1", "revise", replacement="Ada lives in Paris", preview=False, writer=AGENT, now=NOW
        )
        assert (done.status, done.created) == ("guarded", "fact:2")
    else:
        more = {} if how == "slot" else {"entity": "ada", "replaces": "fact:1"}
        said = {"slot": lambda: home(memory, "Paris", writer=AGENT)}.get(
            how,
            lambda: memory.remember("default", "Ada lives in Paris", writer=AGENT, now=NOW, **more),  # type: ignore[arg-type]
        )()
        assert (said.status, said.facts, said.degraded, said.pending) == ("unchanged", (), ("guarded",), (2,))
    assert fact(memory, 1) == before
    assert cities(memory) == ["Berlin"]
    assert not [one for one in memory.search("default", "Paris", now=NOW) if one.id == "fact:2"]
    assert "Paris" not in memory.context("default", [Message("user", "Is Ada in Paris?")], now=NOW).text
    assert "Paris" not in memory.context_pack("default", "does Ada live in Paris", now=NOW).markdown
    assert set(cities(memory, include_history=True)) == {"Berlin", "Paris"}
    memory.confirm("default", "fact:2", now=NOW + DAY)
    assert cities(memory) == ["Paris"]
    assert cities(memory, known_at=NOW + DAY / 2) == ["Berlin"]
    assert (fact(memory, 1).status, fact(memory, 1).superseded_by) == ("superseded", 2)
    assert fact(memory, 2).trust is Trust.USER_CONFIRMED


@pytest.mark.req("T-503", "TC-45")
def test_nothing_that_a_connector_or_agent_ends_is_ended_where_the_owner_said_it(memory: Memory) -> None:
    home(memory, "Berlin")
    for writer in (AGENT, OUTSIDE):
        assert memory.forget("default", ["fact:1"], writer=writer, now=NOW).guarded == ("fact:1",)
        for action in ("mark_wrong", "mark_stale"):
            done = memory.correct("default", "fact:1", action, preview=False, writer=writer, now=NOW)  # type: ignore[arg-type]
            assert done.status == "guarded"
        again = home(memory, "Berlin", valid_until=NOW + DAY, writer=writer)
        assert (again.status, again.facts) == ("unchanged", (1,))
    assert (fact(memory, 1).status, fact(memory, 1).valid_until) == ("active", None)


@pytest.mark.req("T-408")
def test_a_pending_fact_is_never_shown_without_the_one_that_it_contradicts(memory: Memory) -> None:
    memory.remember("default", "Deliveries go to the quay", now=NOW)
    memory.remember("default", "Use the back yard", replaces="fact:1", writer=AGENT, now=NOW)
    assert texts(memory, "yard", include_history=True) == ["Deliveries go to the quay", "Use the back yard"]
    assert texts(memory, "yard", include_history=True, limit=1) == []


@pytest.mark.req("T-503")
def test_a_conversation_read_again_ends_nothing_that_the_owner_vouched_for(memory: Memory) -> None:
    said = [Message("user", "I moved to the lighthouse. I keep bees.", NOW)]
    told = [CandidateFact(text, "fact", None, text) for text in ("I moved to the lighthouse", "I keep bees")]
    memory.bank("default", "s1", said, extractor=ScriptedExtractor(told), now=NOW)
    memory.confirm("default", "fact:1", now=NOW)
    again = memory.bank("default", "s1", said, extractor=ScriptedExtractor([]), now=NOW + DAY)
    assert (again.status, again.expired) == ("updated", 1)
    assert [one.id for one in memory.recall_facts("default")] == [1]


def test_a_pending_fact_that_the_owner_declines_was_never_so(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", writer=AGENT)
    memory.forget("default", ["fact:2"], now=NOW + DAY)
    assert cities(memory, known_at=NOW) == cities(memory, as_of=NOW + DAY / 2) == ["Berlin"]
    assert memory.conflicts("default") == ()
    assert memory.history("default", "fact:2").item.status == "expired"


# -- the same again


@pytest.mark.req("T-506", "TC-36", "T-408")
def test_ten_who_say_the_same_change_no_tier_and_each_is_kept_in_its_history(memory: Memory) -> None:
    memory.remember("default", "Ada prefers the night train", entity="ada", writer=AGENT, now=NOW)
    for number in range(10):
        again = memory.remember(
            "default",
            "ada prefers THE night train.",
            entity="ada",
            writer=Writer("agent_mcp", f"agent:{number}"),
            now=NOW,
        )
        assert (again.status, again.facts) == ("unchanged", (1,))
        memory.cite("default", ["fact:1"], now=NOW + number * DAY)
    assert (fact(memory, 1).trust, len(memory.store.facts("default", ended=True))) == (Trust.AGENT_WRITTEN, 1)
    said = [line.actor for line in memory.history("default", "fact:1").changes if line.change == "restated"]
    assert said == [f"agent_mcp agent:{number}" for number in range(10)]


@pytest.mark.req("TC-36")
def test_what_the_owner_disputes_ends_however_many_agents_said_it(memory: Memory) -> None:
    for number in range(10):
        home(memory, "Paris", writer=Writer("agent_mcp", f"agent:{number}"))
    home(memory, "Berlin", now=NOW + DAY)
    assert cities(memory) == ["Berlin"]
    for number in range(10):
        assert home(memory, "Paris", writer=Writer("agent_mcp", f"agent:{number}"), now=NOW + 2 * DAY).pending == (3,)
    assert cities(memory) == ["Berlin"]


@pytest.mark.req("T-506")
def test_who_ranks_higher_and_says_the_same_says_it_anew(memory: Memory) -> None:
    memory.remember("default", "Ada likes tea", entity="ada", writer=AGENT, now=NOW)
    said = memory.remember("default", "Ada likes tea", entity="ada", now=NOW + DAY)
    assert (said.status, said.facts) == ("created", (2,))
    old, new = fact(memory, 1), fact(memory, 2)
    assert (old.status, old.ended_because, old.superseded_by, old.trust) == ("superseded", "restated", 2, 1)
    assert (new.status, new.trust) == ("active", Trust.USER_WRITTEN)
    assert memory.remember("default", "Ada likes tea", entity="ada", writer=AGENT, now=NOW + 2 * DAY).facts == (2,)


def test_the_owner_who_says_what_is_pending_settles_it(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", writer=AGENT)
    home(memory, "Paris", now=NOW + DAY)
    assert cities(memory) == ["Paris"]
    assert memory.conflicts("default") == ()


@pytest.mark.req("TC-49", "T-701")
def test_what_was_forgotten_may_be_said_again_and_both_have_a_history(memory: Memory) -> None:
    home(memory, "Berlin")
    memory.forget("default", ["fact:1"], now=NOW + DAY)
    assert cities(memory) == []
    assert home(memory, "Berlin", now=NOW + 2 * DAY).facts == (2,)
    assert cities(memory) == ["Berlin"]
    assert cities(memory, as_of=NOW + DAY * 1.5) == []
    assert [memory.history("default", f"fact:{number}").item.status for number in (1, 2)] == ["expired", "active"]


# -- copies and pieces of pages


@pytest.mark.req("T-505", "TC-44")
def test_a_claim_in_four_records_is_closed_in_all_of_them(memory: Memory) -> None:
    said = [Message("user", "The SSH port is 22.", NOW)]
    told = ScriptedExtractor([CandidateFact("The SSH port is 22", "fact", None, said[0].text)])
    memory.bank("default", "s1", said, extractor=told, now=NOW)
    memory.put_page("default", "notes", "# Notes\n\n- The SSH port is 22.\n- The gate is green.\n", now=NOW)
    memory.bank("default", "s2", said, extractor=told, now=NOW)
    memory.remember("default", "the ssh port is 22", entity="box", writer=AGENT, now=NOW)
    done = memory.correct(
        "default", "fact:2", "revise", replacement="The SSH port is 49222", preview=False, now=NOW + DAY
    )
    assert set(done.affected) == {"fact:1", "fact:2", "fact:3"}
    assert [fact(memory, number).superseded_by for number in (1, 2, 3)] == [4, 4, 4]
    found = texts(memory, "what is the SSH port")
    assert found[0] == "The SSH port is 49222"
    assert not any("is 22" in text for text in found)
    # What else the page says is still told.
    assert any("gate is green" in text and "[superseded by fact:4]" in text for text in found)
    for one in memory.search("default", "what is the SSH port", now=NOW + 2 * DAY):
        if "22." in (one.content or "") and one.origin == "document":
            assert one.superseded_by == "fact:4"


def test_the_same_words_about_somebody_else_are_another_claim(memory: Memory) -> None:
    for name in ("ada", "ben"):
        memory.remember("default", "Likes tea", entity=name, now=NOW)
    memory.forget("default", ["fact:1"], now=NOW)
    assert [one.entity for one in memory.recall_facts("default")] == ["ben"]


@pytest.mark.req("T-505", "TC-42", "TC-47")
def test_what_was_replaced_is_told_nowhere_as_if_it_were_so(memory: Memory) -> None:
    said = [Message("user", "For web search we use Jina these days. Lunch is at noon.", NOW)]
    memory.bank("default", "s1", said, now=NOW)
    memory.put_page("default", "stack", "# Stack\n\nWeb search goes through Jina.\n", now=NOW, writer=AGENT)
    memory.remember(
        "default", "Web search goes through Jina", session="s1", entity="stack", attribute="search", now=NOW
    )
    assert "Jina" in str(texts(memory, "which web search do we use"))
    memory.remember("default", "Web search goes through Exa", entity="stack", attribute="search", now=NOW + DAY)
    later = NOW + DAY
    for query in ("which web search do we use", "Jina", "web search Jina Exa"):
        assert not any("Jina" in text for text in texts(memory, query, now=later)), query
    assert texts(memory, "which web search do we use", now=later)[0] == "Web search goes through Exa"
    assert any("Lunch is at noon" in text for text in texts(memory, "when is lunch", now=later))
    pack = memory.context_pack("default", "which web search do we use", entities=["stack"], now=later).markdown
    assert "Exa" in pack
    assert "Jina" not in pack
    turn = memory.context("default", [Message("user", "Which web search does Stack use?")], now=later).text
    assert "Jina" not in turn
    brief = memory.opening_pack("default", since=NOW - DAY, tokens=2000, mark="#", now=later).markdown
    assert "Exa" in brief
    assert "Jina" not in brief
    for one in memory.search("default", "web search Jina", now=later):
        if one.origin == "document" and "Jina" in (one.content or ""):
            assert one.superseded_by == "fact:2"
    history = memory.recall("default", "web search Jina", include_history=True, now=later)
    told = {one.item.text: one.item.status for one in history if isinstance(one.item, Fact | Hit)}
    assert {status for text, status in told.items() if "Jina" in text} == {"superseded"}


@pytest.mark.req("TC-47")
def test_what_was_forgotten_is_not_told_by_a_page_that_says_the_same(memory: Memory) -> None:
    memory.put_page("default", "a", "# Keys\n\nThe spare key is under the mat.\n", now=NOW)
    memory.remember("default", "The spare key is under the mat", now=NOW)
    assert texts(memory, "spare key")
    memory.forget("default", ["fact:1"], now=NOW)
    assert not any("mat" in text for text in texts(memory, "spare key", now=NOW))


def test_a_page_of_the_owner_is_not_outdated_by_what_an_agent_replaced(memory: Memory) -> None:
    memory.put_page("default", "a", "# Port\n\nThe SSH port is 22.\n", now=NOW)
    memory.remember("default", "The SSH port is 22", writer=AGENT, now=NOW)
    memory.remember("default", "The SSH port is 4000", replaces="fact:1", writer=AGENT, now=NOW)
    assert any("is 22" in text for text in texts(memory, "SSH port"))


def test_what_is_still_told_by_somebody_is_not_outdated(memory: Memory) -> None:
    memory.put_page("default", "a", "# Port\n\nThe SSH port is 22.\n", now=NOW)
    for writer, when in ((AGENT, NOW), (OWNER, NOW + DAY)):
        memory.remember("default", "The SSH port is 22", writer=writer, now=when)
    assert any("[" not in text and "is 22." in text for text in texts(memory, "SSH port"))


# -- what only a person can settle


@pytest.mark.req("T-508", "TC-45")
def test_every_conflict_names_the_commands_that_settle_it(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", writer=AGENT)
    for city, writer in (("5433", AGENT), ("6000", OTHER_AGENT)):
        memory.remember("default", f"Port {city}", entity="queue", attribute="port", writer=writer, now=NOW)
    for town in ("Delft", "Ghent"):
        memory.remember("default", f"The team meets in {town}", entity="team", now=NOW)
    memory.store.add_fact(
        Fact(
            None, "default", "It came back", None, "fact", fact(memory, 1).provenance, recorded_at=NOW, flags=("echo",)
        )
    )
    found = memory.conflicts("default", now=NOW + DAY)
    assert [(one.kind, [f"fact:{item.id}" for item in one.items if isinstance(item, Fact)]) for one in found] == [
        ("pending", ["fact:2", "fact:1"]),
        ("disagreement", ["fact:4", "fact:3"]),
        ("alike", ["fact:6", "fact:5"]),
        ("echo", ["fact:7"]),
    ]
    assert found[0].settle == ("wellkept confirm fact:2", "wellkept forget fact:2")
    memory.confirm("default", "fact:2", now=NOW + DAY)
    memory.confirm("default", "fact:4", now=NOW + DAY)
    memory.correct("default", "fact:5", "supersede", replacement="fact:6", preview=False, now=NOW + DAY)
    memory.forget("default", ["fact:7"], now=NOW + DAY)
    assert memory.conflicts("default", now=NOW + DAY) == ()


def test_one_writer_who_changes_a_value_disagrees_with_nobody(memory: Memory) -> None:
    for city in ("Berlin", "Paris"):
        home(memory, city, writer=AGENT)
    assert memory.conflicts("default") == ()


def test_a_restored_value_does_not_stand_beside_another(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", now=NOW + DAY)
    with pytest.raises(Conflict, match="taken by fact:2"):
        memory.correct("default", "fact:1", "restore", preview=False, now=NOW + 2 * DAY)
    memory.correct("default", "fact:2", "mark_wrong", preview=False, now=NOW + 2 * DAY)
    memory.correct("default", "fact:1", "restore", preview=False, now=NOW + 2 * DAY)
    assert cities(memory) == ["Berlin"]


def test_an_export_brings_back_how_everything_stood(memory: Memory) -> None:
    home(memory, "Berlin")
    home(memory, "Paris", valid_from=year(2027), now=NOW + DAY)
    home(memory, "Delft", writer=AGENT, now=NOW + DAY)
    other = Memory(SqliteStore(":memory:"))
    other.restore(list(memory.export("default")))
    assert list(other.export("default")) == list(memory.export("default"))
    assert (cities(other), cities(other, now=year(2028))) == (["Berlin"], ["Paris"])
    other.close()


# -- laws

WRITERS = (OUTSIDE, AGENT, OTHER_AGENT, OWNER)
STEP = st.tuples(
    st.sampled_from(["slot", "slot", "slot", "replace", "forget", "revise", "wrong", "restore", "confirm"]),
    st.sampled_from(WRITERS),
    st.sampled_from(["Berlin", "Paris", "Delft"]),
    st.integers(1, 5),
    st.sampled_from([None, None, -40, -3, 20]),
    st.sampled_from([None, None, None, 10]),
)


def _step(memory: Memory, step: tuple[str, Writer, str, int, int | None, int | None], now: datetime) -> None:
    what, writer, city, number, since, lasts = step
    name, begins = f"fact:{number}", None if since is None else now + since * DAY
    ends = None if lasts is None else (begins or now) + lasts * DAY
    span = {"valid_from": begins, "valid_until": ends, "writer": writer, "now": now}
    if what == "slot":
        home(memory, city, **span)
    elif what == "replace":
        memory.remember("default", f"Ada lives in {city}", replaces=name, **span)  # type: ignore[arg-type]
    elif what == "forget":
        memory.forget("default", [name], writer=writer, now=now)
    elif what == "confirm":
        memory.confirm("default", name, writer=writer, now=now)
    elif what == "restore":
        memory.correct("default", name, "restore", preview=False, writer=writer, now=now)
    elif what == "wrong":
        memory.correct("default", name, "mark_wrong", preview=False, writer=writer, now=now)
    else:
        text = f"Ada lives in {city}"
        memory.correct("default", name, "revise", replacement=text, preview=False, writer=writer, now=now)


@pytest.mark.req("T-104", "T-502", "T-503", "T-504")
@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(STEP, min_size=1, max_size=9))
def test_whatever_is_said_and_by_whom(steps: list[tuple[str, Writer, str, int, int | None, int | None]]) -> None:
    """No lower tier ends a higher one, one slot has one value at a time, and history only grows."""
    memory = Memory(SqliteStore(":memory:"))
    now, lines, known = NOW, 0, 0
    for step in steps:
        before = {one.id: one for one in memory.store.facts("default", ended=True)}
        now += DAY
        with suppress(Refused, NotFound):
            _step(memory, step, now)
        after = {one.id: one for one in memory.store.facts("default", ended=True)}
        cap = {OUTSIDE: 0, AGENT: 1, OTHER_AGENT: 1, OWNER: 3}[step[1]]
        assert before.keys() <= after.keys()
        for number, old in before.items():
            if old.trust > cap:
                assert after[number] == old
        journal = memory.store.journal("default")
        assert len(journal) >= lines
        assert len(after) >= known
        lines, known = len(journal), len(after)
        moments = [
            now,
            *(
                m + d
                for one in after.values()
                for m in (one.valid_from, one.valid_until)
                if m
                for d in (-DAY / 2, DAY / 2)
            ),
        ]
        for moment in moments:
            assert sum(held(one, moment) and one.status == "active" for one in after.values()) <= 1
            assert sum(held(one, moment) and prevails(memory.store, one, moment) for one in after.values()) <= 1
        assert sum(is_current(one, now) for one in after.values()) <= 1
    memory.close()
