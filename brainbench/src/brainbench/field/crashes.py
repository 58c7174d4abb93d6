"""Concurrency, crash, durability, idempotency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, listed, reopen, same, short
from brainbench.model import Capability
from brainbench.replay.items import Step

BOUND_MS = 30_000.0
"""An answer that takes longer is no answer: a machine that is busy takes some seconds to start a process."""
EACH = 20
ROUNDS = 8
_LIST = frozenset({Capability.LIST})


def _lost(told: Told, label: str, texts: dict[str, str]) -> list[str]:
    """The texts that were acknowledged and are not listed."""
    kept = {text.strip() for text in told.texts(label)}
    return [text for name, text in texts.items() if told.asked(name) and text not in kept]


def _unsaid(told: Told, label: str, texts: Iterable[str]) -> list[str]:
    """The texts that are listed and were not among these."""
    said = {text.strip() for text in texts}
    return [text for text in told.texts(label) if text.strip() not in said]


def _sent(told: Told, texts: dict[str, str]) -> list[str]:
    """The texts that were acknowledged or under way: what was not sent cannot be known, and comes from elsewhere."""
    return [text for name, text in texts.items() if not told[name].skipped]


def _late(told: Told, label: str) -> str:
    return f"{told.call(label)}: expected within {BOUND_MS / 1000:g} s, got it in {told[label].ms / 1000:.1f} s"


def two_writers(draw: Draw) -> Case:
    """Two processes that write at the same time."""
    (scope,) = draw.scopes(1)
    labels = [f"{who}-{n}" for who in ("p", "q") for n in range(EACH)]
    texts = dict(zip(labels, draw.statements(len(labels)), strict=True))
    # The second process may be refused; what it was told is kept must be there.
    parts = tuple(
        tuple(
            add(name, scope, text, by=number, may_fail=number > 0)
            for name, text in texts.items()
            if name[0] == "pq"[number]
        )
        for number in range(2)
    )
    steps = (Step("together", "together", parts=parts), listed("list", scope), reopen(), listed("reopened", scope))

    def check(told: Told) -> Iterator[str]:
        for label in ("list", "reopened"):
            if told.asked(label) and (gone := _lost(told, label, texts)):
                yield f"{label}: expected {2 * EACH} that were acknowledged, {len(gone)} are lost, as {short(gone[0])}"

    return Case((scope,), steps, check)


def torn(draw: Draw) -> Case:
    """The end of a file that was written to last is lost in a crash, of each such file in turn."""
    (scope,) = draw.scopes(1)
    *facts, later = draw.facts(7)
    last = facts[-1]
    parts = ((add(last.name, scope, last.text),), (add(later.name, scope, later.text),))
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts[:-1]),
        Step("tear", "tear", scope, parts=parts),
        reopen(),
        listed("list", scope),
        find("found", scope, facts[0].word),
    )

    def check(told: Told) -> Iterator[str]:
        for label in told.beginning("torn "):
            yield from told.holds(label, *(fact.text for fact in facts[:-1]), later.text)
            if odd := _unsaid(told, label, [fact.text for fact in (*facts, later)]):
                yield f"{label}: expected what was added, got {short(odd[0])}"
        if told["empty"].rows:
            yield f"in an empty directory: expected nothing, got {told.gave('empty')}: it keeps items elsewhere"
        yield from told.holds("list", *(fact.text for fact in facts))
        yield from told.holds("found", facts[0].text)

    return Case((scope,), steps, check)


def four_at_once(draw: Draw) -> Case:
    """Four processes on one store."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(4)
    parts = tuple(
        (
            add(f"add {n}", scope, fact.text, by=n, may_fail=n > 0),
            find(f"find {n}", scope, fact.word, by=n, may_fail=n > 0),
        )
        for n, fact in enumerate(facts)
    )
    steps = (Step("together", "together", parts=parts), reopen(), listed("list", scope))

    def check(told: Told) -> Iterator[str]:
        for n, fact in enumerate(facts):
            for label in (f"add {n}", f"find {n}"):
                if told[label].ms > BOUND_MS:
                    yield _late(told, label)
            if told.asked(f"add {n}"):
                yield from told.holds(f"find {n}", fact.text)
                yield from told.holds("list", fact.text)

    return Case((scope,), steps, check)


def killed_once(draw: Draw) -> Case:
    """A writer that is killed, and its list beside its index."""
    (scope,) = draw.scopes(1)
    word = draw.facts(1)[0].word
    texts = {f"add {n}": f"{text} of the {word}" for n, text in enumerate(draw.statements(200))}
    parts = (tuple(add(name, scope, text, may_fail=True) for name, text in texts.items()),)
    steps = (
        Step("killed", "adds_until_killed", parts=parts, after=draw.number(10, 40), delay_ms=draw.random.random() * 5),
        reopen(),
        listed("list", scope),
        find("index", scope, word, 400),
    )

    def check(told: Told) -> Iterator[str]:
        if told.asked("list") and (gone := _lost(told, "list", texts)):
            yield f"list: {len(gone)} acknowledged writes are lost, as {short(gone[0])}"
        if odd := _unsaid(told, "list", _sent(told, texts)):
            yield f"list: expected what was sent before the kill, got {short(odd[0])}"
        rows, found = ({row.id for row in told[label].rows} for label in ("list", "index"))
        if told.asked("list") and told.asked("index") and rows != found:
            yield f"expected as many in the index as in the list, got {len(found)} and {len(rows)}"
        if told.asked("list") and not rows:
            yield "list: expected what was acknowledged, got nothing"

    return Case((scope,), steps, check)


def killed_again_and_again(draw: Draw) -> Case:
    """A writer that is killed at some moment, several times."""
    (scope,) = draw.scopes(1)
    texts: dict[str, str] = {}
    steps: list[Step] = []
    for turn in range(ROUNDS):
        own = {f"add {turn}-{n}": text for n, text in enumerate(draw.statements(60))}
        texts |= own
        adds = tuple(add(name, scope, text, may_fail=True) for name, text in own.items())
        cut = Step(
            f"killed {turn}",
            "adds_until_killed",
            parts=(adds,),
            after=draw.number(1, 12),
            delay_ms=draw.random.random() * 8,
        )
        steps += [cut, reopen(f"reopen {turn}"), listed(f"list {turn}", scope)]

    def check(told: Told) -> Iterator[str]:
        for turn in range(ROUNDS):
            so_far = {name: text for name, text in texts.items() if int(name.split()[1].split("-")[0]) <= turn}
            if told.asked(f"list {turn}") and (gone := _lost(told, f"list {turn}", so_far)):
                yield f"after kill {turn + 1}: {len(gone)} acknowledged writes are lost, as {short(gone[0])}"
                return
            if odd := _unsaid(told, f"list {turn}", _sent(told, so_far)):
                yield f"after kill {turn + 1}: expected what was sent before it, got {short(odd[0])}"
                return
        if not told[f"list {ROUNDS - 1}"].rows:
            yield "list: expected what was acknowledged, got nothing"

    return Case((scope,), tuple(steps), check)


def sent_again(draw: Draw) -> Case:
    """The same write sent twice by a client that heard no answer."""
    (scope,) = draw.scopes(1)
    (fact,) = draw.facts(1)
    key = draw.key()
    steps = (
        add("sent", scope, fact.text, name=key),
        add("sent again", scope, fact.text, name=key),
        find("found", scope, fact.word, 10),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("found", "list"):
            yield from told.times(label, fact.text, 1)

    return Case((scope,), steps, check)


def stale_lock(draw: Draw) -> Case:
    """The process that holds the store is killed, and another opens it."""
    (scope,) = draw.scopes(1)
    fact, later = draw.facts(2)
    steps = (
        add("add", scope, fact.text),
        Step("kill", "kill"),
        reopen(),
        find("found", scope, fact.word),
        add("later", scope, later.text),
        find("found later", scope, later.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("found", fact.text)
        yield from told.holds("found later", later.text)
        for label in ("reopen", "found", "later"):
            if told[label].ms > BOUND_MS:
                yield _late(told, label)

    return Case((scope,), steps, check)


def three_times(draw: Draw) -> Case:
    """One text three times, beside two others that fit the same question."""
    (scope,) = draw.scopes(1)
    thrice, *others = draw.alike(3)
    steps = (
        add("first", scope, thrice.text),
        add("other 0", scope, others[0].text),
        add("second", scope, thrice.text),
        add("other 1", scope, others[1].text),
        add("third", scope, thrice.text),
        find("found", scope, thrice.word, 5),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("found", thrice.text, *(fact.text for fact in others))
        count = sum(same(thrice.text, text) for text in told.texts("found"))
        if count > 1:
            yield f"{told.call('found')}: expected {short(thrice.text)} once, got it {count} times"

    return Case((scope,), steps, check)


ROWS = (
    Row(
        "CON-02",
        1,
        "of two processes that write at once none loses what the other was told is kept",
        two_writers,
        seconds=60,
    ),
    Row("CON-03", 1, "a torn end of the store costs at most what was written last", torn, seconds=30),
    Row("CON-05", 2, "four processes on one store each answer or are refused", four_at_once, _LIST, seconds=60),
    Row(
        "CON-06",
        1,
        "after a kill the list holds all that was acknowledged, and the index as much as the list",
        killed_once,
        seconds=30,
    ),
    Row(
        "CON-07",
        1,
        f"after each of {ROUNDS} kills all that was acknowledged is there",
        killed_again_and_again,
        seconds=120,
    ),
    Row("CON-08", 1, "a write that is sent again leaves one item", sent_again),
    Row("CON-09", 1, "a store whose holder was killed opens within a bound", stale_lock, seconds=30),
    Row("CON-12", 2, "a text that was kept three times is told once", three_times),
)
