from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.ingest.conversation import parse_page, render
from wellkept.ingest.segment import parts, segments, split_text
from wellkept.model import Message

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def at(*minutes: float | None) -> list[Message]:
    times = [None if m is None else NOON + timedelta(minutes=m) for m in minutes]
    return [Message("user", f"m{n}", ts) for n, ts in enumerate(times)]


def sizes(messages: list[Message], **options: int) -> list[int]:
    return [len(segment.messages) for segment in segments("s", messages, **options)]


@pytest.mark.req("C-503")
@pytest.mark.parametrize(
    ("minutes", "wanted"),
    [
        ([0, 30], [2]),
        ([0, 31], [1, 1]),
        ([0.9, 31.1], [1, 1]),
        ([0.0, 30.9], [2]),
        ([0, None, 40, None], [2, 2]),
        ([None, None, 500], [3]),
        ([None, None], [2]),
        ([100, 0, 20, 60], [3, 1]),
    ],
)
def test_a_stretch_ends_where_more_than_thirty_minutes_passed(minutes: list[float | None], wanted: list[int]) -> None:
    assert sizes(at(*minutes)) == wanted


@pytest.mark.req("C-503")
def test_a_stretch_has_at_most_thirty_messages_and_then_the_clock_starts_again() -> None:
    assert sizes(at(*[n / 10 for n in range(65)])) == [30, 30, 5]
    assert sizes(at(*range(0, 300, 10))) == [30]


@pytest.mark.req("C-503")
def test_a_message_without_a_time_has_that_of_the_message_before() -> None:
    (only,) = segments("s", at(None, 5, None))
    assert {message.ts for message in only.messages} == {NOON + timedelta(minutes=5)}


@pytest.mark.req("C-503")
def test_a_single_message_is_kept_when_the_user_said_it() -> None:
    alone = [Message("user", "remember the milk", NOON)]
    assert sizes(alone) == [1]
    assert sizes(alone, minimum=2) == []
    assert sizes([Message("assistant", "hello", NOON)]) == []
    assert segments("s", []) == ()


@pytest.mark.req("C-503")
@given(st.data())
@settings(max_examples=100, deadline=None)
def test_the_page_of_a_conversation_has_the_same_stretches(
    any_messages: st.SearchStrategy[list[Message]], data: st.DataObject
) -> None:
    messages = [*data.draw(any_messages), *data.draw(any_messages)]
    page = parse_page(render(messages))
    assert [s.parts for s in segments("s", messages)] == [s.parts for s in segments("s", page)]


@pytest.mark.req("C-503")
def test_parts_show_speaker_and_time_below_a_header() -> None:
    assert list(parts("s-1", [Message("user", "hi", NOON), Message("assistant", "yes?")])) == [
        "Conversation s-1\n---\nuser (2026-03-02T12:00:00+00:00): hi\nassistant (no time): yes?\n"
    ]


@pytest.mark.req("C-503")
@given(st.lists(st.text(st.sampled_from("ab é\n\t字"), max_size=700), min_size=1, max_size=8), st.text(min_size=1))
@settings(max_examples=100, deadline=None)
def test_parts_are_small_and_lose_nothing(texts: list[str], session: str) -> None:
    written = list(parts(session, [Message("user", text, NOON) for text in texts], limit=400))
    assert all(len(part) <= 400 for part in written)
    speaker = "user (2026-03-02T12:00:00+00:00): "
    head = written[0].split("---\n")[0] + "---\n"
    bodies = "".join(part.removeprefix(head) for part in written)
    assert bodies.replace(speaker, "").replace("\n", "") == "".join(texts).replace("\n", "")


@given(st.text(max_size=200), st.integers(1, 50))
def test_split_text_joins_to_the_text(text: str, room: int) -> None:
    pieces = list(split_text(text, room))
    assert "".join(pieces) == text
    assert all(len(piece) <= room for piece in pieces)


def test_words_are_not_cut_in_two_when_there_is_a_space() -> None:
    assert list(split_text("alpha beta gamma", 12)) == ["alpha beta ", "gamma"]
    assert list(split_text("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
