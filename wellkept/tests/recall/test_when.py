"""The time that a question names."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.recall.when import Span, asked_time, nearness, temporal_boost

FRIDAY = datetime(2024, 3, 15, 10, 0, tzinfo=UTC)


@pytest.mark.req("E-604")
@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what did I eat 3 days ago", "2024-03-12", "2024-03-12"),
        ("Three  DAYS\nago", "2024-03-12", "2024-03-12"),
        ("a week ago", "2024-03-08", "2024-03-08"),
        ("a couple of weeks ago", "2024-03-01", "2024-03-01"),
        ("a few days ago", "2024-03-12", "2024-03-12"),
        ("1 month ago", "2024-02-15", "2024-02-15"),
        ("two years ago", "2022-03-15", "2022-03-15"),
        ("and today?", "2024-03-15", "2024-03-15"),
        ("what was said yesterday", "2024-03-14", "2024-03-14"),
        ("the day before yesterday", "2024-03-13", "2024-03-13"),
        ("last week", "2024-03-04", "2024-03-10"),
        ("last month", "2024-02-01", "2024-02-29"),
        ("last year", "2023-01-01", "2023-12-31"),
        ("on Monday", "2024-03-11", "2024-03-11"),
        ("last friday", "2024-03-08", "2024-03-08"),
        ("on 2023-05-08", "2023-05-08", "2023-05-08"),
        ("in 2023-05", "2023-05-01", "2023-05-31"),
        ("May 8, 2023", "2023-05-08", "2023-05-08"),
        ("the 8th of May 2023", "2023-05-08", "2023-05-08"),
        ("8 Sept", "2023-09-08", "2023-09-08"),
        ("March 2nd", "2024-03-02", "2024-03-02"),
        ("February 2024", "2024-02-01", "2024-02-29"),
        ("in April", "2023-04-01", "2023-04-30"),
        ("in march", "2024-03-01", "2024-03-31"),
    ],
)
def test_a_time_is_read_as_seen_from_the_reference(query: str, first: str, last: str) -> None:
    assert asked_time(query, FRIDAY) == Span(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "query",
    [
        *("", "the kiln", "may I come in", "he will march on", "2023", "room 2024-99", "99999 years ago", "31 June"),
        *("a day", "lastly, weeks", "mondays are fine"),
    ],
)
def test_what_names_no_time_is_none(query: str) -> None:
    assert asked_time(query, FRIDAY) is None


def test_the_first_time_that_is_named_counts() -> None:
    found = asked_time("was it yesterday or last week", FRIDAY)
    assert found is not None
    assert found.first == date(2024, 3, 14)


MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))


@pytest.mark.req("E-604")
@given(MOMENTS, st.integers(0, 3000), st.sampled_from([("day", 1), ("week", 7)]))
def test_days_and_weeks_ago_are_counted_exactly(now: datetime, count: int, unit: tuple[str, int]) -> None:
    name, days = unit
    day = now.date() - timedelta(days=count * days)
    assert asked_time(f"what was {count} {name}s ago?", now) == Span(day, day)


@given(MOMENTS, st.integers(0, 1200))
def test_months_ago_fall_on_the_same_day_or_the_last_of_a_shorter_month(now: datetime, count: int) -> None:
    found = asked_time(f"{count} months ago", now)
    assert found is not None
    months = (now.year - found.first.year) * 12 + now.month - found.first.month
    assert months == count
    assert found.first.day == now.day or (
        found.first.day < now.day and (found.first + timedelta(days=1)).month != found.first.month
    )


@given(MOMENTS, st.dates(date(1900, 1, 1), date(2200, 1, 1)))
def test_a_date_means_the_same_whenever_it_is_read_and_however_it_is_written(now: datetime, day: date) -> None:
    spellings = (f"on {day.isoformat()}", f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}")
    assert {asked_time(spelling, now) for spelling in spellings} == {Span(day, day)}


@pytest.mark.req("E-604")
@given(MOMENTS, st.text(max_size=60))
def test_any_text_names_a_time_or_none(now: datetime, query: str) -> None:
    found = asked_time(query, now)
    assert found is None or found.first <= found.last


@given(MOMENTS, st.sampled_from(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]))
def test_a_weekday_is_one_of_the_last_seven_days(now: datetime, weekday: str) -> None:
    found = asked_time(f"on {weekday}", now)
    assert found is not None
    assert 1 <= (now.date() - found.first).days <= 7
    assert f"{found.first:%A}".lower() == weekday


@pytest.mark.req("E-604")
def test_what_is_near_the_time_asked_for_is_raised_the_more_the_nearer() -> None:
    span = Span(date(2024, 3, 4), date(2024, 3, 10))
    days = {date(2024, 3, 7): 1.4, date(2024, 3, 13): 1.4, date(2024, 2, 27): 1.25, date(2024, 3, 24): 1.1}
    assert {day: nearness(span, day) for day in days} == days
    assert nearness(span, date(2024, 3, 25)) == 1.0


@pytest.mark.req("E-603")
def test_age_takes_away_down_to_a_floor() -> None:
    assert [round(temporal_boost(age), 6) for age in (-5, 0, 1, 365, 1825)] == [1, 1, 0.997264, 0.367879, 0.1]
    assert round(temporal_boost(180, 90), 6) == 0.135335
    assert temporal_boost(1, 0) == temporal_boost(1, 1)
