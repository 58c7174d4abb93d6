"""Size and limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from brainbench.field import wording
from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, short
from brainbench.replay.items import Step

WORDS = 600
MANY = 1000
GROWN = 5.0
"""How many times more than the cheapest hundred writes the last may cost."""
NOISE_CPU_S, NOISE_BYTES, NOISE_MS = 0.3, 1_000_000, 300.0
"""A hundred writes that cost less are not called expensive, whatever the first ones cost."""
MOST_MS = 100_000.0
"""What a hundred writes may take at most, whatever the first ones took."""
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
    question = draw.pick(wording.QUESTIONS).format(n=asked.name, w=asked.word)
    steps = (
        *(add(f"message {number}", scope, text) for number, text in enumerate(texts)),
        *(find(place, scope, fact.text, 1) for place, fact in wanted.items()),
        find("long question", scope, f"{log} {question}", 3),
    )

    def check(told: Told) -> Iterator[str]:
        for label, fact in (*wanted.items(), ("long question", asked)):
            if told.asked(label) and not any(fact.text in text for text in told.texts(label)):
                yield f"{label}: expected the message with {short(fact.text)}, got {told.gave(label)}"

    return Case((scope,), steps, check)


def growth(draw: Draw) -> Case:
    """A thousand writes, hundred by hundred: what the cheapest of these cost, beside the last."""
    (scope,) = draw.scopes(1)
    names = [f"write {number}" for number in range(MANY)]
    adds = [add(name, scope, text) for name, text in zip(names, draw.holdings(MANY), strict=True)]
    hundreds = [tuple(adds[start : start + 100]) for start in range(0, MANY, 100)]
    steps = tuple(Step(f"hundred {number}", "together", parts=(part,)) for number, part in enumerate(hundreds))
    # What is started by the first write costs only once.
    warm = draw.facts(1)[0]

    def check(told: Told) -> Iterator[str]:
        costs = [told[step.label] for step in steps]
        yield from _grown("CPU-s", [one.cpu_s for one in costs], NOISE_CPU_S)
        yield from _grown("bytes written", [one.written for one in costs], NOISE_BYTES)
        took = [told[name].ms for name in names if told.asked(name)]
        hundred_ms = [100 * median(took[start : start + 100]) for start in range(0, len(took), 100)] or [0.0]
        if costs[-1].cpu_s is None:
            yield from _grown("ms", hundred_ms, NOISE_MS)
        if hundred_ms[-1] > MOST_MS:
            yield f"expected a hundred writes within {MOST_MS / 1000:g} s, got {hundred_ms[-1] / 1000:.1f} s"

    return Case((scope,), (add("warm", scope, warm.text), *steps), check)


def _grown(what: str, costs: Sequence[float | None], noise: float) -> Iterator[str]:
    """That the last hundred cost no more than some times the cheapest, where it costs enough to tell."""
    known = [cost for cost in costs if cost is not None]
    if known and known[-1] > max(noise, GROWN * min(known)):
        grew = f"{min(known):,.4g} -> {known[-1]:,.4g}"
        yield f"expected no more than {GROWN:g} times the {what} of a hundred writes after {MANY}, got {grew}"


ROWS = (
    Row(
        "LIM-02",
        1,
        "a sentence in a long message is found wherever it stands, and a question at the end of a long one",
        tails,
    ),
    Row("LIM-05", 1, "another embedder of the same size is noticed", unasked="no verb chooses an embedder"),
    Row(
        "LIM-08",
        2,
        f"the last hundred of {MANY} writes cost no more than {GROWN:g} times the cheapest",
        growth,
        seconds=60,
    ),
)
