"""The command line of `evaluate.py`.

Exit codes: 0 done, 1 a policy, a control or the machine failed, 2 the input was wrong (one line on standard error,
nothing written), 130 interrupted, 141 nobody reads the output any more.
"""

import sys
from collections.abc import Sequence

from agents.commands import (
    analyse,
    benchmark,
    exact,
    exploit,
    leaks,
    merge,
    play,
    replay,
    report,
    selfcheck,
    tournament,
    web,
)
from agents.commands.options import (
    DONE,
    FAILED,
    INTERRUPTED,
    WRONG_INPUT,
    BadInputError,
    FailedError,
    Parser,
)
from agents.controls import ControlError
from agents.deal_lines import DealLineError
from agents.executors import ClusterError, WorkersLostError
from agents.journal import JournalError
from agents.lineups import OutcomesError
from agents.policy import PolicyError, PolicyFailedError
from agents.results import ResultsError
from bourre_env.errors import NotationError, RulesError
from bourre_env.streams import nobody_reads

WRONG = (
    *(PolicyError, RulesError, NotationError, ResultsError, OutcomesError, JournalError, DealLineError),
    BadInputError,
)
COMMANDS = (tournament, benchmark, merge, report, exact, exploit, leaks, play, replay, web, analyse, selfcheck)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the words behind the program's name; those of this process when left out.

    Returns:
        The exit code.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(words)
    try:
        options.run(options, words)
    except WRONG as error:
        return _complain(error, WRONG_INPUT)
    except (PolicyFailedError, ControlError, FailedError, WorkersLostError, ClusterError, OSError) as error:
        if isinstance(error, BrokenPipeError) and nobody_reads():
            raise  # the program ends without a word (`run_command`)
        return _complain(error, FAILED)
    except MemoryError as error:
        return _complain(f"out of memory: {error}", FAILED)
    except KeyboardInterrupt as interrupt:
        return _complain(str(interrupt) or "interrupted; nothing was written", INTERRUPTED)
    return DONE


def _parser() -> Parser:
    """The commands and their options."""
    parser = Parser(prog="evaluate.py", description="Measure policies for card games.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _complain(error: object, code: int) -> int:
    """One line on standard error."""
    print(f"evaluate.py: {' '.join(str(error).split())}", file=sys.stderr)
    return code
