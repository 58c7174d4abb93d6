"""A scope is its own: nothing of another one is read, changed or counted, whatever its name looks like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import InvalidInput
from wellkept.memory import Memory
from wellkept.model import Message, Source
from wellkept.verbs import DECIDED_BY_THE_DOOR

LOOKALIKES = (
    "team_a",
    "teamXa",
    "team%",
    "______",
    "user1",
    "user10",
    "user1/x",
    "User1",
    "usér1",
    "*",
    "user1:x",
    "'",
)
"""Names that are one another's beginning, spelling in another case, or pattern."""


def alike(door: Any) -> tuple[str, ...]:
    """All of them for Python; the other doors, which are slower and ask the same, get the likeliest."""
    return LOOKALIKES if door.name == "python" else LOOKALIKES[:5]


def everything(door: Any, scope: str) -> str:
    """All that a caller can read of a scope, as one text."""
    read: list[Any] = [
        door("recall", scope, query="harbour where do I live", limit=50, include_history=True),
        door("search", scope, query="harbour where do I live", limit=50),
        door("context", scope, text="Where do I live? In which Harbour?"),
        door("context_pack", scope, goal="harbour", layer="deep_search", limit=50),
        door("entity", scope, name="harbour"),
        door("timeline", scope, entity="harbour"),
        door("delta", scope),
        door("get_page", scope, slug="harbour"),
    ]
    return json.dumps(read, ensure_ascii=False)


@pytest.mark.field("ISO-01", "ISO-04", "ISO-05")
def test_no_read_of_a_scope_shows_anything_of_one_whose_name_is_alike(door: Any, scope: str) -> None:
    secrets = {f"{scope}{name}": f"harbour of secret{number}x" for number, name in enumerate(alike(door))}
    for user, secret in secrets.items():
        door("put_page", user, slug="harbour", content=f"# Harbour\n\n{secret}\n\n## Timeline\n- 2024: {secret}\n")
        door("remember", user, text=f"I live at the {secret}", entity="harbour", session="monday")
    for user, secret in secrets.items():
        read = everything(door, user)
        assert read.count(secret) > 5
        assert [other for other in secrets.values() if other != secret and other in read] == []


@pytest.mark.field("ISO-04", "ISO-05", "ISO-08")
def test_ending_all_of_one_scope_ends_nothing_of_one_whose_name_is_alike(door: Any, scope: str) -> None:
    users = [f"{scope}{name}" for name in alike(door)]
    ids = {}
    for user in users:
        door("put_page", user, slug="page", content="my desk is next to the window")
        made = door("remember", user, text="my desk is next to the window")
        assert made["status"] == "created"
        ids[user] = ["page", f"fact:{made['facts'][0]}"]
    for number, user in enumerate(users):
        door("forget", user, ids=ids[user])
        left = [len(door("recall", other, query="desk", limit=50)["memories"]) for other in users]
        assert left == [0] * (number + 1) + [2] * (len(users) - number - 1)


@pytest.mark.field("ISO-01")
@pytest.mark.parametrize("verb", ["history", "forget", "correct", "cite"])
def test_the_id_of_another_scopes_item_names_nothing_here(
    door: Any, scope: str, verb: str, refused: Callable[..., Any]
) -> None:
    number = f"fact:{door('remember', scope, text='mine')['facts'][0]}"
    other = f"{scope}-other"
    door("remember", other, text="theirs")
    asked: dict[str, Any] = {"ids": [number]} if verb in ("forget", "cite") else {"id": number}
    if verb == "cite":
        assert door(verb, other, **asked)["rejected"] == [number]
        return
    asked |= {"action": "mark_wrong", "preview": False} if verb == "correct" else {}
    assert refused(door, verb, other, **asked).code == "not_found"
    assert door.texts("recall", scope, "mine") == ["mine"]


@pytest.mark.field("ISO-03")
@pytest.mark.parametrize("name", sorted(DECIDED_BY_THE_DOOR))
def test_what_a_request_says_of_its_own_scope_and_rank_is_refused(
    doors: dict[str, Any], scope: str, name: str, refused: Callable[..., Any]
) -> None:
    other = f"{scope}-other"
    doors["python"]("remember", other, text="theirs")
    for through in ("http", "mcp"):
        for verb, asked in (
            ("recall", {"query": "theirs"}),
            ("remember", {"text": "mine"}),
            ("forget", {"ids": ["a"]}),
        ):
            said = refused(doors[through], verb, scope, **asked, **{name: other})
            assert (said.code, f"{name}: is decided by the door" in said.detail) == ("invalid_params", True)


@pytest.mark.field("ISO-03")
@pytest.mark.parametrize("name", ["{other}:page", "{other}/page", "../{other}/page", "%", "{other}"])
def test_no_filter_reaches_into_another_scope(door: Any, scope: str, name: str) -> None:
    other = f"{scope}-other"
    door("put_page", other, slug="page", content="harbour")
    door("remember", other, text="harbour", entity="page")
    assert door("recall", scope, query="harbour", entity=name.format(other=other))["memories"] == []


@pytest.mark.field("ISO-06")
@pytest.mark.parametrize(
    "spelling", ["{} ", " {}", "\t{}", "{}\n", "{}\u200b", "\ufeff{}", "{}\u202e", "{}\u00ad", "{}\u2028", "{}e\u0301"]
)
def test_a_name_that_only_looks_like_a_scopes_begins_no_second_one(memory: Memory, spelling: str) -> None:
    memory.remember("notes", "one thing")
    twin = spelling.format("notes")
    for write in (
        lambda: memory.remember(twin, "another thing"),
        lambda: memory.put_page(twin, "a", "another thing"),
        lambda: memory.bank(twin, "s", (Message("user", "another thing"),)),
    ):
        with pytest.raises(InvalidInput, match="source: ") as caught:
            write()
        assert "use " in str(caught.value) or "remove it" in str(caught.value)
    assert [source.id for source in memory.store.sources()] == ["notes"]


@pytest.mark.field("ISO-06")
@pytest.mark.parametrize("name", ["پروژه\u200cها", "👩\u200d👧", "Ünï çode", "ネコ", "a b", "café"])
def test_a_scope_may_be_named_in_any_script(door: Any, scope: str, name: str) -> None:
    assert door("remember", f"{scope}{name}", text="one thing")["status"] == "created"
    assert door.texts("recall", f"{scope}{name}", "thing") == ["one thing"]


@pytest.mark.field("ISO-06")
def test_a_scope_that_an_older_version_began_goes_on_as_it_is(memory: Memory) -> None:
    memory.store.add_source(Source("cafe\u0301"))
    assert memory.remember("cafe\u0301", "one thing").status == "created"


@pytest.mark.field("ISO-06")
def test_a_mistyped_scope_is_told_apart_from_an_empty_answer(
    typed: Callable[..., Any], place: Any, doors: dict[str, Any], scope: str
) -> None:
    doors["python"]("remember", scope, text="one thing")
    there = typed("recall", "nonsense", "--source", scope, "--data-dir", str(place.folder))
    typo = typed("recall", "thing", "--source", f"{scope}s", "--data-dir", str(place.folder))
    assert [one.stdout for one in (there, typo)] == ["nothing found\n"] * 2
    assert "nothing was ever kept" not in there.stderr
    assert f"wellkept: nothing was ever kept in source {scope + 's'!r}\n" in typo.stderr


@pytest.mark.field("ISO-06")
@pytest.mark.parametrize("verb", ["recall", "search"])
def test_a_mistyped_scope_is_told_apart_at_every_door(door: Any, scope: str, verb: str) -> None:
    door("remember", scope, text="one thing")
    assert "unknown_source" not in door(verb, scope, query="nonsense")["degraded"]
    assert "unknown_source" in door(verb, f"{scope}s", query="thing")["degraded"]


@pytest.mark.field("ISO-10")
def test_what_is_kept_from_one_folder_of_a_project_is_there_in_all_others_and_after_it_is_gone(
    typed: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("WELLKEPT_DATA_DIR", "XDG_DATA_HOME", "WELLKEPT_SOURCE"):
        monkeypatch.delenv(name, raising=False)
    main, worktree = tmp_path / "main", tmp_path / "main" / "worktrees" / "x"
    worktree.mkdir(parents=True)
    monkeypatch.chdir(worktree)
    assert typed("remember", "Use tabs here.").exit_code == 0
    monkeypatch.chdir(main)
    worktree.rmdir()
    assert "Use tabs here." in typed("recall", "tabs").stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [".local", "main"]


@pytest.mark.field("ISO-11")
def test_a_rule_of_one_project_is_not_brought_into_another(door: Any, scope: str) -> None:
    rule = "# Indentation\n\nUse tabs here.\n"
    door("put_page", f"{scope}-a", slug="indentation", content=rule)
    door("put_page", f"{scope}-b", slug="lunch", content="# Lunch\n")
    for verb, asked in (("context", {"text": "Which Indentation here?"}), ("context_pack", {"goal": "indentation"})):
        assert "indentation" in str(door(verb, f"{scope}-a", **asked))
        assert "indentation`" not in str(door(verb, f"{scope}-b", **asked))
