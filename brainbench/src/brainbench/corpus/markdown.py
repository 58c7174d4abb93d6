"""The little of a page's front matter that the bench reads: its title and aliases."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """How a page is called."""

    title: str | None = None
    aliases: tuple[str, ...] = ()


def has_front_matter(content: str) -> bool:
    """Whether a page begins with a block between two lines `---`."""
    return front_matter(content) is not None


def front_matter(content: str) -> list[str] | None:
    """The lines between the two `---` at the beginning of a page, or None."""
    lines = re.split(r"\r?\n", content)
    if not lines or lines[0].rstrip() != "---":
        return None
    for i, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return lines[1:i]
    return None


def names(content: str) -> Names:
    """The title and aliases of a page: plain or quoted scalars; aliases also as a list, inline or one to a line."""
    title: str | None = None
    aliases: list[str] = []
    key = ""
    for line in front_matter(content) or []:
        if match := re.match(r"([A-Za-z_][\w-]*):(?:\s+(.*))?$", line):
            key, value = match[1].lower(), (match[2] or "").strip()
            if key == "title":
                title = _unquoted(value) or None
            elif key == "aliases":
                aliases = _inline(value)
        elif key == "aliases" and (match := re.match(r"\s*-\s+(.*)$", line)):
            aliases.append(_unquoted(match[1]))
    return Names(title, tuple(a for a in aliases if a))


def _inline(value: str) -> list[str]:
    inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    parts = re.findall(r"""\s*("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^,]*)\s*(?:,|$)""", inner)
    return [_unquoted(part) for part in parts if part.strip()]


def _unquoted(value: str) -> str:
    text = value.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text
