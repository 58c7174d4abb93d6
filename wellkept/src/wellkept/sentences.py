"""Where sentences end, and which sentences of a message are its writer's own statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex  # type: ignore[import-untyped]

MOST_CHARS = 400
"""A longer line is taken for something pasted."""
MOST_STATEMENTS = 24
"""Of one message no more are its own: whoever says more has pasted it."""
LONGEST_MESSAGE = 8_000
"""A longer message is taken for a paste."""
_LEAST_CHARS = 10
_LEAST_UNSPACED = 5
_MOST_MARKS = 0.3

_ABBREVIATED = regex.compile(
    r"(?:^|[\s(\[\"'“„«])(?:\p{L}|\p{L}\.(?:\s?\p{L}\.)*\s?\p{L}|\d{1,2}|mrs?|ms|dr|prof|st|jr|sr|sra|srta|mme|mlle|vs|no|nos|nr|nro|"
    r"núm|fig|vol|pp?|pg|ed|eds|approx|ca|cca|cf|etc|incl|excl|est|inc|ltd|corp|co|dept|gen|gov|hr|fr|bzw|usw|evtl|ggf|"
    r"inkl|sog|str|tel|max|min|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez|mon|tue|wed|thu|fri|sat|sun|"
    r"ул|стр|им|гг?|рис|np|tzn|ul|tj|resp|bijv|enz|mvh)\.$",
    regex.IGNORECASE,
)
_END = regex.compile(r"[.!?…؟।]+[\"'”’»)\]]*(?=\s+[^\p{Ll}\s]|\s*$)|[。！？]+[」』”）]*")

_FENCED = regex.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(?:.*?^[ \t]*\1[ \t]*$|.*\Z)", regex.DOTALL | regex.MULTILINE)
_TAGGED = regex.compile(r"<([\w:-]+)(?:\s[^<>]*)?>.*?</\1\s*>", regex.DOTALL)
_FOREIGN_FROM = regex.compile(
    r"^[ \t]*+(?:"
    r"[^\n]*[:：]"
    r"|(?:from|von|de|da|van|od|от|差出人|发件人|subject|betreff|objet|asunto)[ \t]*[:：][^\n]*"
    r"|-{3,}[^\n]*"
    r"|\p{L}\S*(?:[ \t]\S+){0,3}[,،、]"
    r"|[^\n]*(?:\b(?:this|these|below|following|dies|diese[ns]?|hier|folgende[ns]?|unten|ceci|ça|suivant|"
    r"esto|este texto|isto|isso|questo|qui sotto|это|этот текст|ниже|це|dit|hieronder|to|poniżej|tohle|níže|bunu|şunu|"
    r"detta|dette|nedan|هذا|את זה)"
    r"|これ|以下|这个|这段|下面|이거|다음)[.!:]?"
    r"|[^\n]*\b(?:look at|read|see|check(?: out)?|here(?:'s| is| are)|summari[sz]e|got|received)\b[^\n]*\n[ \t]*(?=\n)"
    r"|(?P<asked>[^\n]*[?？؟][ \t]*\n[ \t]*(?=\n))"
    r")[ \t]*$",
    regex.IGNORECASE | regex.MULTILINE,
)
_SPEAKER = regex.compile(
    r"^\s*(?:\[[^\]\n]{1,30}\]|\(?\d{1,2}:\d\d(?::\d\d)?\)?)\s*\S|"
    r"^\s*(?!(?:note|reminder|remember|remind|fyi|todo|decision|decided|important|update|btw|ps|keep in mind)\b)"
    r"[\p{L}\p{N}][\p{L}\p{M}\p{N} ._'’@-]{0,39}\s?[:：](?!//)\s*\S",
    regex.IGNORECASE,
)
"""A line of a chat or a transcript: another may speak there."""
_NOT_SAID = regex.compile(
    r"^(?:[ ]{4}|\t|\s*(?:[>|#$%]|//|/\*|\*/|<|\{|\}|\]|@@|\+\+\+|---|at\s+\S+\(|File \"|Traceback|Caused by|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|[\w.]*(?:Error|Exception|Warning)\b:|"
    r"\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|npm|FAIL|PASS)\b))"
)
_WRAPPED = regex.compile(r"(?<=[\p{L}\p{N},])[ \t]*\n[ \t]*(?=\p{Ll})")
_LIST_MARK = regex.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_QUOTED = regex.compile(r"^\s*[\"“„«「『‘'].*[\"”“»」』’'][.。]?\s*$", regex.DOTALL)
_LEANS = regex.compile(
    r"(?:it|its|it's|he|his|she|her|they|their|that|this|these|those|er|sein(?:e[nrs]?)?|sie|ihre?n?|es|das|dies(?:e[rs]?)?|dort|il|elle|ils|elles|son|sa|"
    r"ses|ça|c'est|lui|él|ella|su|sus|eso|ele|ela|isso|seu|sua|lei|suo|sua|questo|hij|zij|ze|zijn|haar|dat|on|ona|ono|jego|jej|to|"
    r"он|она|оно|они|его|её|это|він|вона|воно|його|її|це|o|onun|bu|han|hon|den|det|hans|hennes|هو|هي|它|他|她|それ|その|彼|그|그녀)(?=[\s,'’])",
    regex.IGNORECASE,
)
_LETTER = regex.compile(r"[\p{L}\p{M}\p{N}\s]")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_ASKS = regex.compile(r"[?？؟;]\s*[\"'”’»)\]」』）]*\s*$")
_GREEK = regex.compile(r"\p{Greek}")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a paragraph. A number or an abbreviation before a full stop ends none.

    >>> sentences("We meet on 3. Mai at noon. Bring e.g. Ann.")
    ('We meet on 3. Mai at noon.', 'Bring e.g. Ann.')
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if end[0] == "." and end.end() < len(text.rstrip()) and _ABBREVIATED.search(text[start : end.end()]):
            continue
        if sentence := text[start : end.end()].strip():
            found.append(sentence)
        start = end.end()
    if rest := text[start:].strip():
        found.append(rest)
    return tuple(found)


def statements(message: str) -> tuple[str, ...]:
    """The sentences of a message that state something in its writer's own words; () of a message that is a paste.

    Left out are questions, code, quotations, lines of logs, and all that follows a line which ends with a colon,
    greets somebody, points at what comes, begins a forwarded mail, or asks something and leaves a line empty: what
    stands there may be anybody's.

    >>> statements("The queue listens on 5433. Is it up?\\n\\n> Mallory: it is on 1\\n\\nHe wrote:\\nIt is on 2.")
    ('The queue listens on 5433.',)
    """
    if len(message) > LONGEST_MESSAGE:
        return ()
    own = _TAGGED.sub("\n", _FENCED.sub("\n", message))
    if foreign := _FOREIGN_FROM.search(own):
        own = own[: foreign.end() if foreign["asked"] else foreign.start()]
    found = list(_stated(own))
    return tuple(found) if len(found) <= MOST_STATEMENTS else ()


def _stated(own: str) -> Iterator[str]:
    for line in _WRAPPED.sub(" ", own).splitlines():
        said = _LIST_MARK.sub("", line).strip()
        if len(said) > MOST_CHARS or _NOT_SAID.match(line) or _SPEAKER.match(said) or _QUOTED.match(said):
            continue
        yield from _standing_alone([sentence for sentence in sentences(said) if _is_stated(sentence)])


def _standing_alone(found: Sequence[str]) -> Iterator[str]:
    """The sentences; one that begins with what stands for something named before comes with the one before it."""
    gathered = ""
    for sentence in found:
        leans = gathered and _LEANS.match(sentence) and len(gathered) + len(sentence) < MOST_CHARS
        if gathered and not leans:
            yield gathered
        gathered = f"{gathered} {sentence}" if leans else sentence
    if gathered:
        yield gathered


def asks(sentence: str) -> bool:
    """Whether the sentence ends as a question does."""
    return bool(_ASKS.search(sentence)) and (sentence.rstrip()[-1:] != ";" or bool(_GREEK.search(sentence)))


def _is_stated(sentence: str) -> bool:
    if asks(sentence):
        return False
    least = _LEAST_UNSPACED if _UNSPACED.search(sentence) else _LEAST_CHARS
    return len(sentence) >= least and len(_LETTER.sub("", sentence)) <= _MOST_MARKS * len(sentence)
