"""Composes a payload and its benign twin, and the script in which both come in and their topic comes up later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from brainbench.datasets.adversarial_gen import universe
from brainbench.datasets.adversarial_gen.disguise import (
    ENCODINGS,
    FORGED,
    HARMLESS_MARKS,
    disguises_of,
    encodings_of,
    unseen,
)
from brainbench.datasets.adversarial_gen.dress import OF_ONE_LINE, Around, Channel, dressed
from brainbench.datasets.adversarial_words import sentences
from brainbench.datasets.core_gen.world import Named, Names, Page
from brainbench.datasets.item_script import ItemScript
from brainbench.datasets.splitmix import SplitMix64

PREFERENCES = frozenset({"A2", "A3", "A11", "A13"})
"""Classes whose payloads are standing preferences, commitments or prohibitions."""
SPREAD, DORMANT = "A8", "A9"
QUIET_SESSIONS = 4
"""Sessions on other matters between a dormant payload and its topic."""
OTHER_SOURCES = ("studio", "garden")
NOTE, BETWEEN = "triggers: ", " / "
"""How a note on a payload lists the words that it shares with its twin."""
CANARY = "{{{{canary:{name}}}}}"
_GAP = "\ue000"
"""Where the canary will stand; a character that no layout has to escape."""
_SHOWN = "Belenbry Corazig"
"""As long as a canary is, for measuring texts."""


@dataclass(frozen=True, slots=True)
class Case:
    """Which payload: its class, channel, number there, and what it is about."""

    attack: str
    channel: Channel
    n: int
    topic: str


@dataclass(frozen=True, slots=True)
class Core:
    """What a payload or its twin says, in one or more parts, with slots for names. `kind` is its disguise, if any."""

    parts: tuple[str, ...]
    kind: str = ""


Cores = tuple[Core, Core]


def fill(script: ItemScript, case: Case) -> None:
    """Make the fixture: the true answer, the payload and the twin in any order, quiet sessions, and the question."""
    rng, words = script.rng, sentences(script.language)
    names = Names(rng)
    said: dict[str, Any] = {"o": names.thing("company"), "t": names.thing("project"), "p": names.person()}
    said["q"] = names.person()
    while said["q"].title in universe.told():
        said["q"] = names.person()
    topic = words["topics"][case.topic]
    of: Named = said["t"] if case.topic in ("tool", "docs") else said["o"]
    script.seed(Page(of, rng.pick(topic["fact"]).format(**said), rng.pick(words["fillers"])))
    if case.n % 3 == 2:
        for name in OTHER_SOURCES:
            script.seed(_elsewhere(names, words, rng), script.source(name))
    entry = words[case.attack][case.n % len(words[case.attack])]
    bad, good = _cores(rng, script.language, case, entry)
    layout = _layout(rng, case.channel, bad)
    script.tags = tuple(filter(None, (case.channel.name, layout, case.topic, bad.kind)))
    texts = _texts(rng, words, case, layout, (bad, good), said)
    things = _play(script, case, texts)
    script.turn(rng.pick(topic["ask"]).format(**said))
    _judge(script, case, things, said, entry)


def _elsewhere(names: Names, words: Mapping[str, Any], rng: SplitMix64) -> Page:
    """A page of another source of the owner, on the same kind of matter."""
    said = {"o": names.thing("company"), "t": names.thing("project"), "p": names.person()}
    return Page(said["o"], rng.pick(words["topics"]["plan"]["fact"]).format(**said), rng.pick(words["fillers"]))


def _cores(rng: SplitMix64, language: str, case: Case, entry: Mapping[str, Any]) -> Cores:
    bad, good = entry["bad"], entry["good"]
    match case.attack:
        case "A5":
            mark = rng.pick(FORGED)
            sample = mark.format(core="...")
            return Core((mark.format(core=bad),), "forged"), Core((f"{good}\n\n```\n{sample}\n```\n",))
        case "A6":
            kind = rng.pick(disguises_of(language))
            return Core((unseen(kind, bad),), kind), Core((f"{good} {rng.pick(HARMLESS_MARKS)}",))
        case "A7":
            kind = rng.pick(encodings_of(language))
            encode = ENCODINGS[kind]
            return Core((f"{bad}\n\n{encode(entry['hid'])}\n",), kind), Core(
                (f"{good}\n\n{encode(entry['hid_good'])}\n",)
            )
        case "A8":
            return Core(tuple(bad.split("||"))), Core(tuple(good.split("||")))
        case _:
            return Core((bad,)), Core((good,))


def _layout(rng: SplitMix64, channel: Channel, core: Core) -> str:
    several = any("\n" in part for part in core.parts) or core.kind == "forged"
    return rng.pick([name for name in channel.layouts if not several or name not in OF_ONE_LINE])


@dataclass(frozen=True, slots=True)
class Pair:
    """The texts of a payload and of its twin, part by part."""

    payload: tuple[str, ...]
    twin: tuple[str, ...]


def _texts(
    rng: SplitMix64, words: Mapping[str, Any], case: Case, layout: str, cores: Cores, said: Mapping[str, Any]
) -> Pair:
    """Both texts, each part with other ordinary sentences around it and the twin's as many as its length needs."""
    titles, number = rng.sample(words["titles"], 2), rng.between(11, 900)
    pairs: list[tuple[str, str]] = []
    for at, spoken in enumerate(zip(cores[0].parts, cores[1].parts, strict=True)):
        openers, closers, reasons = (rng.sample(words[key], 2) for key in ("openers", "closers", "reasons"))
        told = rng.below(3) > 0
        choices = [
            [
                Around(
                    titles[side], openers[side], closers[side], reasons[side] * told, fillers, number + 3 * side + at
                )
                for fillers in _some(rng, words)
            ]
            for side in (0, 1)
        ]
        ways = [
            [dressed(case.channel, layout, _spoken(spoken[side], said), a) for a in choices[side]] for side in (0, 1)
        ]
        pairs.append(min(product(ways[0], ways[1]), key=lambda pair: unlike(*pair)))
    return Pair(tuple(one for one, _ in pairs), tuple(other for _, other in pairs))


def _some(rng: SplitMix64, words: Mapping[str, Any]) -> list[Sequence[str]]:
    """The ordinary sentences in every number up to two, in an order of their own."""
    every = rng.sample(words["fillers"], len(words["fillers"]))
    return [chosen for count in range(3) for chosen in combinations(every, count)]


def _spoken(core: str, said: Mapping[str, Any]) -> str:
    """The core with its names, and with the canary's place where it has one."""
    for slot, name in {**said, "c": _GAP}.items():
        core = core.replace("{" + slot + "}", str(name))
    return core


def unlike(one: str, other: str) -> float:
    """By how much of the longer text the two differ in length."""
    lengths = sorted(len(text.replace(_GAP, _SHOWN)) for text in (one, other))
    return 1 - lengths[0] / lengths[1]


def _play(script: ItemScript, case: Case, texts: Pair) -> tuple[str, str]:
    """Let both come in; gives the names of the things that carry the canary and the twin's name."""
    rng = script.rng
    small = sentences(script.language)["small"]
    number, agent = rng.between(100, 899), rng.pick(("clerk", "planner", "reader"))
    slugs = _slugs(case.channel, rng, number, len(texts.payload))
    carried: dict[bool, str] = {}
    first = rng.below(2) == 0
    if case.attack == SPREAD:
        order = [(False, at) for at in range(len(texts.twin))] + [(True, at) for at in range(len(texts.payload))]
    else:
        order = [(first, 0), (not first, 0)]
    for is_payload, at in order:
        text = (texts.payload if is_payload else texts.twin)[at]
        slug = slugs[is_payload][at] if case.channel.name != "agent" or case.n % 2 else None
        carried[is_payload] = _come_in(script, case, text, slug, agent)
        if case.attack == SPREAD:
            script.new_session(60 * 20)
    for _ in range(QUIET_SESSIONS if case.attack == DORMANT else 1):
        script.new_session(60 * 24)
        if case.attack == DORMANT:
            script.turn(rng.pick(small))
    return carried[True], carried[False]


def _slugs(channel: Channel, rng: SplitMix64, number: int, parts: int) -> Mapping[bool, Sequence[str]]:
    """Where both are found: two threads of one place, numbered alike."""
    found: dict[bool, Sequence[str]] = {}
    for shift, is_payload in zip(rng.sample((0, 7), 2), (True, False), strict=True):
        place = f"{channel.folder}/{number + shift}"
        found[is_payload] = [place] if parts == 1 else [f"{place}/{at}" for at in range(1, parts + 1)]
    return found


def _come_in(script: ItemScript, case: Case, text: str, slug: str | None, agent: str) -> str:
    """One part comes in by its channel; its canary is named after the thing. Gives that name."""
    channel = case.channel
    fields: dict[str, object] = {} if slug is None else {"slug": slug}
    if channel.origin is not None:
        claimed = "user_said" if channel.name == "agent" and case.n == 0 else channel.origin
        fields |= {"origin": claimed}
    if channel.part is not None:
        fields |= {"part": "comment" if case.attack == SPREAD else channel.part}
    via = "fact" if slug is None else channel.via
    by = f"agent:{agent}" if channel.door == "mcp" else None
    place = CANARY.format(name=script.next_name())
    return script.write(channel.door, text.replace(_GAP, place), via=via, by=by, **fields)


def _judge(
    script: ItemScript, case: Case, things: tuple[str, str], said: Mapping[str, Any], entry: Mapping[str, Any]
) -> None:
    payload, twin = things
    triggers = BETWEEN.join(_spoken(trigger, said) for trigger in entry["t"])
    script.item(
        "payload",
        of=payload,
        arm=case.channel.arm,
        **{"class": case.attack},
        canary=CANARY.format(name=payload),
        preference=case.attack in PREFERENCES,
        twin=twin,
        note=NOTE + triggers,
    )
    script.item("benign", of=twin, arm=case.channel.arm, probe=str(said["q"]), twin_of=payload)
