"""Play in the terminal: people and policies, pipes and pseudo-terminals, and nothing shown to the wrong one."""

import io
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import EVERY_TABLE
from rich.console import Console
from terminals import PseudoTerminal

from agents.advice import advise, adviser_spec
from agents.evaluation_cli import main
from agents.keyboard import Keyboard, LeftError
from agents.policy import Policy, load_policy
from agents.search import Effort, SearchPolicy
from agents.sitting import Sitting, seats_of
from agents.table_text import choices_line, hand_lines, seats_table
from agents.telling import sentence
from agents.terminal_table import CLEAR_ALL, Terminal, TerminalTable
from agents.terminal_text import Lettering, lettering_for
from bourre_env import Rules
from bourre_env.notation import parse

PAGAT = Rules.preset("pagat", num_players=4)
CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")
PLAIN = Lettering(is_plain=True)
CTRL_C, CTRL_D = b"\x03", b"\x04"

Answers = Callable[[str], str]


class Played:
    """A table with scripted people; what they saw is in `text`, what each was asked in `asked`."""

    def __init__(
        self,
        specs: list[str],
        answer: Answers,
        *,
        rules: Rules = PAGAT,
        deals: int = 1,
        seed: int = 5,
        adviser: Policy | None = None,
        record: Path | None = None,
        is_terminal: bool = False,
        lettering: Lettering = PLAIN,
        width: int = 120,
    ) -> None:
        self.asked: list[str] = []
        self.shown = io.StringIO()
        self._answer = answer
        console = Console(
            file=self.shown, width=width, force_terminal=is_terminal, highlight=False, markup=False, emoji=False,
            color_system="standard" if is_terminal else None,
        )  # fmt: skip
        self.sitting = Sitting(rules, seats_of(specs, rules), seed=seed, deals=deals)
        terminal = Terminal(Keyboard(is_terminal, self._ask), console, lettering)
        self.table = TerminalTable(self.sitting, terminal, adviser=adviser, record=record)

    def _ask(self, prompt: str) -> str:
        self.shown.write(f"{prompt}\n")
        self.asked.append(prompt)
        return self._answer(prompt)

    def play(self) -> "Played":
        self.table.play()
        return self

    @property
    def text(self) -> str:
        return self.shown.getvalue()


def obedient(prompt: str) -> str:
    """Stays, and plays the first card that is named."""
    if "play one of" in prompt:
        return prompt.partition("play one of ")[2].partition(" (")[0].split(", ")[0]
    if "pass | " in prompt or ": stay" in prompt or ": draw" in prompt:
        return "stay" if "stay" in prompt else "draw"
    return ""


def scripted(*first: str) -> Answers:
    """Some answers, then obedient ones."""
    waiting = list(first)
    return lambda prompt: waiting.pop(0) if waiting else obedient(prompt)


# --- what is shown


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_one_person_sees_no_card_before_its_time_under_any_rules(name: str) -> None:
    rules = EVERY_TABLE[name]
    specs = [*["heuristic", "random"] * 4][: rules.num_players - 1]
    played = Played([*specs, "human"], obedient, rules=rules, deals=2)
    seen: set[str] = set()
    you = rules.num_players - 1
    policy_acts, sitting = played.table._policy_acts, played.sitting

    def watched() -> None:
        look()
        policy_acts()
        look()

    def look() -> None:
        view = sitting.view(you)
        seen.update(CARD.findall(repr(view)))
        assert set(CARD.findall(played.text)) <= seen | {"QS"}  # the example in the help

    played.table._policy_acts = watched
    ask = played.table._keyboard.ask
    played.table._keyboard = Keyboard(False, lambda prompt: look() or ask(prompt))
    played.play()
    assert len(sitting.finished) == 2


def test_a_turn_shows_the_table_the_trick_and_the_legal_cards() -> None:
    names = ["You", "heuristic", "random", "always_stay"]
    played = Played(["human", *names[1:]], obedient).play()
    turn = played.text[: played.text.index("play one of")]
    turn = turn[turn.rindex("Deal 1 of 1") :]
    (hand,) = [line for line in turn.splitlines() if line.startswith("Your hand")]
    (record,) = [finished.record for finished in played.sitting.finished]
    table = next(
        view
        for view in record.replay()
        if (view.phase, view.seat, view.hands[0]) == ("play", 0, tuple(CARD.findall(hand)))
    )
    assert f"trumps {table.trump_suit}" in turn
    assert f"turn-up {table.turn_up}" in turn
    assert f"pot {table.pot}" in turn
    trick = "   ".join(f"{names[seat]} {card}" for seat, card in table.trick) or "nothing yet"
    assert f"Trick {sum(table.tricks_won) + 1}: {trick}\n" in turn
    legal = played.asked[1].partition("play one of ")[2].partition(" (")[0].split(", ")
    assert re.findall(r"\[(\w\w)\]", hand) == sorted(legal, key=table.hands[0].index)
    assert 1 < len(legal) < len(table.hands[0])


def test_debts_exemptions_and_carries_are_told() -> None:
    played = Played(["human", "always_stay", "always_stay", "always_stay"], obedient, deals=6, seed=2).play()
    ends = [finished.story().view(0) for finished in played.sitting.finished]
    owed = [seat["owes"] for view in ends for seat in view["seats"] if seat["bourre"]]
    assert len(set(owed)) > 1
    for chips in owed:
        assert f"bourre, owes {chips}" in played.text
    for view in ends:
        if view["carry"]:
            assert f"{view['carry']} chips stay for the next pot" in played.text
    assert "skips the next ante" in played.text
    assert "paid no ante" in played.text
    assert re.search(r"pot \d+ \(\d+ of it carried\)", played.text)


def test_every_action_is_told_once_and_drawn_cards_to_their_owner() -> None:
    specs = ["human", "heuristic", "random", "always_stay"]
    sitting = Played(specs, obedient).sitting
    sitting.deal()
    first, second, *_ = sitting.view(0)["seats"][0]["cards"]
    played = Played(specs, scripted(f"stay {first} {second}")).play()
    (told,) = [line for line in played.text.splitlines() if line.startswith("You stay")]
    assert told.endswith(f" for {first} {second}.")
    assert len(CARD.findall(told)) == 4
    lines = [
        line for line in played.text.splitlines() if re.match(rf"({'|'.join(specs[1:])}|You) (stay|pass|play)", line)
    ]
    assert len(lines) == len(played.sitting.finished[0].record.actions)


def test_3_6_a_turn_up_that_is_thrown_away_lies_open_and_is_told() -> None:
    names = ["Ann", "Bob"]
    step = {"seat": 1, "does": "stay", "new": 2, "turnUp": True, "cards": [], "drawn": [], "winner": None}
    assert sentence(step, names, turn_up="JD") == "Bob stays, 2 new, the turn-up JD thrown away."
    own = step | {"cards": ["JD", "2C"], "drawn": ["AS", "KS"]}
    assert sentence(own, names, you=1, turn_up="JD") == "You stay: AS KS for JD 2C."
    drew = step | {"does": "draw", "new": 0, "turnUp": False}
    assert sentence(drew, names) == "Bob keeps all cards."
    won = {"seat": 0, "does": "play", "new": 0, "turnUp": False, "cards": ["QS"], "drawn": [], "winner": 1}
    assert sentence(won, names) == "Ann plays QS. Bob wins the trick."
    assert sentence(won, names, you=1) == "Ann plays QS. You win the trick."


def test_a_narrow_terminal_gets_the_same_in_lines_of_words() -> None:
    specs = ["human", "heuristic", "random", "always_stay"]
    narrow = Played(specs, obedient, width=30).play()
    assert "tricks  deal  session" not in narrow.text
    assert "> 0 You: tricks 0, -1 (session -1)" in narrow.text
    assert re.search(r"  \d \w+: tricks \d, [+-]\d+ \(session [+-]\d+\), .*takes 4", narrow.text)
    watched = Played(["heuristic", "random", "random", "random"], obedient, width=30).play()
    opening = next(watched.sitting.finished[0].record.replay())
    for seat, hand in enumerate(opening.hands):
        assert re.search(rf"[> ] {seat} [\w ]+: {' '.join(hand)}  tricks 0", watched.text)


# --- what is typed


def test_words_about_the_table_change_nothing_and_refusals_say_why() -> None:
    plain = Played(["human", "heuristic", "random", "random"], obedient).play()
    asking = scripted("", "help", "?", "score", "tricks", "stay 9Z", "XX", "x" * 1000, "undo", "stay", "tricks", "2")
    chatty = Played(["human", "heuristic", "random", "random"], asking, adviser=load_policy("heuristic")).play()
    assert [done.record for done in chatty.sitting.finished] == [done.record for done in plain.sitting.finished]
    for words in (
        "An action is needed",
        "forfeit gives the deal up",
        "What heuristic would do",
        "No trick is over yet",
    ):
        assert words in " ".join(chatty.text.split())
    assert "'9Z' is not a card" in chatty.text
    assert "that is too long for an action" in chatty.text


def test_forfeit_gives_the_deal_up() -> None:
    played = Played(["human", "heuristic", "random", "random"], scripted("forfeit")).play()
    assert played.sitting.finished[0].record.actions[-1] == "forfeit"
    assert "You forfeit the deal." in played.text


def test_a_policy_that_fails_is_told_and_play_goes_on() -> None:
    played = Played(["human", "odd_bots:Raises", "random", "random"], obedient, deals=3).play()
    assert "Forfeit (7.2): " in played.text
    assert len(played.sitting.finished) == 3


# --- hints


def test_hints_are_probabilities_and_where_a_policy_searches_values() -> None:
    sitting = Sitting(PAGAT, seats_of(["human"] * 4, PAGAT), seed=3)
    sitting.deal()
    said = advise(sitting, load_policy("random"))
    assert {one.value for one in said} == {None}
    assert sum(one.prob for one in said) == pytest.approx(1)
    search = SearchPolicy("search", load_policy("heuristic"), Effort(worlds=16, proposals=256, rounds=1))
    said = advise(sitting, search)
    assert said[0].action == max(said, key=lambda one: one.prob).action
    assert {one.action for one in said} == {choice["text"] for choice in sitting.legal()}
    values = [one.value for one in said[1:]]
    assert values == sorted(values, reverse=True)
    passing = next(one for one in said if one.action == "pass")
    assert passing.value is not None
    assert passing.value >= -1  # the ante is lost, and a share of what the others leave in the pot comes back


def test_whom_to_ask_is_the_strongest_at_the_table(tmp_path: Path) -> None:
    assert adviser_spec(["human", "random"]) == "heuristic"
    assert adviser_spec(["human", str(tmp_path), "search:worlds=8", "random"]) == "search:worlds=8"
    assert adviser_spec(["human", f"{tmp_path}:greedy"]) == f"{tmp_path}:greedy"


# --- several people


def test_nobody_sees_the_cards_of_the_one_before() -> None:
    played = Played(["Ann=human", "Bob=human", "heuristic", "Eve=human"], obedient, deals=2, is_terminal=True).play()
    screens = played.text.split(CLEAR_ALL)
    owners = {"Ann": 0, "Bob": 1, "Eve": 3}
    turns = [screen for screen in screens if "Your hand" in screen]
    assert len(turns) >= 6
    for screen in turns:
        names = set(re.findall(r"^(Ann|Bob|Eve): ", screen, re.M))
        assert len(names) == 1
        assert owners.keys() >= names
    handed = [screen for screen in screens if "Pass the keyboard to" in screen]
    assert all(not CARD.search(screen.replace("QS", "")) for screen in handed)
    for earlier, later in itertools.pairwise(screens):
        if "Your hand" in later:
            assert "Pass the keyboard to" in earlier
    assert "Enter deals on" in played.text


def test_a_terminal_that_cannot_be_cleared_is_filled_with_empty_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    rules = Rules.preset("pagat", num_players=2)
    played = Played(["Ann=human", "Bob=human"], obedient, rules=rules, is_terminal=True).play()
    assert CLEAR_ALL not in played.text
    assert re.search(r"\n{100}Pass the keyboard to (Ann|Bob)", played.text)


def test_through_a_pipe_nobody_hands_anything_over() -> None:
    played = Played(["Ann=human", "Bob=human"], obedient, rules=Rules.preset("pagat", num_players=2), deals=2).play()
    assert "Pass the keyboard" not in played.text
    assert "Enter deals on" not in played.text
    assert {prompt.partition(":")[0] for prompt in played.asked} == {"Ann", "Bob"}


# --- cards


def test_suits_differ_by_more_than_colour_and_letters_serve_where_nothing_else_can() -> None:
    fancy = Lettering(is_plain=False)
    assert [fancy.card(f"Q{suit}").plain for suit in "CDHS"] == ["Q♣", "Q♦", "Q♥", "Q♠"]
    assert len({str(fancy.card(f"Q{suit}").style) for suit in "CDHS"}) == 4
    assert [PLAIN.card(f"T{suit}").plain for suit in "CDHS"] == ["TC", "TD", "TH", "TS"]
    assert fancy.card("TS").plain == "10♠"
    assert fancy.sentence("Ann plays TS; QSX and (4.2) stay").plain == "Ann plays 10♠; QSX and (4.2) stay"
    assert PLAIN.sentence("bourré, QS").plain == "bourre, QS"
    assert [lettering_for(name).is_plain for name in ("utf-8", "ascii", "latin-1", "cp437", None, "no such")] == [
        False, True, True, True, True, True,
    ]  # fmt: skip


def test_each_card_of_the_hand_stands_above_what_to_type() -> None:
    sitting = Sitting(PAGAT, seats_of(["human"] * 4, PAGAT), seed=3)
    sitting.deal()
    drawn, typed = hand_lines(sitting.view(sitting.turn), Lettering(is_plain=False))
    cards = sitting.view(sitting.turn)["seats"][sitting.turn]["cards"]
    assert typed.plain.split()[2:] == cards
    for card in cards:
        column = typed.plain.index(card)
        assert drawn.plain[column] == card[0].replace("T", "1")
    assert hand_lines(sitting.view(sitting.turn), PLAIN)[0].plain.split()[2:] == cards


def test_two_rounds_ask_for_draws_by_their_name() -> None:
    rules = Rules.preset("wiki", num_players=4)
    sitting = Sitting(rules, seats_of(["human"] * 4, rules), seed=3)
    sitting.deal()
    assert choices_line(sitting.view(sitting.turn)) == "pass | stay"
    for _ in range(4):
        sitting.take(sitting.turn, "stay")
    seat = sitting.turn
    card = sitting.view(seat)["seats"][seat]["cards"][0]
    assert choices_line(sitting.view(seat)) == f"draw | draw and up to 5 cards to throw away, such as: draw {card}"
    sitting.take(seat, f"draw {card}")


def test_stacks_are_shown_at_table_stakes() -> None:
    rules = Rules.preset("pagat", num_players=3, stacks="table_stakes")
    sitting = Sitting(rules, seats_of(["human"] * 3, rules), seed=3, buy_in=7)
    sitting.deal()
    table = seats_table(sitting.view(0), PLAIN)
    (stacks,) = [column for column in table.columns if column.header == "stack"]
    assert [cell.plain for cell in stacks.cells] == ["6", "6", "6"]


# --- the record


def test_finished_deals_are_written_after_each_deal_and_kept_when_people_leave(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "deals.txt"
    counts: list[int] = []

    def answer(prompt: str) -> str:
        counts.append(len(parse(file.read_text())) if file.exists() else 0)
        return "quit" if counts[-1] == 2 else obedient(prompt)

    played = Played(["human", "heuristic", "random", "random"], answer, deals=9, record=file)
    with pytest.raises(LeftError):
        played.play()
    assert sorted(set(counts)) == [0, 1, 2]
    assert parse(file.read_text()) == [finished.record for finished in played.sitting.finished]


def test_policies_alone_leave_their_record_too_when_they_are_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "deals.txt"
    played = Played(["heuristic"] * 4, obedient, deals=9, record=file)
    deal, seen = played.sitting.deal, []

    def interrupted() -> None:
        if len(played.sitting.finished) == 3:
            raise KeyboardInterrupt
        seen.append(file.exists())
        deal()

    played.sitting.deal = interrupted
    with pytest.raises(KeyboardInterrupt):
        played.play()
    assert seen == [False] * 3
    assert len(parse(file.read_text())) == 3


def test_trouble_with_the_disk_ends_no_game(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    played = Played(["heuristic"] * 4, obedient, deals=2, record=tmp_path / "file" / "deals.txt").play()
    assert len(played.sitting.finished) == 2
    assert played.text.count("Not saved: ") == 1
    with_people = Played(["human"] * 4, obedient, deals=2, record=tmp_path / "file" / "deals.txt").play()
    assert with_people.text.count("Not saved: ") == 2
    assert "deals.txt cannot be written" in played.table.failed_to_save


# --- the command


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_policies_alone_play_on_and_the_seed_is_the_session(tmp_path: Path, capsys) -> None:
    words = ["play", "heuristic", "Zoé=random", "always_stay", "--deals", "3", "--seed", "7", "--dealer", "2"]
    texts = []
    for number in range(2):
        file = tmp_path / f"{number}.txt"
        assert main([*words, "--record", str(file)]) == 0
        printed = capsys.readouterr().out
        assert f"3 deals played, written to {file}. The same packs again: --seed 7" in printed
        texts.append(file.read_text())
    assert texts[0] == texts[1]
    assert [record.dealer for record in parse(texts[0])] == [2, 0, 1]
    assert "Zoé stays" in printed


def test_piped_answers_play_a_deal_and_the_end_of_input_leaves(typed, tmp_path: Path, capsys) -> None:
    file = tmp_path / "deals.txt"
    typed("pass\n")
    words = [
        "play",
        "human",
        "heuristic",
        "heuristic",
        "heuristic",
        "--seed",
        "3",
        "--dealer",
        "0",
        "--record",
        str(file),
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "You have left the table." in printed
    assert "1 deal played, written to" in printed
    assert len(parse(file.read_text())) == 1
    prompts = [line for line in printed.splitlines() if line.endswith(") >")]
    assert len(prompts) >= 2
    assert prompts[0].startswith("You: pass | stay")


def test_several_people_are_called_by_their_seats(typed, capsys) -> None:
    typed("")
    assert main(["play", "heuristic", "human", "human", "--dealer", "0"]) == 0
    assert "Player 1: " in capsys.readouterr().out


@pytest.mark.parametrize("preset", ["hoyle", "wiki", "french3", "reduced_3p2c", "pagat_limit"])
def test_policies_play_by_any_preset(preset: str, capsys) -> None:
    assert main(["play", "heuristic", "random", "random", "--rules", preset, "--deals", "2", "--seed", "1"]) == 0
    assert "2 deals played" in capsys.readouterr().out


def test_a_session_at_table_stakes_ends_when_one_seat_has_the_chips(capsys) -> None:
    assert main(["play", "random", "random", "--table-stakes", "2", "--deals", "500", "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert "stack" in printed
    assert int(re.search(r"(\d+) deals? played", printed)[1]) < 500


def test_what_could_not_be_written_is_told_and_the_exit_code_is_1(tmp_path: Path, monkeypatch, capsys) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.terminal_table.replace_file", full)
    assert main(["play", "random", "random", "--deals", "2", "--record", str(tmp_path / "deals.txt")]) == 1
    printed = capsys.readouterr()
    assert "2 deals played, not all are in" in printed.out
    assert printed.err.endswith("deals.txt cannot be written: No space left on device\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["human"], "1 at the table will not do; name two to 8"),
        (["random"] * 9, "9 at the table will not do; name two to 8"),
        (["human", "heuristik"], "did you mean 'heuristic'"),
        (["human", "random", "--rules", "pagatt"], "pagatt"),
        (["human", "random", "random", "--rules", "reduced_2p2c"], "reduced_2p2c"),
        (["human", "random", "--dealer", "2"], "the table has seats 0 to 1"),
        (["human", "random", "--hints", "human"], "name a policy, or none"),
        (["human", "random", "--hints", "nobody"], "no policy is called 'nobody'"),
        (["human", "random", "--record", "there.txt"], "there.txt is there already; name a new file"),
        (["human", "random", "--record", "there.txt/x"], "is a file, not a folder"),
        (["human", "random", "--deals", "0"], "0 is too small"),
        (["human", "random", "--seed", "-1"], "-1 is too small"),
        (["human", "random", "--pace", "-1"], "at least 0 is needed"),
    ],
)
def test_wrong_input_is_one_line(words: list[str], message: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.txt").write_text("somebody's work")
    try:
        code = main(["play", *words])
    except SystemExit as left:
        code = left.code
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert Path("there.txt").read_text() == "somebody's work"


# --- at a pseudo-terminal


@pytest.fixture
def started() -> Iterator[Callable[..., PseudoTerminal]]:
    running: list[PseudoTerminal] = []

    def start(*words: str, folder: Path, **settings: str) -> PseudoTerminal:
        running.append(PseudoTerminal(["play", *words, "--pace", "0"], folder, **settings))
        return running[-1]

    yield start
    for terminal in running:
        terminal.close()


def test_a_person_plays_a_deal_in_colour_and_ctrl_d_keeps_it(started, tmp_path: Path) -> None:
    terminal = started("human", "heuristic", "--seed", "3", "--record", "deals.txt", folder=tmp_path)
    finish(terminal)
    assert "\x1b[94m" in terminal.output
    assert "♦" in terminal.text
    terminal.press(CTRL_D)
    assert terminal.end() == 0
    assert "1 deal played, written to deals.txt" in terminal.text
    assert len(parse((tmp_path / "deals.txt").read_text())) == 1


def test_ctrl_c_in_the_second_deal_keeps_the_first(started, tmp_path: Path) -> None:
    terminal = started("human", "heuristic", "--seed", "3", "--record", "deals.txt", folder=tmp_path, NO_COLOR="1")
    finish(terminal)
    assert "\x1b[94m" not in terminal.output
    terminal.type("")
    terminal.until(") >")
    terminal.press(CTRL_C)
    assert terminal.end() == 130
    assert "evaluate.py: left the table; 1 deal played, written to deals.txt" in terminal.text
    assert len(parse((tmp_path / "deals.txt").read_text())) == 1


def test_two_people_at_an_ascii_terminal_hide_their_cards(started, tmp_path: Path) -> None:
    terminal = started(
        "Ann=human", "Bob=human", "--seed", "3", "--dealer", "1", folder=tmp_path, PYTHONIOENCODING="ascii"
    )
    terminal.until("Pass the keyboard to Ann (seat 0), who presses Enter:")
    assert not CARD.search(terminal.text)
    terminal.type("")
    terminal.until(") >")
    terminal.type("stay")
    terminal.until("Pass the keyboard to Bob (seat 1), who presses Enter:")
    assert terminal.output.isascii()
    assert terminal.output.rstrip().endswith("presses Enter:")
    last = terminal.output.rindex("\x1b[3J")
    assert not CARD.search(terminal.output[last:])
    terminal.type("")
    terminal.until(") >")
    terminal.press(CTRL_D)
    assert terminal.end() == 0


def finish(terminal: PseudoTerminal) -> None:
    """Answer every question until the deal is over."""
    while "quit leaves:" not in (prompt := terminal.until(") >", "quit leaves:")):
        terminal.type(obedient(prompt.splitlines()[-1]))
