"""Which page a name brings, and which names bring nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import pytest

from wellkept.model import Message, NameKind, NameMatch
from wellkept.recall import turn_pointers, window_volunteers
from wellkept.storage import Store

Write = Callable[..., None]
Arms = Callable[[str], list[tuple[str, str]]]


class Watched:
    """A store that counts its queries, may shuffle their rows and may fail for a kind of name."""

    def __init__(self, store: Store, failing: Iterable[NameKind] = (), seed: int | None = None) -> None:
        self.store, self.failing, self.seed = store, set(failing), seed
        self.asked: list[str] = []
        self.tells, self.told = True, frozenset[str]() or None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def name_openings(self, source: str, kinds: Sequence[NameKind], asked: int) -> frozenset[str] | None:
        self.told = self.store.name_openings(source, kinds, asked) if self.tells else None
        return self.told

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        self.asked.append(kind)
        if kind in self.failing:
            raise OSError("the disk is gone")
        rows = list(self.store.find_names(source, kind, keys))
        if self.seed is not None:
            rows.sort(key=lambda row: sha256(f"{self.seed}{row.page.slug}".encode()).digest())
        return tuple(rows)


@pytest.mark.req("C-330")
@pytest.mark.parametrize(
    ("text", "arm"),
    [
        ("ask Norrie", "alias"),
        ("ask norrie", "alias-weak"),
        ("ask Noor Tavenholt", "title"),
        ("ask noor tavenholt", "title"),
        ("ask Tavenholt", "title-surname"),
        ("ask Nørrie", "alias-fold"),
        ("ask Nóor Tavenholt", "title-fold"),
        ("ask Noor-T", "slug-suffix"),
        ("see people/noor-t", "slug-suffix"),
    ],
)
def test_each_arm_finds_its_kind_of_name(write: Write, arms: Arms, text: str, arm: str) -> None:
    write("people/noor-t", "Noor Tavenholt", "Norrie")
    assert arms(text) == [("people/noor-t", arm)]


@pytest.mark.req("C-330")
def test_scripts_without_case_have_their_own_arms(write: Write, arms: Arms) -> None:
    write("p/a", "أحمد الزهراني")
    write("p/w", "王小明")
    assert arms("قال أحمد الزهراني") == [("p/a", "uncased-title")]
    assert arms("请问王小明呢") == [("p/w", "cjk-title")]


@pytest.mark.req("C-330")
def test_an_alias_of_two_live_pages_is_nobodys(write: Write, arms: Arms) -> None:
    write("p/a", "Sev Akinto", "Sev")
    write("p/b", "Sev Akinsan", "Sev")
    assert arms("ask Sev, sev or SEV") == []
    assert arms("ask Sev Akinto") == [("p/a", "title")]


@pytest.mark.req("C-330")
def test_liveness_comes_before_uniqueness(write: Write, arms: Arms) -> None:
    write("p/a", "Sev Akinto", "Sev")
    write("p/b", "Sev Akinsan", "Sev", status="superseded")
    assert arms("ask Sev") == [("p/a", "alias")]
    assert arms("ask Sev Akinsan") == []


@pytest.mark.req("C-330")
def test_the_name_of_a_superseded_page_brings_what_took_its_place(write: Write, arms: Arms, store: Store) -> None:
    from .conftest import write_page

    write("d/new", "Rates of 2026", kind="decision")
    write_page(store, "d/old", "Rates of 2023", kind="decision", status="superseded\nsuperseded_by: d/new")
    assert arms("what do the Rates of 2023 say?") == [("d/new", "title")]


@pytest.mark.req("C-330")
def test_two_pages_with_one_title_or_surname_bring_nothing(write: Write, arms: Arms) -> None:
    write("a/x", "Kelpgrove Board")
    write("b/x", "Kelpgrove Board")
    write("a/y", "Ida Tavenholt")
    write("b/y", "Noor Tavenholt")
    write("c/y", "Tavenholt", kind="company")
    assert arms("the Kelpgrove Board met") == []
    assert arms("the tavenholts, Tavenholt") == [("c/y", "title")]


@pytest.mark.req("C-330")
def test_a_family_name_that_comes_first_needs_an_honorific_and_one_owner(write: Write, arms: Arms) -> None:
    write("p/yuma", "白鳥 悠真")
    assert arms("白鳥さんに聞いて") == [("p/yuma", "title-surname")]
    assert arms("湖の白鳥を見た") == []
    write("p/rin", "白鳥 凛")
    assert arms("白鳥さんに聞いて") == []


@pytest.mark.req("C-330")
def test_only_people_have_surnames(write: Write, arms: Arms) -> None:
    write("c/y", "Bright Kelpgrove", kind="company")
    assert arms("about Kelpgrove") == []


@pytest.mark.req("C-330")
def test_a_page_of_another_source_does_not_exist_here(write: Write, arms: Arms) -> None:
    write("p/a", "Noor Tavenholt", "Norrie", source="team")
    assert arms("ask Noor Tavenholt, Norrie, Tavenholt, p/a") == []


@pytest.mark.req("C-330")
def test_a_failing_arm_yields_nothing_and_says_so(store: Store, write: Write) -> None:
    write("p/a", "Noor Tavenholt", "Norrie")
    broken = Watched(store, failing=["alias"])
    pointers, degraded = turn_pointers(broken, "default", "Norrie and norrie", prior="")
    assert [pointer.arm for pointer in pointers] == ["alias-fold"]
    assert degraded == ("arm_failed:alias", "arm_failed:alias-weak")
    pointers, degraded = turn_pointers(Watched(store, failing=["surname"]), "default", "ask norrie", prior="")
    assert "arm_failed:title-surname" in degraded
    assert "arm_failed:alias-weak" in degraded
    assert "alias-weak" not in [pointer.arm for pointer in pointers]


@pytest.mark.req("C-331")
def test_aliases_come_first_and_then_the_order_of_the_text(write: Write, arms: Arms) -> None:
    write("p/a", "Noor Tavenholt")
    write("p/b", "Ida Kelpgrove")
    write("p/c", "Finlay Todhunter", "Finn")
    assert arms("Ida Kelpgrove, Noor Tavenholt and Finn") == [("p/c", "alias"), ("p/b", "title"), ("p/a", "title")]


@pytest.mark.req("C-331")
def test_the_budget_cuts_after_suppression(store: Store, write: Write) -> None:
    write("p/a", "Noor Tavenholt")
    write("p/b", "Ida Kelpgrove")
    text = "Noor Tavenholt and Ida Kelpgrove"
    first = turn_pointers(store, "default", text, prior="", pages=1)[0]
    second = turn_pointers(store, "default", text, prior="as in `p/a`", pages=1)[0]
    assert ([pointer.slug for pointer in first], [pointer.slug for pointer in second]) == (["p/a"], ["p/b"])


@pytest.mark.req("C-331")
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_stores_rows_never_matters(store: Store, write: Write, seed: int) -> None:
    for number in range(6):
        write(f"p/{number}", f"Noor{number} Kelpgrove", "Norrie" if number < 2 else f"Ida{number}")
    text = "Norrie, Ida2, Ida3, Noor4 Kelpgrove, p/5 and Kelpgrove"
    plain = turn_pointers(store, "default", text, prior="", pages=9)
    assert turn_pointers(Watched(store, seed=seed), "default", text, prior="", pages=9) == plain
    assert [pointer.slug for pointer in plain[0]] == ["p/2", "p/3", "p/4", "p/5"]


@pytest.mark.req("C-330")
def test_the_longer_name_hides_the_shorter_one_inside_it(write: Write, arms: Arms) -> None:
    write("p/a", "Amberly Reedham", "Amberly")
    write("t/b", "Amberly 500", kind="project")
    assert arms("order Amberly 500") == [("t/b", "title")]
    assert arms("order Amberly 500 for Amberly") == [("p/a", "alias"), ("t/b", "title")]


@pytest.mark.req("C-314", "C-330")
@pytest.mark.parametrize("text", ["Noor", "Noor said `x_y` to @ida and 王小明 🦊 وليلى", "Noor Kelp " * 3000])
def test_a_turn_costs_one_query_per_kind_of_name_however_long_it_is(store: Store, text: str) -> None:
    watched = Watched(store)
    turn_pointers(watched, "default", text, prior="")
    assert len(watched.asked) == len(set(watched.asked)) <= 7
    watched.asked.clear()
    window_volunteers(watched, "default", [Message("user", text)] * 4, prior="", exclude=())
    assert len(watched.asked) == len(set(watched.asked)) <= 7


@pytest.mark.req("C-314")
def test_strong_names_that_no_page_answers_to_take_no_room(write: Write, found: Callable[..., list[str]]) -> None:
    write("p/z", "Noor Tavenholt")
    strangers = ", ".join(f"Stranger{chr(97 + n // 26)}{chr(97 + n % 26)} Xylo{chr(97 + n % 26)}" for n in range(300))
    assert found(f"{strangers} and Noor Tavenholt") == ["p/z"]


@pytest.mark.req("C-314")
def test_at_most_twelve_strong_names_of_a_turn_are_kept(write: Write, found: Callable[..., list[str]]) -> None:
    for number in range(20):
        write(f"p/{number:02}", f"Noor{chr(97 + number)} Kelpgrove{chr(97 + number)}")
    text = ", ".join(f"Noor{chr(97 + number)} Kelpgrove{chr(97 + number)}" for number in range(20))
    assert found(text, pages=50) == [f"p/{number:02}" for number in range(12)]


@pytest.mark.req("C-330")
def test_a_case_form_of_two_names_is_nobodys(write: Write, arms: Arms) -> None:
    write("p/marina", "Марина Луцкова", "Марина")
    assert arms("спроси у Марины") == [("p/marina", "alias")]
    write("p/marin", "Марин Обрадов", "Марины")
    assert arms("спроси у Марины") == [("p/marin", "alias")]
    write("p/marinya", "Мариня Стоева", "Мариня")
    assert arms("позвони Марине") == []


@pytest.mark.req("C-330")
def test_a_place_is_meant_where_a_namesake_cannot_be(write: Write, arms: Arms) -> None:
    write("p/paris", "Paris Adderley", "Paris")
    assert arms("a weekend in Paris") == []
    assert arms("did Paris call") == [("p/paris", "alias")]
    write("t/paris", "Paris", kind="place")
    assert arms("a weekend in Paris") == [("t/paris", "title")]


NAMES = (
    "green door",
    "Müller mill",
    "du Moulin",
    "Łódź press",
    "ida-web two",
    "сад ветров",
    "old X. mill",
    "le bar",
    "J.R. inn",
)
TURNS = (
    *(
        "by the green door",
        "the mueller mill",
        "about du Moulin, or du moulin",
        "lodz press",
        "ida-web two, and",
        "сад ветров?",
    ),
    *(
        "old x mill",
        "the old X. mill!",
        "du bar",
        "jr inn",
        "j.r. inn",
        "Green Door",
        "green\ndoor",
        "green  door",
        "green-door",
    ),
)
EVERYTHING = "; ".join(TURNS)


@pytest.mark.parametrize("text", [*TURNS, EVERYTHING])
def test_a_turn_names_the_same_pages_whether_or_not_the_store_tells_how_its_names_begin(
    write: Write, store: Store, text: str
) -> None:
    for number, name in enumerate(NAMES):
        write(f"places/p{number}", name, kind="place")
    watched = Watched(store)
    turn_pointers(watched, "default", "x y z " * 100, prior="")
    narrowed = turn_pointers(watched, "default", text, prior="", pages=99)
    assert watched.told is not None
    watched.tells = False
    assert narrowed == turn_pointers(watched, "default", text, prior="", pages=99)
    assert len(narrowed[0]) == 8 or text != EVERYTHING


def test_names_of_kinds_that_fail_to_tell_how_they_begin_are_all_looked_up(
    write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("places/door", "green door", kind="place")

    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(store), "name_openings", broken)
    found, degraded = turn_pointers(store, "default", "by the green door", prior="")
    assert [pointer.slug for pointer in found] == ["places/door"]
    assert degraded == ()
