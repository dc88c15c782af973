"""The server of the web table, without a browser: who is told what, what is refused, and what a restart keeps."""

import asyncio
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import aiohttp
import numpy as np
import pytest
from test_sitting import CARD, shown_cards
from web_client import Browser, Served, run, serving, terms_of

from agents.baselines import HEURISTIC
from agents.commands.web import named_specs
from agents.evaluation_cli import _parser, main
from agents.journal import Journal, JournalError
from agents.replaying import read_record
from agents.sitting import Seat
from agents.story import ALL_HANDS, PUBLIC
from agents.web import app, messages
from agents.web.opening import Terms
from agents.web.replays import read_replays
from bourre_env import Rules
from bourre_env.errors import NotationError

ROOT = Path(__file__).parent.parent
PEOPLE = ["human", "human", "heuristic", "random"]


def chooser(seed: int = 0):
    rng = np.random.default_rng(seed)
    return lambda legal: legal[rng.integers(len(legal))]["id"]


# --- what is served to whom


def test_the_page_comes_with_a_policy_that_lets_nothing_in_from_outside():
    async def test():
        async with serving(None) as served:
            for path in ("/", "/static/main.js", "/static/table.css"):
                answer = await served.session.get(served.server.make_url(path))
                assert answer.status == 200
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert "frame-ancestors 'none'" in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
            for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/", "/table.json", "/records"):
                answer = await served.session.get(served.server.make_url(path))
                assert answer.status in (403, 404)

    run(test)


def test_nothing_in_the_page_is_loaded_from_elsewhere():
    for file in app.STATIC.iterdir():
        text = file.read_text().replace('"http://www.w3.org/2000/svg"', "")
        assert not re.search(r"(?:https?:)?//[a-z]|@import|url\(|eval\(|innerHTML|style=", text), file.name


@pytest.mark.parametrize(
    ("host", "headers", "status"),
    [
        ("127.0.0.1", {}, 101),
        ("127.0.0.1", {"Origin": "http://{}"}, 101),
        ("127.0.0.1", {"Origin": "http://evil.example"}, 403),
        ("127.0.0.1", {"Origin": "null"}, 403),
        ("127.0.0.1", {"Origin": "http://127.0.0.1:1"}, 403),
        ("127.0.0.1", {"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ("127.0.0.1", {"Host": "localhost:80", "Origin": "http://localhost:80"}, 101),
        ("0.0.0.0", {"Host": "table.example", "Origin": "https://table.example"}, 101),
        ("0.0.0.0", {"Host": "table.example", "Origin": "https://evil.example"}, 403),
    ],
)
def test_websockets_open_to_pages_of_this_server_alone(host: str, headers: dict[str, str], status: int):
    async def test():
        async with serving(None, host=host) as served:
            own = f"{served.server.host}:{served.server.port}"
            sent = {name: value.format(own) for name, value in headers.items()}
            if status == 101:
                await (await served.session.ws_connect(served.server.make_url("/ws"), headers=sent)).close()
                return
            with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
                await served.session.ws_connect(served.server.make_url("/ws"), headers=sent)
            assert caught.value.status == status

    run(test)


def test_a_secret_opens_its_own_seat_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app, "JOIN_WITHIN", 0.2)

    async def test():
        async with serving(terms_of(PEOPLE)) as served:
            tokens = served.tables[0].tokens
            assert len({*tokens.seats[:2], tokens.watch}) == 3
            assert tokens.seats[2:] == ("", "")
            assert all(len(token) >= 22 for token in (*tokens.seats[:2], tokens.watch))
            assert (await served.sit(1)).table["view"]["you"] == 1
            stranger = await served.connect()
            for token in ("", "x", tokens.watch[:-1], tokens.seats[0] + "A"):
                await stranger.say("join", token=token)
                assert "opens no table" in await stranger.refusal()
            await stranger.say("deal")
            assert "first message joins" in await stranger.refusal()
            await stranger.say("join", token=tokens.seats[0])
            assert (await stranger.hear("welcome"))["seat"] == 0
            await stranger.say("join", token=tokens.seats[1])
            assert "joined already" in await stranger.refusal()
            silent = await served.connect()
            assert (await silent.socket.receive()).type is aiohttp.WSMsgType.CLOSE
            assert silent.socket.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION

    run(test)


def check_told(served: Served, browser: Browser, observer: int) -> int:
    """Every card in every message to a browser is one that it had seen by right at that step; how many were told."""
    finished = {number: deal.story() for number, deal in enumerate(served.tables[0].sitting.finished, 1)}
    told = 0
    for text in browser.texts:
        message = json.loads(text)
        cards = set(CARD.findall(text))
        if message["type"] == "table" and message["view"]["deal"]:
            story, step = finished[message["view"]["deal"]], message["view"]["step"]
            assert cards <= shown_cards(story.rules, story.tables[: step + 1], story.steps[:step], observer)
        elif message["type"] in ("past", "hint"):
            story = finished[message.get("deal", len(finished))]
            assert cards <= shown_cards(story.rules, story.tables, story.steps, observer)
        else:
            assert not cards
        told += len(cards)
    return told


@pytest.mark.parametrize("rules", ["pagat", "wiki", "hoyle"])
def test_no_message_to_a_seat_or_watcher_holds_a_card_it_may_not_see(rules: str):
    async def test():
        async with serving(terms_of(PEOPLE, rules=Rules.preset(rules, num_players=4), deals=3)) as served:
            first, second, watcher = await served.sit(0), await served.sit(1), await served.watch()
            await asyncio.gather(first.play(chooser(1), 3), second.play(chooser(2), 3))
            for browser in (first, second):
                await browser.say("past", deal=2)
                await browser.hear("past")
            await watcher.until(lambda view: view["over"])
            assert check_told(served, first, 0) > 100
            assert check_told(served, second, 1) > 100
            assert check_told(served, watcher, PUBLIC) > 50
            await watcher.say("past", deal=1)
            hands = (await watcher.hear("past"))["views"][0]["seats"]
            assert all("--" not in seat["cards"] for seat in hands)

    run(test)


def test_what_a_failing_policy_did_is_told_to_nobody_who_plays():
    """Its message names the legal cards: `4a` is no card text, but tells the hand all the same."""

    async def test():
        async with serving(terms_of(["human", "odd_bots:PassesInPlay", "always_stay"])) as served:
            browser, watcher = await served.sit(0), await served.watch()
            await browser.play(lambda legal: legal[0]["id"], 3)
            assert any("legal were" in fault for fault in served.tables[0].sitting.faults)
            await watcher.until(lambda view: view["deal"] == 3 and view["phase"] == "settled")
            assert not any("legal were" in text for text in (*browser.texts, *watcher.texts))
        async with serving(terms_of(["odd_bots:PassesInPlay", "always_stay"], deals=2)) as served:
            watcher = await served.watch()
            await watcher.until(lambda view: view["over"])
            assert any("legal were" in text for text in watcher.texts)

    run(test)


def test_watchers_see_all_hands_where_no_person_sits():
    async def test():
        async with serving(terms_of(["random", "heuristic"], deals=1)) as served:
            watcher = await served.watch()
            view = await watcher.until(lambda view: view["phase"] == "declare")
            assert all("--" not in seat["cards"] for seat in view["seats"])
            view = await watcher.until(lambda view: view.get("thought") is not None)
            assert sum(prob for _, prob in view["thought"]["bars"]) == pytest.approx(1, abs=0.01)

    run(test)


# --- what is refused

REFUSED = [
    ("", "no JSON"),
    ("{", "no JSON"),
    ("[" * 1500, "no JSON"),
    ("null", "no object whose 'do' is one of"),
    ('{"do":[]}', "no object whose 'do' is one of"),
    ('{"do":"shuffle"}', "no object whose 'do' is one of"),
    ('{"do":"act"}', "takes the keys action, deal, step"),
    ('{"do":"deal","seat":1}', "takes the keys do alone"),
    ('{"do":"act","action":true,"deal":1,"step":0}', "wrong kind"),
    ('{"do":"act","action":[],"deal":1,"step":0}', "wrong kind"),
    ('{"do":"act","action":1e400,"deal":1,"step":0}', "wrong kind"),
    ('{"do":"pace","seconds":NaN}', "wrong kind"),
    ('{"do":"pace","seconds":-1}', "the pace is 0 to 10"),
    ('{"do":"pace","seconds":1e9}', "the pace is 0 to 10"),
    ('{"do":"pace","seconds":null}', "does not pause"),
    ('{"do":"step"}', "for a table that pauses"),
    ('{"do":"past","deal":1}', "no such deal"),
    ('{"do":"replay","number":0,"deal":0}', "for watchers"),
    ('{"do":"name","name":" "}', "1 to 20 printable"),
    ('{"do":"name","name":"a\\u202eb"}', "1 to 20 printable"),
    (json.dumps({"do": "name", "name": "x" * 21}), "1 to 20 printable"),
    ('{"do":"name","name":"random"}', "somebody else"),
    ('{"do":"deal"}', "not over yet"),
    ('{"do":"act","action":"pass","deal":1,"step":99}', "moved on"),
    (json.dumps({"do": "act", "action": "x" * 3000, "deal": 1, "step": 0}), "longer than 2048 bytes"),
]


async def in_play(served: Served) -> tuple[Browser, Browser]:
    """Two browsers at a table whose deal waits for the first."""
    first, second = await served.sit(0), await served.sit(1)
    await first.say("deal")
    await second.say("deal")
    await first.until(lambda view: view["turn"] == 0)
    await second.until(lambda view: view["turn"] == 0)
    return first, second


def test_whatever_is_refused_is_refused_with_its_reason():
    async def test():
        async with serving(terms_of(["human", "human", "random", "random"])) as served:
            first, second = await in_play(served)
            sitting = served.tables[0].sitting
            before = sitting.view(ALL_HANDS)
            for text, reason in REFUSED:
                await first.socket.send_str(text)
                assert reason in await first.refusal(), text
            await first.socket.send_bytes(b"\0\1")
            assert "messages are text" in await first.refusal()
            await second.act("pass")
            assert "turn, not yours" in await second.refusal()
            await second.say("forfeit")
            assert "only when it is to act" in await second.refusal()
            await second.say("hint")
            assert "for the seat to act" in await second.refusal()
            for action in (400, -1, "9Z", "stay 2Z"):
                await first.act(action)
                assert await first.refusal()
            assert sitting.view(ALL_HANDS) == before
            watcher = await served.watch()
            for do, values in (("act", {"action": "pass", "deal": 1, "step": 0}), ("deal", {}), ("forfeit", {})):
                await watcher.say(do, **values)
                assert "watchers have no seat" in await watcher.refusal()
            await watcher.say("pace", seconds=1)
            assert "only look on" in await watcher.refusal()
            await watcher.say("replay", number=0, deal=0)
            assert "no such recorded deal" in await watcher.refusal()

    run(test)


def nonsense(rng: np.random.Generator) -> str | bytes:
    """A message that no honest page sends."""
    kind = rng.integers(8)
    noise = rng.bytes(int(rng.integers(0, 60)))
    if kind == 0:
        return noise
    if kind == 1:
        return noise.decode("latin-1")
    if kind == 2:
        return "x" * int(rng.integers(2049, 20_000))
    if kind == 3:
        text, _ = REFUSED[rng.integers(len(REFUSED))]
        place = int(rng.integers(len(text) + 1))
        return text[:place] + noise.decode("latin-1") + text[place:]
    do = [*messages.KEYS, "sit", ""][rng.integers(len(messages.KEYS) + 2)]
    values = [None, -1, 0, 2**70, 1.5, "", "pass", "AS", [], {}, True, "stay 2C 2C"]
    names = ["action", "deal", "step", "token", "seconds", "name", "number", "__class__"]
    chosen = rng.permutation(names)[: rng.integers(0, 4)]
    content = {"do": do} | {str(name): values[rng.integers(len(values))] for name in chosen}
    return json.dumps(content)


@pytest.mark.parametrize("hundreds", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_ten_thousand_bad_messages_harm_no_table(hundreds: int):
    """From a seat whose turn it is not; 'name' and 'pace' may be right by chance, and change no card and no chip."""

    async def test():
        async with serving(terms_of(["human", "human", "random", "random"])) as served:
            _, second = await in_play(served)
            sitting = served.tables[0].sitting
            before, steps = sitting.record(), len(sitting.story.steps)
            rng = np.random.default_rng(9)
            for _ in range(hundreds):
                for _ in range(100):
                    message = nonsense(rng)
                    await (second.socket.send_str if isinstance(message, str) else second.socket.send_bytes)(message)
                answered = 0
                while answered < 100:
                    answered += (await second.hear("refused", "table"))["type"] in ("refused", "table")
            assert (sitting.record(), len(sitting.story.steps), sitting.turn) == (before, steps, 0)
            first = await served.sit(0)
            await asyncio.gather(first.play(chooser(1)), second.play(chooser(2)))
            assert len(sitting.finished) == 1

    run(test)


def test_a_message_beyond_all_bounds_ends_its_connection_and_no_other():
    async def test():
        async with serving(terms_of(["human", "human", "random", "random"])) as served:
            first, second = await in_play(served)
            await second.socket.send_str("x" * (app.HARD_LIMIT + 1))
            received = await second.socket.receive()
            assert received.type is aiohttp.WSMsgType.CLOSE
            assert second.socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
            again = await served.sit(1)
            await asyncio.gather(first.play(chooser(1)), again.play(chooser(2)))

    run(test)


def test_a_double_click_acts_once():
    async def test():
        async with serving(terms_of(["human", "heuristic"])) as served:
            browser = await served.sit(0)
            await browser.say("deal")
            await browser.until(lambda view: view["turn"] == 0)
            await browser.act("stay")
            await browser.act("stay")
            assert "moved on" in await browser.refusal()

    run(test)


# --- sitting together


def test_a_deal_begins_when_all_who_are_connected_are_ready():
    async def test():
        async with serving(terms_of(PEOPLE)) as served:
            first, second = await served.sit(0), await served.sit(1)
            await first.say("deal")
            while not (await first.hear("table"))["ready"][0]:
                pass
            assert first.table["view"]["phase"] == "waiting"
            assert first.table["here"] == [True, True, False, False]
            await second.socket.close()
            view = await first.until(lambda view: view["phase"] != "waiting")
            assert view["deal"] == 1

    run(test)


def test_the_same_seat_may_be_open_twice_and_reload_resumes():
    async def test():
        async with serving(terms_of(["human", "heuristic", "random"])) as served:
            phone, desktop = await served.sit(0), await served.sit(0)
            await phone.say("deal")
            await phone.until(lambda view: view["turn"] == 0)
            view = await desktop.until(lambda view: view["turn"] == 0)
            assert view == phone.table["view"]
            await phone.socket.close()
            await desktop.socket.close()
            assert (await served.sit(0)).table["view"] == view

    run(test)


def test_people_choose_names():
    async def test():
        async with serving(terms_of(PEOPLE)) as served:
            first, second = await served.sit(0), await served.sit(1)
            await first.say("name", name="  Marie   Laveau ")
            view = await second.until(lambda view: view["seats"][0]["name"] == "Marie Laveau")
            assert view["seats"][0]["person"]
            await second.say("name", name="Marie Laveau")
            assert "somebody else" in await second.refusal()

    run(test)


def test_a_hint_is_what_the_policy_would_do():
    async def test():
        async with serving(terms_of(["human", "heuristic"])) as served:
            browser = await served.sit(0)
            await browser.say("deal")
            view = await browser.until(lambda view: view["turn"] == 0)
            await browser.say("hint")
            hint = await browser.hear("hint")
            assert {text for text, _ in hint["bars"]} == {choice["text"] for choice in view["legal"]}
            assert sum(prob for _, prob in hint["bars"]) == pytest.approx(1)
            await browser.act(hint["bars"][0][0])
            await browser.until(lambda view: view["step"] > 0)

    run(test)


def test_a_hint_that_comes_after_the_turn_has_passed_names_no_card_of_the_next_seat():
    asked, may_answer = threading.Semaphore(0), threading.Event()

    class Ponders:
        name = "ponders"

        def act(self, decision, rng):
            asked.release()
            assert may_answer.wait(30)
            return HEURISTIC.act(decision, rng)

    async def test():
        terms = dataclasses.replace(terms_of(["human", "human"]), hints=Ponders())
        async with serving(terms) as served:
            table = served.tables[0]
            for seat in (0, 1):
                await (browser := await served.sit(seat)).say("deal")
            seat = (await browser.until(lambda view: view["turn"] is not None))["turn"]
            pages = [await served.sit(seat) for _ in range(3)]
            own = {choice["text"] for choice in pages[0].table["view"]["legal"]}
            await pages[0].say("hint")
            await asyncio.to_thread(asked.acquire)
            await pages[1].say("hint")
            await pages[1].say("hint")
            await pages[2].act("stay")
            await pages[2].until(lambda view: view["turn"] == 1 - seat)
            assert {choice["text"] for choice in table.sitting.legal()} != own
            may_answer.set()
            for page in pages[:2]:
                assert {text for text, _ in (await page.hear("hint"))["bars"]} == own
            assert "for the seat to act" in await pages[1].refusal()

    try:
        run(test)
    finally:
        may_answer.set()


def test_a_person_may_give_the_deal_up_and_go_on():
    async def test():
        async with serving(terms_of(["human", "heuristic", "heuristic"])) as served:
            browser = await served.sit(0)
            await browser.say("deal")
            await browser.until(lambda view: view["turn"] == 0)
            await browser.say("forfeit")
            view = await browser.until(lambda view: view["phase"] == "settled")
            assert view["seats"][0]["bourre"]
            await browser.play(chooser(), 2)

    run(test)


# --- watching


def test_watchers_stop_step_and_pace_policies():
    async def test():
        async with serving(terms_of(["random", "heuristic", "random"], pace=0.05)) as served:
            watcher = await served.watch()
            await watcher.until(lambda view: view["phase"] != "waiting")
            await watcher.say("pace", seconds=None)
            while (await watcher.hear("table"))["pace"] is not None:
                pass
            view = watcher.table["view"]
            await watcher.say("step")
            before = view["deal"], view["step"]
            after = await watcher.until(lambda view: (view["deal"], view["step"]) != before)
            assert (after["deal"], after["step"]) in ((before[0], before[1] + 1), (before[0] + 1, 0))
            await watcher.say("pace", seconds=0.01)
            assert "the pace is 0.05 to 10" in await watcher.refusal()
            await watcher.say("pace", seconds=0.05)
            await watcher.until(lambda view: view["deal"] > after["deal"])

    run(test)


def test_policies_rest_while_nobody_watches():
    async def test():
        async with serving(terms_of(["random", "random"])) as served:
            await asyncio.sleep(0.1)
            assert served.tables[0].sitting.number == -1
            watcher = await served.watch()
            await watcher.until(lambda view: view["phase"] != "waiting")

    run(test)


class Ponders:
    """A policy that answers once it is allowed to."""

    name = "ponders"

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def act(self, decision, rng):
        assert self.may_answer.wait(60)
        return decision.legal_action_mask.argmax(axis=1)


def test_a_policy_that_ponders_keeps_no_other_table_waiting():
    async def test():
        rules, slow = Rules.preset("pagat", num_players=2), Ponders()
        pondering = (Seat("Ann"), Seat("ponders", slow, "tests:Ponders"))
        async with serving(Terms(rules, pondering, None, None, 0, None)) as served:
            stuck = await served.sit(0)
            await stuck.say("deal")
            while stuck.table["view"]["turn"] != 1:
                if stuck.table["view"]["turn"] == 0:
                    await stuck.act("stay")
                await stuck.hear("table")
            await stuck.act("pass")
            assert "it is ponders's turn" in await stuck.refusal()
            quick = (Seat("Bob"), Seat("heuristic", HEURISTIC, "heuristic"))
            async with serving(Terms(rules, quick, None, None, 0, None)) as other:
                await (await other.sit(0)).play(chooser())
            slow.may_answer.set()
            await stuck.play(chooser())

    run(test)


# --- restarts


def test_a_restart_goes_on_where_the_server_stopped(tmp_path: Path):
    terms = terms_of(["human", "random", "heuristic"], deals=4)
    seen: dict = {}

    async def until_killed():
        async with serving(terms, folder=tmp_path) as served:
            browser = await served.sit(0)
            await browser.say("name", name="Ann")
            await browser.play(chooser(1), 2)
            await browser.say("deal")
            view = await browser.until(lambda view: view["turn"] == 0 and view["deal"] == 3)
            await browser.act(view["legal"][-2]["id"])
            await browser.until(lambda now: now["step"] > view["step"] and now["turn"] in (0, None))
            seen.update(view=browser.table["view"], tokens=served.tables[0].tokens)

    async def and_then():
        async with serving(terms, folder=tmp_path, seed=99) as served:
            assert served.tables[0].tokens == seen["tokens"]
            browser = await served.join(seen["tokens"].seats[0])
            assert browser.table["view"] == seen["view"]
            assert browser.table["view"]["seats"][0]["name"] == "Ann"
            assert browser.table["past"] >= 2
            await browser.say("past", deal=1)
            assert len((await browser.hear("past"))["views"]) > 3
            await browser.play(chooser(2), 4)
            assert browser.table["view"]["over"]
            await browser.say("deal")
            assert "session is over" in await browser.refusal()

    run(until_killed)
    run(and_then)
    files = sorted((tmp_path / "table-0").glob("deal-*.txt"))
    assert [file.name for file in files] == [f"deal-{number:04}.txt" for number in range(1, 5)]
    dealers = [read_record(file)[0].dealer for file in files]
    assert [(dealer - dealers[0]) % 3 for dealer in dealers] == [0, 1, 2, 0]


def played(folder: Path, terms: Terms) -> None:
    """A session of one deal and a bit, broken off."""

    async def test():
        async with serving(terms, folder=folder) as served:
            browser = await served.sit(0)
            await browser.play(chooser(1))
            await browser.say("deal")
            await browser.until(lambda view: view["turn"] == 0)

    run(test)


def test_a_line_cut_short_by_a_kill_is_left_out_and_damage_is_told(tmp_path: Path):
    terms = terms_of(["human", "random", "heuristic"])
    played(tmp_path, terms)
    journal = tmp_path / "table-0" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    whole = "".join(lines[max(place for place, line in enumerate(lines) if line.startswith("{")) :])
    assert len(lines) > whole.count("\n"), "an earlier deal comes first"
    journal.write_text("".join(lines) + '"sta')

    async def resumed():
        async with serving(terms, folder=tmp_path) as served:
            assert (await served.sit(0)).table["view"]["turn"] == 0

    run(resumed)
    assert journal.read_text() == whole
    for damage in (
        whole.replace('"number"', '"nummer"'),
        whole.replace('"number": 1', '"number": "1"'),
        whole.replace('"exempt": [', '"exempt": [[], '),
        whole.replace('"totals": [', '"totals": [null, '),
        whole + '"QQ"\n',
        "[]\n",
        "{\n",
        whole + "7\n",
    ):
        journal.write_text(damage)
        with pytest.raises(JournalError, match="name another folder"):
            run(resumed)
    about = tmp_path / "table-0" / "table.json"
    content = json.loads(about.read_text())
    journal.write_text(whole)
    needed = ("fingerprint", "seats", "seed", "extra")
    halves = [{key: value for key, value in content.items() if key != gone} for gone in needed]
    links = [{**content, "extra": extra} for extra in (None, {"watch": "x"}, {"seats": 3, "watch": "x"})]
    for damage in ("{", "[]", "null", *map(json.dumps, [*halves, *links, {**content, "seats": 3}])):
        about.write_text(damage)
        with pytest.raises(JournalError, match="is no table's description"):
            run(resumed)


@pytest.mark.parametrize("left", ["", '{"number": 0, "car'])
def test_a_kill_at_the_first_line_of_the_journal_costs_nothing(tmp_path: Path, left: str):
    terms = terms_of(["human", "random", "heuristic"])
    played(tmp_path, terms)
    folder = tmp_path / "table-0"
    (folder / "journal.jsonl").write_text(left)
    (folder / "deal-0001.txt").unlink()
    played(tmp_path, terms)
    played(tmp_path, terms)
    assert (folder / "journal.jsonl").read_text().startswith('{"number": 1')


def test_trouble_with_the_disk_ends_no_game_and_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def is_full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    class FullFile:
        write, flush, close = is_full, is_full, is_full

    async def test():
        async with serving(terms_of(["human", "random", "heuristic"]), folder=tmp_path) as served:
            browser = await served.sit(0)
            await browser.play(chooser())
            with monkeypatch.context() as full:
                for write in ("describe", "keep"):
                    full.setattr(Journal, write, is_full)
                journal = served.tables[0]._journal
                journal.close()
                journal._file = FullFile()
                await browser.say("name", name="Ann")
                await browser.play(chooser(), 2)
            assert browser.table["view"]["seats"][0]["name"] == "Ann"
            await browser.say("deal")
            await browser.until(lambda view: view["deal"] == 3 and view["turn"] == 0)
            seen.update(browser.table["view"])

    async def and_then():
        async with serving(terms_of(["human", "random", "heuristic"]), folder=tmp_path) as served:
            now = (await served.sit(0)).table["view"]
            assert [now["deal"], now["log"], now["pot"]] == [3, seen["log"], seen["pot"]]

    seen: dict = {}
    run(test)
    run(and_then)
    told = capsys.readouterr().err
    assert "cannot be written: No space left on device; play goes on" in told
    assert told.count("\n") == 1


def test_the_records_of_another_session_are_not_gone_on_with(tmp_path: Path):
    played(tmp_path, terms_of(["human", "random", "heuristic"]))

    async def resumed():
        async with serving(terms_of(["human", "heuristic", "random"]), folder=tmp_path):
            pass

    with pytest.raises(JournalError, match="holds a session of human random heuristic"):
        run(resumed)


@pytest.mark.skipif(os.name != "posix", reason="permissions are a matter of Unix")
def test_secrets_on_disk_are_for_their_owner(tmp_path: Path):
    played(tmp_path, terms_of(["human", "random"]))
    assert (tmp_path / "table-0").stat().st_mode & 0o077 == 0


# --- recorded deals


def test_recorded_deals_are_stepped_through_by_watchers(tmp_path: Path):
    terms = terms_of(["human", "random", "heuristic"])
    played(tmp_path, terms)
    file = tmp_path / "table-0" / "deal-0001.txt"

    async def test():
        async with serving(None, replays=read_replays([file, tmp_path])) as served:
            browser = await served.join("replays")
            welcome = json.loads(browser.texts[0])
            assert [replay["title"] for replay in welcome["replays"]] == ["deal-0001.txt", "table-0"]
            await browser.say("replay", number=1, deal=0)
            past = await browser.hear("past")
            assert past["names"] == ["Seat 0", "Seat 1", "Seat 2"]
            assert past["views"][-1]["phase"] == "settled"
            assert [view["step"] for view in past["views"]] == list(range(len(past["views"])))
            await browser.say("deal")
            assert "there is no table" in await browser.refusal()

    run(test)
    with pytest.raises(NotationError, match="no hand record"):
        read_replays([_empty(tmp_path)])
    with pytest.raises(NotationError, match="no such file"):
        read_replays([tmp_path / "missing.txt"])


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def test_a_tournaments_costliest_deals_are_replayed_under_its_names(tmp_path: Path):
    assert (
        main(
            [
                "tournament",
                "a=heuristic",
                "b=random",
                "--blocks",
                "4",
                "--seats",
                "3",
                "--no-report",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    replays = read_replays([tmp_path])
    assert [replay.title.partition(": ")[2] for replay in replays] == ["what cost a most", "what cost b most"]
    for replay in replays:
        assert replay.deals
        assert {name for names in replay.names for name in names} == {"a", "b"}
        assert replay.views(0)[-1]["phase"] == "settled"


# --- the command


def test_wrong_options_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("")
    for words, told in [
        (["human"], "1 seats; a table has 2 to 8"),
        (["human"] * 9, "9 seats; a table has 2 to 8"),
        (["human", "random", "random", "--seats", "2"], "3 seats are named"),
        (["human", "rondom"], "did you mean 'random'"),
        (["--rules", "pagaat"], "did you mean 'pagat'"),
        (["--hints", "nobody"], "no policy is called 'nobody'"),
        (["--buy-in", "5"], "no meaning under rules with stacks='credit'"),
        (["--replay", str(tmp_path / "none.txt")], "no such file"),
        (["--records", str(tmp_path / "file")], "is a file, not a folder"),
        (["--host", "256.0.0.1", "--port", "0"], "name another"),
        (["--host", "", "--port", "0"], "the address is empty"),
    ]:
        assert main(["web", *words]) == 2, words
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1


def test_the_last_spec_fills_the_seats_and_people_are_numbered():
    for words, seats in [
        ([], ["Player 1=human", "heuristic", "heuristic", "heuristic"]),
        (["--seats", "2"], ["Player 1=human", "heuristic"]),
        (["Ann=human", "human", "--seats", "4"], ["Ann=human", "Player 1=human", "Player 2=human", "Player 3=human"]),
        (
            ["human", "bot=search:policy=random", "--seats", "3"],
            ["Player 1=human", "bot=search:policy=random", "search:policy=random"],
        ),
        (["search:policy=random", "--seats", "2"], ["search:policy=random"] * 2),
    ]:
        options = _parser().parse_args(["web", *words])
        assert named_specs(options.specs, options.seats) == seats


def start(*words: str) -> "tuple[subprocess.Popen[str], list[str]]":
    """The command in a process of its own, and the lines it has printed once it serves."""
    command = [sys.executable, "evaluate.py", "web", *words, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    lines: list[str] = []
    assert process.stdout is not None
    while not lines or not lines[-1].startswith("Ctrl-C"):
        line = process.stdout.readline()
        assert line, process.communicate()
        lines.append(line.strip())
    return process, lines


def test_the_command_prints_links_keeps_them_over_a_restart_and_ends_when_told(tmp_path: Path):
    words = ["human", "heuristic", "--seats", "3", "--records", str(tmp_path / "records")]
    process, lines = start(*words)
    assert [line.partition(": ")[0] for line in lines[:2]] == ["Player 1", "watch"]
    links = [line.partition("#")[2] for line in lines[:2]]
    assert all(re.fullmatch(r"[\w-]{22}", link) for link in links)
    assert main(["web", *words]) == 2, "the folder is in use"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=30)[1] == ""
    assert process.returncode == 0
    again, lines = start(*words)
    assert [line.partition("#")[2] for line in lines[:2]] == links
    again.send_signal(signal.SIGINT)
    assert again.communicate(timeout=30)[1] == ""
    assert again.returncode == 0
