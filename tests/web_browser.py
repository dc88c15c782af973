"""A real browser at a web table: where Chromium is, and a server in a thread beside the test.

Without Chromium the tests that need it are skipped; with `BOURRE_BROWSER_TESTS=required`, as in `.ci/run`, they fail.
"""

import asyncio
import contextlib
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from web_client import compile_all, terms_of

from agents.web.app import Room, make_app
from agents.web.asking import Asker
from agents.web.opening import open_table
from agents.web.replays import Replay
from bourre_env import Rules

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
REQUIRED = "BOURRE_BROWSER_TESTS"
SLOW = """const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) { setTimeout(() => send.call(this, text), %d); };"""
PATIENCE = 15_000  # milliseconds until something that does not show up fails the test


def chromium() -> str:
    """The path of the browser; skips or fails the test where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        is_required = os.environ.get(REQUIRED) == "required"
        tell = pytest.fail if is_required else pytest.skip
        tell(f"no browser ({', '.join(NAMES)}) is installed; with Debian: apt-get install chromium")
    return str(found)


class Background:
    """A server in a thread of its own.

    Attributes:
        tables: its tables.
        address: where it is.
    """

    def __init__(self, *specs: str, **options: Any) -> None:
        """A table of these seats; options as `open` takes them."""
        self._specs, self._options = specs, options
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.port = 0

    def __enter__(self) -> "Background":
        compile_all()
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self) -> None:
        """Serve, at the port of the last time."""
        self._wait(self._start(**self._options))

    def stop(self) -> None:
        """Serve no more."""
        self._wait(self._stop())

    def _wait(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(
        self,
        *,
        folder: Path | None = None,
        seed: int = 4,
        pace: float = 0,
        replays: tuple[Replay, ...] = (),
        rules: Rules | None = None,
    ) -> None:
        self._asker, self.tables = Asker(), []
        if self._specs:
            terms = terms_of(self._specs, pace=pace, rules=rules)
            self.tables.append(open_table(terms, self._asker, seed=seed, folder=folder))
        self._runner = web.AppRunner(make_app(Room(self.tables, replays, "replays"), "127.0.0.1"), shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        await self._runner.cleanup()
        self._asker.close()

    def link(self, secret: str) -> str:
        return f"http://127.0.0.1:{self.port}/#{secret}"

    def seat(self, seat: int) -> str:
        return self.link(self.tables[0].tokens.seats[seat])

    @property
    def watch(self) -> str:
        return self.link(self.tables[0].tokens.watch)


@contextlib.contextmanager
def launched() -> Iterator[Any]:
    """A browser that has been started."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def opened(
    browser: Any, link: str, *, size: tuple[int, int] = (1280, 800), delay: int = 0, **options: Any
) -> Iterator[Any]:
    """A page in a profile of its own; it fails the test when it complains, or loads anything from outside.

    Nothing moves there unless the test wants it to, so that clicks need not wait. With a delay, in milliseconds,
    whatever the page sends leaves that much later.
    """
    options.setdefault("reduced_motion", "reduce")
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("request", lambda asked: None if "//127.0.0.1:" in asked.url else complaints.append(asked.url))
        if delay:
            page.add_init_script(SLOW % delay)
        page.goto(link)
        yield page
        assert [told for told in complaints if "WebSocket" not in told and "ERR_CONNECTION" not in told] == []
    finally:
        context.close()
