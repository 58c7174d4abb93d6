"""The page that a turn needs although it shares hardly a word with it: by the nearness of what they mean.

A vector says which page a turn is near to, and nothing about whether the turn wants anything of it: small talk is as
near as a question. So nearness is one piece of evidence among those of the topic arm. How much it says depends on the
model, and stands in a calibration that is good for that model alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import regex  # type: ignore[import-untyped]

from wellkept.errors import ModelUnavailable, NotCalibrated
from wellkept.model import PageRef, Trust
from wellkept.providers import Embedder, EmbedderId
from wellkept.recall import lanes
from wellkept.recall.kin import terms
from wellkept.recall.need import Need, need
from wellkept.recall.spoken import spoken
from wellkept.recall.topic import ANY, TERMS, TURN_CHARS, Fit, Names, Topic, fit, likelihood, names, shows
from wellkept.storage import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAREST, READ = 5, 16
"""Pages that are looked at more closely, by their nearness."""
_WORDS_COUNT = 0.1
"""What shared words add to a page's nearness when pages are compared."""
_MOST_MASS = 3.0
_FAR = 0.1
"""The cosine of texts that have nothing to do with each other."""
_LONG_TURN_WORDS = 20
_LETTER, _LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")


@dataclass(frozen=True, slots=True)
class Calibration:
    """What nearness and the rest of the evidence count with one model, and how likely a need must be."""

    embedder: EmbedderId
    least: float
    weights: Mapping[str, float]

    def check(self, who: EmbedderId) -> None:
        """NotCalibrated for any other model than the one that it was made with."""
        if who != self.embedder:
            raise NotCalibrated(
                f"pages are brought by meaning with {_said(self.embedder)} only, for which that is calibrated, "
                f"and the embedder is {_said(who)}. Searches use it all the same"
            )


def read_calibration(text: str, where: str) -> Calibration:
    """The calibration that a file holds. NotCalibrated, naming the file and what is wrong with it."""
    try:
        said = json.loads(text)
        if said["schema_version"] != 1:
            raise NotCalibrated(f"{where}: schema {said['schema_version']} is not 1. Install a newer wellkept")
        weights = {str(name): float(weight) for name, weight in said["weights"].items()}
        found = Calibration(EmbedderId(str(said["model"]), int(said["dimension"])), float(said["least"]), weights)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotCalibrated(f"{where}: is no calibration ({error!r}). Make it again") from None
    if set(weights) != EVIDENCE or not 0.5 <= found.least < 1:
        raise NotCalibrated(f"{where}: least or the names of the weights are not those of this version. Make it again")
    return found


@cache
def shipped() -> Calibration | None:
    """The calibration that comes with wellkept; None where there is none, and nothing is brought by meaning."""
    file = files(__package__) / "data" / "semantic.json"
    return read_calibration(file.read_text(encoding="utf-8"), "semantic.json") if file.is_file() else None


def meant(store: Store, source: str, text: str, embedder: Embedder) -> tuple[Topic | None, tuple[str, ...]]:
    """The live page that a turn needs by what it means, if any, and the code that says why nobody could tell.

    A model that is not loaded yet is not waited for.
    """
    text = spoken(text)
    calibration, shown = shipped(), need(text) if len(text) <= TURN_CHARS and _is_read(text) else None
    if shown is None or calibration is None or _likeliest(shown, calibration.weights) < calibration.least:
        return None, ()
    stored = store.index.embedder()
    if stored is None:
        return None, ("semantic:vectors_pending",)
    try:
        calibration.check(stored)
        if not embedder.ready:
            return None, ("semantic:embedder_loading",)
        if stored != embedder.id:
            return None, ("semantic:embedder_mismatch",)
        found, code = look(store, source, text, embedder.embed([text])[0])
    except NotCalibrated:
        return None, ("semantic:not_calibrated",)
    except ModelUnavailable:
        return None, ("semantic:embedder_failed",)
    likely = 0.0 if found is None else likelihood(found.evidence, calibration.weights)
    return (Topic(found.page, likely) if found is not None and likely >= calibration.least else None), code


@dataclass(frozen=True, slots=True)
class Near:
    """The page that a turn is nearest to, and what speaks for and against a need of it."""

    page: PageRef
    evidence: Mapping[str, float]


def look(store: Store, source: str, text: str, vector: NDArray[np.float32]) -> tuple[Near | None, tuple[str, ...]]:
    """The page nearest to a turn, by its vector and the words they share, and whether vectors are wanting.

    None for a turn that the model cannot read: to one that knows words in Latin letters only, others are noise.
    """
    if not _is_read(text):
        return None, ()
    near, complete = _nearest(store, source, vector)
    code = () if complete else ("semantic:vectors_pending",)
    fits = {one.page.slug: one for one in fit(store, source, terms(text)[:TERMS], also=tuple(near)[:NEAREST])}
    pages = {slug: one for slug, one in fits.items() if slug in near}
    if not pages:
        return None, code
    liked = {
        slug: cosine + _WORDS_COUNT * pages[slug].strength if slug in pages else cosine for slug, cosine in near.items()
    }
    best = max(pages, key=lambda slug: (liked[slug], slug))
    how = Nearness(near[best], near[best] - _second(near, best), liked[best] - _second(liked, best), pages[best])
    named = names(pages[best], text)
    return Near(pages[best].page, _evidence(how, need(text), named, text)), code


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a page is to a turn, by how much nearer than the next by meaning and with words, and what they share."""

    cosine: float
    margin: float
    ahead: float
    fit: Fit


def _second(scores: Mapping[str, float], best: str) -> float:
    return max((score for slug, score in scores.items() if slug != best), default=0.0)


def _evidence(how: Nearness, shown: Need, named: Names, text: str) -> dict[str, float]:
    near = 5 * max(0.0, how.cosine - _FAR)
    return {
        "always": 1.0,
        "cosine": near,
        "margin": max(-1.0, min(10 * how.margin, 3.0)),
        "ahead": max(-1.0, min(10 * how.ahead, 3.0)),
        "mass": min(how.fit.mass, _MOST_MASS),
        "local": min(how.fit.local, _MOST_MASS),
        "one": float(how.fit.words >= 1),
        "two": float(how.fit.words >= 2),
        **shows(shown),
        "stranger": float(named == "stranger"),
        "asks_cosine": shown.asks * near,
        "length": min(len(text.split()), _LONG_TURN_WORDS) / _LONG_TURN_WORDS,
    }


def _likeliest(shown: Need, weights: Mapping[str, float]) -> float:
    """How likely a need is if the evidence of a page is as good as can be: most turns need no vector to be silent."""
    worst = _evidence(Nearness(0.0, -0.1, -0.1, Fit(ANY, 0, 0, 0)), shown, "known", "")
    full = Fit(ANY, _MOST_MASS, _MOST_MASS, 2)
    best = _evidence(Nearness(0.8, 0.3, 0.3, full), shown, "known", "w " * _LONG_TURN_WORDS)
    return likelihood(
        {name: max(worst[name], best[name], key=lambda value: weights[name] * value) for name in best}, weights
    )


EVIDENCE = frozenset(_evidence(Nearness(0, 0, 0, Fit(ANY, 0, 0, 0)), need(""), "known", ""))


def _nearest(store: Store, source: str, vector: NDArray[np.float32]) -> tuple[dict[str, float], bool]:
    """The pages nearest to a vector, by slug with their cosine, nearest first, and whether every page has a vector.

    Conversations and what came from outside are no page to bring, and crowd none out.
    """
    near: dict[str, float] = {}
    with store.index.reading(source) as view:
        permitted = view.live & (view.turn < 0)
        lane = lanes.vector(store.index, view, permitted, vector)
        for row, cosine in zip(lane.rows.tolist(), lane.scores.tolist(), strict=True):
            near.setdefault(view.pages[view.page[row]].slug, cosine)
        complete = bool(view.signed[permitted].all())
    kept: dict[str, float] = {}
    for some in _some(tuple(near)):
        trusted = {page.slug for page in store.page_refs(source, some) if page.trust > Trust.EXTERNAL_UNTRUSTED}
        kept |= {slug: near[slug] for slug in some if slug in trusted}
        if len(kept) >= NEAREST:
            break
    return kept, complete


def _is_read(text: str) -> bool:
    return 2 * len(_LATIN.findall(text)) >= len(_LETTER.findall(text))


def _some(slugs: Sequence[str]) -> Iterator[Sequence[str]]:
    return (slugs[at : at + READ] for at in range(0, len(slugs), READ))


def _said(who: EmbedderId) -> str:
    return f"{who.model} ({who.dimension} numbers)"
