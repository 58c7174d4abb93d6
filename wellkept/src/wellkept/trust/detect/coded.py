"""D8: the texts within a text: what is encoded, turned round or compressed in it, read for the other detectors."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from wellkept.trust.detect.lexicon import look_up
from wellkept.trust.normal import flat

LEVELS = 3
UNPACKED = 64 << 10
"""So much of what was compressed is looked at."""
_MULTIPLE = 4
"""All readings together may be so many times as long as the text, and what can be unpacked."""
_SHORTEST = 12
_SAMPLE = 200
_READABLE = 0.95
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e01ef"
)
_OTHER_FORM = re.compile(
    rf"(?<=\w)[{_UNSEEN}]+(?=\w)|[\u2460-\u24ff\U0001f130-\U0001f189\uff1c\uff1e\ufe64\ufe65\uff3b\uff5b\uff5c]"
)
"""What makes other words of a text in its plain form, beyond what is made of each word by itself."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A text found within another, and where its code stands in the outermost."""

    text: str
    start: int
    end: int
    encoded: bool = True


class TooMuch(Exception):
    """More is encoded in the text than is looked at."""


_Bytes = Callable[[str], bytes]


def _base64(run: str) -> bytes:
    bare = re.sub(r"\s+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4))


def _base32(run: str) -> bytes:
    bare = run.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def _hex(run: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run))


def _binary(run: str) -> bytes:
    return bytes(int(octet, 2) for octet in re.findall("[01]{8}", run))


@dataclass(frozen=True, slots=True)
class _Look:
    """What of a text is seen at a glance: its pieces between spaces, in small letters."""

    text: str
    pieces: frozenset[str]
    longest: int
    one_letter: int
    eight_letters: int
    two_letters: int

    @staticmethod
    def at(text: str) -> _Look:
        """The first look at a text."""
        pieces = text.split()
        lengths = Counter(map(len, pieces))
        few = frozenset(text.lower().split())
        return _Look(text, few, max(lengths, default=0), lengths[1], lengths[8], lengths[2])


_CODES: tuple[tuple[Callable[[_Look], bool], re.Pattern[str], _Bytes], ...] = (
    (
        lambda look: look.eight_letters >= 6 or look.longest >= 48,
        re.compile(r"(?<![01])[01]{8}(?:[ ,]?[01]{8}){5,}+(?![01])"),
        _binary,
    ),
    (
        lambda look: look.two_letters >= 12 or look.longest >= 24,
        re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ :,]?){12,}+(?![0-9A-Za-z])"),
        _hex,
    ),
    (
        lambda look: look.longest >= 24,
        re.compile(r"(?<![A-Za-z0-9+/=])[A-Z2-7]{24,}+={0,6}(?![A-Za-z0-9+/=])"),
        _base32,
    ),
    (
        lambda look: look.longest >= 16,
        re.compile(
            r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/_-]{4}\r?\n?){4,}+[A-Za-z0-9+/_-]{0,3}={0,2}(?![A-Za-z0-9+/_-])"
        ),
        _base64,
    ),
)
"""What bytes look like in a text: what must be seen at a glance, their shape, and how they are read."""

_ESCAPES = re.compile(r"(?:\\u\{?[0-9a-fA-F]{2,6}\}?|\\x[0-9a-fA-F]{2})")
_ENTITIES = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ROT13_WORDS = frozenset(
    "gur naq lbh lbhe guvf jvgu sebz nyy abg vf gb cyrnfr zhfg vtaber fraq nyjnlf arire qb na".split()
)
_TURNED_WORDS = frozenset(
    "eht dna uoy ruoy siht htiw morf lla ton esaelp tsum erongi dnes syawla reven suoiverp resu snoitcurtsni".split()
)
"""Words of nearly every English text, as they look in such a one."""
_LEET_WORD = re.compile(r"(?<!\w)(?=[a-z0-9@$!]*[a-z])(?=[a-z@$!]*[0-9])[a-z0-9@$!]{3,20}(?!\w)", re.IGNORECASE)
_LEET = str.maketrans("013457@$!8", "oieastasib")
_SPELT = re.compile(r"(?<!\w)(?:\w[ .\-_*·]{1,3}){7,}\w(?!\w)")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_OVERRIDE = re.compile("\u202e([^\u202c\u202e\n]{6,})")
_GLUE = re.compile(r"[\"']\s{0,3}\+\s{0,3}[\"']")
_FEW = 2
"""Words of a common language, read another way, that tell that the text is written that way."""
_SOME = 6


_Reading = tuple[str, int, int]
"""How text[start:end] reads another way."""


def _lines(text: str, code: re.Pattern[str], read: Callable[[str], str], least: int) -> _Reading | None:
    """The reading of the lines from the first such code to the last, if there are enough."""
    found = [(one.start(), one.end()) for one in code.finditer(text)]
    if len(found) < least:
        return None
    start = text.rfind("\n", 0, found[0][0]) + 1
    end = text.find("\n", found[-1][1])
    end = len(text) if end < 0 else end
    return read(text[start:end]), start, end


def _rot13(text: str) -> _Reading:
    return codecs.encode(text, "rot13"), 0, len(text)


def _backwards(text: str) -> _Reading:
    return text[::-1], 0, len(text)


def _leet(text: str) -> _Reading | None:
    def plainer(word: re.Match[str]) -> str:
        return word[0].lower().translate(_LEET)

    known = {word[0] for word in _LEET_WORD.finditer(text) if look_up(plainer(word))[1]}
    return _lines(text, _LEET_WORD, lambda piece: _LEET_WORD.sub(plainer, piece), _FEW) if len(known) >= _FEW else None


def _spelt(text: str) -> _Reading | None:
    def joined(run: re.Match[str]) -> str:
        apart = re.split(r"[ .\-_*·]{2,3}", run[0])
        return " ".join(re.sub(r"[ .\-_*·]", "", word) for word in apart)

    return _lines(text, _SPELT, lambda piece: _SPELT.sub(joined, piece), 1)


def _unescaped(text: str) -> _Reading | None:
    def letter(code: re.Match[str]) -> str:
        number = int(re.sub(r"[\\ux{}]", "", code[0]), 16)
        return chr(number) if number < 0x110000 else code[0]

    return _lines(text, _ESCAPES, lambda piece: _ESCAPES.sub(letter, piece), _SOME)


def _entities(text: str) -> _Reading | None:
    return _lines(text, _ENTITIES, lambda piece: _ENTITIES.sub(lambda entity: html.unescape(entity[0]), piece), _FEW)


def _percent(text: str) -> _Reading | None:
    return _lines(text, _PERCENT, lambda piece: unquote(piece, errors="replace"), _FEW)


def _tags(text: str) -> _Reading | None:
    return _lines(
        text, _TAGS, lambda piece: "".join(chr(ord(tag) - 0xE0000) for tag in "".join(_TAGS.findall(piece))), 1
    )


def _selectors(text: str) -> _Reading | None:
    def octet(selector: str) -> int:
        at = ord(selector)
        return at - 0xFE00 if at < 0xE0100 else at - 0xE0100 + 16

    def content(piece: str) -> str:
        return bytes(map(octet, "".join(_SELECTORS.findall(piece)))).decode("utf-8", "replace")

    return _lines(text, _SELECTORS, content, 1)


def _turned(text: str) -> _Reading | None:
    return _lines(text, _OVERRIDE, lambda piece: _OVERRIDE.sub(lambda run: run[1][::-1], piece), 1)


def _glued(text: str) -> _Reading | None:
    return _lines(text, _GLUE, lambda piece: _GLUE.sub("", piece), _FEW)


_DIGIT = re.compile("[0-9@$](?=[A-Za-z])")
_DOTTED = re.compile(r"[.\-_*·]\w[.\-_*·]\w[.\-_*·]\w")
_WHOLE: tuple[tuple[Callable[[_Look], bool], Callable[[str], _Reading | None]], ...] = (
    (lambda look: "\\u" in look.text or "\\x" in look.text, _unescaped),
    (lambda look: "&" in look.text, _entities),
    (lambda look: "%" in look.text, _percent),
    (lambda look: len(look.pieces & _ROT13_WORDS) >= _FEW, _rot13),
    (lambda look: len(look.pieces & _TURNED_WORDS) >= _FEW, _backwards),
    (lambda look: _DIGIT.search(look.text) is not None, _leet),
    (lambda look: look.one_letter >= 8 or _DOTTED.search(look.text) is not None, _spelt),
    (lambda look: not look.text.isascii(), _tags),
    (lambda look: not look.text.isascii(), _selectors),
    (lambda look: "\u202e" in look.text, _turned),
    (lambda look: "+" in look.text, _glued),
)
"""What must be seen at a glance for a whole text to be written another way, and how it reads then (None: it is not)."""


def layers(text: str) -> Iterator[Layer]:
    """The plain form of the text where that has other words, and what is encoded in it, to three levels.

    TooMuch once all readings are several times as long as the text: the rest was not looked at.
    """
    if not text.isascii() and _OTHER_FORM.search(text):
        yield Layer(flat(text), 0, len(text), encoded=False)
    left = UNPACKED + _MULTIPLE * len(text)
    known = {text}
    level = [Layer(text, 0, len(text))]
    for _ in range(LEVELS):
        found: list[Layer] = []
        for outer in level:
            for inner in _within(outer.text):
                if inner.text in known:
                    continue
                known.add(inner.text)
                left -= len(inner.text)
                if left < 0:
                    raise TooMuch
                place = (inner.start, inner.end) if outer.text is text else (outer.start, outer.end)
                found.append(Layer(inner.text, *place))
                yield found[-1]
        level = found


def _within(text: str) -> Iterator[Layer]:
    """The readable texts one level within this one."""
    look = _Look.at(text)
    bare = text.replace("\\n", "  ")  # in JSON the end of a line is written so, and would be read as a part of the code
    for worth, pattern, read in _CODES:
        if not worth(look):
            continue
        for run in pattern.finditer(bare):
            try:
                content = read(run[0])
            except (ValueError, binascii.Error):
                continue
            inner = _readable(content)
            if inner is not None:
                yield Layer(inner, *run.span())
    for likely, other in _WHOLE:
        if likely(look):
            reading = other(text)
            if reading is not None:
                yield Layer(*reading)


def _readable(content: bytes) -> str | None:
    """The bytes as a text, unpacked if they are compressed; None if they are none."""
    if content[:2] == b"\x1f\x8b" or content[:1] == b"\x78":
        unpacking = zlib.decompressobj(wbits=47)
        try:
            content = unpacking.decompress(content, UNPACKED)
        except zlib.error:
            return None
    if len(content) < _SHORTEST:
        return None
    wide = content[:2] == b"\xff\xfe" or not any(content[1:_SAMPLE:2])
    try:
        text = content.decode("utf-16-le" if wide else "utf-8")
    except UnicodeDecodeError:
        return None
    shown = sum(letter.isprintable() or letter in "\n\r\t\ufeff" for letter in text)
    return text if shown >= _READABLE * len(text) else None
