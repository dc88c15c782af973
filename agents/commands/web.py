"""`evaluate.py web`: a card table in the browser, to play at, to watch, and to step through recorded deals."""

import argparse
import asyncio
import contextlib
import secrets
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.arena import stream_seed
from agents.commands.options import (
    LARGEST_SEED,
    BadInputError,
    Commands,
    add_game,
    add_rules,
    check_folder,
    folder,
    integer,
    number,
    preset_of,
)
from agents.files import FolderInUseError, folder_lock
from agents.policy import check_rules, load_policy
from agents.seating import PERSON, name_and_spec, seats_of
from agents.web.messages import SLOWEST
from bourre_env.bourre.options import stacks_bought
from bourre_env.bourre.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from bourre_env.family import FIRST

if TYPE_CHECKING:
    from agents.web.asking import Asker
    from agents.web.live import LiveTable

PORT, HOST = 8017, "127.0.0.1"
PACE = 0.8  # seconds
TOKEN_BYTES = 16
NO_HINTS = "none"
MOST_TABLES = 1000
DEFAULT_SPECS = ("human", "heuristic", "heuristic", "heuristic")


def add_to(commands: Commands) -> None:
    """Add the command."""
    web = commands.add_parser(
        "web",
        help="play, watch and replay in the browser",
        description="Serve a card table on this machine and print a secret link for each person's seat and one for "
        "watchers. A seat is SPEC or NAME=SPEC; 'human' is a person. Ends at Ctrl-C; with --records the same command "
        "goes on where it stopped.",
        allow_abbrev=False,
    )
    web.add_argument("specs", nargs="*", metavar="SPEC", help=f"who sits where ({' '.join(DEFAULT_SPECS)})")
    text = "seats at the table; the last SPEC fills those not named (as many as SPECs)"
    web.add_argument("--seats", type=integer(MIN_PLAYERS, MAX_PLAYERS), metavar="N", help=text)
    add_game(web, serves=[FIRST])
    add_rules(web, games=[FIRST])
    web.add_argument("--deals", type=integer(1, None), metavar="N", help="deals in the session (no end)")
    web.add_argument("--buy-in", type=integer(1, None), metavar="ANTES", help="of each seat at table stakes")
    text = "of the packs (drawn; whoever knows it knows every card)"
    web.add_argument("--seed", type=integer(0, LARGEST_SEED), metavar="N", help=text)
    web.add_argument(
        "--tables", type=integer(1, MOST_TABLES), default=1, metavar="N", help="with such seats (%(default)s)"
    )
    text = "seconds between two actions of policies (%(default)s)"
    web.add_argument("--pace", type=number(0, SLOWEST), default=PACE, metavar="SECONDS", help=text)
    text = "whom people may ask what to do, or 'none' (%(default)s)"
    web.add_argument("--hints", default="heuristic", metavar="SPEC", help=text)
    text = "hand records, folders of them or tournaments' results that watchers may step through"
    web.add_argument("--replay", nargs="+", type=Path, default=[], metavar="PATH", help=text)
    text = "write hand records there, and resume from there"
    web.add_argument("--records", type=folder, metavar="DIR", help=text)
    web.add_argument("--host", default=HOST, metavar="ADDRESS", help="to listen at (%(default)s: this machine alone)")
    web.add_argument(
        "--port", type=integer(0, 65535), default=PORT, metavar="N", help="0 for any free one (%(default)s)"
    )
    web.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Serve until interrupted."""
    try:
        import aiohttp  # noqa: F401 - a clear word where the extra is missing
    except ImportError as error:
        raise BadInputError(f"the web table needs the packages of the train extra: {error}") from None
    if not options.host:
        raise BadInputError("--host '': the address is empty, which would mean every network; name one")
    with contextlib.ExitStack() as stack:
        if options.records is not None:
            check_folder(options.records, [], "--records")
            options.records.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                stack.enter_context(folder_lock(options.records))
            except FolderInUseError as error:
                raise BadInputError(f"--records {error}") from None
        asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    """Open the tables, print the links, and serve until a signal comes."""
    from aiohttp import web  # half a second that other commands need not wait

    from agents.web.app import Room, make_app
    from agents.web.asking import Asker
    from agents.web.replays import read_replays

    asker = Asker()
    replays = read_replays(options.replay)
    token = secrets.token_urlsafe(TOKEN_BYTES) if replays else ""
    room = Room(_tables(options, asker), replays, token)
    runner = web.AppRunner(make_app(room, options.host), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, options.host, options.port)
        try:
            await site.start()
        except OSError as error:
            why = error.strerror or str(error)
            raise BadInputError(f"--host {options.host} --port {options.port}: {why}; name another") from None
        ended = _ended_by_signal()
        _print_links(room.tables, token, _address(options.host, runner.addresses[0][1]))
        await ended.wait()
    finally:
        await runner.cleanup()
        asker.close()


def _tables(options: argparse.Namespace, asker: "Asker") -> "list[LiveTable]":
    """The tables asked for: none where only recorded deals are."""
    from agents.web.opening import Terms, open_table, warm_up

    if not options.specs and options.replay:
        return []
    specs = named_specs(options.specs, options.seats)
    rules = Rules.preset(preset_of(options), num_players=len(specs))
    try:
        stacks_bought(options.buy_in, rules)
    except ValueError as error:
        raise BadInputError(f"--buy-in: {error}") from None
    hints = None if options.hints == NO_HINTS else load_policy(options.hints)
    if hints is not None:
        check_rules(hints, rules)
    terms = Terms(rules, tuple(seats_of(specs, rules)), options.deals, options.buy_in, options.pace, hints)
    warm_up(terms)
    drawn = secrets.randbits(64) if options.seed is None else options.seed
    tables = []
    for number_of_table in range(options.tables):
        folder = None if options.records is None else options.records / f"table-{number_of_table + 1:03}"
        seed = drawn if number_of_table == 0 else stream_seed(drawn, f"web: table {number_of_table}")
        tables.append(open_table(terms, asker, seed=seed, folder=folder))
    return tables


def named_specs(given: Sequence[str], number: int | None) -> list[str]:
    """A word for each seat, with a name for each person.

    Args:
        given: the words of the command line.
        number: of seats; as many as words when left out.

    Raises:
        BadInputError: too few or too many for a table.
    """
    specs = list(given or DEFAULT_SPECS[:number])
    seats = number or len(specs)
    if len(specs) > seats:
        raise BadInputError(f"--seats {seats}: {len(specs)} seats are named; name at most {seats}")
    if not MIN_PLAYERS <= seats <= MAX_PLAYERS:
        raise BadInputError(f"{seats} seats; a table has {MIN_PLAYERS} to {MAX_PLAYERS}: name more, or use --seats")
    return _with_names([*specs, *[name_and_spec(specs[-1])[1]] * (seats - len(specs))])


def _with_names(specs: Sequence[str]) -> list[str]:
    """The same words, with a name for each person who has none."""
    people = 0
    named = []
    for spec in specs:
        people += spec == PERSON
        named.append(f"Player {people}={PERSON}" if spec == PERSON else spec)
    return named


def _address(host: str, port: int) -> str:
    """What a browser on this machine opens."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def _print_links(tables: "Sequence[LiveTable]", replay_token: str, address: str) -> None:
    """Print where to go; each link opens its seat to whoever has it."""
    for place, table in enumerate(tables, 1):
        before = f"table {place}, " if len(tables) > 1 else ""
        for seat, token in zip(table.sitting.seats, table.tokens.seats, strict=True):
            if token:
                print(f"{before}{seat.name}: {address}#{token}")
        print(f"{before}watch: {address}#{table.tokens.watch}")
    if replay_token:
        print(f"recorded deals: {address}#{replay_token}")
    print("Ctrl-C ends it.", flush=True)


def _ended_by_signal() -> asyncio.Event:
    """Set by Ctrl-C or a polite kill."""
    ended = asyncio.Event()
    for number_of_signal in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # on Windows Ctrl-C ends the program by an exception
            asyncio.get_running_loop().add_signal_handler(number_of_signal, ended.set)
    return ended
