"""The command `brainbench`, also as `python -m brainbench`.

Workers import the main module of the process that starts them, so this one imports nothing until it is called.
"""


def main() -> None:
    """Run the command line; ends the process with exit code 0, 1 or 2, and 2 where it is interrupted at once."""
    import os
    import signal

    def interrupted(*_: object) -> None:
        os.write(2, b"brainbench: inconclusive: interrupted: nothing was written\n")
        os._exit(2)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)
    from brainbench.cli import main as command_line

    command_line(prog_name="brainbench")


if __name__ == "__main__":
    main()
