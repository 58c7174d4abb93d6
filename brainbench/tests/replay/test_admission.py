"""What a memory is told that does not keep what it claims."""

from __future__ import annotations

import pytest

from brainbench.model import Ask, Injection, SearchHit
from brainbench.replay.admission import problems
from brainbench.systems.baselines import Bm25

from ..misbehaving import Polite


@pytest.mark.parametrize(
    ("found", "said"), [((), "finds nothing"), (("people/x", "people/y"), "finds 'people/x', 'people/y' instead")]
)
def test_a_memory_that_does_not_find_its_pages_is_told_what_it_found(found: tuple[str, ...], said: str) -> None:
    class Astray(Bm25):
        def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
            return [SearchHit(slug) for slug in found]

    first = next(problems(Astray(), ""))
    assert first == f"search for 'Ilka Varnholt', the title of page 'people/ilka-varnholt', {said}"


def test_ids_without_a_text_bring_no_planted_page() -> None:
    class Mute(Polite):
        def context(self, ask: Ask) -> Injection:
            return Injection("", ids=tuple(self.pages))

    assert list(problems(Polite(), "")) == []
    assert list(problems(Mute(), "")) == ["context brought no planted page in 3 turns that asked for one by its title"]
