"""What a memory is told that does not keep what it claims."""

from __future__ import annotations

import pytest

from brainbench.model import SearchHit
from brainbench.replay.admission import problems
from brainbench.systems.baselines import Bm25


@pytest.mark.parametrize(
    ("found", "said"), [((), "finds nothing"), (("people/x", "people/y"), "finds 'people/x', 'people/y' instead")]
)
def test_a_memory_that_does_not_find_its_pages_is_told_what_it_found(found: tuple[str, ...], said: str) -> None:
    class Astray(Bm25):
        def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
            return [SearchHit(slug) for slug in found]

    first = next(problems(Astray(), ""))
    assert first == f"search for 'Ilka Varnholt', the title of page 'people/ilka-varnholt', {said}"
