from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    Edit,
    FactRow,
    Injection,
    PageIn,
    Replayed,
    RunContext,
    ScriptedFact,
    SessionBreak,
    SourceDecl,
    Turn,
    Write,
    pointer_ids,
)
from brainbench.replay import estimated_tokens, observations_hash, replay
from brainbench.seams import SEAMS
from brainbench.systems.baselines import Bm25, FilesGrep, Null

from ..conftest import page, script
from ..misbehaving import Flooding, Forgetful, Polite, Raising

OPENCLAW = SEAMS["openclaw"]


class Listening(Polite):
    """Remembers what it was asked."""

    name = "listening"
    can = Polite.can | {Capability.CONVERSATION_WRITE, Capability.RECALL_FACTS, Capability.EDIT}

    def open(self, run: RunContext) -> None:
        super().open(run)
        self.asked: list[Ask] = []
        self.closed: list[Conversation] = []
        self.times: list[str] = []

    def tell_time(self, now: str) -> None:
        self.times.append(now)

    def edit_page(self, page: object) -> None:
        self.write_page(page)  # type: ignore[arg-type]

    def context(self, ask: Ask) -> Injection:
        self.asked.append(ask)
        return super().context(ask)

    def write_conversation(self, conversation: Conversation) -> str | None:
        self.closed.append(conversation)
        slug = f"conversations/{conversation.session}"
        self.write_page(PageIn(conversation.source, slug, "what was said"))
        return slug

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> list[FactRow]:
        return [FactRow("a fact", None, "s", None, None)] * (limit or 2)


@pytest.mark.req("C-131")
def test_only_user_turns_are_asked_and_the_prompt_is_never_its_own_history(run: RunContext) -> None:
    events = (Turn(1, "user", "one"), Turn(2, "assistant", "two"), Turn(3, "user", "three"))
    system = Listening()
    seen = replay(system, OPENCLAW, script(events=events), run)
    assert [o.event_id for o in seen.observations] == [1, 3]
    assert [m.text for m in system.asked[1].messages] == ["one", "two", "three"]
    assert system.asked[1].injected == ("→ `people/ada-lovelace`",)
    assert system.asked[0].injected == ()


@pytest.mark.req("C-205")
def test_nothing_that_names_the_fixture_crosses_the_seam(run: RunContext) -> None:
    system = Listening()
    replay(system, OPENCLAW, script("hello", fixture_id="tell-tale", category="silent", tags=("easy-one",)), run)
    crossed = repr(system.asked)
    assert not [word for word in ("tell-tale", "silent", "easy-one", "know-to-ask") if word in crossed]


@pytest.mark.req("C-403")
def test_ids_are_read_from_pointers_in_the_text_when_none_are_given() -> None:
    text = "- **A** → `people/a` — x\n→ `people/a` → `b c`\n→ `cut\noff` `not/a-pointer`"
    assert pointer_ids(text) == ("people/a", "b c")


@pytest.mark.req("C-113")
def test_tokens_are_utf16_units_over_four_rounded_up() -> None:
    assert [estimated_tokens(t) for t in ("", "a", "abcd", "abcde", "日本語テキスト", "😀" * 3)] == [0, 1, 1, 2, 2, 2]


@pytest.mark.req("C-130")
def test_a_page_that_cannot_be_read_back_is_a_seed_failure_and_nothing_is_observed(run: RunContext) -> None:
    seen = replay(Forgetful(), OPENCLAW, script("hello"), run)
    assert seen.observations == ()
    assert "people/ada-lovelace" in (seen.seed_failure or "")


@pytest.mark.req("C-604")
def test_an_exception_is_an_error_of_that_event_and_no_answer(run: RunContext) -> None:
    seen = replay(Raising(), OPENCLAW, script("hello", "again"), run)
    assert [o.error for o in seen.observations] == ["ValueError: no", "ValueError: no"]
    assert [o.ids for o in seen.observations] == [(), ()]


def test_an_answer_of_ten_megabytes_is_an_error(run: RunContext) -> None:
    (seen,) = replay(Flooding(), OPENCLAW, script("hello"), run).observations
    assert "10,000,000 characters" in (seen.error or "")
    assert seen.text == ""


@pytest.mark.req("C-202")
def test_a_missing_capability_leaves_the_fixture_out(run: RunContext) -> None:
    needy = script("hello", requires=frozenset({Capability.PURGE}))
    assert replay(Polite(), OPENCLAW, needy, run) == Replayed("made-up", "", "openclaw", missing=("purge",))
    two = script("hello", sources=(SourceDecl("default"), SourceDecl("other")))
    assert replay(Polite(), OPENCLAW, two, run).missing == ("sources",)


def test_a_closed_session_is_written_back_once_and_the_next_one_starts_clean(run: RunContext) -> None:
    events = (
        Turn(1, "user", "we chose Postgres", ts="2026-02-01T10:00:00Z"),
        SessionBreak(2, persist=True),
        Turn(3, "user", "what did we choose?"),
    )
    scripted = (ScriptedFact(1, "we chose Postgres", None, "Chose Postgres", "commitment"),)
    system = Listening()
    fixture = script(events=events, suites=("continuity", "write-back"), scripted_facts=scripted)
    seen = replay(system, OPENCLAW, fixture, run)
    (closed,) = system.closed
    assert [m.text for m in closed.messages] == ["we chose Postgres"]
    assert closed.scripted == scripted
    assert [(o.kind, o.event_id, len(o.facts)) for o in seen.observations] == [("persist", 2, 0), ("turn", 3, 10)]
    assert seen.observations[0].session_page == f"conversations/{closed.session}"
    assert [m.text for m in system.asked[0].messages] == ["what did we choose?"]
    assert len(seen.facts) == 2


@pytest.mark.req("C-507")
@pytest.mark.parametrize("page", ["nowhere", "conversations/one-for-all"])
def test_a_session_has_a_page_of_its_own_that_can_be_read_or_none(run: RunContext, page: str) -> None:
    class Claiming(Listening):
        def write_conversation(self, conversation: Conversation) -> str | None:
            if page != "nowhere":
                self.write_page(PageIn(conversation.source, page, "what was said"))
            return page

    events = (Turn(1, "user", "a"), SessionBreak(2, persist=True), Turn(3, "user", "b"), SessionBreak(4, persist=True))
    seen = replay(Claiming(), OPENCLAW, script(events=events, suites=("continuity", "write-back")), run)
    kept = [o.session_page for o in seen.observations if o.kind == "persist"]
    assert kept == ([None, None] if page == "nowhere" else [page, None])


def test_ids_without_a_text_put_nothing_before_the_model(run: RunContext) -> None:
    class Wordless(Listening):
        def context(self, ask: Ask) -> Injection:
            return Injection("", ids=("people/ada-lovelace",))

    (seen,) = replay(Wordless(), OPENCLAW, script("Ada?"), run).observations
    assert seen.ids == ()


@pytest.mark.req("C-004")
def test_the_clock_comes_from_the_script(run: RunContext) -> None:
    system = Listening()
    events = (Turn(1, "user", "a", ts="2026-02-01T10:00:00Z"), Turn(2, "user", "b"))
    replay(system, OPENCLAW, script(events=events), run)
    assert system.times == ["2026-02-01T10:00:00Z", "2026-02-01T10:00:00Z", "2026-02-01T10:01:00Z"]


def test_an_edit_replaces_text_of_a_page_that_holds_it(run: RunContext) -> None:
    good = Edit(5, "people/ada-lovelace", "owner", replace=("Ada Lovelace", "Ada King"))
    bad = Edit(6, "people/ada-lovelace", "owner", replace=("not there", "x"))
    system = Listening()
    seen = replay(system, OPENCLAW, script(events=(good, bad, Turn(7, "user", "hello"))), run)
    assert "Ada King" in system.pages["people/ada-lovelace"]
    assert [(o.kind, bool(o.error)) for o in seen.observations] == [("write", False), ("write", True), ("turn", False)]


@pytest.mark.req("C-640")
def test_the_hash_does_not_depend_on_order_latency_or_the_words_of_an_error(run: RunContext) -> None:
    one = replay(Bm25(), OPENCLAW, script("Ada Lovelace?"), run)
    two = replace(one, fixture_id="other")
    slow = replace(one, observations=tuple(replace(o, latency_ms=99.0) for o in one.observations))
    said = replace(one, observations=tuple(replace(o, text=o.text + "!") for o in one.observations))
    assert observations_hash([one, two]) == observations_hash([two, slow])
    assert observations_hash([one]) != observations_hash([said])


def test_search_only_systems_answer_names_by_the_reflex_and_stay_silent_otherwise(run: RunContext) -> None:
    for system in (Bm25(), FilesGrep()):
        seen = replay(system, OPENCLAW, script("Is Ada Lovelace in?", "and Grace Hopper?", "lovely weather"), run)
        assert [o.ids for o in seen.observations] == [("people/ada-lovelace",), (), ()]


def test_null_says_nothing_and_is_measured_all_the_same(run: RunContext) -> None:
    (seen,) = replay(Null(), OPENCLAW, script("Is Ada Lovelace in?"), run).observations
    assert (seen.text, seen.ids, seen.error) == ("", (), None)


def test_pages_of_another_source_are_out_of_reach(run: RunContext) -> None:
    foreign = Write(2, "page", "owner", page("Grace Hopper"), slug="people/grace-hopper", source="team")
    fixture = script("Is Grace Hopper in?", sources=(SourceDecl("default"), SourceDecl("team")), setup=(foreign,))
    for system in (Bm25(), FilesGrep()):
        assert replay(system, OPENCLAW, fixture, run).observations[0].ids == ()
