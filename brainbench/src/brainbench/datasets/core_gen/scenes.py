"""Plays the conversations of `scenes.toml` with freshly invented names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brainbench.datasets.core_gen.script import Script, ToldFact
from brainbench.datasets.core_gen.world import Named, Names, Page, plain_page
from brainbench.datasets.core_words import table

Cast = Mapping[str, Named]


def scene(script: Script) -> None:
    """The scene of this category whose turn it is; later rounds bring other names and other wordings."""
    scenes = [s for s in table("scenes")["scene"] if s["category"] == script.category]
    chosen: Mapping[str, Any] = scenes[script.index % len(scenes)]
    script.stratum = chosen["stratum"]
    script.suites = tuple(chosen.get("suites", script.suites))
    script.language = chosen.get("language", script.language)
    english = script.language == "en"
    names = Names(script.rng, None if english else table("languages")[script.language])
    cast: dict[str, Named] = {}
    for part, kind in chosen["cast"].items():
        cast[part] = _member(names, cast, kind)
    pages = chosen.get("pages", {})
    script.seed(*(_page(script, cast, part, pages.get(part)) for part in chosen["known"]))
    if english:
        script.seed(*(plain_page(script.rng, names.cast(k)) for k in ("person", "company")))
    for step in chosen["steps"]:
        _play(script, cast, chosen, step)


def _member(names: Names, cast: Cast, kind: str) -> Named:
    """Somebody of `kind`, who may share title (`=p1`) or surname (`~p1`) with another part."""
    if kind.startswith("~"):
        return names.person(cast[kind[1:]].family)
    if kind.startswith("="):
        of = cast[kind[1:]]
        return replace(of, slug=f"{of.slug}-2")
    return names.cast(kind)


def _page(script: Script, cast: Cast, part: str, said: Mapping[str, Any] | None) -> Page:
    of = cast[part]
    if said is None:
        return plain_page(script.rng, of)
    return Page(
        of,
        said["summary"].format(**cast),
        said["body"].format(**cast),
        tuple(a.format(**cast) for a in said.get("aliases", ())),
        tuple((key, value.format(**cast)) for key, value in said.get("front", {}).items()),
    )


def _play(script: Script, cast: Cast, chosen: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    if "say" in step:
        _say(script, cast, step)
    elif "tell" in step:
        _tell(script, cast, step)
    elif "reply" in step:
        script.reply(step["reply"].format(**cast))
    elif "write" in step:
        script.write(_page(script, cast, step["write"], chosen["later"][step["write"]]))
    elif "edit" in step:
        script.edit(cast[step["edit"]], step["old"].format(**cast), step["new"].format(**cast))
    elif "pause" in step:
        script.pause(step["pause"])
    else:
        script.new_session(step["session"] == "persist", step.get("minutes", 180))


def _say(script: Script, cast: Cast, step: Mapping[str, Any]) -> None:
    said = step["say"]
    template = said if isinstance(said, str) else script.rng.pick(said)
    text = template.format(**cast)
    if "must" in step:
        script.must(text, [cast[p] for p in step["must"]], [cast[p] for p in step.get("accept", ())], template)
    else:
        script.quiet(text, template)


def _tell(script: Script, cast: Cast, step: Mapping[str, Any]) -> None:
    facts = [
        ToldFact(
            quote=told["quote"].format(**cast),
            mention=told["mention"].format(**cast),
            fact=told["fact"].format(**cast),
            kind=told["kind"],
            of=cast[told["of"]] if "of" in told else None,
            keywords=tuple(k.format(**cast) for k in told.get("keywords", ())),
            forbid=tuple(told.get("forbid", ())),
        )
        for told in step.get("facts", ())
    ]
    event_id = script.tell(step["tell"].format(**cast), facts)
    if "probe" in step:
        probe = step["probe"]
        expected = [cast[p] for p in probe.get("expected", ())]
        script.probe(event_id, probe["channel"], probe["keywords"], expected, probe.get("forbid", ()))
