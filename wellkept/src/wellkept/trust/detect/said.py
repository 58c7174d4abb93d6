"""D1, D2, D3, D9, D14: what a sentence asks of whoever reads it, told by which kinds of words meet in it.

No sentence is known beforehand. Where kinds of words meet that make an order, a wish that is to last, a claim of
consent or a way out for data, that is a sign. Words that tell of attacks, and marks of quotation around the place, make
a sign unsure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from wellkept.trust.detect.lexicon import BIT, ORDERS, PHRASES, UNSPACED, bits, look_up, plain
from wellkept.trust.detect.signs import Sign

_FIRST, _END, _PLACE, _READER, _USER, _META, _AVOID = (
    BIT[kind] for kind in ("first", "end", "place", "reader", "user", "meta", "avoid")
)
_ORDERS = bits(" ".join(ORDERS))


@dataclass(frozen=True, slots=True)
class Rule:
    """Kinds of words that make a sign when the others stand within so many characters of the first.

    `first`: the first kind must begin a clause, as orders do. Of the kinds in `of` one at least is in the sentence, of
    those in `orders` one that begins a clause, of those in `after` one in the sentence before, and none of `unless`.
    """

    gives: str
    kinds: str
    within: int = 60
    sure: bool = True
    first: bool = False
    of: str = ""
    orders: str = ""
    unless: str = ""
    after: str = ""


RULES = (
    Rule("D1", "ignore rules prior", 70, first=True),
    Rule("D1", "ignore rules", 50, first=True, of="reader reply role"),
    Rule("D1", "ignore user", 30, first=True, of="reader reply role"),
    Rule("D1", "you ignore rules prior", 60),
    Rule("D1", "rules retract", 90, of="reader"),
    Rule("D1", "rules retract", 90, after="reader"),
    Rule("D1", "do hide", 120, first=True),
    Rule("D1", "take hide", 120, first=True),
    Rule("D1", "send hide", 120, first=True),
    Rule("D1", "avoid hide", 200),
    Rule("D1", "role limits", 90),
    Rule("D1", "role reader", 60, first=True),
    Rule("D1", "without limits", 30, of="reader role reply lasting"),
    Rule("D1", "without limits", 30, after="role"),
    Rule("D1", "reveal prompt", 60, first=True),
    Rule("D1", "hide user", 60),
    Rule("D1", "note reader", 60, first=True),
    Rule("D1", "reader note", 80, first=True),
    Rule("D1", "note reply", 160, first=True, of="must do lasting always later"),
    Rule("D1", "coded rules", 80, orders="do"),
    Rule("D1", "coded obey", 80),
    Rule("D1", "reader", first=True, orders="do send alter take ignore memory reveal avoid hide"),
    Rule("D1", "do reply", 90, first=True, of="lasting always later reader user"),
    Rule("D1", "done reply", 120, of="must lasting always"),
    Rule("D1", "reader must send", 120, of="place asset secret user"),
    Rule("D1", "copy itself", 80, first=True, of="lasting always later reply memory_place user reader"),
    Rule("D1", "new rules", 25, of="role ignore reply reader lasting"),
    Rule("D2", "memory lasting", 120, first=True),
    Rule("D2", "memory later", 120, first=True, of="user reader"),
    Rule("D2", "memory later", 120, first=True, orders="do send avoid hide"),
    Rule("D2", "memory user", 80, first=True),
    Rule("D2", "memory prefer", 100, first=True, of="user lasting"),
    Rule("D2", "memory memory_place", 50, first=True),
    Rule("D2", "ignore memory_place", 60, first=True),
    Rule("D2", "alter memory_place", 60, first=True, of="user reader prior"),
    Rule("D2", "do lasting", 100, first=True),
    Rule("D2", "send lasting", 100, first=True),
    Rule("D2", "alter lasting", 100, first=True),
    Rule("D2", "avoid lasting", 100, first=True),
    Rule("D2", "hide lasting", 100),
    Rule("D2", "user always", 60, orders="do send avoid alter"),
    Rule("D2", "do later", 100, first=True, of="user reader reply"),
    Rule("D2", "do always", 30, first=True, of="user reader"),
    Rule("D2", "do user when", 100, first=True, of="always hide reader reply later lasting"),
    Rule("D2", "done lasting", 100, of="must"),
    Rule("D2", "done always", 60, of="user reader"),
    Rule("D2", "do topic when", 120, first=True),
    Rule("D2", "reveal topic when", 120, first=True, of="always hide reader user later lasting"),
    Rule("D2", "send topic when", 120, first=True),
    Rule("D2", "topic avoid", 150, of="when later do"),
    Rule("D3", "user prefer", 60, unless="when"),
    Rule("D3", "agreed send", 100, of="user place always lasting later"),
    Rule("D3", "prefer send place", 120),
    Rule("D3", "broken tool", 80, of="always lasting"),
    Rule("D3", "prefer lasting", 80, of="user"),
    Rule("D3", "agreed retract", 200),
    Rule("D3", "deal retract", 80, after="agreed"),
    Rule("D3", "avoid broken", 120, first=True),
    Rule("D3", "avoid", first=True, after="broken", orders="do"),
    Rule("D3", "avoid tool", 50, of="always lasting user"),
    Rule("D9", "send place", 90, first=True, of="secret take prompt"),
    Rule("D9", "send mine asset place", 150, first=True),
    Rule("D9", "send user place", 150, first=True),
    Rule("D9", "send place", 150, first=True, of="when always lasting later every"),
    Rule("D10", "account retract pay", 120),
    Rule("D10", "account new pay", 120, unless="when"),
    Rule("D9", "send secret", 60, first=True, of="user reader reply place"),
    Rule("D14", "confirmed user", 30, unless="when"),
    # What orders are made of, and ordinary letters too.
    Rule("D1", "ignore rules", 50, sure=False),
    Rule("D1", "reveal prompt", 60, sure=False),
    Rule("D1", "reader do must", 90, sure=False),
    Rule("D1", "do reply", 60, sure=False, first=True),
    Rule("D1", "new rules", 20, sure=False),
    Rule("D1", "alter mine asset", 60, sure=False, first=True),
    Rule("D1", "send mine asset", 60, sure=False, first=True),
    Rule("D2", "memory", sure=False, first=True),
    Rule("D2", "do later", 60, sure=False, first=True),
    Rule("D2", "do always", 25, sure=False, first=True),
    Rule("D2", "avoid always", 25, sure=False),
    Rule("D2", "do user when", 100, sure=False, first=True),
    Rule("D3", "tool broken", 60, sure=False),
    Rule("D3", "prefer send", 80, sure=False),
    Rule("D3", "prefer always", 60, sure=False),
    Rule("D2", "do topic", 80, sure=False, first=True, of="when"),
    Rule("D3", "agreed", sure=False, of="send alter do asset"),
    Rule("D9", "send place", 90, sure=False, first=True),
    Rule("D9", "done place", 90, sure=False, of="must"),
    Rule("D10", "retract asset place", 150, sure=False),
    Rule("D10", "retract user", 80, sure=False),
)
"""The first of an id that holds for a sentence gives its id; sure ones come first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A word or phrase of a text, and what it does there (kinds of the lexicon as one number)."""

    does: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A rule as numbers; the kinds of `apart` one by one."""

    rule: Rule
    apart: tuple[int, ...]
    kinds: int
    of: int
    orders: int
    unless: int
    after: int

    def may_hold(self, kinds: int, ordered: int, earlier: int) -> bool:
        """Whether the kinds of a sentence, those that begin a clause in it and those of the one before are enough."""
        return (
            kinds & self.kinds == self.kinds
            and not kinds & self.unless
            and bool(not self.of or kinds & self.of)
            and bool(not self.orders or ordered & self.orders)
            and bool(not self.after or earlier & self.after)
        )


_WANTED = tuple(
    _Wanted(
        rule,
        tuple(BIT[kind] for kind in rule.kinds.split()),
        *map(bits, (rule.kinds, rule.of, rule.orders, rule.unless, rule.after)),
    )
    for rule in RULES
)

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f"
    "\u0e31-\u0e4e\u3099\u309a"
)
"""Parts of words that are no letters for the pattern language."""
_TOKEN = re.compile(
    rf"[\w{_MARKS}]+(?:['’ʼ]\w[\w{_MARKS}]*)*"
    r"|[.!?…]+(?=[\s\"'”’»)\]]|$)|[。！？।؟|]|\n[ \t\r]*\n|\n(?=[ \t]{0,8}(?:[-*•#>]|\d{1,3}[.)]))"
)
PLACES = re.compile(
    r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+|(?:https?://|www\.)[^\s<>\"')]{4,}+"
    r"|\b[A-Z]{2}\d{2}[ ]?(?:\w{4}[ ]?){2,7}\w{1,4}\b|\b0x[0-9a-fA-F]{40}\b|\bbc1[a-z0-9]{25,60}\b"
)
_MAYBE_PLACE = ("@", "://", "www.", "0x", "bc1")
_MAYBE_ACCOUNT = re.compile(r"[A-Z]{2}\d\d")
_UNSPACED_FIRST = re.compile(f"[{''.join(map(re.escape, UNSPACED))}]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_OPENS = frozenset(",،؛:;—–-*>(\"'“«[„‚「『：，、")
_CALLS = frozenset(":,：，،、")


def _plain_words(words: str) -> frozenset[str]:
    return frozenset(map(plain, words.split()))


_LEADS = _plain_words(
    "and then now just also so but instead please kindly und dann et puis y e luego poi i en и та ve info "
    "warn warning error debug notice ps "
)
_SPEAKS = _plain_words(
    "says said say asks asked sagt sagte meint fragt dit disait demande dice dijo pide diz disse pede "
    "zegt zei vraagt mówi powiedział powiedziała prosi говорит сказал сказала просит каже сказав сказала "
    "просить diyor dedi يقول تقول قال قالت אומר אומרת אמר אמרה कहता कहती कहा "
)
"""To leave something is what somebody said to somebody else where it follows these closely."""
_REPORTED = 3
_SPEAKS_UNSPACED = frozenset("说說曰")
_YOU = _plain_words("you du sie dich ihnen toi vous ti usted te voi você u jou ty tobie ты вам тебе ти sen أنت אתה ")
_LEADING = bits("must always lasting reader")


def _spaced(text: str) -> list[Hit]:
    """The hits of words that have spaces between them, and the borders."""
    tokens = list(_TOKEN.finditer(text.replace("_", " ")))
    looked = [look_up(token[0]) for token in tokens]
    words = [word for word, _, _ in looked]
    found = [(at, does) for at, (_, does, leads) in enumerate(looked) if does or leads]
    made: list[Hit] = []
    last, before = -1, 0
    for at, does in found:
        until, start = at, tokens[at].start()
        if words[at] in PHRASES:
            does, until = _with_following(words, at, does)
        if does and does != _END:
            begins = not words[at - 1] or words[at - 1] in _LEADS or (last == at - 1 and before & _LEADING)
            # Somebody who is called stands before a colon or a comma, or after "you": "assistant, ...".
            called = not does & _READER or _calls(text, tokens[until].end()) or words[at - 1] in _YOU
            if (begins or not at or _opens(text, start)) and called:
                does |= _FIRST
            if does & _AVOID and not _SPEAKS.isdisjoint(words[max(0, at - _REPORTED) : at]):
                does &= ~_FIRST
        if does & _USER and text[tokens[until].end() : tokens[until].end() + 1] == "-":
            does &= ~_USER  # user-friendly
        if does:
            made.append(Hit(does, start, tokens[until].end()))
        if until > last:
            last, before = until, does
    return made


def _opens(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start].rstrip()[-1:] in _OPENS


def _calls(text: str, end: int) -> bool:
    return text[end : end + 2].strip()[:1] in _CALLS


def _with_following(words: list[str], at: int, does: int) -> tuple[int, int]:
    """What a word does together with those that follow it, and which is the last of the longest such phrase."""
    until = at
    following = words[at + 1] if at + 1 < len(words) else ""
    for rest, more in PHRASES[words[at]].after(following):
        last = at + 1 + len(rest)
        if last < len(words) and all(_same(words[here], part) for here, part in enumerate(rest, at + 2)):
            does |= more
            until = max(until, last)
    return does, until


def _same(word: str, part: str) -> bool:
    return word.startswith(part[:-1]) if part.endswith("*") else word == part


def hits(text: str) -> list[Hit]:
    """What the words and addresses of a text do, in order, with borders of sentences between them."""
    found = _spaced(text)
    more: list[Hit] = []
    if any(part in text for part in _MAYBE_PLACE) or _MAYBE_ACCOUNT.search(text):
        more += [Hit(_PLACE, one.start(), one.end()) for one in PLACES.finditer(text)]
    if _UNSPACED.search(text):
        more += _unspaced(text)
    return sorted(found + more, key=lambda hit: hit.start) if more else found


def _unspaced(text: str) -> Iterator[Hit]:
    """The hits of scripts without spaces, the longest at each place."""
    done = 0
    for first in _UNSPACED_FIRST.finditer(text):
        start = first.start()
        if start >= done:
            for entry, does in UNSPACED[first[0]]:
                if text.startswith(entry, start):
                    done = start + len(entry)
                    reported = text[start - 1 : start] in _SPEAKS_UNSPACED
                    yield Hit(does if reported else does | _FIRST, start, done)
                    break


_MANY = 40
"""So many words of a sentence are looked at together; a longer one is cut, so that the work stays linear."""


def sentences(found: list[Hit]) -> Iterator[list[Hit]]:
    """The hits of each sentence; those of a very long one in parts that overlap."""
    sentence: list[Hit] = []
    for hit in found:
        if hit.does == _END or len(sentence) == _MANY:
            if sentence:
                yield sentence
            sentence = sentence[-_MANY // 4 :] if hit.does != _END else []
        if hit.does != _END:
            sentence.append(hit)
    if sentence:
        yield sentence


def said(text: str) -> Iterator[Sign]:
    """What the text asks of a reader that it does not know, sentence by sentence."""
    every = [(sentence, together(sentence)) for sentence in sentences(hits(text))]
    quotes: list[tuple[int, int]] | None = None
    for (_, earlier), (sentence, kinds) in pairwise([([], 0), *every]):
        for sign in _met(sentence, kinds, earlier):
            if sign.sure and "_" in text[sign.start : sign.end]:
                yield replace(sign, sure=False)  # a name of something in code
            elif sign.sure and (kinds | earlier) & _META:
                quotes = _quoted(text) if quotes is None else quotes
                yield replace(sign, sure=not _told_of(sentence, sign, quotes))
            else:
                yield sign


_QUOTED = re.compile(
    r"\"[^\"\n]{6,400}\"|“[^”\n]{6,400}”|«[^»\n]{6,400}»|„[^“”\n]{6,400}[“”]|「[^」\n]{4,400}」|『[^』\n]{4,400}』|(?<!\w)'[^'\n]{6,400}'(?!\w)|`[^`\n]{6,400}`|‘[^’\n]{6,400}’"
)


def _quoted(text: str) -> list[tuple[int, int]]:
    return [one.span() for one in _QUOTED.finditer(text)]


def _told_of(sentence: list[Hit], sign: Sign, quotes: list[tuple[int, int]]) -> bool:
    """Whether what stands there is quoted, or told as what somebody does, rather than said."""
    start, end = sign.start, sign.end
    if any(begin <= start and end <= stop for begin, stop in quotes):
        return True
    return not any(hit.does & _FIRST and hit.does & _ORDERS and start <= hit.start < end for hit in sentence)


def together(sentence: Iterable[Hit]) -> int:
    """All that the hits of a sentence do."""
    kinds = 0
    for hit in sentence:
        kinds |= hit.does
    return kinds


def _met(sentence: list[Hit], kinds: int, earlier: int) -> Iterator[Sign]:
    """The signs of a sentence, one of each id at most."""
    seen: set[str] = set()
    ordered = together([hit for hit in sentence if hit.does & _FIRST])
    for wanted in _WANTED:
        rule = wanted.rule
        if kinds & wanted.kinds == wanted.kinds and rule.gives not in seen and wanted.may_hold(kinds, ordered, earlier):
            span = _meeting(sentence, wanted.apart, rule)
            if span:
                seen.add(rule.gives)
                yield Sign(rule.gives, *span, rule.sure)


def _meeting(sentence: list[Hit], kinds: tuple[int, ...], rule: Rule) -> tuple[int, int] | None:
    """From where to where words of all these kinds stand near one of the first kind; None if they do not."""
    for anchor in sentence:
        if not anchor.does & kinds[0] or (rule.first and not anchor.does & _FIRST):
            continue
        start, end = anchor.start, anchor.end
        for kind in kinds[1:]:
            near = [
                hit for hit in sentence if hit.does & kind and hit is not anchor and _apart(hit, anchor) <= rule.within
            ]
            if not near:
                break
            nearest = min(near, key=lambda hit: _apart(hit, anchor))
            start, end = min(start, nearest.start), max(end, nearest.end)
        else:
            return start, end
    return None


def _apart(one: Hit, other: Hit) -> int:
    return max(0, other.start - one.end, one.start - other.end)
