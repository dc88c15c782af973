"""A web table in the test's own process, and browsers that talk to it by script."""

import asyncio
import contextlib
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp.test_utils import TestServer

from agents.policy import load_policy
from agents.sitting import seats_of
from agents.web.app import Room, make_app
from agents.web.asking import Asker
from agents.web.live import LiveTable
from agents.web.opening import Terms, open_table, warm_up
from agents.web.replays import Replay
from bourre_env import Rules

PATIENCE = 30.0  # seconds until a message that does not come fails the test


class Browser:
    """One websocket.

    Attributes:
        texts: every message as it came.
        socket: the connection.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.texts: list[str] = []
        self.table: dict[str, Any] = {}

    async def say(self, do: str, **values: object) -> None:
        await self.socket.send_str(json.dumps({"do": do, **values}))

    async def hear(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these types."""
        while True:
            received = await asyncio.wait_for(self.socket.receive(), PATIENCE)
            assert received.type is aiohttp.WSMsgType.TEXT, received
            self.texts.append(received.data)
            message: dict[str, Any] = json.loads(received.data)
            if message["type"] == "table":
                self.table = message
            if message["type"] in kinds:
                return message

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The view, once something holds of it."""
        while not (self.table and holds(self.table["view"])):
            await self.hear("table")
        view: dict[str, Any] = self.table["view"]
        return view

    async def refusal(self) -> str:
        return str((await self.hear("refused"))["reason"])

    async def act(self, action: int | str) -> None:
        view = self.table["view"]
        await self.say("act", action=action, deal=view["deal"], step=view["step"])

    async def play(self, choose: Callable[[list[dict[str, Any]]], int], deals: int = 1) -> None:
        """Play until so many deals are over, dealing where a deal is wanted."""
        acted = None
        while True:
            view = self.table["view"]
            key = view["deal"], view.get("step"), view["phase"]
            if view["phase"] == "settled" and view["deal"] >= deals:
                return
            if key != acted and view["phase"] in ("waiting", "settled") and not self.table["ready"][view["you"]]:
                acted = key
                await self.say("deal")
            elif key != acted and view["turn"] == view["you"] and view["legal"]:
                acted = key
                await self.act(choose(view["legal"]))
            await self.hear("table")


class Served:
    """A running server.

    Attributes:
        tables: its tables.
    """

    def __init__(self, server: TestServer, session: aiohttp.ClientSession, tables: Sequence[LiveTable]) -> None:
        self.server, self.session, self.tables = server, session, tables

    async def connect(self) -> Browser:
        """A browser that has not said who it is."""
        return Browser(await self.session.ws_connect(self.server.make_url("/ws")))

    async def join(self, token: str) -> Browser:
        browser = await self.connect()
        await browser.say("join", token=token)
        if (await browser.hear("welcome"))["table"]:
            await browser.hear("table")
        return browser

    async def sit(self, seat: int, table: int = 0) -> Browser:
        return await self.join(self.tables[table].tokens.seats[seat])

    async def watch(self, table: int = 0) -> Browser:
        return await self.join(self.tables[table].tokens.watch)


def terms_of(specs: Sequence[str], *, rules: Rules | None = None, deals: int | None = None, pace: float = 0) -> Terms:
    rules = rules or Rules.preset("pagat", num_players=len(specs))
    return Terms(rules, tuple(seats_of(specs, rules)), deals, None, pace, load_policy("heuristic"))


@functools.cache
def compile_all() -> None:
    """Compile what tables and policies need: half a minute in the middle of a test would break its connections."""
    warm_up(terms_of(["human", "heuristic", "random"]))


@contextlib.asynccontextmanager
async def serving(
    terms: Terms | None,
    *,
    num_tables: int = 1,
    seed: int = 4,
    folder: Path | None = None,
    replays: Sequence[Replay] = (),
    host: str = "127.0.0.1",
) -> AsyncIterator[Served]:
    """A server in this process."""
    compile_all()
    asker = Asker()
    folders = [None if folder is None else folder / f"table-{number}" for number in range(num_tables)]
    tables = [] if terms is None else [open_table(terms, asker, seed=seed, folder=where) for where in folders]
    server = TestServer(make_app(Room(tables, replays, "replays"), host))
    await server.start_server()
    try:
        async with aiohttp.ClientSession() as session:
            yield Served(server, session, tables)
    finally:
        await server.close()
        asker.close()


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run an asynchronous test."""

    async def whole() -> None:
        await test()

    asyncio.run(whole())
