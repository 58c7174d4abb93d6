"""One Markdown page with YAML front matter -> the page, its searchable chunks and the names it goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

import regex  # type: ignore[import-untyped]
import yaml

from wellkept.model import Chunk, Name, NameKind, Page, Status, TimelineEntry, Trust
from wellkept.names import ascii_slug, fold, norm, slugify

CHUNK_CHARS = 1200
"""A chunk is longer only when a single grapheme is."""

_CHUNK_TITLE_CHARS = 200
_LONGEST_NAME = 512
_LONGEST_YAML = 16_384
_SHORTEST_SURNAME = 3

_FRONT_MATTER = regex.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", regex.DOTALL | regex.MULTILINE
)
_KEY_LINE = regex.compile(r"([\p{L}_][\p{L}\p{N}_-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM_LINE = regex.compile(r"[ \t]*-[ \t]+(.*)$")
# Lines of which any YAML reader makes the same: a name or an item, and text without signs, in quotes, or a short list.
_SURE_START = r"[[\p{L}\p{M}\p{N}\p{P}\p{S}]--[-?:,\[\]{}#&*!|>'\"%@`]]"
_SURE_CHAR = r"[[\p{L}\p{M}\p{N}\p{P}\p{S} ]--[:#]]"
_SURE_PLAIN = rf"{_SURE_START}(?:(?:{_SURE_CHAR}|:(?=[\p{{L}}\p{{N}}/]))*(?<! ))?"
_SURE_QUOTED = r"\"[[\p{L}\p{M}\p{N}\p{P}\p{S} ]--[\"\\]]*\"|'[[\p{L}\p{M}\p{N}\p{P}\p{S} ]--[']]*'"
_SURE_PART = rf"{_SURE_START}(?:[[\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}} ]--[:#,?\[\]{{}}]]*(?<! ))?|{_SURE_QUOTED}"
_SURE_LINE = regex.compile(
    rf"(?V1)(?:(?P<key>[\p{{L}}_][\p{{L}}\p{{N}}_-]{{0,63}}):|(?P<indent> *)-(?= ))"
    rf"(?: +(?:(?P<plain>{_SURE_PLAIN})|(?P<quoted>{_SURE_QUOTED})"
    rf"|\[ *(?:(?P<part>{_SURE_PART}) *(?:, *(?P<part>{_SURE_PART}) *)*)?(?P<list>\])))? *"
)
_NULLS = frozenset({"~", "null", "Null", "NULL"})
_OPENING = tuple("[{\"'&*!|>%@`")
_FENCE = regex.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_HEADING_MARK = regex.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_DATED_ITEM = regex.compile(
    r"[ \t]*[-*+][ \t]+(?:\*\*|__)?(\d{4}(?:-\d{2}(?:-\d{2})?)?)(?![\d-])"
    r"(?:[ \t]*:)?(?:\*\*|__)?[ \t]*(?:[:|–—-][ \t]*)?(.*)$"
)
_LINK = regex.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_WIKI_LINK = regex.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_BLANK_LINES = regex.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SENTENCE_END = regex.compile(r"(?<=[.!?。！？…])\s+|\n")
_WORD = regex.compile(r"\S+\s*|\s+")
_GRAPHEME = regex.compile(r"\X")

_YES, _NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0", ""})


_Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a page: what each key says, a scalar as it was written or a list; a null is ""."""

    values: Mapping[str, _Value]

    def line(self, key: str) -> str:
        """The value as one line; a list is joined by commas; "" when there is none."""
        value = self.values.get(key, "")
        return _one_line(value if isinstance(value, str) else ", ".join(value))

    def parts(self, key: str) -> tuple[str, ...]:
        """The values of a list, or what stands between the commas of a scalar; none of them empty or twice."""
        value = self.values.get(key, "")
        found = value.split(",") if isinstance(value, str) else value
        return tuple(dict.fromkeys(part for part in map(_one_line, found) if part))


def parse_page(
    source: str, slug: str, content: str, *, trust: Trust, now: datetime
) -> tuple[Page, tuple[Chunk, ...], tuple[Name, ...]]:
    """The page that `content` describes, with its chunks in reading order and every name it can be found by.

    Takes any text: what cannot be read as front matter is body. `content` is kept as it is, to the byte; the
    rest is read from it with its line ends made "\\n". A page has at least one chunk.
    """
    head, body = split_front_matter(content)
    title = head.line("title") or _first_heading(body) or _tail(slug) or slug
    status, superseded_by = _standing(head)
    page = Page(
        source=source,
        slug=slug,
        title=title,
        content=content,
        body=body,
        type=head.line("type").lower() or "note",
        summary=head.line("summary"),
        aliases=head.parts("aliases") or head.parts("alias"),
        status=status,
        superseded_by=superseded_by,
        trust=trust,
        timeline=_timeline(body),
        updated_at=now,
    )
    return page, _chunks(page), _names(page)


def split_front_matter(content: str) -> tuple[FrontMatter, str]:
    """The front matter, empty when there is none, and the Markdown after it, with "\\n" as line end.

    >>> head, body = split_front_matter("---\\ntitle: Café: a note\\n---\\n\\nHello\\n")
    >>> head.line("title"), body
    ('Café: a note', 'Hello\\n')
    """
    text = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _FRONT_MATTER.match(text)
    if found is None:
        return FrontMatter({}), text
    values = _front_values(found[1])
    if values is None:
        return FrontMatter({}), text
    return FrontMatter(values), text[found.end() :].lstrip("\n")


def front_matter_fault(content: str) -> str | None:
    """What is wrong with the front matter, so that some of it would be read as something else; None where nothing is.

    Plain `key: value` lines are understood where YAML would stumble, as over a second colon.

    >>> front_matter_fault("---\\ntitle: [a, b\\n---\\nHello\\n"), front_matter_fault("---\\ntitle: A: b\\n---\\n")
    ("line 3: expected ',' or ']', but got '<stream end>'", None)
    """
    text = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        return None
    found = _FRONT_MATTER.match(text)
    if found is None:
        begun = _KEY_LINE.match(rest.partition("\n")[0]) is not None
        return "a line --- begins it, and none ends it" if begun else None
    head = found[1]
    if not head.strip() or len(head) > _LONGEST_YAML or _sure_values(head) or _yaml_values(head):
        return None
    return None if _is_plain(head) else _yaml_fault(head)


def _is_plain(head: str) -> bool:
    lines = [line for line in head.split("\n") if line.strip()]
    keys = [found for line in lines if (found := _KEY_LINE.match(line)) is not None]
    items = sum(_ITEM_LINE.match(line) is not None for line in lines)
    return len(keys) + items == len(lines) and not any((found[2] or "").strip()[:1] in _OPENING for found in keys)


def _yaml_fault(head: str) -> str:
    loader = None
    try:
        loader = _Loader(head)
        loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        place = "" if error.problem_mark is None else f"line {error.problem_mark.line + 2}: "
        return f"{place}{error.problem}"
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return " ".join(str(error).split())
    finally:
        if loader is not None:
            loader.dispose()
    return "it holds no `key: value` lines"


def _front_values(head: str) -> Mapping[str, _Value] | None:
    """What the keys say, or None when the text between the marks is no front matter at all."""
    if not head.strip():
        return {}
    structured = (_sure_values(head) or _yaml_values(head)) if len(head) <= _LONGEST_YAML else None
    return structured or _line_values(head) or None


def _sure_values(head: str) -> Mapping[str, _Value] | None:
    """What YAML would say, read much sooner; None where that is not plain to see from each line by itself."""
    values: dict[str, _Value] = {}
    key, indent = "", None
    for line in filter(None, head.split("\n")):
        found = _SURE_LINE.fullmatch(line)
        if found is None or found["plain"] in _NULLS or not _NULLS.isdisjoint(found.captures("part")):
            return None
        text = found["plain"] or _unquoted(found["quoted"] or "")
        bare = found["plain"] is None and found["quoted"] is None and found["list"] is None
        if found["key"] is not None:
            name = found["key"].lower()
            values[name] = text if found["list"] is None else tuple(map(_unquoted, found.captures("part")))
            key, indent = name if bare else "", None
        elif not key or bare or found["list"] is not None or indent not in (None, found["indent"]):
            return None
        else:
            indent, before = found["indent"], values[key]
            values[key] = (*before, text) if isinstance(before, tuple) else (text,)
    return values


class _Loader(yaml.SafeLoader):
    """Reads the structure only; an alias is refused, because a few of them can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read", None)
        return super().compose_node(parent, index)


@lru_cache(maxsize=256)
def _yaml_values(head: str) -> Mapping[str, _Value] | None:
    loader = None
    try:
        loader = _Loader(head)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return None
        return {
            key.value.strip().lower(): next(_scalars(value), "")
            if isinstance(value, yaml.ScalarNode)
            else tuple(_scalars(value))
            for key, value in node.value
            if isinstance(key, yaml.ScalarNode)
        }
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    finally:
        if loader is not None:
            loader.dispose()


def _scalars(node: yaml.Node) -> Iterator[str]:
    # The scalar as it was written: YAML would read `2024` as a number, `no` as false and `12:30` as 750.
    if isinstance(node, yaml.ScalarNode):
        if node.tag != "tag:yaml.org,2002:null":
            yield str(node.value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield ": ".join((*_scalars(key), *_scalars(value)))


def _line_values(head: str) -> Mapping[str, _Value]:
    """Reads `key: value` and the items of a list under a key, line by line; other lines are passed over."""
    values: dict[str, _Value] = {}
    items: dict[str, list[str]] = {}
    key = None
    for line in head.split("\n"):
        if (found := _KEY_LINE.match(line)) is not None:
            key = found[1].lower()
            values[key] = _line_value((found[2] or "").strip())
            items.pop(key, None)
        elif key is not None and (found := _ITEM_LINE.match(line)) is not None:
            items.setdefault(key, []).append(_unquoted(found[1].strip()))
    return values | {key: tuple(listed) for key, listed in items.items() if not values[key]}


def _line_value(text: str) -> _Value:
    if text in ("~", "null"):
        return ""
    if len(text) >= 2 and text[0] == "[" and text[-1] == "]" and not text.startswith("[["):
        return tuple(_unquoted(part.strip()) for part in text[1:-1].split(",") if part.strip())
    return _unquoted(text)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text


def _standing(head: FrontMatter) -> tuple[Status, str | None]:
    """Whether the page was superseded, and by which slug if it says so."""
    flag = head.line("superseded")
    successor = _link_target(head.line("superseded_by"))
    if not successor and flag.lower() not in _YES | _NO:
        successor = _link_target(flag)
    said = head.line("status").lower() == "superseded" or flag.lower() in _YES
    return ("superseded" if said or successor else "active"), successor or None


def _link_target(text: str) -> str:
    """The slug that a value names, with or without the brackets of a wiki link."""
    return text.strip("[] ").partition("|")[0].strip()


def _tail(slug: str) -> str:
    return slug.rstrip("/").rpartition("/")[2]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _prose_lines(body: str) -> Iterator[str]:
    """The lines that stand outside fenced code."""
    fence = ""
    for line in body.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            yield line


def _heading(line: str) -> tuple[int, str] | None:
    """Level and text of a heading, or None for another line."""
    mark = _HEADING_MARK.match(line)
    if mark is None:
        return None
    text = line[mark.end() :].strip()
    bare = text.rstrip("#")
    return len(mark[1]), _plain(bare if not bare or bare[-1:].isspace() else text)


def _first_heading(body: str) -> str:
    for line in _prose_lines(body):
        found = _heading(line)
        if found is not None and found[1]:
            return _clipped(found[1], _LONGEST_NAME)
    return ""


def _plain(markdown: str) -> str:
    text = _WIKI_LINK.sub(r"\1", _LINK.sub(r"\1", markdown))
    return _one_line(text.replace("**", "").replace("`", "").strip("*_ \t"))


def _timeline(body: str) -> tuple[TimelineEntry, ...]:
    """The dated items under headings called Timeline, in the order they stand."""
    entries: list[TimelineEntry] = []
    level = 0
    for line in _prose_lines(body):
        heading = _heading(line)
        if heading is not None:
            if heading[1].lower() == "timeline":
                level = heading[0]
            elif heading[0] <= level:
                level = 0
        elif level and (found := _DATED_ITEM.match(line)) is not None and _is_date(found[1]):
            entries.append(TimelineEntry(found[1], _one_line(found[2])))
        elif level and entries and line[:1] in (" ", "\t") and line.strip() and _ITEM_LINE.match(line) is None:
            last = entries.pop()
            entries.append(TimelineEntry(last.date, _one_line(f"{last.text} {line}")))
    return tuple(entries)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        return False
    return True


def _chunks(page: Page) -> tuple[Chunk, ...]:
    """The title before each stretch of whole paragraphs; summary and aliases stand in the first chunk."""
    title = _clipped(page.title, _CHUNK_TITLE_CHARS)
    room = max(CHUNK_CHARS - len(title) - 1, 1)
    intro = (page.summary, ", ".join(page.aliases))
    paragraphs = [text for text in (*intro, *_BLANK_LINES.split(page.body)) if text.strip()]
    texts = list(_packed(paragraphs, room)) or [""]
    return tuple(Chunk(ordinal, f"{title}\n{text}".rstrip()) for ordinal, text in enumerate(texts))


def _packed(paragraphs: list[str], room: int) -> Iterator[str]:
    """The paragraphs joined by blank lines into texts of at most `room` characters."""
    held: list[str] = []
    size = 0
    for paragraph in paragraphs:
        for piece in pieces(paragraph.strip("\n").rstrip(), room):
            if held and size + 2 + len(piece) > room:
                yield "\n\n".join(held)
                held, size = [], 0
            size += len(piece) + (2 if held else 0)
            held.append(piece)
    if held:
        yield "\n\n".join(held)


def pieces(text: str, room: int = CHUNK_CHARS) -> Iterator[str]:
    """The text whole if it fits, else cut between sentences, else between words, else between graphemes."""
    if len(text) <= room:
        yield text
        return
    piece = ""
    for part in _parts(text, room):
        if piece and len(piece) + len(part.rstrip()) > room:
            if piece.strip():
                yield piece.rstrip()
            piece = ""
        piece += part
    if piece.strip():
        yield piece.rstrip()


def _parts(text: str, room: int) -> Iterator[str]:
    start = 0
    for sentence_end in (*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)):
        sentence, start = text[start:sentence_end], sentence_end
        if len(sentence.rstrip()) <= room:
            yield sentence
            continue
        for word in _WORD.findall(sentence):
            if len(word.rstrip()) <= room:
                yield word
            else:
                yield from _GRAPHEME.findall(word)


def _clipped(text: str, size: int) -> str:
    """The text, or as many of its first words, or else graphemes, as fit."""
    return text if len(text) <= size else next(pieces(text, size))


def _names(page: Page) -> tuple[Name, ...]:
    tail = _tail(page.slug)
    words = page.title.split()
    found: list[tuple[NameKind, str]] = [
        *(("alias", norm(alias)) for alias in page.aliases),
        *(("alias-fold", fold(alias)) for alias in page.aliases),
        ("title", norm(page.title)),
        ("title-fold", fold(page.title)),
        *(("slug", key) for key in (page.slug, norm(page.slug), slugify(page.slug), ascii_slug(page.slug))),
        *(("tail", key) for key in (tail, norm(tail), slugify(tail), ascii_slug(tail))),
    ]
    if words and page.type == "person" and len(surname := norm(words[-1])) >= _SHORTEST_SURNAME:
        found += [("surname", surname), ("surname", fold(words[-1]))]
    if words and page.type in ("person", "company"):
        found.append(("first", norm(words[0])))
    return tuple(Name(kind, key) for kind, key in dict.fromkeys(found) if key and len(key) <= _LONGEST_NAME)
