"""What the semantic arm does on the conversations here, and the calibration that they give it.

    ./bb python wellkept/tests/data/need/nearness.py           # counts, with the arm and without
    ./bb python wellkept/tests/data/need/nearness.py --write   # the calibration anew, for the packaged embedder
    ./bb brainbench run --system wellkept --system wellkept-by-meaning --suite know-to-ask,push --out run.json
    ./bb python wellkept/tests/data/need/nearness.py --played run.json   # what a run says of the arm, for the receipt

It is fitted to the conversations of this folder and of `meaning/fit.txt`, in which turn and page share few words.
Those of `meaning/kept.txt` are kept out of every fit.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wellkept.providers import Embedder
from wellkept.providers.embedders import packaged
from wellkept.recall import meaning, topic
from wellkept.recall.embedding import embed_waiting

sys.path.insert(0, str(Path(__file__).parent))
import measure  # type: ignore[import-not-found]

FOLDER = Path(__file__).parent
CALIBRATION = Path(meaning.__file__).parent / "data" / "semantic.json"
LEAST, PENALTY = 0.9, 0.5
BY_MEANING = "wellkept-by-meaning"
METRICS = {"missed": "know_to_ask_failure_rate", "false_fires": "false_fire_rate", "precision": "push_precision"}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn brought to light: what the topic arm says, and the page that is nearest."""

    topical: str | None
    near: measure.Seen

    def brings(self, likely: float, least: float) -> str | None:
        """The page that the arms bring, one after the other."""
        if self.topical is not None or likely < least:
            return self.topical
        return self.near.slug


def turns(world: measure.World, embedder: Embedder) -> list[Turn]:
    """Every turn of a world. A page that an earlier turn of the session needed has been brought already."""
    store, found = measure.filled(world), []
    embed_waiting(store, embedder)
    for session in world.sessions:
        shown: set[str] = set()
        for wanted, text in session:
            said = topic.topic(store, world.name, text)
            topical = None if said is None or said.likely < topic.LEAST else said.page.slug
            near, _ = meaning.look(store, world.name, text, embedder.embed([text])[0])
            slug = None if near is None or near.page.slug in shown else near.page.slug
            evidence = {} if near is None else dict(near.evidence)
            found.append(
                Turn(
                    None if topical in shown else topical,
                    measure.Seen(world.name, world.language, text, wanted, slug, evidence),
                )
            )
            shown |= wanted
    store.close()
    return found


def counted(seen: Sequence[Turn], chances: Sequence[float], least: float) -> dict[str, list[int]]:
    """Misses, false fires and precision as counts of the two arms together."""
    brought = [(one.near.wanted, one.brings(chance, least)) for one, chance in zip(seen, chances, strict=True)]
    must = [slug in wanted for wanted, slug in brought if wanted]
    quiet = [slug is not None for wanted, slug in brought if not wanted]
    fired = [slug in wanted for wanted, slug in brought if slug is not None]
    return {
        "missed": [must.count(False), len(must)],
        "false_fires": [quiet.count(True), len(quiet)],
        "precision": [fired.count(True), len(fired)],
    }


def fitted(seen: Sequence[Turn]) -> dict[str, float]:
    """Weights from the turns to which the topic arm says nothing."""
    weights: dict[str, float] = measure.fitted([one.near for one in seen if one.topical is None], PENALTY)
    return weights


def left_out(seen: Sequence[Turn]) -> list[float]:
    """For each turn how likely it needs its page, with weights from the worlds of the other folds."""
    names = list(dict.fromkeys(one.near.world for one in seen))
    fold = {name: number % measure.FOLDS for number, name in enumerate(names)}
    weights = [fitted([one for one in seen if fold[one.near.world] != number]) for number in range(measure.FOLDS)]
    return [measure.likely(one.near, weights[fold[one.near.world]]) for one in seen]


def every(embedder: Embedder) -> tuple[list[Turn], list[Turn]]:
    """The turns to fit to, and those that are kept out."""
    fit = [*measure.worlds(), *measure.worlds(FOLDER / "meaning", "fit.txt")]
    kept = measure.worlds(FOLDER / "meaning", "kept.txt")
    return [one for world in fit for one in turns(world, embedder)], [
        one for world in kept for one in turns(world, embedder)
    ]


def receipt(fit: Sequence[Turn], kept: Sequence[Turn], calibration: meaning.Calibration) -> dict[str, object]:
    """What the receipt says of these conversations: without the arm, and with it."""
    chances = [measure.likely(one.near, dict(calibration.weights)) for one in kept]
    return {
        "model": calibration.embedder.model,
        "least": calibration.least,
        "worlds_left_out": {
            "off": counted(fit, [0.0] * len(fit), 0.5),
            "on": counted(fit, left_out(fit), calibration.least),
        },
        "kept_out": {
            "off": counted(kept, [0.0] * len(kept), 0.5),
            "on": counted(kept, chances, calibration.least),
        },
    }


def played(result: Path) -> dict[str, object]:
    """What the result document of a run with both systems says of the arm, seam by seam and stratum by stratum."""
    said = json.loads(result.read_text(encoding="utf-8"))
    native, run = said["_meta"]["native"], said["receipt"]
    counts: dict[str, dict[str, dict[str, list[int]]]] = {}
    for cell in native["cells"]:
        switch = "on" if cell["system"] == BY_MEANING else "off"
        for where, metrics in (("all", cell["metrics"]), *cell["slices"]["stratum"].items()):
            for name, metric in METRICS.items():
                if found := metrics.get(metric):
                    seam = counts.setdefault(f"{cell['harness']}/{where}", {})
                    seam.setdefault(switch, {})[name] = [found["n"], found["of"]]
    return {
        "corpus": native["corpus"],
        "fixtures": run["fixtures_hash"],
        "observations": native["observations_hash"],
        "command": f"./bb brainbench {shlex.join(_without_files(run['cmd_args']))}",
        "counts": counts,
    }


def _without_files(command: Sequence[str]) -> list[str]:
    pairs = list(zip(["", *command], command, strict=False))
    return [word for before, word in pairs if "--out" not in (before, word) and "--jobs" not in (before, word)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true", help="print every turn that goes wrong")
    parser.add_argument("--played", type=Path, metavar="RESULT", help="the result document of a run with both systems")
    asked = parser.parse_args()
    if asked.played:
        print(json.dumps(played(asked.played), indent=2))
        return
    embedder = packaged()
    if embedder is None:
        raise SystemExit("the packaged embedder is not installed")
    fit, kept = every(embedder)
    if asked.write:
        who = embedder.id
        made = {"schema_version": 1, "model": who.model, "dimension": who.dimension, "least": LEAST}
        CALIBRATION.write_text(json.dumps(made | {"weights": fitted(fit)}, indent=2) + "\n", encoding="utf-8")
    calibration = meaning.read_calibration(CALIBRATION.read_text(encoding="utf-8"), CALIBRATION.name)
    print(json.dumps(receipt(fit, kept, calibration), indent=2))
    chances = left_out(fit)
    for least in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7):
        print(least, json.dumps(counted(fit, chances, least)))
    for one, chance in zip(fit, chances, strict=True) if asked.show else ():
        slug = one.brings(chance, calibration.least)
        if slug is not None and slug not in one.near.wanted:
            print(f"{chance:.2f}", one.near.language, slug, "|", one.near.text)


if __name__ == "__main__":
    main()
