"""What somebody wrote themselves in a long text, without what they pasted into it."""

from __future__ import annotations

from collections.abc import Iterator

import regex  # type: ignore[import-untyped]

SHORT = 600
"""A text of so many characters is read as it is."""
MOST_LINES = 5
"""More lines without a blank one between them are pasted: people write paragraphs, programs write lines."""
LONGEST_LINE = 400
"""Of a longer line only a question at its beginning or end is somebody's own."""

_FENCE = regex.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_LOGGED = regex.compile(
    r"\s*(?:>"
    r"|[\[(<]?\d{2,4}[-/.:]\d{2}[-/.:]\d{2}"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|Traceback \(most|File \"[^\"]*\", line \d|at [\w$.<>/]+\s?\(|\$ |[+-]{3} |@@ )"
)
_SENTENCE_END = regex.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])")
_ASKING = ("?", "？", "؟")


def spoken(text: str) -> str:
    """A short text as it is; of a long one the paragraphs of few lines and the questions at the edge of long lines.

    Code in fences, quotes, logs and long blocks are left out. A text that is nothing else is given back whole.

    >>> spoken("12:00:01 INFO started\\n" * 40 + "Why does the kiln stop?")
    'Why does the kiln stop?'
    """
    if len(text) <= SHORT:
        return text
    return "\n".join(line for block in _blocks(text) if len(block) <= MOST_LINES for line in block) or text


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines that may be somebody's own, as far as they stand together."""
    block: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        outside = not fence and not opened
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1].startswith(fence):
            fence = ""
        own = _own(line) if outside and line.strip() and not _LOGGED.match(line) else ""
        if own:
            block.append(own)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _own(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line.strip()
    sentences = [part.strip() for part in _SENTENCE_END.split(line) if part.strip()]
    edges = dict.fromkeys((sentences[0], sentences[-1]))
    return " ".join(part for part in edges if part.endswith(_ASKING) and len(part) <= LONGEST_LINE)
