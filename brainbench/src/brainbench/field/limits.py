"""Size and limits."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, short
from brainbench.replay.items import Step

WORDS = 600
MANY = 1000
GROWN = 5.0
"""How many times slower the last writes may be than the first."""
NOISE_MS = 3.0
"""A write that takes less is not called slow, whatever the first ones took."""
MOST_MS = 1000.0
"""What a write may take at most, whatever the first ones took."""
_PLACES = ("first", "middle", "last")


def tails(draw: Draw) -> Case:
    """A sentence at the beginning, in the middle and at the end of long messages, and a long question."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(6)
    wanted = dict(zip(_PLACES, facts, strict=False))
    texts = []
    for number, fact in enumerate(facts):
        body = draw.long_text(WORDS)
        place = _PLACES[number % 3]
        body.insert({"first": 0, "middle": len(body) // 2, "last": len(body)}[place], f"{fact.text}.")
        texts.append(" ".join(body))
    log = " ".join(draw.long_text(400))
    asked = facts[draw.number(3, 5)]
    steps = (
        *(add(f"message {number}", scope, text) for number, text in enumerate(texts)),
        *(find(place, scope, fact.text, 1) for place, fact in wanted.items()),
        find("long question", scope, f"{log} What about {asked.name} and the {asked.word}?", 3),
    )

    def check(told: Told) -> Iterator[str]:
        for label, fact in (*wanted.items(), ("long question", asked)):
            if told.asked(label) and not any(fact.text in text for text in told.texts(label)):
                yield f"{label}: expected the message with {short(fact.text)}, got {told.gave(label)}"

    return Case((scope,), steps, check)


def growth(draw: Draw) -> Case:
    """A thousand writes, the quickest hundred beside the last."""
    (scope,) = draw.scopes(1)
    names = [f"write {number}" for number in range(MANY)]
    parts = (tuple(add(name, scope, f"{draw.town()} has {number} gates") for number, name in enumerate(names)),)

    def check(told: Told) -> Iterator[str]:
        took = [told[name].ms for name in names if told.asked(name)]
        hundreds = [median(took[start : start + 100]) for start in range(0, len(took), 100)] or [0.0]
        least, last = min(hundreds), hundreds[-1]
        if last > max(NOISE_MS, GROWN * least):
            yield f"expected writes no slower than {GROWN:g} times after {MANY}, got {least:.1f} ms -> {last:.1f} ms"
        if last > MOST_MS:
            yield f"expected a write after {MANY} within {MOST_MS:g} ms, got it in {last:.1f} ms"

    return Case((scope,), (Step("writes", "together", parts=parts),), check)


ROWS = (
    Row(
        "LIM-02",
        1,
        "a sentence in a long message is found wherever it stands, and a question at the end of a long one",
        tails,
    ),
    Row("LIM-05", 1, "another embedder of the same size is noticed", unasked="no verb chooses an embedder"),
    Row("LIM-08", 2, f"the last of {MANY} writes cost no more than {GROWN:g} times the quickest", growth, seconds=60),
)
