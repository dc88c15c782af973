"""How fast the web table answers: to clicks in a real browser, and to the people of many tables at once.

    python -m benchmarks.web            # clicks in Chromium, then 200 tables with a second of thought each
    python -m benchmarks.web --tables 0 # the clicks alone

Clicks are timed inside the page, from the click on a card until the page shows that it has left the hand, and until it
is the person's turn again, all opponents (the rule bot, without a pause) having answered. At many tables a scripted
client thinks for a second before each action; timed is how long the server takes to show it the action. Server and
clients are two processes on the same machine, whose cores they share.
"""

import argparse
import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import numpy as np

SPECS = ("human", "heuristic", "heuristic", "heuristic")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOST_CONNECTING = 20  # clients that connect at the same time

CLICK = """() => new Promise((tell) => {
  const hand = document.querySelector("#hand"), cards = hand.children.length, began = performance.now();
  let shown = null;
  const look = () => {
    if (shown === null && hand.children.length < cards) shown = performance.now() - began;
    const ends = !document.querySelector("#result").hidden;
    if (shown !== null && (ends || document.querySelector("#mine.turn"))) {
      watcher.disconnect();
      tell([shown, performance.now() - began, ends]);
    }
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { subtree: true, childList: true, attributes: true });
  document.querySelector("#hand li.legal button").click();
})"""


@contextlib.contextmanager
def served(*options: str) -> Iterator[list[str]]:
    """The links of a server in a process of its own."""
    command = [sys.executable, "evaluate.py", "web", *SPECS, "--port", "0", "--pace", "0", "--seed", "1", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        links = []
        for line in process.stdout:
            links += re.findall(r"http://\S+", line)
            if line.startswith("Ctrl-C"):
                break
        yield links
    finally:
        process.terminate()
        process.communicate()


def told(name: str, seconds: Sequence[float]) -> str:
    """Quantiles in words."""
    low, high = np.quantile(seconds, [0.5, 0.99]) * 1000
    return f"{name}: {len(seconds)} timed, median {low:.1f} ms, p99 {high:.1f} ms, longest {max(seconds) * 1000:.1f} ms"


# --- clicks


def click_times(deals: int) -> tuple[list[float], list[float]]:
    """Seconds until a clicked card has left the hand, and until it is the person's turn again."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        return [], []
    shown: list[float] = []
    answered: list[float] = []
    with served() as links, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(links[0])
        for _ in range(deals):
            page.wait_for_selector("[data-key=deal]")
            heading = page.locator("#heading").inner_text()
            page.keyboard.press("Enter")
            page.wait_for_function("(old) => document.querySelector('#heading').innerText !== old", arg=heading)
            page.wait_for_selector("#mine.turn [data-key=stay], #result:not([hidden])")
            if page.locator("[data-key=stay]").count():
                page.locator("[data-key=stay]").click()
            page.wait_for_selector("#hand li.legal, #result:not([hidden])")
            while page.locator("#result").is_hidden():
                first, last, _ = page.evaluate(CLICK)
                shown.append(first / 1000)
                answered.append(last / 1000)
        browser.close()
    return shown, answered


# --- many tables


@dataclass
class Player:
    """A scripted client of one table.

    Attributes:
        link: of its seat.
        answers: seconds from each action to the table that shows it.
        errors: whatever went wrong.
    """

    link: str
    answers: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def play(self, session: aiohttp.ClientSession, gate: asyncio.Semaphore, thought: float) -> None:
        """Sit down and play until the session is over."""
        address, _, token = self.link.partition("#")
        try:
            async with gate:
                socket = await session.ws_connect(f"{address}ws", max_msg_size=0)
            async with socket:
                await socket.send_json({"do": "join", "token": token})
                await self._play(socket, thought)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    async def _play(self, socket: aiohttp.ClientWebSocketResponse, thought: float) -> None:
        """Answer the table until the session is over."""
        rng = np.random.default_rng(1)
        asked: tuple[int, int] | None = None  # what is answered already
        sent: tuple[float, tuple[int, int]] | None = None
        async for received in socket:
            message: dict[str, Any] = json.loads(received.data)
            if message["type"] == "refused":
                self.errors.append(message["reason"])
            if message["type"] != "table":
                continue
            view = message["view"]
            now = view["deal"], view.get("step", -1)
            if sent is not None and now > sent[1]:
                self.answers.append(time.perf_counter() - sent[0])
                sent = None
            if view["over"]:
                return
            if now == asked:
                continue
            request = _request(view, rng)
            if request is None:
                continue
            asked = now
            await asyncio.sleep(thought)
            sent = time.perf_counter(), now
            await socket.send_json(request)
        self.errors.append("the connection ended before the session")


def _request(view: dict[str, Any], rng: np.random.Generator) -> dict[str, Any] | None:
    """What to say at a table; None when there is nothing to say."""
    if view["phase"] in ("waiting", "settled"):
        return {"do": "deal"}
    if not view["legal"]:
        return None
    action = view["legal"][int(rng.integers(len(view["legal"])))]["id"]
    return {"do": "act", "action": action, "deal": view["deal"], "step": view["step"]}


async def play_all(links: Sequence[str], thought: float) -> list[Player]:
    """Play at every table at once."""
    players = [Player(link) for link in links]
    gate = asyncio.Semaphore(MOST_CONNECTING)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(player.play(session, gate, thought) for player in players))
    return players


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--click-deals", type=int, default=20, help="deals played by clicks (%(default)s)")
    parser.add_argument("--tables", type=int, default=200, help="played at at once (%(default)s)")
    parser.add_argument("--deals", type=int, default=4, help="at each table (%(default)s)")
    parser.add_argument("--thought", type=float, default=1.0, help="seconds of each client (%(default)s)")
    parser.add_argument("--records", action="store_true", help="write every table down, in a temporary folder")
    options = parser.parse_args()
    if options.click_deals:
        shown, answered = click_times(options.click_deals)
        if shown:
            print(told("click to the card played", shown))
            print(told("click to one's turn again", answered))
        else:
            print(f"no browser is installed ({', '.join(BROWSERS)}): clicks are not timed")
    if options.tables:
        with tempfile.TemporaryDirectory() as folder:
            records = ["--records", folder] if options.records else []
            with served("--tables", str(options.tables), "--deals", str(options.deals), *records) as links:
                began = time.perf_counter()
                players = asyncio.run(play_all(links[::2], options.thought))
                seconds = time.perf_counter() - began
        errors = [error for player in players for error in player.errors]
        print(f"{len(players)} tables of {options.deals} deals in {seconds:.0f} s, {len(errors)} errors")
        print(told("action to the table's answer", [seconds for player in players for seconds in player.answers]))
        for error in errors[:5]:
            print(f"error: {error}")


if __name__ == "__main__":
    main()
