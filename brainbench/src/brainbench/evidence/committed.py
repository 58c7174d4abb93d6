"""Gate profiles and baselines as they stand in the checkout at hand, and at another commit of it."""

from __future__ import annotations

from pathlib import Path

from brainbench.corpus import shipped
from brainbench.errors import IncompatibleError, UsageError
from brainbench.evidence import repository
from brainbench.evidence.baseline import Baseline, read_baseline
from brainbench.evidence.gate import CommittedFile, read_committed
from brainbench.evidence.profile import Profile, read_profile, stricter


def find_profile(name: str) -> Profile:
    """The gate profile of that name: from the checkout, else the bundled one. UsageError lists those there are."""
    gates = _top() / "evidence" / "gates"
    path = gates / f"{name}.toml"
    bundled = shipped("gates", "evidence/gates") / f"{name}.toml"
    for place in (path, bundled):
        if place.is_file():
            return read_profile(bytes_of(place), str(place))
    known = ", ".join(sorted({p.stem for p in (*gates.glob("*.toml"), *bundled.parent.glob("*.toml"))})) or "none"
    raise UsageError(f"--profile: no {path}; known: {known}")


def both_commits(profile: str, ref: str) -> tuple[Profile, Baseline | None, CommittedFile]:
    """What a change is judged by: the stricter of both profiles, the baseline at `ref`, and the one that stands here.

    The baseline at `ref` is None before the first landing. IncompatibleError for a reference that is no commit, and
    where no baseline stands here.
    """
    top, place = _top(), f"evidence/baselines/{profile}.json"
    commit = repository.resolve(top, ref)
    rules = find_profile(profile)
    there = repository.show(top, commit, f"evidence/gates/{profile}.toml")
    if there is not None:
        rules = stricter(read_profile(there, f"{ref}:evidence/gates/{profile}.toml"), rules)
    before = repository.show(top, commit, place)
    here = top / place
    if not here.is_file():
        what = f"is deleted here and stands at {ref}" if before is not None else f"stands neither here nor at {ref}"
        raise IncompatibleError(f"{place}: {what}; run `brainbench run --update-baseline` and commit it")
    base = read_baseline(before, f"{ref}:{place}") if before is not None else None
    return rules, base, read_committed(bytes_of(here), place)


def bytes_of(path: Path) -> bytes:
    """The bytes of a file; IncompatibleError says why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise IncompatibleError(f"{path}: {error.strerror or error}; name a baseline or result file") from error


def checkout() -> Path | None:
    """The nearest directory, from the current one up, that holds gates."""
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / "evidence" / "gates").is_dir()), None)


def _top() -> Path:
    """Where evidence/ is looked for."""
    return checkout() or Path.cwd()
