from __future__ import annotations

from pathlib import Path

import pytest

from brainbench.errors import SystemFailure, UsageError
from brainbench.systems.mapping import NothingThere, at, filled, page_parts, read_mapping

WHOLE = """
[server]
command = ["x"]
[memory]
can = ["page_write", "search", "context", "recall_facts"]
[[write_page]]
tool = "drop"
[[write_page]]
tool = "keep"
arguments = { name = "{slug}" }
[read_page]
tool = "read"
result = "text"
[search]
tool = "find"
each = "hits"
id = "name"
[context]
tool = "ask"
arguments = { q = "{prompt}", dir = "{directory}" }
result = "text"
[recall_facts]
tool = "facts"
each = "facts"
text = "said"
"""


def read(place: Path, text: str) -> object:
    (place / "m.toml").write_text(text)
    return read_mapping(place / "m.toml", "mcp:m.toml")


def test_a_whole_mapping_is_read_with_its_steps_in_order(tmp_path: Path) -> None:
    mapped = read(tmp_path, WHOLE)
    assert [use.tool for use in mapped.steps("write_page")] == ["drop", "keep"]  # type: ignore[attr-defined]
    assert mapped.steps("edit_page") == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[server]", "[sever]", r"unknown field `sever`|missing required field `server`"),
        ('each = "hits"', 'eech = "hits"', "unknown field `eech` - at `.*search`"),
        ('each = "hits"', "", "search.each: missing; the path of it in the answer of 'find'"),
        ('id = "name"', "", "search.id: missing"),
        ('text = "said"', "", "recall_facts.text: missing"),
        ('result = "text"', "", "read_page.result: missing; the path of the text in the answer of 'read'"),
        ('"{prompt}"', '"{promt}"', r"context.arguments: no variable {promt}; there are {source}, .*{prompt}"),
        ('command = ["x"]', "", "server: give either `command` or `url`"),
        ('command = ["x"]', 'url = "http://x"', "memory.fresh: a server behind a `url` is not started here"),
        ("[memory]", '[memory]\nfresh = "clear"', r"memory.fresh: \"clear\" needs a \[clear\] section"),
        ("[memory]", '[memory]\nfresh = "never"', "Invalid enum value 'never'"),
        ('"page_write", ', '"page_write", "forget", ', "memory.can: holds forget; known here: add, as_of, context, "),
        (
            '"page_write", ',
            '"page_write", "edit", ',
            r"edit_page: `can` holds edit, so it needs a \[edit_page\] section",
        ),
        ("[server]", "[server", "Expected"),
    ],
)
def test_what_a_mapping_cannot_mean_is_refused_with_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        read(tmp_path, WHOLE.replace(old, new, 1))
    assert str(refused.value).startswith("--system: mcp:m.toml: m.toml: ")


def test_all_that_a_mapping_cannot_mean_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, WHOLE.replace('id = "name"', "", 1).replace('text = "said"', "", 1))
    assert [line.split(": ")[3] for line in str(refused.value).splitlines()] == ["search.id", "recall_facts.text"]


@pytest.mark.parametrize(("answer", "empty"), [({}, True), ({"a": []}, True), ({"a": None}, True), ({"b": 1}, False)])
def test_an_empty_answer_is_told_from_a_path_that_leads_nowhere(answer: object, empty: bool) -> None:
    with pytest.raises(SystemFailure) as told:
        at(answer, "a[0]", "x")
    assert isinstance(told.value, NothingThere) is empty


def test_a_mapping_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_mapping(tmp_path / "none.toml", "mcp:none.toml")


def test_templates_keep_types_that_stand_alone_and_leave_other_braces() -> None:
    assert filled(["{limit}", "x{limit}", "{other}", "{}", 7], {"limit": 5}) == [5, "x5", "{other}", "{}", 7]
    assert filled("{slug}", {"slug": "{limit}", "limit": 5}) == "{limit}"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("b", "x: no 'b' in the answer; at 'b': it has a"),
        ("a[2].c", "x: no 'a\\[2\\].c' in the answer; at '2': \\[{'c': 1}\\]"),
        ("a.c", "x: no 'a.c' in the answer; at 'c': \\[{'c': 1}\\]"),
        ("a[0].c.d", "at 'd': 1"),
        ("[0]", "at '0': it has a"),
    ],
)
def test_a_path_that_leads_nowhere_tells_how_far_it_led(path: str, said: str) -> None:
    with pytest.raises(SystemFailure, match=said):
        at({"a": [{"c": 1}]}, path, "x")


def test_a_path_leads_through_lists_and_objects() -> None:
    assert at({"a": [{"c": 1}]}, "a[0].c", "x") == 1
    assert at([1], "", "x") == [1]


def test_a_page_is_taken_apart_into_title_and_body() -> None:
    assert page_parts('---\ntitle: "Ada"\n---\n\nText\n') == {"title": "Ada", "body": "Text"}
    assert page_parts("title: no\n") == {"title": "", "body": "title: no"}
