"""The large brains that the fixtures of a corpus are played in: made from their seed, checked, laid into files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from brainbench.corpus import Corpus, Manifest
from brainbench.corpus.manifest import FILE_NAME
from brainbench.datasets import BRAIN_MAKERS
from brainbench.datasets.core_gen.universe import digest
from brainbench.errors import CorpusError, Fault
from brainbench.replay.acting import is_acted
from brainbench.replay.brains import Brain, encoded
from brainbench.systems.fence import RUNS


def needed(corpus: Corpus) -> tuple[str, ...]:
    """The names of the brains that the fixtures to be played ask for, sorted."""
    return tuple(sorted({f.universe for f in corpus.fixtures if f.universe is not None}))


def made(manifest: Manifest | None, name: str) -> list[tuple[str, str]]:
    """Slug and content of every page of a brain. CorpusError where it is not what MANIFEST.json says."""
    told = None if manifest is None else manifest.universes.get(name)
    if told is None:
        raise _fault(name, f"no universe of this name; a fixture is played in {name!r}, so list it")
    maker = BRAIN_MAKERS.get(manifest.generator.module if manifest and manifest.generator else "")
    if maker is None:
        raise _fault(name, f"nothing here makes it; generator.module must be one of {', '.join(BRAIN_MAKERS)}")
    module, _, function = maker.partition(":")
    try:
        pages = list(getattr(import_module(module), function)(name, told.seed))
    except KeyError:
        raise _fault(name, "the generator makes no universe of this name") from None
    if len(pages) != told.pages:
        raise _fault(name, f"{told.pages} pages are listed, {len(pages)} are made; restore MANIFEST.json")
    if (seen := digest(pages)) != told.sha256:
        raise _fault(name, f"what is made has SHA-256 {seen}, listed is {told.sha256}; restore MANIFEST.json")
    return pages


def check(corpus: Corpus) -> None:
    """Make every brain that a fixture of the corpus is played in. CorpusError where one is not what is listed."""
    for name in needed(corpus):
        made(corpus.manifest, name)


@contextmanager
def laid_out(corpus: Corpus, seconds: Callable[[int], float]) -> Iterator[Mapping[str, Brain]]:
    """The brains that a run needs, as files that are gone afterwards. Their names tell a system nothing.

    A system may spend `seconds` of its number of pages on filling one. CorpusError where one is not what MANIFEST.json
    says.
    """
    names = needed(corpus)
    if not names:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix=RUNS) as place:
        yield dict(_laid(corpus, names, Path(place), seconds))


def _laid(
    corpus: Corpus, names: Iterable[str], place: Path, seconds: Callable[[int], float]
) -> Iterator[tuple[str, Brain]]:
    for number, name in enumerate(names):
        file = place / f"{number}.pages"
        pages = made(corpus.manifest, name)
        file.write_bytes(encoded(pages))
        settled = any(f.universe == name and is_acted(f) for f in corpus.fixtures)
        yield name, Brain(f"large-{number}", str(file), seconds(len(pages)), settled=settled)


def _fault(name: str, reason: str) -> CorpusError:
    return CorpusError([Fault(FILE_NAME, f"universes.{name}", reason)])
