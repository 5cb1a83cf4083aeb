"""The command ``mireg``."""

import signal
import sys

from mireg import _mireg


def main() -> int:
    """Run the command line of this process and return the exit code."""
    # The command handles signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _mireg.command(["mireg", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
