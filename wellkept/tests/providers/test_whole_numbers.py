"""A model with byte weights in products of whole numbers: nearly the same vectors, in half the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from wellkept.providers import embedders
from wellkept.providers.embedders import OnnxEmbedder, packaged
from wellkept.providers.whole_numbers import NotReadable, exactness_test, in_whole_numbers

TEXTS = (
    "somebody took my red automobile",
    "By the way, I just replaced the old toaster with a toaster oven.",
    "Η κεραμική ψήνεται στον φούρνο",
    "kiln " * 200,
)


@pytest.fixture(scope="module")
def weights() -> bytes:
    model = packaged()
    assert model is not None
    return model._model.read_bytes()


def ran(model: OnnxEmbedder, texts: Sequence[str]) -> Any:
    return model.embed(texts)


def test_vectors_stay_what_they_are_but_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, plain = packaged(), packaged()
    assert whole is not None
    assert plain is not None
    faster = ran(whole, TEXTS)
    monkeypatch.setattr(embedders, "_multiplies_exactly", lambda session: False)
    exact = ran(plain, TEXTS)
    alike = (faster * exact).sum(axis=1)
    assert alike.min() > 0.97
    assert not np.array_equal(faster, exact), "the model was not changed at all"


def test_every_product_with_byte_weights_is_changed_and_nothing_is_said_twice(weights: bytes) -> None:
    changed = in_whole_numbers(weights)
    assert (weights.count(b"MatMulInteger"), changed.count(b"MatMulInteger")) == (0, 36)
    assert changed.count(b"DynamicQuantizeLinear") == 24
    assert in_whole_numbers(changed) == changed


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x3a\xff", b"\x3a\x05ab", b"\x80" * 20])
def test_what_is_no_model_is_told(content: bytes) -> None:
    with pytest.raises(NotReadable):
        in_whole_numbers(content)


def test_a_processor_that_cuts_products_off_is_noticed() -> None:
    model, given, expected = exactness_test()

    class Session:
        def __init__(self, product: int) -> None:
            self._product = product

        def run(self, names: None, given: dict[str, Any]) -> list[Any]:
            return [np.full((64, 64), self._product)]

    assert model
    assert given["x"].max() == 255
    assert embedders._multiplies_exactly(lambda model: Session(expected))
    assert not embedders._multiplies_exactly(lambda model: Session(32767 * 32))
