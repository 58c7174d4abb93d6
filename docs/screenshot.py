"""Draw docs/images/scoreboard.svg: what `brainbench run` prints, in colour.

./bb python docs/screenshot.py
"""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from brainbench.report.terminal import render
from brainbench.run import choose, measure

if __name__ == "__main__":
    board = measure(choose(systems=("wellkept", "bm25"))).board
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(Text.from_ansi(render(board, colour=True)))
    drawn = console.export_svg(title="./bb brainbench run --system wellkept --system bm25")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    image = Path(__file__).parent / "images" / "scoreboard.svg"
    image.parent.mkdir(exist_ok=True)
    image.write_text(drawn, encoding="utf-8")
