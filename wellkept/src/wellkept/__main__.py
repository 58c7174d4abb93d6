"""The command `wellkept`, also as `python -m wellkept`."""


def main() -> None:
    """Run the command line; ends the process with exit code 0, 1 or 2."""
    from wellkept.cli import main as command_line

    command_line(prog_name="wellkept")


if __name__ == "__main__":
    main()
