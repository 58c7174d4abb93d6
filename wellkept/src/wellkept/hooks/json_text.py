"""JSON that belongs to somebody else: read with its places, changed where asked, byte for byte the same elsewhere.

A harness's settings are written by hand as often as by the harness. So nothing is parsed and printed again: an entry
is put in or taken out of the text, with the indentation and line ends that are there already. `relaxed` text may hold
what JSON5 adds: comments, trailing commas, single quotes, bare keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n\ufeff\u00a0]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n\ufeff\u00a0]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\n\r]*)?(?=\r?\n)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_RELAXED_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_BARE = re.compile(r"[^\s,:\[\]{}\"'/]+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
DEPTH = 200


class NotJson(Exception):
    """The text cannot be read; `place` is "line L, column C" and `reason` says what is wrong there."""

    def __init__(self, text: str, offset: int, reason: str) -> None:
        line = text.count("\n", 0, offset) + 1
        self.place = f"line {line}, column {offset - (text.rfind(chr(10), 0, offset) + 1) + 1}"
        self.reason = reason
        super().__init__(f"{self.place}: {reason}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. `value` is that of a scalar; `items` are an array's or an object's, `keys` its keys.

    `begins` are the offsets at which the items begin: at the key in an object.
    """

    start: int
    end: int
    kind: str
    value: Any = None
    items: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    begins: tuple[int, ...] = ()

    def get(self, key: str) -> Node | None:
        """The member of this name; the last one where it stands twice, as every reader takes it."""
        places = [place for place, name in enumerate(self.keys) if name == key]
        return self.items[places[-1]] if places else None

    def plain(self) -> Any:
        """The value as Python has it."""
        if self.kind == "object":
            return {key: item.plain() for key, item in zip(self.keys, self.items, strict=True)}
        return [item.plain() for item in self.items] if self.kind == "array" else self.value


def parse(text: str, *, relaxed: bool = False) -> Node:
    """The value that the text holds; one without anything in it is an empty object. NotJson names the place."""
    if not text.strip(" \t\r\n\ufeff"):
        return Node(len(text), len(text), "nothing")
    if not relaxed:
        try:
            json.loads(text.removeprefix("\ufeff"))
        except json.JSONDecodeError as error:
            raise NotJson(text, error.pos + text.startswith("\ufeff"), _said(error, text)) from None
        except RecursionError:
            raise NotJson(text, 0, "is nested too deep") from None
    reader = _Reader(text, relaxed)
    found = reader.value(reader.skip(0), 0)
    rest = reader.skip(found.end)
    if rest != len(text):
        raise NotJson(text, rest, "something follows the value")
    return found


def _said(error: json.JSONDecodeError, text: str) -> str:
    if text[error.pos : error.pos + 2] in ("//", "/*"):
        return "holds a comment, which JSON does not have"
    return error.msg[0].lower() + error.msg[1:]


class _Reader:
    """Reads values from a text, with their places."""

    def __init__(self, text: str, relaxed: bool) -> None:
        self.text, self.relaxed = text, relaxed
        self._trivia = _TRIVIA if relaxed else _SPACE
        self._string = _RELAXED_STRING if relaxed else _STRING

    def skip(self, at: int) -> int:
        found = self._trivia.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        if depth > DEPTH:
            raise NotJson(self.text, at, "is nested too deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self._container(at, depth)
        string = self._string.match(self.text, at)
        if string:
            return Node(at, string.end(), "string", self._spoken(string[0]))
        bare = _BARE.match(self.text, at)
        if bare is None:
            raise NotJson(self.text, at, "expected a value")
        return Node(at, bare.end(), "scalar", self._scalar(bare[0], at))

    def _container(self, at: int, depth: int) -> Node:
        is_object = self.text[at] == "{"
        closing = "}" if is_object else "]"
        keys: list[str] = []
        items: list[Node] = []
        begins: list[int] = []
        place = self.skip(at + 1)
        while self.text[place : place + 1] != closing:
            if items:
                if self.text[place : place + 1] != ",":
                    raise NotJson(self.text, place, f"expected ',' or '{closing}'")
                place = self.skip(place + 1)
                if self.text[place : place + 1] == closing and self.relaxed:
                    break
            begins.append(place)
            if is_object:
                place, key = self._key(place)
                keys.append(key)
            items.append(self.value(place, depth + 1))
            place = self.skip(items[-1].end)
        kind = "object" if is_object else "array"
        return Node(at, place + 1, kind, None, tuple(items), tuple(keys), tuple(begins))

    def _key(self, at: int) -> tuple[int, str]:
        found = self._string.match(self.text, at) or (_BARE.match(self.text, at) if self.relaxed else None)
        if found is None:
            raise NotJson(self.text, at, "expected a key")
        colon = self.skip(found.end())
        if self.text[colon : colon + 1] != ":":
            raise NotJson(self.text, colon, "expected ':'")
        key = self._spoken(found[0]) if found[0][0] in "\"'" else found[0]
        return self.skip(colon + 1), key

    def _spoken(self, string: str) -> str:
        def meant(found: re.Match[str]) -> str:
            code = found[1]
            if code[0] in "ux" and len(code) > 1:
                return chr(int(code[1:], 16))
            return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "\r\n": ""}.get(code, code)

        joined = _ESCAPE.sub(meant, string[1:-1])
        return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _scalar(self, word: str, at: int) -> Any:
        if word in _WORDS:
            return _WORDS[word]
        try:
            return int(word, 0) if self.relaxed and "x" in word.lower() else float(word)
        except ValueError:
            raise NotJson(self.text, at, f"{word[:40]!r} is no value") from None


def put(text: str, path: Sequence[str], value: object, *, append: bool = False, relaxed: bool = False) -> str:
    """The text with `value` at `path` of its objects, or with `append` at the end of the array there.

    Objects, and the array, that are not there are made. NotJson where something else stands in the way.
    """
    root = parse(text, relaxed=relaxed)
    if root.kind == "nothing":
        made: Any = [value] if append else value
        for key in reversed(path):
            made = {key: made}
        return text.rstrip("\r\n") + json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    node = root
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise NotJson(text, node.start, f"{_named(path[:depth])} is not an object")
        inner = node.get(key)
        if inner is None:
            made = [value] if append else value
            for outer in reversed(path[depth + 1 :]):
                made = {outer: made}
            return _insert(text, node, f"{json.dumps(key, ensure_ascii=False)}: ", made, relaxed)
        node = inner
    if not append:
        return text[: node.start] + _printed(value, text, _indent_at(text, node.start)) + text[node.end :]
    if node.kind != "array":
        raise NotJson(text, node.start, f"{_named(path)} is not a list")
    return _insert(text, node, "", value, relaxed)


def take(text: str, container: Node, place: int, *, relaxed: bool = False) -> str:
    """The text without the item at `place` of the container, its comma, and the line that it had for itself."""
    begin, end = container.begins[place], container.items[place].end
    start = begin - len(text[:begin]) + len(text[:begin].rstrip(" \t\r\n"))
    reader = _Reader(text, relaxed)
    after = reader.skip(end)
    if text[after] == ",":
        return text[:start] + text[after + 1 :]
    if place == 0:
        inner = text[container.start + 1 : begin] + text[end : container.end - 1]
        return text[: container.start + 1] + ("" if not inner.strip() else inner.rstrip()) + text[container.end - 1 :]
    comma = text.index(",", reader.skip(container.items[place - 1].end))
    return text[:comma] + text[comma + 1 : start] + text[end:]


def drop(text: str, path: Sequence[str], unwanted: Callable[[Any], bool], *, relaxed: bool = False) -> str:
    """The text without the items of the array at `path` that are unwanted; an array that this empties goes too."""
    while True:
        node: Node | None = parse(text, relaxed=relaxed)
        for key in path:
            node = node.get(key) if node is not None else None
        if node is None or node.kind != "array":
            return text
        place = next((place for place, item in enumerate(node.items) if unwanted(item.plain())), None)
        if place is None:
            return text
        if len(node.items) == 1:
            return prune(take(text, node, place, relaxed=relaxed), path, relaxed=relaxed)
        text = take(text, node, place, relaxed=relaxed)


def prune(text: str, path: Sequence[str], *, relaxed: bool = False) -> str:
    """The text without what stands at `path`, and without the objects around it that this leaves empty."""
    for depth in range(len(path), 0, -1):
        outer: Node | None = parse(text, relaxed=relaxed)
        for key in path[: depth - 1]:
            outer = outer.get(key) if outer is not None else None
        if outer is None or path[depth - 1] not in outer.keys:
            return text
        place = len(outer.keys) - 1 - outer.keys[::-1].index(path[depth - 1])
        if depth < len(path) and outer.items[place].items:
            return text
        text = take(text, outer, place, relaxed=relaxed)
    return text


def _named(path: Sequence[str]) -> str:
    return ".".join(path) or "the whole"


def _insert(text: str, container: Node, lead: str, value: object, relaxed: bool) -> str:
    if not container.items:
        outer = _indent_at(text, container.start)
        inner = outer + _unit(text)
        kept = text[container.start + 1 : container.end - 1].rstrip()
        line = _line_end(text)
        body = f"{kept}{line}{inner}{lead}{_printed(value, text, inner)}{line}{outer}"
        return text[: container.start + 1] + body + text[container.end - 1 :]
    last = container.items[-1].end
    if "\n" not in text[container.start : container.end]:
        return f"{text[:last]}, {lead}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    comma = _Reader(text, relaxed).skip(last)
    trailing = text[comma] == ","
    stop = comma + 1 if trailing else last
    note = _REST_OF_LINE.match(text, stop) if relaxed else None  # a remark stays with the line that it is about
    end = note.end() if note else stop
    indent = _indent_at(text, container.begins[-1])
    item = f"{_line_end(text)}{indent}{lead}{_printed(value, text, indent)}"
    if trailing:
        return f"{text[:end]}{item},{text[end:]}"
    return f"{text[:last]},{text[last:end]}{item}{text[end:]}"


def _printed(value: object, text: str, indent: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_line_end(text) + indent).join(lines)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_at(text: str, offset: int) -> str:
    """The white space that the line of this offset begins with."""
    start = text.rfind("\n", 0, offset) + 1
    return re.match(r"[ \t]*", text[start:])[0]  # type: ignore[index]
