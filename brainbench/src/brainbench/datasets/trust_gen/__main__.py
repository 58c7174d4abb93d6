"""`python -m brainbench.datasets.trust_gen [--check] DIR`: make the trust corpus in DIR, or check it."""

from __future__ import annotations

import sys

from brainbench.datasets import trust_gen
from brainbench.datasets.item_check import main
from brainbench.datasets.trust_gen.check import inspect

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "brainbench.datasets.trust_gen", trust_gen.build, inspect))
