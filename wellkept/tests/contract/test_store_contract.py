"""What every store promises, whatever its engine."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.errors import InvalidInput, StoreUnavailable
from wellkept.model import (
    Chunk,
    Fact,
    Item,
    Mark,
    Name,
    Page,
    Provenance,
    Source,
    TimelineEntry,
    Told,
    Trust,
    Usage,
    Use,
)
from wellkept.storage import STORES, Store, open_store

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
PLACES = [(kind, place) for kind in STORES for place in (":memory:", "file")]


@pytest.fixture(params=PLACES, ids="-".join)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kind, place = request.param
    opened = open_store(kind, ":memory:" if place == ":memory:" else tmp_path / "memory.db")
    yield opened
    opened.close()


def page(slug: str, source: str = "default", **changes: object) -> Page:
    return replace(Page(source, slug, slug.title(), f"about {slug}"), **changes)  # type: ignore[arg-type]


def fact(text: str, source: str = "default", **changes: object) -> Fact:
    told = Provenance("wellkept:writeback", f"{source}:conversations/a", "conversations/a", "7", (3, 9))
    return replace(Fact(None, source, text, None, "fact", told), **changes)  # type: ignore[arg-type]


def put(store: Store, slug: str, *, keys: tuple[str, ...] = (), text: str = "", **changes: object) -> None:
    chunks = [Chunk(0, text)] if text else []
    store.put_page(page(slug, **changes), chunks, [Name("alias", key) for key in keys])


def found(store: Store, *keys: str, source: str = "default") -> list[tuple[str, str]]:
    return [(match.key, match.page.slug) for match in store.find_names(source, "alias", keys)]


def hits(store: Store, *words: str, source: str = "default") -> list[str]:
    return [hit.slug for hit in store.find_words(source, words, 10)]


def texts(store: Store, source: str = "default") -> list[str]:
    return [kept.text for kept in store.facts(source)]


def openings(store: Store, source: str = "default") -> frozenset[str] | None:
    return store.name_openings(source, ("alias",), 1000)


# -- names


def test_a_name_of_several_parts_has_its_opening_told_however_it_was_written(store: Store) -> None:
    put(store, "a", keys=("green door", "ida", "l'atelier", "müller mill"))
    assert openings(store) == {"green", "l", "müller"}
    put(store, "b", keys=("old mill",))
    assert openings(store) == {"green", "l", "müller", "old"}
    put(store, "b", keys=("mill",))
    assert openings(store) == {"green", "l", "müller"}
    assert store.name_openings("default", ("title",), 1000) == frozenset()
    assert openings(store, "other") == frozenset()


def test_openings_are_told_of_what_is_not_committed_too_or_not_at_all(store: Store) -> None:
    assert openings(store) == frozenset()
    with store.transaction():
        put(store, "a", keys=("green door",))
        assert openings(store) in (None, {"green"})
    assert openings(store) == {"green"}


def test_openings_are_not_read_for_a_few_names(store: Store) -> None:
    put(store, "a", keys=tuple(f"green {number}" for number in range(50)))
    assert store.name_openings("default", ("alias",), 10) in (None, {"green"})


# -- pages


def test_a_page_comes_back_as_it_was_put(store: Store) -> None:
    kept = Page(
        source="work",
        slug="people/noor",
        title="Noor",
        content="\ufeff---\r\ntitle: Noor\r\n---\r\nHello 👋\r\n",
        body="Hello 👋\n",
        type="person",
        summary="A friend",
        aliases=("Nono", "ن"),
        status="superseded",
        superseded_by="people/noor-w",
        trust=Trust.EXTERNAL_UNTRUSTED,
        timeline=(TimelineEntry("2024", "met"), TimelineEntry("2023-01-02", "before")),
        updated_at=NOW,
        created_at=NOW - timedelta(days=1),
        told=Told("import", "mail/7", "https://example.org/7", NOW, {"näme": [1, None, {"a": "😀"}]}),
    )
    store.put_page(kept, [], [])
    assert store.get_page("work", "people/noor") == kept


def test_a_page_that_is_put_again_leaves_nothing_of_the_old_one(store: Store) -> None:
    put(store, "a", keys=("old",), text="ancient words", timeline=(TimelineEntry("2020", "x"),))
    put(store, "a", keys=("new",), text="recent words")
    assert found(store, "old", "new") == [("new", "a")]
    assert hits(store, "ancient") == []
    assert hits(store, "recent") == ["a"]
    kept = store.get_page("default", "a")
    assert kept is not None
    assert kept.timeline == ()


@pytest.mark.parametrize(
    ("one", "other"), [("a_b", "axb"), ("a%", "ab"), ("A", "a"), ("café", "cafe\u0301"), ("a", "a "), ("a/b", "a")]
)
def test_slugs_and_sources_are_compared_exactly(store: Store, one: str, other: str) -> None:
    put(store, one, source=one, keys=("k",), text="word")
    store.put_facts(one, None, [fact("said", source=one)], NOW)
    assert store.get_page(one, other) is None
    assert store.get_page(other, one) is None
    assert (store.pages(other, 9), found(store, "k", source=other), hits(store, "word", source=other)) == ((), [], [])
    assert store.facts(other) == ()
    assert [kept.slug for kept in store.pages(one, 9)] == [one]


def test_pages_are_listed_by_code_point_without_conversations_and_the_superseded(store: Store) -> None:
    for slug in ("b", "a", "é", "Z", "😀", "\uff5e"):
        put(store, slug)
    put(store, "c", type="conversation")
    put(store, "d", status="superseded")
    assert [kept.slug for kept in store.pages("default", 9)] == ["Z", "a", "b", "é", "\uff5e", "😀"]
    assert [kept.slug for kept in store.pages("default", 2)] == ["Z", "a"]
    assert store.pages("default", 0) == ()


def test_a_negative_limit_is_refused_and_a_huge_one_is_all(store: Store) -> None:
    put(store, "a", text="word")
    assert len(store.pages("default", 10**30)) == len(store.find_words("default", ["word"], 10**30)) == 1
    with pytest.raises(InvalidInput, match="limit"):
        store.pages("default", -1)
    with pytest.raises(InvalidInput, match="limit"):
        store.find_words("default", ["word"], -1)


# -- sources


def test_a_source_keeps_its_first_owner(store: Store) -> None:
    store.add_source(Source("b", "agent"))
    store.add_source(Source("b", "user"))
    store.add_source(Source("a"))
    assert store.sources() == (Source("a"), Source("b", "agent"))


def test_writing_into_a_new_source_makes_it_known(store: Store) -> None:
    put(store, "a", source="one")
    store.put_facts("two", None, [fact("x", source="two")], NOW)
    assert [source.id for source in store.sources()] == ["one", "two"]


# -- names


def test_the_names_of_a_superseded_page_lead_to_the_one_in_its_place(store: Store) -> None:
    put(store, "old", keys=("rates", "first edition"), status="superseded", superseded_by="new")
    assert found(store, "rates", "first edition") == []
    put(store, "new", keys=("rates",), source="other")
    assert found(store, "first edition") == []
    put(store, "new", keys=("rates",))
    assert found(store, "rates", "first edition") == [("first edition", "new"), ("rates", "new")]
    put(store, "new", keys=("rates",), status="superseded", superseded_by="newest")
    put(store, "newest")
    assert found(store, "first edition") == []


def test_names_are_found_by_kind_and_source_in_order_of_key_and_slug(store: Store) -> None:
    put(store, "b", keys=("two", "one"))
    put(store, "a", keys=("two",))
    put(store, "z", keys=("two",), source="other")
    store.put_page(page("t"), [], [Name("title", "two")])
    assert found(store, "two", "one", "two", "three") == [("one", "b"), ("two", "a"), ("two", "b")]


def test_only_live_pages_answer_to_their_names(store: Store) -> None:
    for slug, changes in {
        "old": {"status": "superseded"},
        "gone": {"status": "deleted"},
        "late": {"status": "expired"},
        "talk": {"type": "conversation"},
        "live": {},
    }.items():
        put(store, slug, keys=("k",), **changes)
    assert found(store, "k") == [("k", "live")]


def test_any_number_of_keys_is_one_look_up(store: Store) -> None:
    put(store, "a", keys=("k77", 'quote " \\ back', "новый", "😀"))
    keys = [f"k{number}" for number in range(20_000)]
    assert found(store, *keys) == [("k77", "a")]
    assert found(store, 'quote " \\ back', "новый", "😀") == [
        ('quote " \\ back', "a"),
        ("новый", "a"),
        ("😀", "a"),
    ]
    assert found(store) == []


def test_a_name_match_carries_what_a_pointer_needs(store: Store) -> None:
    put(store, "a", keys=("k",), title="T", type="person", summary="S", body="B" * 9000, trust=Trust.AGENT_WRITTEN)
    (match,) = store.find_names("default", "alias", ["k"])
    ref = match.page
    assert (ref.source, ref.slug, ref.title, ref.type, ref.summary) == ("default", "a", "T", "person", "S")
    assert ref.trust is Trust.AGENT_WRITTEN
    assert 1000 <= len(ref.body_start) < 9000


# -- words


def test_the_chunk_with_rarer_words_comes_first(store: Store) -> None:
    put(store, "common", text="the ledger is green")
    put(store, "rare", text="the ledger is heliotrope")
    put(store, "other", text="the ledger")
    assert hits(store, "heliotrope", "ledger")[0] == "rare"
    scores = [hit.score for hit in store.find_words("default", ["heliotrope", "ledger"], 10)]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in store.find_words("default", ["heliotrope", "ledger"], 10)] == [1, 2, 3]


def test_equal_chunks_come_by_slug_and_ordinal_whatever_the_order_of_writing(store: Store) -> None:
    for slug in ("c", "a", "b"):
        store.put_page(page(slug), [Chunk(1, "same words"), Chunk(0, "same words")], [])
    assert hits(store, "same") == ["a", "a", "b", "b", "c", "c"]
    assert len(store.find_words("default", ["same"], 4)) == 4


def test_what_another_source_holds_changes_no_score(store: Store) -> None:
    for slug, text in {"a": "red red apple", "b": "red pear", "c": "green pear tree"}.items():
        put(store, slug, text=text)
    before = store.find_words("default", ["red", "pear"], 10)
    for number in range(30):
        put(store, f"x{number}", source="other", text="pear " * number + "pear tree in a very long line " * 5)
        put(store, f"old{number}", status="superseded", text="pear pear")
    assert store.find_words("default", ["red", "pear"], 10) == before


def test_pages_that_are_not_live_are_not_found_by_words(store: Store) -> None:
    put(store, "a", text="lantern")
    assert hits(store, "lantern") == ["a"]
    put(store, "a", text="lantern", status="superseded")
    assert hits(store, "lantern") == []


@pytest.mark.parametrize(
    "word", ["OR", "AND", "NOT", "NEAR", '"', '""', "*", "a*", "-a", "^a", "text:a", "(", ")", "{", ":", "'", ";--", ""]
)
def test_query_operators_are_ordinary_text(store: Store, word: str) -> None:
    put(store, "a", text="alpha beta gamma")
    assert hits(store, word) == []
    assert hits(store, word, "beta") == ["a"]


def test_the_words_or_and_near_can_be_found_themselves(store: Store) -> None:
    put(store, "a", text="dead or alive, near the wall and not far")
    for word in ("or", "NEAR", "And", "not"):
        assert hits(store, word) == ["a"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Die Straße nach Łódź", "strasse"),
        ("Die Straße nach Łódź", "lodz"),
        ("cafe\u0301 au lait", "CAFÉ"),
        ("北京的天气很好", "天气"),
        ("พิมพ์ลภัส เป็นเจ้าของ", "เจ้าของ"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("Συνάντηση με τον Νίκο", "νίκος"[:4]),
        ("bees and gardens", "garden"),
        ("a follow-up call", "follow-up"),
        ("Ёлкин пришёл", "елкин"),
    ],
)
def test_words_are_found_in_many_scripts(store: Store, text: str, word: str) -> None:
    put(store, "a", text=text)
    put(store, "b", text="nothing to see")
    assert hits(store, word) == ["a"]


def test_letters_that_do_not_stand_together_are_not_a_word(store: Store) -> None:
    put(store, "a", text="北京的天气很好")
    assert hits(store, "京天") == []


def test_very_many_words_are_no_error(store: Store) -> None:
    put(store, "a", text="needle")
    assert hits(store, *(f"w{number}" for number in range(5000)), "needle") == ["a"]


# -- beginnings of words


def holding(store: Store, *beginnings: str, most: int = 10, source: str = "default") -> dict[str, list[str]]:
    known = store.find_beginnings(source, beginnings, most)
    return {beginning: sorted(slugs) for beginning, slugs in known.holding.items()}


def test_pages_are_found_by_how_a_word_begins(store: Store) -> None:
    put(store, "a", text="Kostümleri diktik")
    put(store, "b", text="the costume of Orhan")
    put(store, "c", text="晚上十点锁门")
    put(store, "dead", text="costumes", status="superseded")
    put(store, "said", text="costumes", type="conversation")
    assert holding(store, "kost", "costu", "锁门", "nothing", '"', "") == {
        "kost": ["a"],
        "costu": ["b"],
        "锁门": ["c"],
        "nothing": [],
    }
    assert store.find_beginnings("default", ["kost"], 10).pages == 3


def test_beginnings_are_looked_for_in_one_source_and_up_to_a_number(store: Store) -> None:
    for slug in ("a", "b", "c"):
        put(store, slug, text="harbour")
    put(store, "x", text="harbour", source="other")
    assert len(holding(store, "harb", most=2)["harb"]) == 2
    assert holding(store, "harb", source="other") == {"harb": ["x"]}
    assert holding(store, "harb", source="\ud800") == {}
    assert store.find_beginnings("none", ["harb"], 5).pages == 0


def test_pages_are_found_by_how_a_word_of_a_fact_about_them_begins(store: Store) -> None:
    for slug, changes in (("a", {}), ("c", {}), ("dead", {"status": "superseded"}), ("said", {"type": "conversation"})):
        put(store, slug, **changes)
        store.put_facts("default", None, [fact("harbour dues", entity=slug)], NOW)
    outside = fact("harbour fees", entity="c", trust=Trust.EXTERNAL_UNTRUSTED)
    store.put_facts("default", None, [fact("晚上十点锁门", entity="c"), fact("harbour", entity="nobody"), outside], NOW)
    assert holding(store, "harb", "due", "fee", "锁门") == {
        "harb": ["a", "c"],
        "due": ["a", "c"],
        "fee": [],
        "锁门": ["c"],
    }
    ended = Mark("expired", "forgotten", NOW, "expired")
    assert store.mark("default", Item("fact", str(store.facts("default", "a")[0].id)), ended)
    assert holding(store, "harb") == {"harb": ["c"]}
    store.reset()
    put(store, "a")
    assert holding(store, "harb") == {"harb": []}


def test_what_is_told_of_a_page_comes_newest_first_and_not_from_outside(store: Store) -> None:
    said = [fact(text, entity="a") for text in ("one", "two", "three")]
    outside = fact("four", entity="a", trust=Trust.EXTERNAL_UNTRUSTED)
    store.put_facts("default", None, [*said, fact("else", entity="b"), outside], NOW)
    store.put_facts("work", None, [fact("five", source="work", entity="a")], NOW)
    assert store.told_of("default", "a", 2) == ("three", "two")
    assert store.told_of("default", "a", 9) == ("three", "two", "one")
    assert store.told_of("default", "nobody", 9) == store.told_of("\ud800", "a", 9) == ()


def test_a_page_put_in_the_same_transaction_is_found_by_beginnings(store: Store) -> None:
    with store.transaction():
        put(store, "a", text="harbour")
        assert holding(store, "harb") == {"harb": ["a"]}


def test_live_pages_are_read_by_their_slugs(store: Store) -> None:
    put(store, "b", body="words", summary="short", trust=Trust.AGENT_WRITTEN)
    put(store, "a")
    put(store, "dead", status="superseded")
    put(store, "said", type="conversation")
    put(store, "a", source="other")
    found = store.page_refs("default", ["b", "a", "dead", "said", "missing", "\ud800", "b"])
    assert [(page.source, page.slug) for page in found] == [("default", "a"), ("default", "b")]
    assert (found[1].summary, found[1].body_start, found[1].trust) == ("short", "words", Trust.AGENT_WRITTEN)


# -- facts


def test_a_fact_comes_back_as_it_was_put(store: Store) -> None:
    kept = fact(
        "Noor keeps bees",
        entity="people/noor",
        kind="preference",
        mention="she",
        confidence=0.25,
        trust=Trust.USER_CONFIRMED,
        valid_from=NOW - timedelta(days=3),
        valid_until=NOW + timedelta(days=3),
    )
    ids = store.put_facts("default", "conversations/a", [kept], NOW)
    assert store.facts("default") == (replace(kept, id=ids[0], recorded_at=NOW),)


@pytest.mark.req("C-506")
def test_facts_put_again_keep_their_ids_and_the_rest_expire(store: Store) -> None:
    first = store.put_facts("default", "s", [fact("one"), fact("two"), fact("three")], NOW)
    later = NOW + timedelta(days=1)
    second = store.put_facts("default", "s", [fact("four"), fact("“TWO” ")], later)
    assert second[1] == first[1]
    assert second[0] not in first
    assert [(kept.id, kept.recorded_at) for kept in store.facts("default")] == [(second[1], NOW), (second[0], later)]


@pytest.mark.req("C-506")
def test_an_expired_fact_that_is_given_again_is_active_under_its_old_id(store: Store) -> None:
    (first,) = store.put_facts("default", "s", [fact("one")], NOW)
    assert store.put_facts("default", "s", [], NOW) == ()
    assert store.facts("default") == ()
    assert store.put_facts("default", "s", [fact("one")], NOW) == (first,)
    assert texts(store) == ["one"]


@pytest.mark.req("C-506")
def test_another_session_page_source_or_entity_makes_another_fact(store: Store) -> None:
    (one,) = store.put_facts("default", "s", [fact("x")], NOW)
    (two,) = store.put_facts("default", "t", [fact("x")], NOW)
    (three,) = store.put_facts("default", None, [fact("x")], NOW)
    (four,) = store.put_facts("other", "s", [fact("x", source="other")], NOW)
    five = store.put_facts("default", "s", [fact("x"), fact("x", entity="people/a")], NOW)
    assert five[0] == one
    assert len({one, two, three, four, five[1]}) == 5
    store.put_facts("default", "s", [], NOW)
    assert [kept.id for kept in store.facts("default")] == [two, three]
    assert [kept.id for kept in store.facts("other")] == [four]


def test_the_same_fact_twice_in_one_call_has_one_id(store: Store) -> None:
    ids = store.put_facts("default", "s", [fact("x"), fact("y"), fact("X")], NOW)
    assert ids[0] == ids[2] != ids[1]


def test_new_facts_have_higher_ids_than_any_before(store: Store) -> None:
    assert store.last_fact_id() == 0
    ids = store.put_facts("default", "s", [fact("x"), fact("y")], NOW)
    assert store.last_fact_id() == max(ids)
    store.put_facts("default", "s", [], NOW)
    (later,) = store.put_facts("other", None, [fact("z", source="other")], NOW)
    assert later == store.last_fact_id() > max(ids)
    store.put_facts("default", "s", [fact("x")], NOW)
    assert store.last_fact_id() == later
    store.reset()
    assert store.last_fact_id() == 0


def test_facts_without_a_session_page_add_up(store: Store) -> None:
    (one,) = store.put_facts("default", None, [fact("x")], NOW)
    (two,) = store.put_facts("default", None, [fact("y")], NOW)
    assert store.put_facts("default", None, [fact("x")], NOW) == (one,)
    assert [kept.id for kept in store.facts("default")] == [one, two]


def test_a_lower_tier_that_repeats_a_fact_changes_nothing_of_it(store: Store) -> None:
    store.put_facts("default", None, [fact("x", trust=Trust.USER_WRITTEN, mention="me")], NOW)
    before = store.facts("default")
    store.put_facts("default", None, [fact("X", trust=Trust.AGENT_WRITTEN, mention="it", confidence=0.1)], NOW)
    assert store.facts("default") == before


def test_facts_are_chosen_by_entity_and_by_time(store: Store) -> None:
    day = timedelta(days=1)
    store.put_facts("default", None, [fact("old", entity="a"), fact("ahead", valid_from=NOW + 3 * day)], NOW - 9 * day)
    store.put_facts("default", None, [fact("new", entity="a"), fact("none")], NOW)
    assert [kept.text for kept in store.facts("default", "a")] == ["old", "new"]
    assert [kept.text for kept in store.facts("default", since=NOW)] == ["ahead", "new", "none"]
    assert [kept.text for kept in store.facts("default", "a", since=NOW)] == ["new"]
    assert store.facts("default", since=NOW + 4 * day) == ()
    offset = NOW.astimezone(tz=datetime.fromisoformat("2026-01-01T00:00+05:30").tzinfo)
    assert len(store.facts("default", since=offset)) == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "rumour"}, "kind"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": 1.5}, "confidence"),
        ({"status": "superseded"}, "status"),
        ({"source": "other"}, "source"),
        ({"entity": ""}, "entity"),
        ({"text": "a\0b"}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"mention": "\udfff"}, "mention"),
        ({"valid_from": datetime(2026, 1, 1)}, "valid_from"),
    ],
)
def test_a_fact_that_cannot_be_kept_is_named_and_nothing_is_written(
    store: Store, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        store.put_facts("default", "s", [fact("fine"), replace(fact("x"), **changes)], NOW)  # type: ignore[arg-type]
    assert caught.value.field == f"facts[1].{field}"
    assert store.facts("default") == ()


# -- values no engine can hold


@pytest.mark.parametrize("bad", ["\ud800", "a\0"])
def test_text_that_cannot_be_kept_is_refused_by_the_name_of_its_field(store: Store, bad: str) -> None:
    for field in ("source", "slug", "title", "content", "body", "summary"):
        with pytest.raises(InvalidInput) as caught:
            store.put_page(replace(page("a"), **{field: bad}), [], [])  # type: ignore[arg-type]
        assert caught.value.field == field
    for chunks, names, field in (
        ([Chunk(0, "x"), Chunk(1, bad)], [], "chunks[1].text"),
        ([], [Name("alias", bad)], "names[0].key"),
    ):
        with pytest.raises(InvalidInput) as caught:
            store.put_page(page("a"), chunks, names)
        assert caught.value.field == field
    assert store.pages("default", 9) == ()


@pytest.mark.parametrize("bad", ["\ud800", "a\0"])
def test_asking_for_text_that_cannot_be_kept_finds_nothing(store: Store, bad: str) -> None:
    put(store, "a", keys=("k", "a"), text="word")
    assert (store.get_page("default", bad), store.get_page(bad, "a"), store.pages(bad, 9)) == (None, None, ())
    assert found(store, bad, "k") == [("k", "a")]
    assert hits(store, bad, "word") == ["a"]
    assert (found(store, "k", source=bad), hits(store, "word", source=bad)) == ([], [])
    assert store.facts(bad) == store.facts("default", bad) == ()


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60), word=st.text(max_size=8))
def test_any_text_is_kept_to_the_letter_or_refused(text: str, word: str) -> None:
    for kind in STORES:
        store = open_store(kind, ":memory:")
        try:
            put(store, "a", content=text, keys=(text,), text=text)
        except InvalidInput:
            assert store.get_page("default", "a") is None
        else:
            kept = store.get_page("default", "a")
            assert kept is not None
            assert kept.content == text
            assert found(store, text) == [(text, "a")]
        hits(store, word, text)
        store.close()


# -- transactions


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    put(store, "kept", text="old")

    def write_and_fail() -> None:
        with store.transaction():
            put(store, "kept", text="new")
            put(store, "lost", keys=("k",), text="lost")
            store.put_facts("default", "s", [fact("x")], NOW)
            assert hits(store, "lost") == ["lost"]
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert [kept.slug for kept in store.pages("default", 9)] == ["kept"]
    assert (hits(store, "old"), hits(store, "new", "lost"), found(store, "k"), texts(store)) == (["kept"], [], [], [])


def test_an_inner_transaction_can_fail_alone(store: Store) -> None:
    def fail() -> None:
        with store.transaction():
            put(store, "b")
            raise KeyError

    with store.transaction():
        put(store, "a")
        with pytest.raises(KeyError):
            fail()
        put(store, "c")
    assert [kept.slug for kept in store.pages("default", 9)] == ["a", "c"]


def test_threads_write_and_read_side_by_side(store: Store) -> None:
    start = Barrier(4)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            start.wait()
            for number in range(15):
                with store.transaction():
                    put(store, f"{name}/{number}", keys=(name,), text=name)
                    store.put_facts("default", f"s/{name}", [fact(f"{name} {number}")], NOW)
                assert len(found(store, name)) == number + 1
                assert len(store.find_words("default", [name], 99)) == number + 1
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=work, args=(name,)) for name in ("ash", "birch", "cedar", "date")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.pages("default", 99)) == 60
    assert sorted(texts(store)) == ["ash 14", "birch 14", "cedar 14", "date 14"]


# -- the whole


@pytest.mark.req("C-130", "C-1103")
def test_reset_empties_the_store_and_ids_start_again(store: Store) -> None:
    for _ in range(3):
        put(store, "a", keys=("k",), text="word", timeline=(TimelineEntry("2024", "x"),))
        assert store.put_facts("default", "s", [fact("x"), fact("y")], NOW) == (1, 2)
        assert hits(store, "word") == ["a"]
        store.reset()
        assert (store.sources(), store.pages("default", 9), store.facts("default")) == ((), (), ())
        assert (found(store, "k"), hits(store, "word"), store.get_page("default", "a")) == ([], [], None)


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.pages("default", 9)
    with pytest.raises(StoreUnavailable, match="closed"):
        put(store, "a")


def test_words_put_in_a_transaction_are_found_in_it_and_fall_with_what_is_undone(store: Store) -> None:
    put(store, "old", text="harbour")
    with store.transaction():
        put(store, "kept", text="lantern")
        with pytest.raises(KeyError), store.transaction():  # noqa: PT012
            put(store, "old", text="meadow")
            put(store, "kept", text="meadow")
            assert hits(store, "meadow") == ["kept", "old"]
            assert hits(store, "lantern", "harbour") == []
            raise KeyError
        put(store, "twice", text="pebble")
        put(store, "twice", text="willow")
    assert (hits(store, "harbour"), hits(store, "lantern")) == (["old"], ["kept"])
    assert (hits(store, "meadow"), hits(store, "pebble"), hits(store, "willow")) == ([], [], ["twice"])


# -- what happened to an item

LATER = NOW + timedelta(days=1)


def test_every_put_that_makes_a_difference_is_a_line_of_the_journal_with_what_it_replaced(store: Store) -> None:
    put(store, "a")
    put(store, "a")
    put(store, "a", content="else", trust=Trust.AGENT_WRITTEN, updated_at=LATER)
    store.put_facts("default", "s", [fact("one")], NOW)
    store.put_facts("default", "s", [fact("ONE")], LATER)
    store.put_facts("default", "s", [fact("ONE")], LATER)
    store.put_facts("default", "s", [], LATER)
    lines = store.journal("default")
    assert [(str(line.item), line.change, line.before, line.at) for line in lines] == [
        ("a", "created", None, None),
        ("a", "updated", "about a", LATER),
        ("fact:1", "created", None, NOW),
        ("fact:1", "updated", "one", LATER),
        ("fact:1", "expired", None, LATER),
    ]
    assert lines[1].trust is Trust.AGENT_WRITTEN
    assert store.journal("default", after=lines[2].seq) == lines[3:]
    assert store.journal("default", item=Item("page", "a"), limit=1) == lines[:1]
    assert store.journal("other") == store.journal("default", item=Item("fact", "9")) == ()


def test_a_mark_changes_how_an_item_stands_and_nothing_else(store: Store) -> None:
    put(store, "a", keys=("k",), text="harbour")
    (number,) = store.put_facts("default", None, [fact("one")], NOW)
    for item in (Item("page", "a"), Item("fact", str(number))):
        assert store.mark("default", item, Mark("expired", "forgotten", LATER, "expired", reason="why"))
        assert not store.mark("other", item, Mark("expired", "forgotten", LATER, "expired"))
        assert store.journal("default", item=item)[-1].because == "forgotten: why"
    assert (found(store, "k"), hits(store, "harbour"), texts(store)) == ([], [], [])
    kept = store.fact("default", number)
    assert kept is not None
    assert (kept.status, kept.expired_at, kept.ended_because) == ("expired", LATER, "forgotten")
    assert store.facts("default", ended=True) == (kept,)
    for item in (Item("page", "a"), Item("fact", str(number))):
        assert store.mark("default", item, Mark("restored", "restored", LATER, "active"))
    assert (found(store, "k"), hits(store, "harbour"), texts(store)) == ([("k", "a")], ["a"], ["one"])
    assert store.mark("default", Item("fact", str(number)), Mark("confirmed", "", LATER, trust=Trust.USER_CONFIRMED))
    assert store.facts("default")[0].trust is Trust.USER_CONFIRMED
    assert not store.mark("default", Item("page", "none"), Mark("expired", "x", LATER, "expired"))


def test_a_fact_is_not_active_twice(store: Store) -> None:
    (number,) = store.put_facts("default", None, [fact("one")], NOW)
    store.mark("default", Item("fact", str(number)), Mark("expired", "forgotten", NOW, "expired"))
    (other,) = store.put_facts("default", None, [fact("One")], NOW)
    assert other != number
    assert not store.mark("default", Item("fact", str(number)), Mark("restored", "restored", NOW, "active"))
    assert [kept.id for kept in store.facts("default")] == [other]


def test_what_is_undone_leaves_no_line_in_the_journal(store: Store) -> None:
    put(store, "a")
    with pytest.raises(KeyError), store.transaction():  # noqa: PT012
        put(store, "b")
        store.mark("default", Item("page", "a"), Mark("expired", "forgotten", NOW, "expired"))
        raise KeyError
    assert [str(line.item) for line in store.journal("default")] == ["a"]


def test_pages_are_walked_whatever_their_status(store: Store) -> None:
    for slug, changes in {"b": {"status": "expired"}, "a": {}, "c": {"type": "conversation"}, "d": {}}.items():
        put(store, slug, **changes)  # type: ignore[arg-type]
    put(store, "foreign", source="other")
    assert [kept.slug for kept in store.every_page("default", "", 3)] == ["a", "b", "c"]
    assert [kept.slug for kept in store.every_page("default", "c", 3)] == ["d"]
    assert store.every_page("default", "d", 3) == ()


def test_a_use_is_kept_once_for_each_key(store: Store) -> None:
    put(store, "a")
    item = Item("page", "a")
    uses = [Use(b"1", item, "citation", NOW), Use(b"2", item, "misled", LATER), Use(b"1", item, "citation", LATER)]
    assert (store.use("default", uses), store.use("default", uses)) == (2, 0)
    assert store.usage("default", item) == Usage(1, 1, NOW)
    assert store.usage("other", item) == store.usage("default", Item("page", "b")) == Usage()


def test_a_reply_belongs_to_its_caller_and_is_forgotten_after_two_days(store: Store) -> None:
    store.keep_reply("default", "ann", "k", b"digest", "{}", NOW)
    assert store.reply("default", "ann", "k") == (b"digest", "{}")
    assert store.reply("default", "bob", "k") is store.reply("other", "ann", "k") is None
    store.keep_reply("default", "bob", "k", b"digest", "{}", NOW + timedelta(days=3))
    assert store.reply("default", "ann", "k") is None


def test_reset_leaves_no_history(store: Store) -> None:
    put(store, "a")
    store.use("default", [Use(b"1", Item("page", "a"), "citation", NOW)])
    store.keep_reply("default", "ann", "k", b"digest", "{}", NOW)
    store.reset()
    assert (store.journal("default"), store.usage("default", Item("page", "a"))) == ((), Usage())
    assert store.reply("default", "ann", "k") is None
    put(store, "a")
    assert [line.seq for line in store.journal("default")] == [1]
