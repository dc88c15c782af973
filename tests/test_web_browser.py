"""The web table as a person meets it: whole deals by clicks and by keys, in headless Chromium, at three sizes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_sitting import CARD
from web_browser import Background, launched, opened

from agents.web.replays import read_replays

SIZES = {"desktop": (1280, 800), "tablet": (820, 1100), "phone": (390, 844)}
LARGEST_SCREENSHOT = 400_000  # bytes
DEAL = re.compile("Deal the cards|Next deal")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as started:
        yield started


def wait_for_turn(page: Any) -> None:
    """Until the person can do something."""
    page.wait_for_selector("#mine.turn, #actions button:enabled")


def play_by_clicks(page: Any, *, marks: int = 1) -> None:
    """One deal: throw cards away, stay, then play the first card that may be played."""
    heading = page.locator("#heading").inner_text()
    page.get_by_role("button", name=DEAL).click()
    page.wait_for_function("(old) => document.querySelector('#heading').innerText !== old", arg=heading)
    page.wait_for_selector("#mine.turn, #result:not([hidden])")
    while page.locator("#result").is_hidden():
        stay = page.get_by_role("button", name=re.compile("^(Stay|Keep all|Draw)"))
        declares = stay.count() > 0
        for place in range(marks if declares else 0):
            page.locator("#hand button").nth(place).click()
        # looked at once the cards are marked, for marks change the prompt before the table answers
        before = page.locator("#hand li").count(), page.locator("#prompt").text_content()
        if declares:
            stay.click()
        elif page.locator("#hand li.legal").count():
            page.locator("#hand li.legal button").first.click()
        page.wait_for_function(
            "([cards, prompt]) => !document.querySelector('#result').hidden"
            " || (document.querySelector('#mine.turn') && (document.querySelectorAll('#hand li').length !== cards"
            " || document.querySelector('#prompt').textContent !== prompt))",
            arg=before,
        )


def assert_fits(page: Any) -> None:
    """Nothing sticks out sideways, and whatever is pressed is large enough for a finger."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = page.evaluate(
        "[...document.querySelectorAll('button, select, .plate, .held')].filter((one) => one.offsetParent)"
        ".map((one) => [one.className, ...Object.values(one.getBoundingClientRect().toJSON()).slice(0, 4)])"
    )
    for kind, left, _, width, height in boxes:
        assert left >= -1, kind
        assert left + width <= page.viewport_size["width"] + 1, kind
        assert min(width, height) >= 24, kind


@pytest.mark.parametrize("size", SIZES)
def test_whole_deals_are_played_by_clicking(browser: Any, tmp_path: Path, size: str):
    scheme = "dark" if size == "phone" else "light"
    with (
        Background("human", "heuristic", "random", "heuristic", seed=7) as server,
        opened(browser, server.seat(0), size=SIZES[size], color_scheme=scheme) as page,
    ):
        for deal in range(1, 2 if size == "tablet" else 3):
            play_by_clicks(page)
            assert_fits(page)
            sitting = server.tables[0].sitting
            assert len(sitting.finished) == deal
            shown = page.locator("#standings td:last-child").all_inner_texts()
            assert [int(text.replace("\N{MINUS SIGN}", "-")) for text in shown] == sitting.totals
        page.screenshot(path=tmp_path / "table.png")
        assert 20_000 < (tmp_path / "table.png").stat().st_size < LARGEST_SCREENSHOT


@pytest.mark.parametrize("seats", [2, 8])
def test_the_smallest_and_the_largest_table_fit_a_phone(browser: Any, seats: int):
    with (
        Background("human", *["random"] * (seats - 1)) as server,
        opened(browser, server.seat(0), size=SIZES["phone"]) as page,
    ):
        play_by_clicks(page)
        assert page.locator("#seats .seat").count() == seats
        assert_fits(page)


def test_a_deal_over_a_slow_connection_is_played_by_clicking(browser: Any):
    with (
        Background("human", "heuristic") as server,
        opened(browser, server.seat(0), delay=300) as page,
    ):
        play_by_clicks(page)
        assert len(server.tables[0].sitting.finished) == 1


def test_a_deal_in_two_rounds_is_played_by_clicking(browser: Any):
    from bourre_env import Rules

    with (
        Background("human", "random", "random", rules=Rules.preset("wiki", num_players=3)) as server,
        opened(browser, server.seat(0)) as page,
    ):
        play_by_clicks(page, marks=0)
        play_by_clicks(page, marks=0)
        assert len(server.tables[0].sitting.finished) == 2


def test_whole_deals_are_played_by_keys_alone(browser: Any):
    with (
        Background("human", "heuristic", "random") as server,
        opened(browser, server.seat(0)) as page,
    ):
        page.wait_for_selector("#actions button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#mine.turn")
        page.keyboard.press("1")
        page.keyboard.press("3")
        assert page.locator("#hand li.thrown").count() == 2
        page.keyboard.press("1")
        assert page.get_by_role("button", name="Stay, 1 new").count() == 1
        page.keyboard.press("h")
        page.wait_for_selector("#hint:not([hidden]) .bar")
        page.keyboard.press("Enter")
        while True:
            page.wait_for_selector("#hand li.legal, #result:not([hidden])")
            if page.locator("#result").is_visible():
                break
            cards = page.locator("#hand li").count()
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.className") == "held"
            place = page.locator("#hand li").evaluate_all("all => all.findIndex((one) => one.matches('.legal'))")
            page.keyboard.press(str(place + 1))
            page.wait_for_function(f"() => document.querySelectorAll('#hand li').length < {cards}")
        page.keyboard.press("Enter")
        page.wait_for_selector("#mine.turn")
        step = server.tables[0].sitting.story.steps
        taken = len(step)
        page.keyboard.press("p")
        page.wait_for_function(
            "() => [...document.querySelectorAll('#log li')].some((one) => one.innerText === 'You pass')"
        )
        assert len(server.tables[0].sitting.story.steps) > taken


def test_two_people_sit_in_two_browsers_and_neither_is_shown_the_others_cards(browser: Any):
    with (
        Background("human", "human", "random", "random") as server,
        opened(browser, server.seat(0)) as one,
        opened(browser, server.seat(1)) as two,
    ):
        for page in (one, two):
            page.get_by_role("button", name=DEAL).click()
        for page in (one, two):
            page.wait_for_selector("#hand button")
        sitting = server.tables[0].sitting
        for seat, page in enumerate((one, two)):
            held = {card for card in sitting.view(seat)["seats"][seat]["cards"] if CARD.fullmatch(card)}
            names = page.locator("#hand button").evaluate_all("all => all.map((one) => one.ariaLabel)")
            assert len(names) == len(held) == 5
            shown = page.content()
            others = sitting.view(1 - seat)["seats"][1 - seat]["cards"]
            turn_up = sitting.view(0)["turnUp"]["card"]
            for card in set(others) - {turn_up}:
                assert full_name(card) not in shown


def full_name(card: str) -> str:
    """A card as it is read aloud."""
    words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
    ranks = dict(zip("23456789TJQKA", words, strict=True))
    suits = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
    return f"{ranks[card[0]]} of {suits[card[1]]}"


def first_hand(page: Any) -> list[str]:
    page.wait_for_selector("#mine.turn #hand button")
    names: list[str] = page.locator("#hand button").evaluate_all("all => all.map((one) => one.ariaLabel)")
    return names


def test_reload_resumes_and_so_does_the_page_by_itself_when_the_server_restarts(browser: Any, tmp_path: Path):
    with (
        Background("human", "heuristic", "random", folder=tmp_path) as server,
        opened(browser, server.seat(0)) as page,
    ):
        page.get_by_role("button", name=DEAL).click()
        hand = first_hand(page)
        page.reload()
        assert first_hand(page) == hand
        server.stop()
        page.wait_for_function("() => document.querySelector('#link-state').textContent.includes('trying again')")
        server.start()
        page.wait_for_function("() => document.querySelector('#link-state').textContent === ''")
        assert first_hand(page) == hand
        page.get_by_role("button", name=re.compile("^Stay")).click()
        page.wait_for_selector("#hand li.legal, #result:not([hidden])")


def test_a_card_that_may_not_be_played_is_refused_with_the_reason(browser: Any):
    for seed in range(20):
        with Background("human", "always_stay", seed=seed) as server, opened(browser, server.seat(0)) as page:
            page.get_by_role("button", name=DEAL).click()
            page.get_by_role("button", name="Stay, keep all").click()
            page.wait_for_selector("#hand li.legal")
            if not page.locator("#hand li.barred").count():
                continue
            cards = page.locator("#hand li").count()
            page.locator("#hand li.barred button").first.click()
            page.wait_for_function("() => document.querySelector('#refusal').textContent.startsWith('Refused: ')")
            assert "You may: " in page.locator("#refusal").inner_text()
            assert page.locator("#hand li").count() == cards
            return
    raise AssertionError("no deal with a forbidden card was found")


def test_watchers_stop_and_step_and_see_what_policies_think(browser: Any):
    with Background("random", "heuristic", "random", pace=0.1) as server, opened(browser, server.watch) as page:
        page.wait_for_selector("#thought-panel:not([hidden]) .bar")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Go on").wait_for()
        steps = page.locator("#log li").count()
        page.get_by_role("button", name="One action").click()
        page.wait_for_function(f"() => document.querySelectorAll('#log li').length !== {steps}")
        page.get_by_label("Speed").select_option(label="fast")
        page.get_by_role("button", name="Pause").wait_for()
        assert server.tables[0].pace == 0.1
        assert page.locator("#mine").is_hidden()


def test_a_deal_is_looked_at_again_step_by_step(browser: Any, tmp_path: Path):
    with (
        Background("human", "heuristic", "random", folder=tmp_path / "table") as server,
        opened(browser, server.seat(0)) as page,
    ):
        play_by_clicks(page)
        page.get_by_role("button", name="Step through it").click()
        page.wait_for_selector("#transport:not([hidden]) input")
        last = len(server.tables[0].sitting.finished[0].record.actions)
        assert page.locator(".count").inner_text() == f"0 of {last}"
        page.keyboard.press("ArrowRight")
        assert page.locator(".count").inner_text() == f"1 of {last}"
        page.keyboard.press("End")
        assert page.locator("#result").is_visible()
        page.keyboard.press(" ")
        page.wait_for_function(f"() => document.querySelector('.count').textContent === '2 of {last}'")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Play").wait_for()
        page.keyboard.press(" ")
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Back to the table").click()
        page.get_by_role("button", name=DEAL).wait_for()
    replays = tuple(read_replays([tmp_path]))
    with Background(replays=replays) as server, opened(browser, server.link("replays"), size=SIZES["phone"]) as page:
        page.get_by_role("button", name="deal 1").click()
        page.wait_for_selector("#seats .seat .fan")
        assert page.locator("#seats .fan .face.back").count() == 0
        page.keyboard.press("End")
        assert page.locator("#tricks li").count() == len(replays[0].views(0)[-1]["tricks"])
        assert_fits(page)


def test_names_are_text_whatever_they_hold(browser: Any):
    with Background("human", "heuristic") as server, opened(browser, server.seat(0)) as page:
        page.get_by_role("button", name="Change your name").click()
        page.get_by_label("Your name at the table").fill("<img src=x>&amp;")
        page.get_by_role("button", name="Use it").click()
        page.wait_for_function("() => document.querySelector('#seats .name').textContent.includes('<img src=x>&amp;')")
        assert page.locator("img").count() == 0
        page.get_by_role("button", name="Change your name").click()
        page.keyboard.press("Escape")
        assert server.tables[0].sitting.seats[0].name == "<img src=x>&amp;"


def test_a_wrong_link_says_so(browser: Any):
    with (
        Background("human", "heuristic") as server,
        opened(browser, server.link("")) as page,
    ):
        page.get_by_text("This table opens by a link").wait_for()
        with opened(browser, server.link("nonsense")) as page:
            page.get_by_text("This link opens no table here").wait_for()
            assert page.locator("#table").is_hidden()


def test_who_wants_no_movement_sees_none(browser: Any):
    with (
        Background("random", "heuristic", pace=0.1) as server,
        opened(browser, server.watch) as page,
    ):
        # found and looked at in one go, for the table goes on meanwhile
        look = "() => [...document.querySelectorAll('.played')].map(card => getComputedStyle(card).animationName)[0]"
        assert page.wait_for_function(look).json_value() == "none"


# --- accessibility


def serious_findings(page: Any) -> list[str]:
    """What axe-core finds serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{finding['id']}: {node['html'][:120]} {node['failureSummary']}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]


@pytest.mark.parametrize(
    ("size", "scheme"),
    [("desktop", "light"), ("phone", "dark"), pytest.param("phone", "light", marks=pytest.mark.slow)],
)
def test_axe_finds_nothing_serious_in_any_state_of_the_page(browser: Any, size: str, scheme: str):
    options = {"size": SIZES[size], "color_scheme": scheme}
    with (
        Background("human", "heuristic", "random", "random") as server,
        opened(browser, server.seat(0), **options) as page,
    ):
        page.wait_for_selector("#actions button")
        assert serious_findings(page) == [], "before the deal"
        page.get_by_role("button", name=DEAL).click()
        page.wait_for_selector("#mine.turn #hand button")
        page.locator("#hand button").first.click()
        assert serious_findings(page) == [], "while declaring"
        page.get_by_role("button", name=re.compile("^Stay")).click()
        page.wait_for_selector("#hand li.legal, #result:not([hidden])")
        if page.locator("#hand li.legal").count():
            page.keyboard.press("h")
            page.wait_for_selector("#hint:not([hidden])")
        assert serious_findings(page) == [], "in play"
        while page.locator("#result").is_hidden():
            cards = page.locator("#hand li").count()
            page.locator("#hand li.legal button").first.click()
            page.wait_for_function(f"() => document.querySelectorAll('#hand li').length < {cards}")
            page.wait_for_selector("#hand li.legal, #result:not([hidden])")
        assert serious_findings(page) == [], "after the deal"
        page.get_by_role("button", name="Step through it").click()
        page.keyboard.press("End")
        assert serious_findings(page) == [], "looking back"
        page.get_by_role("button", name="Keys and words").click()
        assert serious_findings(page) == [], "help"
    with (
        Background("random", "heuristic", "random", pace=0.1) as server,
        opened(browser, server.watch, **options) as page,
    ):
        page.wait_for_selector("#thought-panel:not([hidden])")
        page.keyboard.press(" ")
        page.get_by_role("button", name="Go on").wait_for()
        assert serious_findings(page) == [], "watching"


def test_listeners_are_told_what_happens(browser: Any):
    with Background("human", "heuristic", "random") as server, opened(browser, server.seat(0)) as page:
        page.get_by_role("button", name=DEAL).click()
        page.wait_for_function("() => /Pass, or stay/.test(document.querySelector('#spoken').textContent)")
        page.get_by_role("button", name="Pass").click()
        page.wait_for_function(
            "() => /You pass\\..* chips?/.test(document.querySelector('#spoken').textContent)"
            " || !document.querySelector('#result').hidden"
        )
        assert page.locator("#spoken").get_attribute("aria-live") == "polite"
