"""Somebody else's JSON: entries go in and out, and every other byte stays."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.hooks.json_text import NotJson, drop, parse, prune, put

OURS = {"hooks": [{"type": "command", "command": "ours"}]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 2, 4, "\t"])


def is_ours(value: Any) -> bool:
    return bool(value == OURS)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), INDENTS, st.sampled_from(["\n", "\r\n"]))
def test_what_goes_in_comes_out_and_leaves_the_text_as_it_was(settings: Any, indent: Any, line_end: str) -> None:
    settings = {key: value for key, value in settings.items() if key != "hooks"}
    settings["z"] = 1
    text = json.dumps(settings, indent=indent).replace("\n", line_end)
    changed = put(text, ("hooks", "Stop"), OURS, append=True)
    assert json.loads(changed) == {**settings, "hooks": {"Stop": [OURS]}}
    assert drop(changed, ("hooks", "Stop"), is_ours) == text
    assert ("\r\n" in changed) == ("\r\n" in text)


@given(VALUES)
def test_a_reader_of_places_reads_the_same_values(value: Any) -> None:
    text = json.dumps({"a": value}, indent=2)
    assert parse(text).plain() == json.loads(text)
    assert parse(text, relaxed=True).plain() == json.loads(text)


@pytest.mark.parametrize("hooks", ["{}", '{\n "Stop": []\n }', '{\n "Stop": [\n 1\n ]\n }'])
def test_line_ends_of_windows_are_kept_throughout(hooks: str) -> None:
    text = f'{{\n "a": 1,\n "hooks": {hooks}\n}}\n'.replace("\n", "\r\n")
    changed = put(text, ("hooks", "Stop"), OURS, append=True)
    assert changed.count("\n") == changed.count("\r\n") > text.count("\n")


def test_the_order_and_the_form_of_everything_else_stay() -> None:
    text = '{\n\t"z": [1,2],   "hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t},\n\t"a": "é\\u00e9"\n}\n'
    changed = put(text, ("hooks", "Stop"), OURS, append=True)
    assert (
        changed.replace(
            ',\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n\t\t\t\t\t\t"type": "command",\n'
            '\t\t\t\t\t\t"command": "ours"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}',
            "",
        )
        == text
    )
    assert drop(changed, ("hooks", "Stop"), is_ours) == text


@pytest.mark.parametrize("text", ["", "\n", "  \r\n", "\ufeff"])
def test_an_empty_file_is_an_empty_object(text: str) -> None:
    changed = put(text, ("hooks", "Stop"), OURS, append=True)
    assert json.loads(changed.removeprefix("\ufeff")) == {"hooks": {"Stop": [OURS]}}
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n}', r"line 2, column 9: .*trailing comma|line 3, column 1: .*double quotes"),
        ('{\n  // why\n  "a": 1\n}', r"line 2, column 3: .*comment"),
        ('{"a": 1} x', r"line 1, column 10: extra data"),
        ("{'a': 1}", r"line 1, column 2: .*property name"),
        ('\ufeff{"a": ', r"line 1, column 8: .*value"),
        ("[" * 5000, r"line 1, column \d+: .*too deep"),
    ],
)
def test_what_is_not_json_is_refused_at_its_place(text: str, said: str) -> None:
    with pytest.raises(NotJson, match=said):
        parse(text)


@pytest.mark.parametrize("text", ["[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '"x"'])
def test_what_stands_in_the_way_is_named(text: str) -> None:
    with pytest.raises(NotJson, match=r"is not an object|is not a list"):
        put(text, ("hooks", "Stop"), OURS, append=True)


RELAXED = """{
  // the gateway
  gateway: { port: 18789, }, /* local */
  'plugins': {
    allow: ['one', 'two'], // trusted
    load: {
      paths: [
        "/a", // first
        "/b", // second
      ],
    },
  },
}
"""


def test_relaxed_text_keeps_its_comments_and_commas() -> None:
    changed = put(RELAXED, ("plugins", "load", "paths"), "/ours", append=True, relaxed=True)
    changed = put(changed, ("plugins", "allow"), "ours", append=True, relaxed=True)
    changed = put(changed, ("plugins", "entries", "ours"), {"enabled": True}, relaxed=True)
    read = parse(changed, relaxed=True).plain()
    assert read["plugins"] == {
        "allow": ["one", "two", "ours"],
        "load": {"paths": ["/a", "/b", "/ours"]},
        "entries": {"ours": {"enabled": True}},
    }
    for remark in ("// the gateway", "/* local */", '"/b", // second\n', "// trusted"):
        assert remark in changed
    back = drop(changed, ("plugins", "load", "paths"), lambda path: path == "/ours", relaxed=True)
    back = drop(back, ("plugins", "allow"), lambda name: name == "ours", relaxed=True)
    assert prune(back, ("plugins", "entries", "ours"), relaxed=True) == RELAXED


@given(st.text(alphabet="{}[]:,\"'/*\\ \nabu0", max_size=30))
def test_no_text_makes_a_relaxed_reader_fall(text: str) -> None:
    with suppress(NotJson):
        assert parse(text, relaxed=True).end <= len(text)


def test_an_entry_among_foreign_ones_comes_out_alone() -> None:
    text = '{"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}'
    between = text.replace('{"b"', json.dumps(OURS) + ', {"b"')
    assert drop(between, ("hooks", "Stop"), is_ours) == text
    first = text.replace('[{"a"', "[" + json.dumps(OURS) + ', {"a"')
    assert json.loads(drop(first, ("hooks", "Stop"), is_ours)) == json.loads(text)
