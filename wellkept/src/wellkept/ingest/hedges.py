"""Whether what somebody said supports a statement as certain: a question supports nothing, a guess only a guess."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

from wellkept.sentences import asks, sentences

_HEDGES = (
    r"maybe|perhaps|probably|possibly|presumably|supposedly|apparently|might|could\ be|may\ be|not\ sure|i\ think|"
    r"i\ guess|i\ believe|i\ suppose|seems?|likely|allegedly|"
    r"vielleicht|möglicherweise|wahrscheinlich|vermutlich|womöglich|anscheinend|angeblich|wohl|ich\ glaube|könnte|"
    r"peut-être|probablement|sans\ doute|il\ paraît|je\ crois|je\ pense|"
    r"quizás?|tal\ vez|a\ lo\ mejor|probablemente|posiblemente|creo\ que|talvez|provavelmente|acho\ que|"
    r"forse|probabilmente|credo\ che|magari|misschien|waarschijnlijk|ik\ denk|vermoedelijk|"
    r"kanske|troligen|förmodligen|kanskje|måske|sandsynligvis|ehkä|luultavasti|"
    r"może|chyba|prawdopodobnie|možná|asi|snad|возможно|наверное|может\ быть|вероятно|кажется|можливо|мабуть|"
    r"belki|galiba|muhtemelen|mungkin|barangkali|có\ lẽ|có\ thể|ίσως|μάλλον|אולי|כנראה"
)
_UNSPACED = r"可能|也许|大概|或许|かもしれ|たぶん|多分|おそらく|아마|อาจจะ|ربما|لعل|قد\ يكون"
_HEDGED = regex.compile(rf"(?<![\p{{L}}\p{{M}}])(?:{_HEDGES})(?![\p{{L}}\p{{M}}])|{_UNSPACED}", regex.IGNORECASE)

_CLAUSE = regex.compile(r"[,;:–—]\s+")
_LEAST_ASKED = 4
"""So many words make a clause that asks for something of its own."""


def is_hedged(text: str) -> bool:
    """Whether the text says itself that it is not sure.

    >>> is_hedged("Maybe she moves in May"), is_hedged("Ада, наверное, переедет"), is_hedged("She moves in May")
    (True, True, False)
    """
    return _HEDGED.search(text) is not None


def is_asked(message: str, span: tuple[int, int]) -> bool:
    """Whether all that stands in the span of a message is part of a question.

    What is told before something else is asked, in one sentence, is told.

    >>> is_asked("She moves? I know it.", (0, 9)), is_asked("She moves? I know it.", (11, 20))
    (True, False)
    >>> is_asked("She moves, can you keep that for me?", (0, 9)), is_asked("She moves, right?", (0, 9))
    (False, True)
    """
    start = 0
    said = []
    for sentence in sentences(message):
        start = message.index(sentence, start)
        end = start + len(sentence)
        if start < span[1] and span[0] < end:
            said.append(asks(sentence) and not _is_told_first(sentence, span[1] - start))
        start = end
    return bool(said) and all(said)


def _is_told_first(sentence: str, end: int) -> bool:
    """Whether what stands before `end` is told, and only a clause after it asks: something longer than "right?"."""
    for comma in _CLAUSE.finditer(sentence, max(0, end)):
        told, asked = sentence[: comma.start()], sentence[comma.end() :]
        if len(asked.split()) >= _LEAST_ASKED and asks(asked) and not asks(f"{told}."):
            return True
    return False
