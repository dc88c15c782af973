"""A sitting in the terminal: people see their table and are asked, policies play on, everybody hears what happened."""

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agents import table_text
from agents.advice import advise
from agents.files import replace_file
from agents.frames_analysis import in_words
from agents.keyboard import Keyboard, LeftError
from agents.policy import Policy, PolicyFailedError
from agents.refusals import RefusedError
from agents.search import SearchPolicy
from agents.sitting import Sitting
from agents.story import ALL_HANDS, PUBLIC, View
from agents.terminal_text import Lettering
from bourre_env.notation import write

MOST_ADVICE = 6  # actions named by a hint
NARROW = 72  # columns below which a table of the seats would be folded beyond recognition
BAR = 20  # characters of a certain action
CLEAR_ALL = "\033[H\033[2J\033[3J"  # what has scrolled away too: another person's cards may be there
SCREENFUL = 120  # lines
HELP = (
    "Type an action as the prompt names it. ? asks for a hint, tricks shows those that are over, score the table, "
    "forfeit gives the deal up (7.2), quit leaves (so does Ctrl-D). Cards: QS is the queen of spades, 10 is T or 10."
)


@dataclass(frozen=True, slots=True)
class Terminal:
    """What people sit at.

    Attributes:
        keyboard: asks them.
        console: where everything is shown.
        lettering: of cards and names.
    """

    keyboard: Keyboard
    console: Console
    lettering: Lettering


class TerminalTable:
    """A table in the terminal.

    Attributes:
        sitting: what is played.
        failed_to_save: why the record was not written, the last time it was tried; empty when it was.
    """

    def __init__(
        self,
        sitting: Sitting,
        terminal: Terminal,
        *,
        adviser: Policy | None = None,
        record: Path | None = None,
        pace: float = 0.0,
    ) -> None:
        """Sit down.

        Args:
            sitting: nothing dealt yet.
            terminal: what people sit at.
            adviser: whom to ask for hints; None for nobody.
            record: the file that finished deals are written to.
            pace: seconds that pass before each action of a policy.
        """
        self.sitting, self.failed_to_save = sitting, ""
        self._keyboard, self._console, self._lettering = terminal.keyboard, terminal.console, terminal.lettering
        self._adviser, self._record, self._pace = adviser, record, pace
        people = [number for number, seat in enumerate(sitting.seats) if seat.policy is None]
        self._people = people
        self._watcher = people[0] if len(people) == 1 else PUBLIC if people else ALL_HANDS
        self._at_keyboard: int | None = None  # whose cards are on the screen, where several people play
        self._heard = 0  # steps of the deal that have been told to whoever looks on all the time
        self._heard_by = dict.fromkeys(people, 0)
        self._faults = 0

    def play(self) -> None:
        """Play until the session is over.

        Raises:
            LeftError: the people have left.
            KeyboardInterrupt: so they have, in a hurry.
        """
        try:
            while not self.sitting.is_over:
                self._play_deal()
                if self._people:  # policies alone play too fast to write after each deal
                    self._save()
                    self._pause()
        finally:
            if not self._people:
                self._save()

    def _pause(self) -> None:
        """Let people look at what a deal has come to."""
        if self._keyboard.is_terminal and not self.sitting.is_over:
            self._ask("Enter deals on, quit leaves:")

    def _play_deal(self) -> None:
        """Deal, and play until the deal is settled."""
        sitting = self.sitting
        sitting.deal()
        self._heard, self._heard_by = 0, dict.fromkeys(self._people, 0)
        if self._watcher != PUBLIC and not sitting.awaits_person:  # who is shown the table anyway
            self._show_table(sitting.view(self._watcher))
        while not sitting.is_settled:
            if sitting.awaits_person:
                self._person_acts()
            else:
                self._policy_acts()
            if self._watcher != PUBLIC:
                self._heard = self._tell(sitting.view(self._watcher), self._heard)
        self._show_settlement()

    def _policy_acts(self) -> None:
        """The policy to act decides, after a while."""
        time.sleep(self._pace)
        self.sitting.answer()
        for fault in self.sitting.faults[self._faults :]:
            self._print(self._lettering.words(f"Forfeit (7.2): {fault}"))
        self._faults = len(self.sitting.faults)

    # --- people

    def _person_acts(self) -> None:
        """The person to act is asked until the answer is a legal action; a forced one is taken at once."""
        sitting = self.sitting
        seat = sitting.turn
        assert seat is not None
        if len(legal := sitting.legal()) == 1:
            sitting.take(seat, legal[0]["id"])
            return
        self._hand_over(seat)
        view = sitting.view(seat)
        self._show_turn(view)
        before = len(view["log"])
        while sitting.story is not None and len(sitting.story.steps) == before:
            self._obey(seat, self._ask(self._prompt(view)))
        self._heard_by[seat] = before  # the next time it begins with this action and what was drawn

    def _prompt(self, view: View) -> str:
        """What the person is asked, in plain characters."""
        name = self._lettering.words(view["seats"][view["you"]]["name"])
        return f"{name}: {table_text.choices_line(view)} (? hint, help) >"

    def _hand_over(self, seat: int) -> None:
        """Hide the table from one person before the next sits down."""
        if len(self._people) == 1 or seat == self._at_keyboard:
            return
        self._at_keyboard = seat
        if self._keyboard.is_terminal:
            self._clear()
            name = self._lettering.words(self.sitting.seats[seat].name)
            self._ask(f"Pass the keyboard to {name} (seat {seat}), who presses Enter:")
            self._clear()

    def _clear(self) -> None:
        """Leave nothing on the screen; a terminal that cannot be told so is filled with empty lines."""
        if self._console.is_terminal:
            is_dumb = self._console.is_dumb_terminal
            self._console.file.write("\n" * SCREENFUL if is_dumb else CLEAR_ALL)
            self._console.file.flush()

    def _show_turn(self, view: View) -> None:
        """What a person needs to decide."""
        self._print("")
        self._print(table_text.heading(view, self._lettering))
        if len(self._people) > 1:
            self._tell(view, self._heard_by[view["you"]])
        self._show_seats(view)
        if view["phase"] == "play":
            self._print(table_text.trick_line(view, self._lettering))
        for line in table_text.hand_lines(view, self._lettering):
            self._print(line)

    def _obey(self, seat: int, answer: str) -> None:
        """Do what a person typed: an action, or a word about the table."""
        view = self.sitting.view(seat)
        match answer.lower():
            case "":
                self._print("An action is needed; help says what else there is.")
            case "help":
                self._print(HELP)
            case "?":
                self._advise()
            case "tricks":
                for line in table_text.tricks_lines(view, self._lettering):
                    self._print(line)
            case "score":
                self._show_turn(view)
            case "forfeit":
                self.sitting.forfeit(seat)
            case _:
                try:
                    self.sitting.take(seat, answer)
                except RefusedError as error:
                    self._print(self._lettering.sentence(str(error), "yellow"))

    def _ask(self, prompt: str) -> str:
        """A line typed.

        Raises:
            LeftError: the person has left, or says so.
        """
        answer = self._keyboard.ask(prompt)
        if answer.lower() in ("quit", "exit"):
            raise LeftError
        return answer

    def _advise(self) -> None:
        """Say what a policy would do, and what the actions are worth where it knows."""
        if self._adviser is None:
            self._print("There are no hints at this table (--hints none).")
            return
        name = self._adviser.name
        try:
            said = advise(self.sitting, self._adviser)
        except PolicyFailedError as error:
            self._print(self._lettering.words(f"No hint: {error}"))
            return
        self._print(self._lettering.words(f"What {name} would do{_assumed(self._adviser)}:"))
        phase = self.sitting.view()["phase"]
        for one in said[:MOST_ADVICE]:
            value = "" if one.value is None else f"   worth {one.value:+.2f}"
            bar = ("#" if self._lettering.is_plain else "█") * round(BAR * one.prob)
            line = Text(f"  {100 * one.prob:3.0f} % {bar:{BAR}} ").append_text(
                self._lettering.sentence(in_words(one.action, phase))
            )
            self._print(line.append(value))
        if len(said) > MOST_ADVICE:
            self._print(f"  and {len(said) - MOST_ADVICE} others")

    # --- telling

    def _tell(self, view: View, heard: int) -> int:
        """Tell what was done since `heard` steps; how many steps there are now."""
        for step in view["log"][heard:]:
            self._print(table_text.told(view, step, self._lettering))
        return len(view["log"])

    def _show_table(self, view: View) -> None:
        """A new deal."""
        self._print("")
        self._print(table_text.heading(view, self._lettering))
        self._show_seats(view, hands=self._watcher is ALL_HANDS)

    def _show_seats(self, view: View, *, hands: bool = False) -> None:
        """Who sits where and how they stand."""
        if self._console.width >= NARROW:
            self._print(table_text.seats_table(view, self._lettering, hands=hands))
            return
        for line in table_text.seats_lines(view, self._lettering, hands=hands):
            self._print(line)

    def _show_settlement(self) -> None:
        """How the deal ended, with what everybody may see; no person's cards stay on the screen."""
        view = self.sitting.view(self._watcher)
        if self._watcher == PUBLIC:
            self._at_keyboard = None
            self._clear()
            self._tell(view, 0)
        self._print("")
        self._print(table_text.heading(view, self._lettering))
        self._show_seats(view)

    def _print(self, what: object) -> None:
        """Show something."""
        self._console.print(what, soft_wrap=isinstance(what, Text))

    def _save(self) -> None:
        """Write the finished deals; trouble with the disk ends no game."""
        if self._record is None or not self.sitting.finished:
            return
        content = write([finished.record for finished in self.sitting.finished]).encode()
        try:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._record, content)
            self.failed_to_save = ""
        except OSError as error:
            self.failed_to_save = f"{self._record} cannot be written: {error.strerror or error}"
            self._print(self._lettering.words(f"Not saved: {self.failed_to_save}"))


def _assumed(adviser: Policy) -> str:
    """What values are said to be, where the adviser searches."""
    if not isinstance(adviser, SearchPolicy):
        return ""
    own, others = adviser.prior.name, adviser.model.name
    everybody = (
        f"all play on as {own} does"
        if adviser.others is None
        else f"you play on as {own} does and the others as {others}"
    )
    return f", and antes of the deal that an action is worth when {everybody}"
