"""`python -m brainbench.datasets.adversarial_gen [--check] DIR`: make the adversarial corpus in DIR, or check it."""

from __future__ import annotations

import sys

from brainbench.datasets import adversarial_gen
from brainbench.datasets.adversarial_gen.check import inspect
from brainbench.datasets.item_check import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "brainbench.datasets.adversarial_gen", adversarial_gen.build, inspect))
