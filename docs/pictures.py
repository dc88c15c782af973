"""Makes the pictures of the README: the web table and the report of a tournament, as small PNG files.

    .venv/bin/python docs/pictures.py

It needs Chromium and the dev packages (`make venv`). Each picture shows what the commands themselves make.
"""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COLOURS = 256
LARGEST = 120_000  # bytes
DESKTOP, PHONE = {"width": 1240, "height": 780}, {"width": 390, "height": 760}
SEED = "11"  # a deal worth a look


def main() -> None:
    """Make all pictures."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        sys.exit(f"no browser ({', '.join(BROWSERS)}) is installed; with Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        picture_play(browser, "table.png", DESKTOP, "light")
        picture_play(browser, "table-phone.png", PHONE, "dark")
        picture_watching(browser, "watch.png")
        picture_report(browser, "report.png")
        browser.close()


@contextlib.contextmanager
def served(*words: str) -> Iterator[str]:
    """The first link that a server prints."""
    command = [sys.executable, "evaluate.py", "web", *words, "--port", "0", "--seed", SEED, "--pace", "0.05"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
    assert process.stdout is not None
    try:
        lines = []
        while not lines or not lines[-1].startswith("Ctrl-C"):
            lines.append(process.stdout.readline())
        yield re.findall(r"http://\S+", lines[0])[0]
    finally:
        process.terminate()
        process.communicate()


def opened(browser: Any, link: str, size: dict[str, int], scheme: str) -> Any:
    """A page without movement."""
    page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page.goto(link)
    return page


def picture_play(browser: Any, name: str, size: dict[str, int], scheme: str) -> None:
    """A person's turn in the middle of a deal."""
    with served("Marie=human", "heuristic", "Jules=heuristic", "random", "Rose=heuristic") as link:
        page = opened(browser, link, size, scheme)
        for _ in range(20):
            page.locator("[data-key=deal]").click()
            page.wait_for_selector("#mine.turn, #result:not([hidden])")
            if page.locator("[data-key=stay]").count():
                page.locator("#hand button").nth(4).click()
                page.locator("[data-key=stay]").click()
            while page.locator("#result").is_hidden():
                page.wait_for_selector("#hand li.legal, #result:not([hidden])")
                if page.locator("#trick:not(.over) .played").count() >= 2 and page.locator("#hand li.barred").count():
                    save(page, name)
                    return
                if page.locator("#hand li.legal").count():
                    cards = page.locator("#hand li").count()
                    page.locator("#hand li.legal button").first.click()
                    page.wait_for_function("(old) => document.querySelectorAll('#hand li').length < old", arg=cards)
            page.wait_for_selector("[data-key=deal]")
    raise RuntimeError("no such moment in twenty deals")


def picture_watching(browser: Any, name: str) -> None:
    """Policies at play, and what one of them thought."""
    with served("random", "heuristic", "Jules=heuristic", "Rose=random") as link:
        page = opened(browser, link, DESKTOP, "dark")
        page.wait_for_function(
            "() => document.querySelectorAll('#trick:not(.over) .played').length >= 2"
            " && document.querySelectorAll('#thought li').length >= 3"
        )
        page.keyboard.press(" ")
        page.wait_for_selector("[data-role=play][aria-label='Go on']")
        save(page, name)


def picture_report(browser: Any, name: str) -> None:
    """The report of a small tournament."""
    with tempfile.TemporaryDirectory() as folder:
        names = ["random", "heuristic", "always_stay", "always_pass"]
        command = [sys.executable, "evaluate.py", "tournament", *names, "--blocks", "400", "--out", folder]
        subprocess.run(command, check=True, cwd=HERE.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        page = opened(browser, (Path(folder) / "report.html").as_uri(), DESKTOP, "light")
        save(page, name)


def save(page: Any, name: str) -> None:
    """Write what the page shows, in few colours."""
    path = HERE / name
    page.screenshot(path=path)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        raise RuntimeError(f"{path} has {path.stat().st_size} bytes; at most {LARGEST} are wanted")
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size} bytes")
    page.close()


if __name__ == "__main__":
    main()
