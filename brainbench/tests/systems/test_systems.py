from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from brainbench.errors import UsageError
from brainbench.model import Ask, Budget, FactIn, Message, PageIn, RunContext, SearchHit, SourceDecl
from brainbench.seams.reflex import names_in, reflex
from brainbench.systems import SYSTEMS, System, load_system, system_names
from brainbench.systems.baselines import Bm25, FilesGrep

from ..conftest import page


def ask(text: str, *earlier: str, pages: int = 3, injected: tuple[str, ...] = ()) -> Ask:
    messages = (*(Message("user", t) for t in earlier), Message("user", text))
    return Ask("openclaw", "s", "default", messages, injected, Budget(pages), "2026-01-01T00:00:00Z")


@pytest.fixture(params=[Bm25, FilesGrep])
def memory(request: pytest.FixtureRequest, run: RunContext) -> System:
    system: System = request.param()
    system.open(run)
    system.write_page(PageIn("default", "people/ada-lovelace", page("Ada Lovelace", "ada", "Wrote about engines.")))
    system.write_page(PageIn("default", "people/grace-hopper", page("Grace Hopper", "", "Wrote a compiler.")))
    system.write_page(PageIn("team", "people/ada-palmer", page("Ada Palmer", "", "Writes novels about engines.")))
    return system


def test_search_ranks_pages_of_its_source_that_share_words(memory: System) -> None:
    assert [h.id for h in memory.search("default", "engines of Ada", 5)] == ["people/ada-lovelace"]
    assert memory.search("default", "zebra", 5) == []
    assert memory.search("nowhere", "engines", 5) == []


def test_pages_are_read_back_as_they_were_written(memory: System) -> None:
    odd = "---\ntitle: Ö/..\n---\r\n\ud7ff text\n"
    memory.write_page(PageIn("default", "../odd slug/ö", odd))
    assert memory.read_page("default", "../odd slug/ö") == odd
    assert memory.read_page("team", "../odd slug/ö") is None


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        UsageError, match=f"unknown system 'nope'; known: {re.escape(', '.join(system_names()))}, or a class"
    ):
        load_system("nope")
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_system("no.such.module:Class")
    with pytest.raises(UsageError, match="is not a brainbench"):
        load_system("pathlib:Path")
    assert system_names()[: len(SYSTEMS)] == tuple(SYSTEMS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("perl x", "a program is written as 'cmd:perl x'"),
        ("./memory", "a program is written as 'cmd:./memory'"),
        ("mine.py:Mine", "a class is named by its module: mine:Mine"),
        ("mine.py", "a class is named by its module: mine:Class"),
        ("a/b/mine.py:Mine", "a class is named by its module: mine:Mine; run it from a/b"),
    ],
)
def test_what_looks_like_a_file_or_a_program_is_answered_with_how_to_write_it(name: str, said: str) -> None:
    with pytest.raises(UsageError) as told:
        load_system(name)
    assert str(told.value) == f"--system: unknown system {name!r}; {said}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("misbehaving:Boastful", "`can` holds search, so it must define search"),
        ("misbehaving:Misspelt", "`can` holds contxt; known: page_write, "),
        ("misbehaving:Needy", "TypeError: .*missing 1 required positional argument: 'address'"),
        ("misbehaving:Nobody", "AttributeError: module 'misbehaving' has no attribute 'Nobody'"),
        ("json:loads", "cannot be loaded: TypeError"),
        (":X", "cannot be loaded: ValueError: Empty module name"),
    ],
)
def test_a_class_that_cannot_be_measured_is_refused_before_anything_is_played(
    name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    with pytest.raises(UsageError, match=said):
        load_system(name)


def test_a_known_system_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "brainbench.systems.wellkept", None)
    monkeypatch.setitem(sys.modules, "wellkept", None)
    monkeypatch.delitem(sys.modules, "brainbench.systems.wellkept")
    with pytest.raises(UsageError, match="; `pip install PATH/TO/THE/REPOSITORY/wellkept` first"):
        load_system("wellkept")


def test_what_a_system_did_not_claim_is_refused() -> None:
    with pytest.raises(Exception, match="fact_write"):
        System().write_fact(FactIn("default", "x"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What do I have on Ada Lovelace?", ("Ada Lovelace", "Lovelace")),
        ("Is Élodie Ångström's flat free? Ask @grace_h.", ("Élodie Ångström", "Ask", "grace_h")),
        ("I think The Analytical Engine and Ada differ", ("Analytical Engine", "Ada")),
        ("nothing to see here, иван", ()),
        ("Иван Петров ждёт", ("Иван Петров", "Петров")),
        ("One Two Three Four Five", ("One Two Three Four", "Two Three Four", "Five")),
        ("", ()),
    ],
)
def test_names_are_handles_and_capitalised_runs_with_and_without_their_first_word(
    text: str, names: tuple[str, ...]
) -> None:
    assert names_in(text) == names


class Parrot(System):
    """Finds the same page whatever is asked."""

    def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
        return [SearchHit("people/ada-lovelace", "Ada Lovelace", aliases=("the countess",))]


@pytest.mark.req("C-404")
def test_a_hit_counts_only_if_it_holds_the_name_as_whole_words() -> None:
    assert reflex(Parrot(), ask("Is Ada in?")).ids == ("people/ada-lovelace",)
    assert reflex(Parrot(), ask("Is Adam in?")).ids == ()
    assert reflex(Parrot(), ask("Is @countess in?")).ids == ("people/ada-lovelace",)


def test_the_reflex_does_not_repeat_what_the_session_holds() -> None:
    shown = "- **Ada Lovelace** → `people/ada-lovelace`"
    assert reflex(Parrot(), ask("And Ada?", injected=(shown,))).ids == ()


def test_the_reflex_keeps_the_page_budget(run: RunContext) -> None:
    system = Bm25()
    system.open(RunContext("r", (SourceDecl("default"),), "default", run.directory))
    for name in ("Ada One", "Ada Two", "Ada Three"):
        system.write_page(PageIn("default", f"people/{name[4:].lower()}", page(name)))
    answer = reflex(system, ask("Ask Ada One, then Ada Two, then Ada Three.", pages=2))
    assert answer.ids == ("people/one", "people/two")
