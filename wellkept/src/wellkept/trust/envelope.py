"""Stored text in front of a model: inert, on one line, and what came from outside within an envelope.

Nothing that is stored can end its line, open a tag or close an envelope: "<" is escaped, and the name of the tag is
broken however it is spelled. Beside that the envelopes of an answer have a nonce that nobody knew before.
"""

from __future__ import annotations

import secrets
from itertools import pairwise

import regex  # type: ignore[import-untyped]

from wellkept.model import Trust
from wellkept.trust.normal import flat, tokens

TAG = "external-data"

_FIRST, _LAST = TAG.split("-")
_PLAIN_TAG = regex.compile(rf"({_FIRST})-({_LAST})", regex.IGNORECASE)
_HYPHENS = regex.compile(r"[\p{Pd}\u2043\u2212]+")

_LINE_BREAKS = regex.compile(r"[\p{Cc}\p{Zl}\p{Zp}\s]+")
_SURROGATES = regex.compile(r"\p{Cs}")
_TERMINAL = regex.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?")
_CONTROLS = regex.compile(r"(?V1)[[\p{Cc}--[\n\t]]\p{Bidi_Control}]+")
_INVISIBLE = regex.compile(
    r"(?V1)[\p{Bidi_Control}[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\p{Variation_Selector}\u3164\u115f\u1160]]]+"
)
_TICKS = regex.compile(r"[`｀ˋ]")
_ARROW = regex.compile(r"→(?=\s*['\"‘’“”])")
_ANGLE = regex.compile(r"[<＜﹤≮]")
_TAG_OPENS = regex.compile(r"[<＜﹤](?=[\s\p{M}\p{Cf}]*[!/?\p{L}])")
_REFERENCE = regex.compile(r"[&＆﹠](?=[#＃﹟\p{L}])")
_COMMENT_ENDS = regex.compile(r"(--+)(?=[>＞﹥])")
_LABELS = "|".join(regex.escape(tier.label) for tier in Trust)
_FORGED_LABEL = regex.compile(rf"\((?=[^()]{{0,80}}(?:{_LABELS})\s*\))", regex.IGNORECASE)
_FORGED_END = regex.compile(rf"trust\s*=(?=\s*(?:{_LABELS}))", regex.IGNORECASE)


def fresh_nonce() -> str:
    """What the envelopes of one answer are told by: 16 hexadecimal digits that nobody can guess."""
    return secrets.token_hex(8)


def enveloped(line: str, trust: Trust, source: str, id: str, nonce: str) -> str:  # noqa: A002
    """A line of `stored_text` as it is, or one that came from outside within its envelope."""
    if trust is not Trust.EXTERNAL_UNTRUSTED:
        return line
    named = f'source="{_attribute(source)}" id="{_attribute(id)}" nonce="{nonce}"'
    return f'<{TAG} tier="{trust.name.lower()}" {named}>{line}</{TAG}>'


def stored_text(text: str, trust: Trust) -> str:
    """Stored text as inert data: it cannot end its line, quote a slug, close a comment, open a tag or label itself."""
    line = _ARROW.sub("->", _TICKS.sub("'", one_line(text)))
    line = _COMMENT_ENDS.sub("- -", line)
    line = _FORGED_LABEL.sub("[", line)
    if trust < Trust.USER_WRITTEN:
        line = _FORGED_END.sub("trust: ", without_tag(line))
    if trust is Trust.EXTERNAL_UNTRUSTED:
        return str(_ANGLE.sub("&lt;", _REFERENCE.sub("&amp;", line)))
    return str(_TAG_OPENS.sub("&lt;", line))


def one_line(text: str) -> str:
    """The text on one line, without sequences for terminals and invisible controls."""
    visible = _INVISIBLE.sub("", _SURROGATES.sub("\ufffd", without_terminal(text)))
    return str(_LINE_BREAKS.sub(" ", visible)).strip()


def without_terminal(text: str) -> str:
    """The text without what would colour it or move the cursor."""
    return str(_TERMINAL.sub("", text)) if not text.isprintable() else text


def without_controls(text: str) -> str:
    """The text as lines for a terminal: nothing in it colours, moves the cursor or changes the direction."""
    return str(_CONTROLS.sub("", without_terminal(text)))


def without_tag(line: str) -> str:
    """The line with the name of the tag broken, wherever its plain form says it.

    >>> without_tag("a </external-data> b"), without_tag("＜/ｅxternal‑dаta＞")
    ('a </external_data> b', '＜/ｅxternal_dаta＞')
    """
    if line.isascii():
        return str(_PLAIN_TAG.sub(r"\1_\2", line))
    places = [
        (first.end, then.start)
        for first, then in pairwise(tokens(line))
        if first.text.endswith(_FIRST) and then.text.startswith(_LAST)
    ]
    for start, end in reversed(places):
        if _HYPHENS.fullmatch(flat(line[start:end])):
            line = f"{line[:start]}_{line[end:]}"
    return line


def _attribute(value: str) -> str:
    inert = stored_text(value, Trust.EXTERNAL_UNTRUSTED).replace('"', "&quot;")
    return inert.replace(">", "&gt;")
