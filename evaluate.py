"""Measure policies, play and watch: `python evaluate.py tournament SPEC SPEC …`; `--help` tells the rest."""

import os
import sys


def run() -> int:
    """Run the command line; Ctrl-C ends it with exit code 130, also while the libraries are being loaded."""
    # One thread of linear algebra a process: workers would fight for cores. Read when the libraries are loaded.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        from agents.evaluation_cli import main
        from bourre_env.streams import run_command

        return run_command(main)
    except KeyboardInterrupt:
        print("evaluate.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
