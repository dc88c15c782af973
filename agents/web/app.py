"""The web server: the page, and one websocket a browser.

Links carry their secret behind a `#`, which browsers do not send: it arrives in the first message of a websocket and is
in no log. A page of another origin cannot open a websocket here, and one bound to this machine answers to its own name
alone, so that no name of a stranger's can be made to point at it.
"""

import asyncio
import contextlib
import ipaddress
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import WSCloseCode, WSMsgType, web

from agents.refusals import RefusedError
from agents.web.live import LiveTable
from agents.web.messages import Message, parse
from agents.web.replays import Replay

STATIC = Path(__file__).parent / "static"
HARD_LIMIT = 1 << 16  # bytes of a message, beyond which the connection is closed unread
JOIN_WITHIN = 10.0  # seconds a connection may be silent before it says who it is
UNSENT = 256  # messages that may wait for a slow browser before it is let go
HEARTBEAT = 20.0  # seconds
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Connection:
    """A browser that has joined, or is about to.

    Attributes:
        seat: whose eyes it has; None for a watcher.
        table: where it sits or watches; None where there are only replays.
        is_too_slow: whether more waits to be sent than should.
    """

    def __init__(self, socket: web.WebSocketResponse) -> None:
        """Nobody yet."""
        self.seat: int | None = None
        self.table: LiveTable | None = None
        self.is_too_slow = False
        self._socket = socket
        self._unsent: asyncio.Queue[str] = asyncio.Queue(UNSENT)

    def send(self, message: Mapping[str, Any]) -> None:
        """Put a message on its way; a browser that takes none for too long is let go, and may come back."""
        if self._unsent.full():
            self.is_too_slow = True
            return
        self._unsent.put_nowait(json.dumps(message, separators=(",", ":")))

    async def write(self) -> None:
        """Send what is on its way, until cancelled."""
        while not self.is_too_slow:
            await self._socket.send_str(await self._unsent.get())
        await self._socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"too slow; connect again")


class Room:
    """The tables and replays of a server, behind their secrets.

    Attributes:
        tables: all of them.
        replays: what watchers may step through.
    """

    def __init__(self, tables: Sequence[LiveTable], replays: Sequence[Replay], replay_token: str = "") -> None:
        """Open the doors.

        Args:
            tables: to play and watch at.
            replays: recorded deals.
            replay_token: opens the replays alone.
        """
        self.tables, self.replays = tuple(tables), tuple(replays)
        self._doors: dict[str, tuple[LiveTable | None, int | None]] = {}
        for table in tables:
            self._doors[table.tokens.watch] = table, None
            self._doors |= {token: (table, seat) for seat, token in enumerate(table.tokens.seats) if token}
        if replay_token:
            self._doors[replay_token] = None, None

    def admit(self, connection: Connection, message: Message) -> None:
        """Let a connection in.

        Raises:
            RefusedError: the message does not join, or the link is not one of this server.
        """
        if message.do != "join":
            raise RefusedError("the first message joins a table")
        door = self._doors.get(message.values["token"])
        if door is None:
            raise RefusedError("this link opens no table here; ask for a new one")
        connection.table, connection.seat = door
        is_watcher = connection.seat is None
        connection.send(
            {
                "type": "welcome",
                "seat": connection.seat,
                "table": connection.table is not None,
                "people": connection.table is not None and connection.table.sitting.has_people,
                "replays": [replay.as_plain() for replay in self.replays] if is_watcher else [],
            }
        )
        if connection.table is not None:
            connection.table.join(connection)

    async def hear(self, connection: Connection, message: Message) -> None:
        """Do what a message of somebody inside asks for.

        Raises:
            RefusedError: it may not be done.
        """
        if message.do == "join":
            raise RefusedError("you have joined already")
        if message.do == "replay":
            await self._show_replay(connection, **message.values)
        elif connection.table is None:
            raise RefusedError("this link shows recorded deals; there is no table")
        else:
            await connection.table.hear(connection, message)

    async def _show_replay(self, connection: Connection, number: int, deal: int) -> None:
        """Send a recorded deal to a watcher."""
        if connection.seat is not None:
            raise RefusedError("recorded deals are for watchers")
        if not 0 <= number < len(self.replays) or not 0 <= deal < len(self.replays[number].deals):
            raise RefusedError("there is no such recorded deal")
        replay = self.replays[number]
        views = await asyncio.get_running_loop().run_in_executor(None, replay.views, deal)
        names = replay.names[deal] or tuple(f"Seat {seat}" for seat in range(replay.deals[deal].rules.num_players))
        title = f"{replay.title}, {replay.notes[deal]}"
        connection.send({"type": "past", "title": title, "names": names, "you": None, "views": views})


def make_app(room: Room, host: str) -> web.Application:
    """The application that serves a room.

    Args:
        room: the tables.
        host: what the server is bound to; a loopback address answers to loopback names alone.
    """
    app = web.Application(middlewares=[_guard(is_loopback(host))])
    app.router.add_get("/", _index)
    app.router.add_get("/ws", _Door(room).open)
    app.router.add_static("/static/", STATIC)

    async def run_tables(app: web.Application) -> Any:
        tasks = [asyncio.create_task(table.run()) for table in room.tables]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for table in room.tables:
            table.close()

    app.cleanup_ctx.append(run_tables)
    return app


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _guard(at_home: bool) -> Any:
    """A middleware that refuses foreign names and origins, and gives every answer its headers."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        name = urlsplit(f"//{request.host}").hostname or ""
        origin = request.headers.get("Origin")
        if at_home and not is_loopback(name):
            raise web.HTTPForbidden(text=f"this server answers to this machine alone, not to {name[:100]!r}\n")
        if origin is not None and urlsplit(origin).netloc.lower() != request.host.lower():
            raise web.HTTPForbidden(text="a page of another origin may not connect here\n")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    return guard


async def _index(request: web.Request) -> web.StreamResponse:
    """The page, the same for everybody: what it shows depends on the secret in its link."""
    return web.FileResponse(STATIC / "index.html")


class _Door:
    """Where websockets come in."""

    def __init__(self, room: Room) -> None:
        """Open to a room."""
        self._room = room

    async def open(self, request: web.Request) -> web.StreamResponse:
        """Serve one websocket until it closes."""
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=HARD_LIMIT, compress=False)
        await socket.prepare(request)
        connection = Connection(socket)
        writer = asyncio.create_task(connection.write())
        try:
            await self._listen(socket, connection)
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writer
            if connection.table is not None:
                connection.table.leave(connection)
        return socket

    async def _listen(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        """Hear messages until there are no more; each that cannot be followed is refused with the reason."""
        is_inside = False
        while True:
            try:
                received = await socket.receive(None if is_inside else JOIN_WITHIN)
            except TimeoutError:
                await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"nobody said who this is")
                return
            if received.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            do = ""
            try:
                if received.type is WSMsgType.BINARY:
                    raise RefusedError("messages are text")
                message = parse(received.data)
                do = message.do
                if is_inside:
                    await self._room.hear(connection, message)
                else:
                    self._room.admit(connection, message)
                    is_inside = True
            except RefusedError as error:
                connection.send({"type": "refused", "do": do, "reason": str(error)})
