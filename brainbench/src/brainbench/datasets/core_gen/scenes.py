"""Plays the conversations of the scene files with freshly invented names, and writes the gold of each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from brainbench.datasets.core_gen.languages import Spoken
from brainbench.datasets.core_gen.scenario import Line, Scene, scenes
from brainbench.datasets.core_gen.script import Script, ToldFact
from brainbench.datasets.core_gen.world import Named, Names, Page, plain_page, slug_of
from brainbench.datasets.core_words import table

LANGUAGES = (
    *("de", "fr", "es", "pl", "tr", "ru", "el", "ar", "he", "hi", "zh", "ja", "ko"),
    *("pt", "it", "nl", "uk"),
)
SPOKEN: tuple[tuple[str, int], ...] = (
    *((language, number) for number in range(4) for language in LANGUAGES),
    *(("mul", number) for number in range(6)),
    *(("emoji", number) for number in range(4)),
)
"""The scene file and the scene in it for each multilingual fixture. New ones go to the end."""


_CODE_WORDS = ("flush", "rows", "guard", "tally", "shard", "dedupe")


def scene(script: Script) -> None:
    """The scene of this category whose turn it is; later rounds bring other names and other wordings."""
    file = scenes(script.category)
    play(script, file[script.index % len(file)], script.index // len(file))


def grouped(script: Script) -> None:
    """As `scene`, where all that is played of one scene is one group: what it says once, it says again."""
    script.group = f"{script.category}-{script.index % len(scenes(script.category)):03d}"
    scene(script)


def multilingual(script: Script) -> None:
    """One scene in another language, in two at once, or about people who go by an emoji."""
    language, number = SPOKEN[script.index % len(SPOKEN)]
    file = scenes(language)
    play(script, file[number % len(file)], script.index // len(SPOKEN))


def play(script: Script, chosen: Scene, round_: int) -> None:
    """One scene from its first line to its last; played twice, each part is once known and once a stranger's.

    Who is known is drawn for each part, so that one answer does not tell whether the next question has one.
    """
    script.stratum, script.language = chosen.stratum, chosen.language
    everybody = frozenset[str]().union(*chosen.swaps)
    if chosen.plays == "apart":
        Stage.set(script, chosen, round_ // 2, everybody if round_ % 2 else frozenset()).perform()
        return
    stage = Stage.set(script, chosen, round_, everybody if chosen.plays == "fresh" else frozenset())
    if chosen.plays == "once":
        stage.perform()
        return
    first = frozenset[str]().union(*(group for group in chosen.swaps if script.rng.below(2)))
    before = stage if chosen.plays == "fresh" else stage.with_strangers(first)
    before.perform()
    script.new_session(minutes=script.rng.between(40, 900))
    after = stage.with_newcomers(everybody) if chosen.plays == "fresh" else stage.with_strangers(everybody - first)
    after.perform()


@dataclass(slots=True)
class Stage:
    """A scene being played: who bears which part, who of them has a page by now, and the words of this round.

    `seeded` are those who have a page from the start, whoever plays their parts by now.
    """

    script: Script
    scene: Scene
    round: int
    names: Names
    slots: Mapping[str, str]
    cast: dict[str, Named] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    seeded: Mapping[str, Named] = field(default_factory=dict)

    @classmethod
    def set(cls, script: Script, scene: Scene, round_: int, strangers: frozenset[str]) -> Stage:
        """The stage before the first event, with the pages seeded of all but `strangers`."""
        slots = {line.parts[0]: script.rng.pick(line.ways[0].split(" / ")) for line in scene.directions("slot")}
        stage = cls(script, scene, round_, _names(script), slots)
        for part, kind in scene.cast.items():
            stage.cast[part] = _member(stage.names, stage.cast, kind)
        later = {line.parts[0] for line in scene.directions("later")}
        stage.known = set(scene.cast) - scene.strangers - later - strangers
        stage.seeded = {part: of for part, of in stage.cast.items() if part in stage.known}
        pages = [stage.page(part, scene.direction("page", part)) for part in scene.cast if part in stage.known]
        pages += list(stage.others(script.rng.between(3, 7)))
        script.rng.shuffle(pages)
        script.seed(*pages)
        return stage

    def with_strangers(self, parts: frozenset[str]) -> Stage:
        """The same scene where people and things without a page take these parts."""
        return replace(self, cast=self.recast(parts), known=self.known - parts)

    def with_newcomers(self, parts: frozenset[str]) -> Stage:
        """The same scene where others take these parts, whose pages are written now."""
        cast = self.recast(parts)
        known = self.known | {p for p in parts - self.scene.strangers if self.scene.direction("later", p) is None}
        stage = replace(self, cast=cast, known=known, seeded={part: cast[part] for part in known})
        for part in (part for part in cast if part in known - self.known):
            self.script.write(stage.page(part, self.scene.direction("page", part)))
        return stage

    def recast(self, parts: frozenset[str]) -> dict[str, Named]:
        """The cast with others in these parts."""
        cast = dict(self.cast)
        for part, kind in self.scene.cast.items():
            if part in parts:
                cast[part] = _member(self.names, cast, kind)
        return cast

    def others(self, n: int) -> Iterator[Page]:
        """Pages of people and firms that nobody speaks of."""
        for kind in ("person", "company", "person", "project", "person", "company", "project")[:n]:
            yield self.ordinary(self.names.cast(kind))

    def ordinary(self, of: Named) -> Page:
        """A page in the language of the scene that says nothing special."""
        words = table("languages").get(self.script.language)
        if words is None:
            return plain_page(self.script.rng, of)
        pick, pages = self.script.rng.pick, words["pages"]
        return Page(of, pick(pages["summaries"]), pick(pages["bodies"]))

    def perform(self) -> None:
        """Every step in order."""
        steps = list(self.scene.steps())
        asked_known = True
        for at, step in enumerate(steps):
            if step.verb == "ask":
                asked_known = self.ask(step)
            elif step.verb == "user":
                follows = steps[at + 1 :]
                until = next((i for i, s in enumerate(follows) if s.verb not in ("fact", "probe")), len(follows))
                self.tell(step, follows[:until])
            elif step.verb in ("answer", "blank"):
                self.react(step, asked_known, follows=steps[at + 1 : at + 2])
            elif step.verb not in ("fact", "probe"):
                self.happen(step)

    def ask(self, step: Line) -> bool:
        """A user turn that wants what there is of the pages named; whether there is any."""
        wanted = [self.cast[p] for p in step.parts if p in self.known]
        accepted = [self.cast[p[1:]] for p in step.parts if p.startswith("+") and p[1:] in self.known]
        text = self.text(step)
        if wanted:
            self.script.must(text, wanted, accepted, step.way(self.round))
        elif accepted:
            self.script.may(text, accepted)
        else:
            self.script.quiet(text, step.way(self.round))
        return bool(wanted)

    def react(self, step: Line, known: bool, follows: list[Line]) -> None:
        """What the assistant says to somebody who asked for what is known, or is not."""
        if (step.verb == "answer") == known:
            self.script.reply(self.text(step))
        elif step.verb == "answer" and not any(line.verb == "blank" for line in follows):
            self.script.reply(self.script.rng.pick(table("blank")[self.script.language]))

    def happen(self, step: Line) -> None:
        """A step that asks nothing, or that wants nothing."""
        script, text = self.script, self.text(step)
        if step.verb == "reply":
            script.reply(text)
        elif step.verb == "quiet":
            script.quiet(text, step.way(self.round))
        elif step.verb == "may":
            helpful = [self.seeded[p] for p in step.parts if p in self.seeded]
            script.may(text, helpful) if helpful else script.quiet(text, step.way(self.round))
        elif step.verb == "write":
            script.write(self.page(step.parts[0], self.scene.direction("later", step.parts[0])))
            self.known.add(step.parts[0])
        elif step.verb == "edit":
            old, _, new = text.replace("\\n", "\n").partition(" => ")
            script.edit(self.cast[step.parts[0]], old, new)
        elif step.verb == "gap":
            script.pause(int(text))
        else:
            script.new_session(step.verb == "persist", int(text))

    def tell(self, step: Line, follows: list[Line]) -> None:
        """A user turn with what an extractor would say of it, and what the reader must have at hand after it."""
        text = self.text(step)
        event_id = self.script.tell(text, [self.fact(line, text) for line in follows if line.verb == "fact"])
        for line in follows:
            if line.verb == "probe":
                keywords, forbidden = (*_fields(self.text(line)), "")[:2]
                expected = [self.cast[p] for p in line.parts[1:]]
                channel: object = {"stored": "stored_only"}.get(line.parts[0], "any")
                asked = [word for word in _listed(keywords) if word.casefold() not in text.casefold()]
                self.script.probe(event_id, channel, asked, expected, _listed(forbidden))  # type: ignore[arg-type]

    def fact(self, line: Line, told: str) -> ToldFact:
        """A fact of the turn `told`; a quote `*` is the whole turn."""
        fields = [self.filled(field.split(" // ")) for field in _fields(" // ".join(line.ways))]
        quote, mention, fact, keywords, forbidden = (*fields, "", "", "")[:5]
        stated = quote if fact == "=" else fact
        quote = told if quote == "*" else self.said(quote, told)
        mention = self.said(mention, quote)
        of = None if line.parts[0] == "-" else self.cast[line.parts[0]]
        return ToldFact(quote, mention, stated, line.parts[1], of, _listed(keywords), _listed(forbidden))

    def said(self, words: str, told: str) -> str:
        """The words as they stand in what was told, with its capitals. ValueError if they do not."""
        at = told.find(words)
        if at < 0:
            at = told.lower().find(words.lower())
        if at < 0:
            raise ValueError(f"{self.scene.name}: {words!r} is not said in {told!r}")
        return told[at : at + len(words)]

    def page(self, part: str, said: Line | None) -> Page:
        """The page of a part as the scene has it, else an ordinary one."""
        of = self.cast[part]
        if said is None:
            return self.ordinary(of)
        summary, body, aliases, front = (*_fields(self.text(said)), "", "", "")[:4]
        pairs = tuple((key, value) for key, _, value in (pair.partition("=") for pair in _listed(front)))
        return Page(of, summary, body.replace("\\n", "\n"), tuple(_listed(aliases.replace(",", ";"))), pairs)

    def text(self, line: Line) -> str:
        """What this round says, with everybody's name in it."""
        return self.filled(line.ways)

    def filled(self, ways: Sequence[str]) -> str:
        """The way of this round, with everybody's name in it."""
        spoken = {part: Spoken(of, self.script.language) for part, of in self.cast.items()}
        return ways[self.round % len(ways)].strip().format(**spoken, **self.slots)


def _fields(text: str) -> list[str]:
    return [field.strip() for field in text.split("|")]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(";") if word.strip())


def _names(script: Script) -> Names:
    syllables = table("languages").get(script.language)
    return Names(script.rng, syllables if syllables and "given" in syllables else None)


def _member(names: Names, cast: Mapping[str, Named], kind: str) -> Named:
    """Somebody of `kind`, who may share title (`=p1`) or surname (`~p1`) with another part."""
    if kind.startswith("~"):
        return _relative(names.person(cast[kind[1:]].family), cast[kind[1:]])
    if kind.startswith("="):
        of = cast[kind[1:]]
        return replace(of, slug=f"{of.slug}-2")
    if kind == "code":
        brand, roman = names.word("brand")
        word = _CODE_WORDS[sum(map(ord, brand)) % len(_CODE_WORDS)]
        title = f"{brand.lower()}_{word}"
        return Named("code", title, slug_of("code", f"{roman} {word}"), given=title)
    return names.cast(kind)


def _relative(person: Named, of: Named) -> Named:
    """The person with the surname of `of` in Latin letters too: `people/kulbora-tsyrbovska`."""
    given = person.slug.partition("/")[2].partition("-")[0]
    family = of.slug.partition("-")[2]
    return replace(person, slug=f"people/{given}-{family}", handle=f"{given[0]}{family}")
