"""Where the words that an extractor quotes stand in what was said."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")


def plain(text: str) -> str:
    """The text as memory keeps it: lines end with a line feed, and what no store can hold becomes U+FFFD.

    That is a NUL, or half a surrogate pair.

    >>> plain("one\\r\\ntwo")
    'one\\ntwo'
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", _LINE_END.sub("\n", text))


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """The characters of the first verbatim occurrence of the quote in the text, or None.

    Line ends and the white space around the quote do not count: harnesses trim what was typed. A blank quote is
    nowhere.
    """
    wanted = plain(quote)
    for form in (wanted, wanted.strip()):
        start = text.find(form) if form.strip() else -1
        if start >= 0:
            return start, start + len(form)
    return None
