"""Scripts of items, played: what is asked, what is left out, and what an error costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure, Unsupported
from brainbench.model import Capability, ItemIn, ItemRow, RunContext, SourceDecl
from brainbench.replay.items import Play, Script, Seen, Shown, Step, missing
from brainbench.systems import System


class Short(System):
    """Keeps texts in a list, and is asked in words of its own."""

    can = frozenset({Capability.ADD, Capability.DELETE, Capability.REOPEN})
    kept: Sequence[str] = ()

    def reopen(self, run: RunContext) -> None:
        self.directory = Path(run.directory)

    def add_item(self, item: ItemIn) -> str:
        if "secret" in item.text:
            raise ValueError("not that")
        self.kept = [*self.kept, item.text]
        return f"id-{len(self.kept)}"

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [ItemRow(f"id-{n}", text) for n, text in enumerate(self.kept, 1) if query in text]

    def delete_item(self, source: str, item_id: str) -> bool:
        self.deleted = item_id
        return True


def played(tmp_path: Path, *steps: Step, system: System | None = None) -> Shown:
    run = RunContext("0" * 32, (SourceDecl("u"),), "u", str(tmp_path))
    return Play(system or Short(), lambda zone: Short(), Script(("u",), steps), run).play()


def by_label(shown: Shown) -> dict[str, Seen]:
    return {seen.label: seen for seen in shown.seen}


ADD = Step("one", "add", "u", "Ada keeps bees")


def test_an_error_is_of_its_step_and_what_follows_is_asked(tmp_path: Path) -> None:
    seen = by_label(played(tmp_path, Step("bad", "add", "u", "a secret"), ADD, Step("f", "find", "u", "bees")))
    assert seen["bad"].error == "ValueError: not that"
    assert seen["one"].text == "id-1"
    assert [row.text for row in seen["f"].rows] == ["Ada keeps bees"]


def test_no_more_rows_than_were_asked_for_are_seen(tmp_path: Path) -> None:
    more = Step("two", "add", "u", "Bob keeps bees")
    assert len(by_label(played(tmp_path, ADD, more, Step("f", "find", "u", "bees", limit=1)))["f"].rows) == 1


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step("d", "delete", "u", of="one"), "id-1"),
        (Step("d", "delete", "u", of="f", text="Ada keeps bees"), "id-1"),
        (Step("d", "delete", "u", id="made-up"), "made-up"),
        (Step("d", "delete", "u", of="one", name="prefix", limit=2), "id"),
    ],
)
def test_an_id_is_that_of_a_step_of_a_row_or_a_given_one(tmp_path: Path, step: Step, expected: str) -> None:
    system = Short()
    played(tmp_path, ADD, Step("f", "find", "u", "bees"), step, system=system)
    assert system.deleted == expected


@pytest.mark.parametrize(
    "step",
    [
        Step("d", "delete", "u", of="never"),
        Step("d", "delete", "u", of="f", text="Bob"),
        Step("d", "delete", "u", of="one", name="prefix", limit=9),
    ],
)
def test_without_an_id_the_step_is_an_error_and_nothing_is_asked(tmp_path: Path, step: Step) -> None:
    system = Short()
    assert by_label(played(tmp_path, ADD, Step("f", "find", "u", "bees"), step, system=system))["d"].error is not None
    assert not hasattr(system, "deleted")


def test_what_is_optional_is_left_out_and_what_is_not_makes_the_script_one_that_cannot_be_asked(tmp_path: Path) -> None:
    assert by_label(played(tmp_path, Step("l", "list", "u", optional=True)))["l"].skipped
    assert played(tmp_path, Step("l", "list", "u")).missing == "it does not claim `list`"


def test_what_a_script_needs_is_told_by_its_verbs_scopes_and_processes() -> None:
    can = frozenset({Capability.ADD})
    assert missing(Script(("u",), (ADD,)), can) is None
    assert missing(Script(("u", "v"), (ADD,)), can) == "it does not claim `sources`"
    second = Step("t", "together", parts=((Step("x", "add", "u", "x", by=1),),))
    assert missing(Script(("u",), (second,)), can) == "it does not claim `reopen`"
    assert missing(Script(("u",), (ADD,), frozenset({Capability.META})), can) == "it does not claim `meta`"


def test_a_process_that_cannot_be_ended_makes_the_script_one_that_cannot_be_asked(tmp_path: Path) -> None:
    assert "not within reach" in (played(tmp_path, ADD, Step("k", "kill")).missing or "")


class Filed(Short):
    """Keeps a text a line in a file, beside a log and something that it never touches again."""

    can = Short.can | {Capability.LIST}

    def reopen(self, run: RunContext) -> None:
        super().reopen(run)
        (self.directory / "still").write_text("as it was")

    def add_item(self, item: ItemIn) -> str:
        for name in ("log", "lines"):
            with (self.directory / name).open("a") as file:
                file.write(f"{item.text}\n")
        return super().add_item(item)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        file = self.directory / "lines"
        return [ItemRow(text, text) for text in file.read_text().splitlines()] if file.exists() else []

    def kill(self) -> None:
        """There is nothing to end."""


def test_each_file_that_the_last_add_changed_loses_its_end_in_turn(tmp_path: Path) -> None:
    steps = (ADD, Step("t", "tear", "u", parts=((Step("two", "add", "u", "Bob keeps a parrot"),), ())))
    run = RunContext("0" * 32, (SourceDecl("u"),), "u", str(tmp_path))
    shown = Play(Filed(), lambda zone: Filed(), Script(("u",), steps), run).play()
    listed = {seen.label: [row.text for row in seen.rows] for seen in shown.seen}
    assert listed["torn lines"] == ["Ada keeps bees", "Bob keeps"]
    assert listed["torn log"] == ["Ada keeps bees", "Bob keeps a parrot"]
    assert "torn still" not in listed
    assert listed["empty"] == []
    assert (tmp_path / "lines").read_text() == "Ada keeps bees\nBob keeps a parrot\n"


def test_what_a_memory_claims_and_then_says_it_does_not_support_is_an_error(tmp_path: Path) -> None:
    class Fickle(Short):
        def delete_item(self, source: str, item_id: str) -> bool:
            raise Unsupported("delete")

    shown = played(tmp_path, ADD, Step("d", "delete", "u", of="one"), system=Fickle())
    assert shown.missing is None
    assert "it claims `delete` and then says" in (by_label(shown)["d"].error or "")


def test_a_memory_that_cannot_be_opened_is_seen_to_fail(tmp_path: Path) -> None:
    class Shut(Short):
        def reopen(self, run: RunContext) -> None:
            raise SystemFailure("no")

    assert played(tmp_path, ADD, system=Shut()).seen == (Seen("open", error="no"),)
