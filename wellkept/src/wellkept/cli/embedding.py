"""Vectors for what is kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from wellkept.cli.frame import common, opened, report


@click.command()
@click.option("--again", is_flag=True, help="Forget all vectors first, as after a change of the model.")
@common
def embed(again: bool, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Give all that waits for it its vector, in every source.

    A search goes by words at once, and by meaning too as soon as the vectors are there. The daemon makes them by
    itself; this command makes them now. When it is ended, the next one goes on where it was.

    \b
    Examples:
      wellkept embed
      wellkept embed --again --json
    """
    with opened(source, data_dir) as (memory, _):
        if again and (embedder := memory.embedder()) is not None:
            embedder.embed(["a model that fails costs no vectors"])
            memory.store.index.drop_vectors()
        have, waiting = memory.store.index.vector_counts()
        try:
            done = memory.embed_waiting(_progress(waiting))
        except KeyboardInterrupt:
            click.echo("wellkept: stopped; what was embedded is kept, and wellkept embed goes on", err=True)
            raise SystemExit(130) from None
        have, waiting = memory.store.index.vector_counts()
        who = memory.store.index.embedder()
    model = None if who is None else who.model
    counts = {"embedded": done, "vectors": have, "waiting": waiting, "model": model}
    report(
        as_json, counts, f"{done} embedded, {have} of {have + waiting} pieces have a vector of {model or 'no model'}"
    )


def _progress(waiting: int) -> Callable[[int], None]:
    """Says how far it is, to a person at a terminal."""
    said = time.monotonic()

    def show(done: int) -> None:
        nonlocal said
        if sys.stderr.isatty() and time.monotonic() - said > 1:
            said = time.monotonic()
            click.echo(f"\r{done} of {waiting} pieces", err=True, nl=done >= waiting)

    return show
