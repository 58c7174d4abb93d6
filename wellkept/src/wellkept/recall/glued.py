"""Names in scripts that write words without spaces between them, in Korean words with their endings, and emoji."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product

import regex  # type: ignore[import-untyped]

from wellkept.names import norm
from wellkept.recall.sighting import Sighting
from wellkept.recall.words import languages, read_sections

LOOKUPS = 6_000
EMOJI = 8
SPACES = 200
_SPACED_STEPS = 4
_CJK_CHARS = 8
_SECTIONS = ("hard", "common")
_CJK_STRETCH_CHARS = 24
_CLUSTERS = 28
_SURE_CLUSTER_CHARS = 5

_GLUED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー・々〆〇]")
_CJK_RUN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}A-Za-z0-9ー・々〆〇]+")
_CLUSTER_RUN = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+(?: [\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+)*")
_CLUSTER = regex.compile(r"\X")
_STRETCH = regex.compile(r"\p{Han}+|\p{Hiragana}+|[\p{Katakana}ー・]+|[a-z0-9]+|.", regex.DOTALL)
_KATAKANA = regex.compile(r"[\p{Katakana}ー]")
_HIRAGANA_ONLY = regex.compile(r"[\p{Hiragana}ー]+")
_LATIN_OR_DIGIT = regex.compile(r"[a-z0-9]")
_HONORIFIC_AFTER = regex.compile(r"さん|ちゃん|くん|君|様|さま|氏|先生|先輩|女士|小姐|阿姨|叔叔|老师|師傅|师傅|医生")
_HONORIFIC_BEFORE = regex.compile(r"(?:คุณ|พี่|น้อง|ครู|หมอ|ลุง|ป้า|น้า|ช่าง|เจ๊|ท้าว|ນາງ|ທ້າວ|ကို|မ|ဦး|លោក)$")
_EMOJI_RUN = regex.compile(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u200d\ufe0f\u20e3]+")


def glued_sightings(text: str) -> Iterator[Sighting]:
    """Stretches of Chinese, Japanese, Thai, Lao, Khmer and Burmese that may be names.

    A long text is read at its two ends, so that the number of stretches stays below a fixed bound.
    """
    if not _GLUED.search(text):
        return
    for pattern, spans, longest, shortest in (
        (_CJK_RUN, _cjk_spans, _CJK_CHARS, 4),
        (_CLUSTER_RUN, _cluster_spans, _CLUSTERS, 10),
    ):
        runs = [(match.start(), norm(match[0])) for match in pattern.finditer(text) if not match[0].isascii()]
        chars = sum(len(run) for _, run in runs)
        width = max(shortest, min(longest, LOOKUPS // max(chars, 1)))
        for offset, run in _ends(runs, LOOKUPS // width):
            for start, end in spans(run, width):
                key = run[start:end]
                called = bool(_HONORIFIC_AFTER.match(run, end))
                if called or not _is_general(key):
                    yield Sighting(key, key, True, offset + start, offset + end, "glued", single=called)
    yield from _spaced_sightings(text)


def _spaced_sightings(text: str) -> Iterator[Sighting]:
    """Names written with a space between their two parts, as family and given name may be."""
    matches = [match for match in _CJK_RUN.finditer(text) if not match[0].isascii()]
    gaps = [(one, two) for one, two in pairwise(matches) if text[one.end() : two.start()] in (" ", "\u3000")]
    for left, right in gaps[: SPACES // 2] + gaps[max(SPACES // 2, len(gaps) - SPACES // 2) :]:
        one, two = left[0], right[0]
        starts = [at for at in range(len(one)) if _may_cut(one, at)][-_SPACED_STEPS:]
        ends = [at for at in range(1, len(two) + 1) if _may_cut(two, at)][:_SPACED_STEPS]
        for start, end in product(starts, ends):
            parts = one[start:], two[:end]
            if not any(part.isascii() or _HIRAGANA_ONLY.fullmatch(part) for part in parts):
                surface = text[left.start() + start : right.start() + end]
                yield Sighting(surface, norm(surface), True, left.start() + start, right.start() + end, "glued")


def hangul_forms(word: str) -> Iterator[str]:
    """What may be a name in a Korean word: its beginnings, longest first, without the endings.

    After two syllables the rest must be an ending that follows names; three and more are distinctive enough.
    """
    tails = read_sections("names.txt")["korean-tail"]
    for length in range(min(len(word) - 1, 12), 1, -1):
        if length > 2 or norm(word[length:]) in tails:
            yield word[:length]


def emoji_sightings(text: str) -> Iterator[Sighting]:
    """Emoji of the text, one by one and, where they stand together, as one; at most 8 stretches."""
    for number, match in enumerate(() if text.isascii() else _EMOJI_RUN.finditer(text)):
        if number == EMOJI:
            return
        clusters = _CLUSTER.findall(match[0])[:EMOJI]
        for variant, cluster in enumerate(dict.fromkeys([match[0][:32], *clusters])):
            key = norm(cluster)
            if key:
                yield Sighting(cluster, key, True, match.start(), match.end(), "emoji", variant=variant)


def _ends(runs: list[tuple[int, str]], chars: int) -> list[tuple[int, str]]:
    if sum(len(run) for _, run in runs) <= chars:
        return runs
    head: list[tuple[int, str]] = []
    tail: list[tuple[int, str]] = []
    left = right = chars // 2
    for offset, run in runs:
        if left > 0:
            head.append((offset, run[:left]))
            left -= len(run)
    for offset, run in reversed(runs):
        if right > 0:
            cut = max(0, len(run) - right)
            tail.append((offset + cut, run[cut:]))
            right -= len(run)
    return head + tail[::-1]


def _cjk_spans(run: str, longest: int) -> Iterator[tuple[int, int]]:
    """Stretches that cut no Latin word, number or katakana word in two and are no hiragana without an honorific."""
    size = len(run)
    edges = [at for at in range(size + 1) if _may_cut(run, at)]
    changes = [match.start() for match in _STRETCH.finditer(run)] + [size]
    pairs = [(a, b) for at, a in enumerate(edges) for b in edges[at + 1 : at + 1 + longest] if 2 <= b - a <= longest]
    pairs += [
        (a, b)
        for at, a in enumerate(changes)
        for b in changes[at + 1 : at + 9]
        if longest < b - a <= _CJK_STRETCH_CHARS and longest == _CJK_CHARS
    ]
    for start, end in pairs:
        key = run[start:end]
        if "・" in (key[0], key[-1]) or key.isascii():
            continue
        if not _HIRAGANA_ONLY.fullmatch(key) or _HONORIFIC_AFTER.match(run, end):
            yield start, end


def _may_cut(run: str, at: int) -> bool:
    if at in (0, len(run)):
        return True
    before, after = run[at - 1], run[at]
    return not any(kind.match(before) and kind.match(after) for kind in (_KATAKANA, _LATIN_OR_DIGIT))


def _cluster_spans(run: str, longest: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole clusters; a short one only between spaces or after an honorific."""
    edges = [match.start() for match in _CLUSTER.finditer(run)] + [len(run)]
    for at, start in enumerate(edges):
        if run[start : start + 1] == " ":
            continue
        for end in edges[at + 2 : at + 1 + longest]:
            if run[end - 1] == " " or end - start < 3:
                continue
            apart = (start == 0 or run[start - 1] == " ") and (end == len(run) or run[end] == " ")
            called = _HONORIFIC_BEFORE.search(run, max(0, start - 5), start)
            if apart or called or end - start >= _SURE_CLUSTER_CHARS:
                yield start, end


@cache
def _general_words() -> frozenset[str]:
    return frozenset().union(
        *(language.words(section) for language in languages() if language.code in "zh ja" for section in _SECTIONS)
    )


def _is_general(key: str) -> bool:
    return key in _general_words()
