"""What the last turns are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from wellkept.model import Budget, Message, Pointer
from wellkept.recall import turn_context, window_volunteers
from wellkept.storage import Store


def said(*turns: str) -> list[Message]:
    """Turns written as "u ..." or "a ...", oldest first."""
    return [Message("user" if turn[0] == "u" else "assistant", turn[2:]) for turn in turns]


@pytest.fixture
def volunteers(store: Store) -> Callable[..., Sequence[Pointer]]:
    def offered(*turns: str, exclude: Sequence[str] = (), prior: str = "", limit: int = 3) -> Sequence[Pointer]:
        pointers, degraded = window_volunteers(
            store, "default", said(*turns), prior=prior, exclude=exclude, limit=limit
        )
        assert degraded == ()
        return pointers

    return offered


@pytest.fixture(autouse=True)
def brain(write: Callable[..., None]) -> None:
    write("p/noor", "Noor Tavenholt", "Norrie")
    write("p/ida", "Ida Kelpgrove", "Ida")
    write("p/finn", "Finlay Todhunter", "Finn")
    write("p/tail-only", "Something Else Entirely", kind="project")


Volunteers = Callable[..., Sequence[Pointer]]


@pytest.mark.req("C-320", "C-341")
def test_recent_repeated_and_user_named_pages_come_first(volunteers: Volunteers) -> None:
    slugs = [one.slug for one in volunteers("a Finn wrote", "u Ida called", "a ok", "u what did Norrie say")]
    assert slugs == ["p/noor", "p/ida", "p/finn"]
    slugs = [one.slug for one in volunteers("u Ida called", "u Ida again", "u Ida and then", "u ask Norrie, not ida")]
    assert slugs == ["p/ida", "p/noor"]


@pytest.mark.req("C-320")
def test_a_strong_sighting_comes_before_a_weak_one(volunteers: Volunteers) -> None:
    assert [one.slug for one in volunteers("u Finn came", "u and norrie")] == ["p/finn", "p/noor"]
    assert [one.slug for one in volunteers("u norrie", "u Finn", "a Norrie")] == ["p/noor", "p/finn"]


@pytest.mark.req("C-320")
def test_the_users_spelling_is_shown(volunteers: Volunteers) -> None:
    (offered,) = volunteers("a NOOR TAVENHOLT called", "u noor tavenholt?")
    assert offered.display == "noor tavenholt"


@pytest.mark.req("C-341")
def test_confidence_says_how_sure_and_rationale_says_why(volunteers: Volunteers) -> None:
    (offered,) = volunteers("a Norrie called", "u and?")
    assert (offered.confidence, offered.rationale) == (0.9, "alias; in 1 of last 2 turns; assistant-introduced")
    (offered,) = volunteers("u ok", "u Norrie called")
    assert (offered.confidence, offered.rationale) == (0.95, "alias; newest turn")
    (offered,) = volunteers("u Norrie called", "a Norrie?", "u yes")
    assert (offered.confidence, offered.rationale) == (0.95, "alias; in 2 of last 3 turns")


@pytest.mark.req("C-341")
def test_an_unsure_page_is_not_volunteered(volunteers: Volunteers) -> None:
    assert volunteers("u see p/tail-only", "u and p/tail-only again") == ()


@pytest.mark.req("C-341")
def test_pages_pointed_at_or_shown_before_are_not_volunteered(volunteers: Volunteers) -> None:
    assert [one.slug for one in volunteers("u Norrie and Ida", exclude=["p/noor"])] == ["p/ida"]
    assert [one.slug for one in volunteers("u Norrie and Ida", prior="→ `p/ida`")] == ["p/noor"]


@pytest.mark.req("C-341")
@pytest.mark.parametrize(("limit", "count"), [(0, 0), (2, 2), (3, 3), (99, 5), (-1, 0)])
def test_no_more_than_five_are_ever_volunteered(
    write: Callable[..., None], volunteers: Volunteers, limit: int, count: int
) -> None:
    for name in ("Quell", "Rastov", "Sundby", "Tolland"):
        write(f"p/{name}", f"Jo {name}")
    text = "u Norrie, Ida, Finn, Quell, Rastov, Sundby and Tolland"
    assert len(volunteers(text, limit=limit)) == count


@pytest.mark.req("C-320")
def test_an_empty_window_brings_nothing(store: Store, volunteers: Volunteers) -> None:
    assert volunteers() == ()
    assert volunteers("u  ", "a \n") == ()


@pytest.mark.req("C-320")
def test_no_more_than_twelve_turns_are_read(volunteers: Volunteers) -> None:
    assert volunteers("u Norrie", *["u hm"] * 12) == ()
    assert len(volunteers("u Norrie", *["u hm"] * 11)) == 1


@pytest.mark.req("C-353")
def test_a_context_points_at_the_window_and_volunteers_the_rest(store: Store, now: object) -> None:
    window = said("u Finn wrote", "a fine", "u Norrie and Ida")
    context = turn_context(
        store,
        "default",
        window,
        prior="",
        session=None,
        budget=Budget(pages=1),
        now=now,  # type: ignore[arg-type]
    )
    assert [pointer.slug for pointer in context.pointers] == ["p/noor"]
    assert [pointer.slug for pointer in context.volunteered] == ["p/ida", "p/finn"]
