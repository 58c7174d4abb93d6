"""The bench's generic reflex, for systems that can only be searched.

Names in the prompt (handles and runs of capitalised words) are searched one by one; a hit counts when its title,
alias or id tail holds the name as whole words. Anything else stays silent: a search that always answers would
otherwise fire on every turn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from brainbench.model import Ask, Injection, SearchHit
from brainbench.systems import System

HITS = 5
"""How many hits per name are looked at."""
CANDIDATES = 12
_HANDLE = re.compile(r"@(\w{2,})")
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*")
_RUN_LENGTH = 4
_NOT_NAMES = frozenset(
    """
    i i'm i've i'd i'll a an the this that these those he she it we you they who what when where why how which is
    are was were do does did can could should would will shall may might must has have had and or but so if then
    also just yes no ok okay hi hey hello thanks thank please on in at to for from of with by about as not monday
    tuesday wednesday thursday friday saturday sunday my our your his her its their let lets
    """.split()
)


def reflex(system: System, ask: Ask) -> Injection:
    """Pointers to the pages that the prompt names, within the page budget, each page once a session."""
    prior = "\n".join((*(m.text for m in ask.messages[:-1]), *ask.injected))
    found: dict[str, SearchHit] = {}
    for name in names_in(ask.messages[-1].text):
        hit = next((h for h in system.search(ask.source, name, HITS) if _named(h, name)), None)
        if hit is not None and hit.id not in prior:
            found.setdefault(hit.id, hit)
        if len(found) == ask.budget.pages:
            break
    text = "\n".join(f"- **{_one_line(h.title or h.id)}** → `{h.id}`" for h in found.values())
    return Injection(text, ids=tuple(found))


def names_in(text: str) -> tuple[str, ...]:
    """Handles and capitalised runs of up to four words, in order, each once, at most 12.

    A run is tried without its first word too, which may be capitalised for beginning a sentence.

    >>> names_in("Did Ada Lovelace reply to @babbage?")
    ('Ada Lovelace', 'babbage')
    """
    text = unicodedata.normalize("NFC", text)[:20_000]
    spans = [(m.start(), m.group(1)) for m in _HANDLE.finditer(text)]
    for start, words in _runs(text):
        spans += [(start, _trimmed(words[:])), (start, _trimmed(words[1:]))]
    spans.sort(key=lambda span: (span[0], -len(span[1])))
    names = (name for _, name in spans if len(name) >= 2)
    return tuple(dict.fromkeys(names))[:CANDIDATES]


def _runs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Stretches of capitalised words with nothing but blanks between them, and where each begins."""
    run: list[str] = []
    start = end = 0
    for token in _TOKEN.finditer(text):
        joins = run and len(run) < _RUN_LENGTH and text[end : token.start()].isspace()
        if run and not (joins and token.group()[0].isupper()):
            yield start, run
            run = []
        if token.group()[0].isupper() and text[token.start() - 1 : token.start()] != "@":
            start = start if run else token.start()
            run.append(token.group())
            end = token.end()
    if run:
        yield start, run


def _trimmed(words: list[str]) -> str:
    while words and words[0].casefold().replace("’", "'") in _NOT_NAMES:
        words.pop(0)
    if words:
        words[-1] = re.sub(r"['’]s?$", "", words[-1])
    return " ".join(words)


def _named(hit: SearchHit, name: str) -> bool:
    tail = hit.id.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")
    wanted = re.compile(rf"(?<!\w){re.escape(_fold(name))}(?!\w)")
    return any(wanted.search(_fold(label)) for label in (hit.title, tail, *hit.aliases))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _one_line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
