"""Train a bot by self-play: `python train.py`; `--help` tells the rest."""

import sys


def run() -> int:
    """Run the command line; Ctrl-C ends it with exit code 130, also while the libraries are being loaded."""
    try:
        from agents.training_cli import main
        from bourre_env.streams import run_command

        return run_command(main)
    except KeyboardInterrupt:
        print("train.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
