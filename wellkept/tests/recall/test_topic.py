"""Pages that a turn needs without naming them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from wellkept.model import Budget, Fact, Item, Mark, Message, Provenance, Trust
from wellkept.recall import topic as arm
from wellkept.recall import turn_context, turn_pointers
from wellkept.storage import Store

NEED = Path(__file__).parent.parent / "data" / "need"
sys.path.insert(0, str(NEED))
import measure  # type: ignore[import-not-found]  # noqa: E402

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Found = Callable[..., list[str]]
Write = Callable[..., None]


@pytest.fixture
def house(write: Write) -> None:
    write(
        "notes/kiln",
        "Kiln in the yard",
        kind="note",
        body="The kiln may be opened below 90 degrees. The fuse is 40 amps.",
    )
    write(
        "decisions/no-lead",
        "Glaze without lead",
        kind="decision",
        body="Since last year we use no leaded glaze at all.",
    )
    write("people/ada", "Ada Tolvanen", body="Ada sells our plates and takes 35 percent. She is away in July.")
    write(
        "notes/clay",
        "Order of clay",
        kind="note",
        body="Fifty sacks of white clay. Too soft ones go back in three days.",
    )


@pytest.mark.req("C-333")
@pytest.mark.usefixtures("house")
@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("when may we open the kiln again, at how many degrees?", "notes/kiln"),
        ("didn't we decide something about leaded glazes?", "decisions/no-lead"),
        ("the clay is too soft. how many days do we have to send the sacks back", "notes/clay"),
    ],
)
def test_a_question_brings_the_page_that_answers_it(found: Found, text: str, slug: str) -> None:
    assert found(text) == [slug]


@pytest.mark.req("C-333")
@pytest.mark.parametrize(
    ("title", "body", "text"),
    [
        (
            "Waschküche",
            "Wir dürfen montags und donnerstags waschen.",
            "an welchen Tagen dürfen wir in der Waschküche waschen?",
        ),
        ("Fırın odası", "Kapak ancak 90 derecenin altında açılır.", "fırının kapağını kaç derecede açabiliyorduk?"),
        ("Комора", "Ключ від комори лежить у сусідки.", "у кого зараз ключ від нашої комори?"),
        ("ครัวกลาง", "ค่าเช่าเดือนละ 8500 บาท ใช้ได้ถึงสามทุ่ม", "ค่าเช่าครัวกลางของเราเดือนละเท่าไหร่"),
        ("停车场", "晚上十点锁门，密码是4096。", "我们停车场晚上几点锁门？密码是多少"),
        ("온실", "예비 열쇠는 관리실에 있다.", "우리 온실 예비 열쇠가 어디 있지?"),
        ("المخزن الخلفي", "المفتاح عند الحارس.", "مع من مفتاح المخزن عندنا الآن؟"),
    ],
)
def test_a_word_is_known_in_another_form(write: Write, found: Found, title: str, body: str, text: str) -> None:
    write("p/wanted", title, kind="note", body=body)
    write("p/other", "Something else", kind="note", body="Of no use here.")
    assert found(text) == ["p/wanted"]


@pytest.mark.req("C-333")
@pytest.mark.usefixtures("house")
@pytest.mark.parametrize(
    "text",
    [
        "the kiln looks so pretty in the snow",
        "what is the difference between a kiln and an oven in general?",
        "write a poem about white clay",
        "clay everywhere, my hands hurt haha",
        "thanks, that helps",
    ],
)
def test_talk_that_asks_nothing_of_memory_brings_nothing(found: Found, text: str) -> None:
    assert found(text) == []


@pytest.mark.req("C-333")
@pytest.mark.usefixtures("house")
def test_a_question_about_somebody_unknown_brings_no_other_page(found: Found) -> None:
    assert found("how many percent for our plates are taken by the lady who sells them?") == ["people/ada"]
    assert found("how many percent for our plates are taken by Ophelia Brandt who sells them?") == []


@pytest.mark.req("C-332")
def test_a_name_with_a_slip_is_known_if_what_is_said_of_it_agrees(write: Write, found: Found) -> None:
    write("people/anselm", "Anselm Rutherglen", summary="Engineer who repairs the infusion pumps")
    write("people/other", "Ida Kelpgrove", summary="Sells flowers at the gate")
    assert found("what does Anselm Ruthreglen the engineer for our infusion pumps need from us?") == ["people/anselm"]
    assert found("what does Anselm Ruthreglen the florist for our wedding need from us?") == []
    assert found("what does Anselm Rutherford the engineer for our infusion pumps need from us?") == []


@pytest.mark.usefixtures("house")
def test_long_pasted_text_asks_for_nothing(found: Found) -> None:
    question = "when may we open the kiln again, at how many degrees?"
    assert found(question)
    assert found("\n".join([question, *["a line of some log"] * 40])) == []


@pytest.mark.req("C-340")
@pytest.mark.usefixtures("house")
def test_a_page_that_was_shown_makes_no_room_for_the_second_best(found: Found) -> None:
    question = "when may we open the kiln again, at how many degrees?"
    assert found(question, prior="→ `notes/kiln`") == []


@pytest.mark.usefixtures("house")
def test_a_turn_that_names_a_page_brings_what_it_names(found: Found) -> None:
    assert found("does Ada Tolvanen know when we may open the kiln, at how many degrees?") == ["people/ada"]


@pytest.mark.usefixtures("house")
def test_the_newest_turn_of_a_window_may_need_a_page(store: Store, now: object) -> None:
    window = [
        Message("user", "hello"),
        Message("assistant", "Hi."),
        Message("user", "when may we open the kiln again, at how many degrees?"),
    ]

    def brought(window: Sequence[Message], *off: str) -> list[tuple[str, str]]:
        context = turn_context(
            store,
            "default",
            window,
            prior="",
            session=None,
            budget=Budget(),
            now=now,
            arms_off=off,  # type: ignore[arg-type]
        )
        return [(pointer.slug, pointer.arm) for pointer in context.pointers]

    assert brought(window) == [("notes/kiln", "topic")]
    assert brought(window, "topic") == []
    assert brought([*window, Message("assistant", "Below 90.")]) == []


@pytest.mark.usefixtures("house")
def test_the_arm_can_be_switched_off(store: Store) -> None:
    question = "when may we open the kiln again, at how many degrees?"
    assert turn_pointers(store, "default", question, prior="")[0]
    assert turn_pointers(store, "default", question, prior="", arms_off=["topic"]) == ((), ())


@pytest.mark.req("C-330")
@pytest.mark.usefixtures("house")
def test_a_store_that_cannot_look_words_up_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("gone")

    monkeypatch.setattr(store, "find_beginnings", fails)
    question = "when may we open the kiln again, at how many degrees?"
    assert turn_pointers(store, "default", question, prior="") == ((), ("arm_failed:topic",))
    assert [pointer.slug for pointer in turn_pointers(store, "default", "Ada Tolvanen?", prior="")[0]] == ["people/ada"]


@pytest.mark.req("C-330")
def test_pages_of_other_sources_and_dead_ones_do_not_count(write: Write, found: Found) -> None:
    question = "when may we open the kiln again, at how many degrees?"
    body = "The kiln may be opened below 90 degrees."
    write("notes/other", "Kiln", kind="note", body=body, source="elsewhere")
    write("notes/old", "Kiln", kind="note", body=body, status="superseded")
    assert found(question) == []
    write("notes/kiln", "Our kiln", kind="note", body=body)
    assert found(question) == ["notes/kiln"]


def test_a_page_from_outside_is_not_brought_for_its_words(write: Write, found: Found) -> None:
    body = "The kiln may be opened below 90 degrees."
    write("web/kiln", "Our kiln", kind="note", body=body, trust=Trust.EXTERNAL_UNTRUSTED)
    assert found("when may we open the kiln again, at how many degrees?") == []


def test_of_two_pages_alike_the_one_that_more_words_fit_comes(write: Write, found: Found) -> None:
    for place in ("north", "south"):
        write(
            f"notes/{place}",
            "Kiln",
            kind="note",
            body=f"The kiln may be opened below 90 degrees. It stands in the {place}.",
        )
    assert found("when may we open the kiln in the south again, at how many degrees?") == ["notes/south"]


def test_a_word_that_very_many_pages_hold_tells_nothing(
    write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arm, "MOST_PAGES", 5)
    for number in range(6):
        write(f"notes/{number}", f"Sheet {number}", kind="note", body="The kiln may be opened below 90 degrees.")
    assert turn_pointers(store, "default", "when may we open the kiln again, at how many degrees?", prior="") == (
        (),
        (),
    )


def test_the_order_in_which_pages_were_written_changes_nothing(write: Write, store: Store) -> None:
    turn = "when may we open the kiln or the oven, at how many degrees?"
    pages = [
        ("a", "Kiln", "opened below 90 degrees"),
        ("b", "Oven", "opened below 70 degrees"),
        ("c", "Yard", "open degrees"),
    ]
    seen = set()
    for order in (pages, pages[::-1], [pages[1], pages[2], pages[0]]):
        store.reset()
        for slug, title, body in order:
            write(slug, title, kind="note", body=body)
        found = arm.topic(store, "default", turn)
        assert found is not None
        seen.add((found.page.slug, found.likely))
    assert len(seen) == 1


# -- what was said about a page leads to it too


def tell(store: Store, slug: str, text: str, **changes: object) -> int:
    told = Provenance("wellkept:remember", None, None)
    fact = replace(Fact(None, "default", text, slug, "fact", told), **changes)  # type: ignore[arg-type]
    return store.put_facts("default", None, [fact], NOW)[0]


@pytest.mark.req("C-333")
@pytest.mark.usefixtures("house")
def test_a_fact_about_a_page_leads_to_it(store: Store, found: Found) -> None:
    question = "how big a deposit does our dealer want before the fair?"
    assert found(question) == []
    number = tell(store, "people/ada", "The dealer wants a deposit of half before each fair.")
    assert found(question) == ["people/ada"]
    assert found("lovely fair, the dealer was there haha") == []
    assert store.mark("default", Item("fact", str(number)), Mark("expired", "forgotten", NOW, "expired"))
    assert found(question) == []


@pytest.mark.req("C-333")
@pytest.mark.usefixtures("house")
def test_a_name_that_only_a_fact_says_is_no_strangers(store: Store, found: Found) -> None:
    question = "how many percent for our plates are taken by Ophelia Brandt who sells them?"
    assert found(question) == []
    tell(store, "people/ada", "Her married name is Ophelia Brandt.")
    assert found(question) == ["people/ada"]


@pytest.mark.usefixtures("house")
def test_a_fact_from_outside_leads_nowhere(store: Store, found: Found) -> None:
    text = "The dealer wants a deposit of half before each fair."
    tell(store, "people/ada", text, trust=Trust.EXTERNAL_UNTRUSTED)
    assert found("how big a deposit does our dealer want before the fair?") == []


@pytest.mark.usefixtures("house")
def test_of_very_many_facts_the_newest_are_read(store: Store, found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm, "MOST_FACTS", 3)
    tell(store, "people/ada", "The dealer wants a deposit of half before each fair.")
    for number in range(3):
        tell(store, "people/ada", f"Something else, number {number}.")
    assert found("how big a deposit does our dealer want before the fair?") == []


@pytest.mark.req("C-333")
def test_facts_bring_most_of_what_only_they_say() -> None:
    def missed(*, told: bool) -> str:
        worlds = measure.worlds(NEED / "meaning", "facts.txt")
        for world in () if told else worlds:
            world.facts.clear()
        turns = [one for world in worlds for one in measure.seen(world)]
        counts = measure.counted(
            turns, [one.slug is not None and arm.likelihood(one.evidence) >= arm.LEAST for one in turns]
        )
        assert counts["false_fires"] == "0/11"
        return str(counts["missed"])

    assert (missed(told=False), missed(told=True)) == ("10/11", "1/11")


# -- the conversations that the weights come from


@pytest.fixture(scope="module")
def turns() -> list[measure.Seen]:
    return [one for world in measure.worlds() for one in measure.seen(world)]


@pytest.mark.req("C-335")
def test_the_receipt_says_what_the_arm_does(turns: list[measure.Seen]) -> None:
    said = json.loads((NEED / "receipt.json").read_text(encoding="utf-8"))
    assert measure.receipt(turns) == {key: said[key] for key in ("turns", "as_shipped", "worlds_left_out", "least")}


@pytest.mark.req("C-335")
def test_the_weights_are_those_that_the_conversations_give(turns: list[measure.Seen]) -> None:
    assert measure.fitted(turns) == pytest.approx(dict(arm.WEIGHTS), abs=0.011)


@pytest.mark.req("C-335")
def test_an_arm_is_on_only_where_its_receipt_shows_a_gain() -> None:
    said = json.loads((NEED / "receipt.json").read_text(encoding="utf-8"))
    for run in said["on_and_off"]:
        off, on = run["off"], run["on"]
        assert on["missed"][0] < off["missed"][0], run["corpus"]
        assert on["false_fires"][0] <= off["false_fires"][0], run["corpus"]
        assert on["precision"][0] * off["precision"][1] >= off["precision"][0] * on["precision"][1], run["corpus"]
