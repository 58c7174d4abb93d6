"""A Markdown page becomes a page, chunks and names, whatever its front matter looks like."""

from datetime import UTC, datetime
from time import process_time
from unicodedata import normalize

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.ingest.markdown import CHUNK_CHARS, _sure_values, _yaml_values, parse_page, split_front_matter
from wellkept.model import Chunk, Name, Page, TimelineEntry, Trust

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Parsed = tuple[Page, tuple[Chunk, ...], tuple[Name, ...]]


def parse(content: str, slug: str = "people/noor-wrenhaven") -> Parsed:
    return parse_page("default", slug, content, trust=Trust.USER_WRITTEN, now=NOW)


def page(content: str, slug: str = "notes/a-page") -> Page:
    return parse(content, slug)[0]


def keys(content: str, kind: str, slug: str = "people/noor-wrenhaven") -> list[str]:
    return [name.key for name in parse(content, slug)[2] if name.kind == kind]


def head(*lines: str) -> str:
    return "---\n" + "\n".join(lines) + "\n---\n\nBody.\n"


WHOLE = """---
title: Noor Wrenhaven
type: Person
aliases: [Noor, "Wren, N."]
summary: Keeps bees.
status: active
---

# Heading

Noor keeps bees.
"""


def test_the_parts_of_an_ordinary_page_are_read() -> None:
    assert page(WHOLE) == Page(
        source="default",
        slug="notes/a-page",
        title="Noor Wrenhaven",
        content=WHOLE,
        body="# Heading\n\nNoor keeps bees.\n",
        type="person",
        summary="Keeps bees.",
        aliases=("Noor", "Wren, N."),
        trust=Trust.USER_WRITTEN,
        updated_at=NOW,
    )


# -- front matter


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("2024", "2024"),
        ("2024-05-01", "2024-05-01"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("1e3", "1e3"),
        ("007", "007"),
        ("'null'", "null"),
        ("Kickoff: the plan", "Kickoff: the plan"),
        ("@handle", "@handle"),
        ("50% off", "50% off"),
        ('"Quoted \\u00e9"', "Quoted é"),
        (">\n  folded\n  text", "folded text"),
        ("C# and F#", "C# and F#"),
        ("[a, b]", "a, b"),
        ("Emoji 👩‍👩‍👧 ok", "Emoji 👩‍👩‍👧 ok"),
    ],
)
def test_a_title_is_what_was_written(written: str, title: str) -> None:
    assert page(head(f"title: {written}")).title == title


@pytest.mark.parametrize("written", ["", "~", "null", "''", "[]"])
def test_a_missing_title_is_the_first_heading_or_the_slug_tail(written: str) -> None:
    content = f"---\ntitle: {written}\n---\n```\n# code\n```\n## The **first** [heading](x) ##\n# Second\n"
    assert page(content).title == "The first heading"
    assert page(head(f"title: {written}"), "a/b/some-tail").title == "some-tail"


@pytest.mark.req("C-303")
@pytest.mark.parametrize(
    "written",
    [
        "aliases: [Ann, Bo]",
        "aliases: Ann, Bo",
        "aliases: Ann,Bo,,Ann",
        "aliases:\n  - Ann\n  - Bo",
        "aliases:\n- Ann\n- Bo",
        "Aliases: ['Ann', \"Bo\"]",
        "alias: Ann, Bo",
        "aliases: [Ann, [Bo], null]",
        "title: a: b\naliases: [Ann, Bo]",
        "title: a: b\naliases:\n  - Ann\n  - 'Bo'",
        "title: [x\naliases: Ann, Bo",
    ],
)
def test_aliases_are_read_from_lists_and_scalars_even_in_broken_yaml(written: str) -> None:
    assert page(head(written)).aliases == ("Ann", "Bo")


def test_broken_yaml_loses_neither_the_page_nor_its_readable_lines() -> None:
    kept = page("---\ntitle: Plan: B\n\tsummary: {oops\nsummary: Fine\ntype: project\n: odd\n---\nBody\n")
    assert (kept.title, kept.summary, kept.type, kept.body) == ("Plan: B", "Fine", "project", "Body\n")


@pytest.mark.parametrize(
    "content",
    [
        "---\njust a line between rules\n---\nText\n",
        "---\ntitle: never closed\nText\n",
        "----\ntitle: x\n----\n",
        " ---\ntitle: x\n---\n",
        "Text\n---\ntitle: x\n---\n",
        "---",
        "",
    ],
)
def test_what_is_no_front_matter_is_body(content: str) -> None:
    kept = page(content)
    assert (kept.title, kept.body) == ("a-page", content)


def test_byte_order_mark_and_line_ends_do_not_matter_and_stay_in_the_content() -> None:
    for content in ("\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n"), WHOLE.replace("\n", "\r")):
        kept = page(content)
        assert kept.content == content
        assert (kept.title, kept.aliases, kept.body) == (page(WHOLE).title, page(WHOLE).aliases, page(WHOLE).body)


def test_yaml_that_multiplies_itself_is_not_unfolded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    kept = page(head(*lines, "title: Still here"))
    assert kept.title == "Still here"


@pytest.mark.parametrize(
    "content",
    [
        "---\na: " + "[" * 200_000 + "\n---\nx",
        "---\n" + "k: v\n" * 100_000 + "---\n",
        "---\n" * 100_000,
        "# " + " " * 500_000 + "x",
        "# " + "#" * 500_000 + "x",
        "# " + "[" * 200_000,
        "x" * 1_000_000,
        "e" + "\u0301" * 500_000,
        "\n" * 500_000,
        ". " * 300_000,
        "a" + " " * 500_000 + "b",
    ],
    ids=lambda content: ascii(content[:8]),
)
def test_no_text_takes_more_than_linear_time(content: str) -> None:
    started = process_time()
    kept, chunks, _ = parse(content)
    assert kept.content == content
    assert chunks
    assert process_time() - started < 20  # quadratic work on these sizes takes minutes


# -- status and timeline


@pytest.mark.parametrize(
    ("lines", "successor"),
    [
        (["status: superseded"], None),
        (["status: Superseded", "superseded_by: a/new"], "a/new"),
        (["superseded_by: a/new"], "a/new"),
        (["superseded_by: '[[a/new]]'"], "a/new"),
        (["superseded_by: [[a/new]]"], "a/new"),
        (["superseded_by: '[[a/new|the new one]]'"], "a/new"),
        (["superseded: true"], None),
        (["superseded: a/new"], "a/new"),
    ],
)
def test_a_superseded_page_is_no_longer_active(lines: list[str], successor: str | None) -> None:
    kept = page(head(*lines))
    assert (kept.status, kept.superseded_by) == ("superseded", successor)


@pytest.mark.parametrize("line", ["status: done", "superseded: false", "superseded_by:", "superseded_by: null", "x: y"])
def test_any_other_page_is_active(line: str) -> None:
    assert (page(head(line)).status, page(head(line)).superseded_by) == ("active", None)


def test_dated_lines_under_a_timeline_heading_are_its_entries() -> None:
    kept = page(
        "- 2020-01-01: before\n\n## Timeline\n\n- 2024-02-29: leap\n- **2024-03** text\n* **2025-01-02:** starred\n"
        "- 2025 — year\n  goes on\n- 2023-02-29: no such day\n- 20240101: no date\n- plain\n"
        "```\n- 2026-01-01: code\n```\n"
        "### Later\n- 2026-02-02: inside\n## Notes\n- 2026-03-03: after\n# TIMELINE #\n- 2027-01-01 - again\n"
    )
    assert kept.timeline == (
        TimelineEntry("2024-02-29", "leap"),
        TimelineEntry("2024-03", "text"),
        TimelineEntry("2025-01-02", "starred"),
        TimelineEntry("2025", "year goes on"),
        TimelineEntry("2026-02-02", "inside"),
        TimelineEntry("2027-01-01", "again"),
    )


# -- chunks


def test_a_short_page_is_one_chunk_with_title_summary_and_aliases() -> None:
    chunks = parse(WHOLE)[1]
    assert chunks == (Chunk(0, "Noor Wrenhaven\nKeeps bees.\n\nNoor, Wren, N.\n\n# Heading\n\nNoor keeps bees."),)


def test_an_empty_page_still_has_a_chunk_with_its_title() -> None:
    assert parse("", "a/empty-page")[1] == (Chunk(0, "empty-page"),)


def test_paragraphs_stay_whole_while_they_fit() -> None:
    paragraphs = [f"<{number}> " + "word " * 80 for number in range(12)]
    chunks = parse("---\ntitle: T\n---\n" + "\n\n".join(paragraphs))[1]
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for paragraph in paragraphs:
        assert sum(paragraph.strip() in chunk.text for chunk in chunks) == 1


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(words, max_size=12), st.sampled_from([" ", "\n", "\n\n", ". ", "\u0301", "👩‍👧", ""]), st.integers(1, 60)
)
def test_chunks_hold_the_whole_body_in_order_and_stay_short(parts: list[str], glue: str, times: int) -> None:
    kept, chunks, _ = parse(glue.join(parts * times), "a/b")
    title = chunks[0].text.split("\n")[0]
    texts = [chunk.text.removeprefix(title) for chunk in chunks]
    assert "".join("".join(texts).split()) == "".join(kept.body.split())
    for chunk in chunks:
        assert len(chunk.text) <= CHUNK_CHARS or len(regex.findall(r"\X", chunk.text[len(title) + 1 :])) == 1


@pytest.mark.parametrize("letter", ["字", "👩‍👩‍👧", "e\u0301\u0323", "ก็"])
def test_a_long_run_without_spaces_is_cut_between_graphemes(letter: str) -> None:
    kept, chunks, _ = parse("---\ntitle: T\n---\n" + letter * 3000)
    pieces = [chunk.text.removeprefix("T\n") for chunk in chunks]
    assert len(pieces) > 1
    assert "".join(pieces) == kept.body
    assert {grapheme for piece in pieces for grapheme in regex.findall(r"\X", piece)} == {letter}


def test_a_long_paragraph_is_cut_between_sentences_before_words() -> None:
    sentence = "The quick brown fox went home and slept until the morning came again."
    chunks = parse("---\ntitle: T\n---\n" + " ".join([sentence] * 60))[1]
    assert len(chunks) > 3
    assert all(chunk.text.removeprefix("T\n").startswith("The quick") for chunk in chunks)
    assert all(chunk.text.endswith("again.") for chunk in chunks)


def test_a_huge_title_leaves_room_for_the_text() -> None:
    kept, chunks, names = parse(head("title: " + "long " * 400))
    assert len(kept.title) == 1999
    assert all(len(chunk.text) <= CHUNK_CHARS for chunk in chunks)
    assert "Body." in chunks[0].text
    assert all(len(name.key) <= 512 for name in names)


# -- names


@pytest.mark.req("C-301", "C-303")
def test_a_page_can_be_called_by_all_its_names() -> None:
    content = head("title: Łukasz  Żółć-Nowak", "type: person", "aliases: [Łuki, “Boss”]")
    slug = "people/Łukasz-nowak"
    assert keys(content, "alias", slug) == ["łuki", "boss"]
    assert keys(content, "alias-fold", slug) == ["luki", "boss"]
    assert keys(content, "title", slug) == ["łukasz żółć-nowak"]
    assert keys(content, "title-fold", slug) == ["lukasz zolc-nowak"]
    assert keys(content, "surname", slug) == ["żółć-nowak", "zolc-nowak"]
    assert keys(content, "first", slug) == ["łukasz"]
    assert {slug, "people-lukasz-nowak"} <= set(keys(content, "slug", slug))
    assert {"Łukasz-nowak", "lukasz-nowak"} <= set(keys(content, "tail", slug))
    assert "lukasz nowak" not in keys(content, "tail", slug)


@pytest.mark.req("C-301")
def test_composed_and_decomposed_spellings_are_one_name() -> None:
    one = parse(normalize("NFC", head("title: Zoë Ångström", "type: person", "aliases: [Zoë]")))[2]
    assert parse(normalize("NFD", head("title: Zoë Ångström", "type: person", "aliases: [Zoë]")))[2] == one


def test_only_persons_have_surnames_and_only_persons_and_companies_first_words() -> None:
    lines = "title: Acme Rockets Ltd"
    assert keys(head(lines, "type: company"), "first") == ["acme"]
    assert keys(head(lines, "type: company"), "surname") == []
    assert keys(head(lines, "type: project"), "first") == keys(head(lines), "surname") == []
    assert keys(head("title: Bo Li", "type: person"), "surname") == []
    assert keys(head("title: Bo Lin", "type: person"), "surname") == ["lin"]


def test_names_are_not_repeated_and_never_empty() -> None:
    names = parse(head("title: a", "aliases: ['\"', a, A, ' a ']"), "a")[2]
    assert len(set(names)) == len(names)
    assert all(name.key for name in names)
    assert [name.key for name in names if name.kind == "alias"] == ["a"]


# -- any text at all


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.text(max_size=40))
def test_any_text_makes_a_page_with_its_content_unchanged(content: str, slug: str) -> None:
    for text in (content, f"---\n{content}\n---\n{content}", f"---\ntitle: {content}\n---\n"):
        kept, chunks, names = parse(text, slug)
        assert kept.content == text
        assert chunks
        assert all(name.key for name in names)


@settings(max_examples=100, deadline=None)
@given(st.text("-:[]{}&*!|>'\"#%@`,?\t\n \\ab~<", max_size=80))
def test_any_yaml_like_text_is_read_without_an_error(text: str) -> None:
    content = f"---\n{text}\n---\nThe body\n"
    assert page(content).content == content
    assert split_front_matter(content)[1].endswith("The body\n")


YAML_PARTS = (
    *(
        "\n",
        "\n",
        "a",
        "b",
        "1",
        "é",
        "中",
        "😀",
        " ",
        ":",
        "#",
        "-",
        ",",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "?",
        "~",
        "&",
        "*",
        "\t",
    ),
    *(
        "\nkey: ",
        "\nkey:",
        "\n- ",
        "\n  - ",
        "null",
        "NULL",
        "[a, b]",
        '"x: y"',
        "'#'",
        " #",
        ": ",
        "http://x",
        "---",
        "\\",
    ),
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(YAML_PARTS), max_size=12).map("".join), st.sampled_from(("", "a: ", "a:\n- ", "a: [b, "))
)
def test_what_is_plain_to_see_is_what_yaml_says(text: str, opening: str) -> None:
    seen = _sure_values(opening + text)
    if seen:
        told = _yaml_values(opening + text)
        assert told is not None
        assert list(seen.items()) == list(told.items())


def test_the_usual_front_matter_is_plain_to_see() -> None:
    head = "title: Noor a name\naliases: [Nori, 'N. W.']\ntags:\n  - one\n  - \"two\"\nsummary:\n"
    assert _sure_values(head) == {
        "title": "Noor a name",
        "aliases": ("Nori", "N. W."),
        "tags": ("one", "two"),
        "summary": "",
    }
