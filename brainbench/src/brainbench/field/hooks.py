"""Hooks, injection, capture."""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.field import wording
from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, listed, reopen
from brainbench.model import Capability
from brainbench.replay.items import Step


def long_prompt(draw: Draw) -> Case:
    """A question below two thousand words of log."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(6)
    asked = facts[draw.number(2, 4)]
    question = draw.pick(wording.QUESTIONS).format(n=asked.name, w=asked.word)
    log = " ".join(draw.long_text(2000))
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts),
        find("alone", scope, question, 1),
        find("below a log", scope, f"{log}\n{question}", 1),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("alone", "below a log"):
            if told.asked(label) and asked.text not in told.texts(label):
                yield f"{label}: expected {asked.text!r}, got {told.gave(label)}"

    return Case((scope,), steps, check)


def secrets(draw: Draw) -> Case:
    """Credentials in a conversation, and what only looks like them."""
    (scope,) = draw.scopes(1)

    def letters(count: int) -> str:
        return "".join(
            draw.random.choice("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(count)
        )

    key, token, word = f"sk-{letters(40)}", f"ghp_{letters(36)}", letters(14)
    block = "\n".join(letters(64) for _ in range(3))
    begin, end = (f"-----{part} RSA PRIVATE KEY-----" for part in ("BEGIN", "END"))
    town = draw.town().lower()
    decoys, (asks, connects, stay) = draw.pick(wording.DECOYS), draw.pick(wording.SECRET_TURNS)
    address = f"postgres://admin:{word}@db.{town}.example/prod"
    said = (
        asks.format(t=town, key=key, token=token),
        f"Noted. {decoys[0]}, and the config says {decoys[1]}",
        f"{connects.format(t=town, address=address)}\n{begin}\n{block}\n{end}",
        f"Understood, {town} it is.",
    )
    steps = (
        Step("said", "converse", scope, messages=said),
        Step("page", "read", scope, of="said"),
        Step("search", "search", scope, town, limit=10),
        Step("by secret", "search", scope, key, limit=10),
    )

    def check(told: Told) -> Iterator[str]:
        text = "\n".join(text for label in ("page", "search", "by secret") for text in told.texts(label))
        for secret, what in (
            (key, "sk- key"),
            (token, "ghp_ token"),
            (word, "password in an address"),
            (block.split("\n")[1], "PEM block"),
        ):
            if secret in text:
                yield f"conversation: expected the {what} masked, got it as it was"
        for words in (*(part.format(t=town) for part in stay), said[3]):
            if told.asked("said") and words not in text:
                yield f"conversation: expected {words!r} beside what is masked, got it nowhere"
        for decoy in decoys:
            if told.asked("said") and decoy not in text:
                yield f"conversation: expected {decoy!r} untouched, got it nowhere"

    return Case((scope,), steps, check)


def kept_or_said_so(draw: Draw) -> Case:
    """Writes that were acknowledged, counted."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(5)
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts),
        listed("list", scope),
        reopen(optional=True),
        listed("list, reopened", scope),
    )

    def check(told: Told) -> Iterator[str]:
        accepted = [fact.text for fact in facts if told.asked(fact.name)]
        for label in ("list", "list, reopened"):
            yield from told.holds(label, *accepted)

    return Case((scope,), steps, check)


def pushed_is_found(draw: Draw) -> Case:
    """The same words through the automatic path and through search."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(9)
    asked = facts[draw.number(3, 5)]
    question = draw.pick(wording.ABOUT).format(n=asked.name)
    pages = [
        Step(
            f"page {n}",
            "put",
            scope,
            f"---\ntitle: {fact.name}\ntype: person\n---\n\n{fact.text}.\n",
            name=f"people/{fact.name.lower()}",
        )
        for n, fact in enumerate(facts)
    ]
    steps = (
        *pages,
        Step("pushed", "context", scope, question, limit=3),
        Step("found", "search", scope, question, limit=20),
        Step("best", "search", scope, question, limit=3),
    )

    def check(told: Told) -> Iterator[str]:
        pushed, found = ([row.id for row in told[label].rows] for label in ("pushed", "found"))
        wanted = f"people/{asked.name.lower()}"
        best = [row.id for row in told["best"].rows]
        if told.asked("best") and wanted not in best:
            yield f"{told.call('best')}: expected {wanted}, got {best or 'nothing'}"
        if told.asked("pushed") and wanted not in pushed:
            yield f"{told.call('pushed')}: expected {wanted}, which search finds, got {pushed or 'nothing'}"
        if strange := [name for name in pushed if name not in found]:
            yield f"{told.call('pushed')}: expected only what search finds, got {strange}"

    return Case((scope,), steps, check)


ROWS = (
    Row(
        "HOK-01",
        1,
        "a slow memory does not hold up the prompt",
        unasked="it needs a memory that answers late, behind the hook that a harness runs",
    ),
    Row(
        "HOK-02",
        1,
        "what was said is kept before the session ends",
        unasked="it needs the hook that a harness cuts off when a session ends",
    ),
    Row(
        "HOK-03",
        1,
        "the hook answers in the field that the harness reads",
        unasked="the answer of a hook is a harness's own form; `brainbench run` asks it of who has hooks",
    ),
    Row(
        "HOK-05",
        1,
        "what was injected is not captured as something new",
        unasked="what a capture leaves out is done by the hook, not by the verb that takes a conversation",
    ),
    Row("HOK-08", 2, "a question below a long log brings what it brings alone", long_prompt),
    Row(
        "HOK-09",
        1,
        "credentials in a conversation are masked, and what only looks like them is not",
        secrets,
        needs=frozenset({Capability.ADD}),
    ),
    Row("HOK-11", 1, "what was accepted is what is kept", kept_or_said_so),
    Row(
        "HOK-12",
        1,
        "an instruction in a document stays quoted data",
        unasked="how a memory frames what it injects is its own; nobody can tell its frame from its content",
    ),
    Row("HOK-13", 1, "a question is not told as a fact", unasked="LLM: needs an extracting model"),
    Row(
        "HOK-15",
        2,
        "what is pushed is what search finds, and what search finds of a name is pushed",
        pushed_is_found,
        needs=frozenset({Capability.ADD}),
    ),
    Row("HOK-16", 2, "a memory that may not write says that it did not", unasked="no verb switches writing off"),
)
