"""A table as lines for a terminal, made of what one observer may see (`Sitting.view`)."""

from collections.abc import Collection, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from agents.story import View
from agents.telling import sentence
from agents.terminal_text import Lettering
from bourre_env.bourre.actions import PASS_TEXT, STAY_TEXT


def heading(view: View, lettering: Lettering) -> Text:
    """Deal, trumps, turn-up and pot in a line."""
    number = f"Deal {view['deal']}" + (f" of {view['deals']}" if view["deals"] else "")
    turn_up = view["turnUp"]
    parts = [
        Text(number, "bold"),
        Text("trumps ").append_text(lettering.suit(view["trumps"])),
        Text("turn-up ")
        .append_text(lettering.card(turn_up["card"]))
        .append(" (the dealer's)" if turn_up["held"] else ""),
        Text(_pot(view)),
    ]
    return Text("   ").join(parts)


def _pot(view: View) -> str:
    """The pot, and what of it comes from deals before."""
    if view["phase"] == "settled":
        return f"{view['carry']} chips stay for the next pot" if view["carry"] else "the pot is empty"
    return f"pot {view['pot']}" + (f" ({view['carry']} of it carried)" if view["carry"] else "")


def seats_table(view: View, lettering: Lettering, *, hands: bool = False) -> Table:
    """A line for each seat: who, tricks, chips, and what there is to know.

    Args:
        view: what the observer sees.
        lettering: of cards and names.
        hands: show the cards of every seat, as far as the observer sees them.
    """
    has_stacks = view["seats"][0].get("stack") is not None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for word in ("", "seat", *["cards"] * hands, "tricks", "deal", "session", *["stack"] * has_stacks, ""):
        is_number = word in ("tricks", "deal", "session", "stack")
        table.add_column(word, justify="right" if is_number else "left", overflow="fold")
    for number, seat in enumerate(view["seats"]):
        is_next = number == view["turn"]
        name = Text(f"{number} {lettering.words(seat['name'])}", "bold" if is_next else "")
        cards = [lettering.cards(seat["cards"])] * hands
        stack = [Text(str(seat["stack"]))] * has_stacks
        numbers = [Text(str(seat["tricks"])), Text(f"{seat['chips']:+d}"), Text(f"{seat['total']:+d}"), *stack]
        table.add_row(Text(">" if is_next else ""), name, *cards, *numbers, Text(lettering.words(_notes(view, number))))
    return table


def seats_lines(view: View, lettering: Lettering, *, hands: bool = False) -> list[Text]:
    """The same for terminals too narrow for a table: a line of words for each seat."""
    lines = []
    for number, seat in enumerate(view["seats"]):
        is_next = number == view["turn"]
        line = Text(f"{'>' if is_next else ' '} {number} {lettering.words(seat['name'])}: ", "bold" if is_next else "")
        if hands:
            line.append_text(lettering.cards(seat["cards"])).append("  ")
        stack = "" if seat.get("stack") is None else f", has {seat['stack']}"
        notes = lettering.words(_notes(view, number))
        line.append(f"tricks {seat['tricks']}, {seat['chips']:+d} (session {seat['total']:+d}){stack}")
        lines.append(line.append(f", {notes}" if notes else ""))
    return lines


def _notes(view: View, number: int) -> str:
    """What there is to know of a seat, in words."""
    seat, is_settled = view["seats"][number], view["phase"] == "settled"
    notes = ["dealer"] if number == view["dealer"] else []
    if seat["bourre"]:
        notes.append(f"bourré, owes {seat['owes']}")
    elif seat["passed"]:
        notes.append("passed")
    elif seat["stayed"]:
        notes.append(f"stays, {seat['new']} new" if seat["new"] else "stays")
    if seat["takes"]:
        notes.append(f"takes {seat['takes']}")
    if seat["exempt"]:
        notes.append("skips the next ante" if is_settled else "paid no ante")
    return ", ".join(notes)


def trick_line(view: View, lettering: Lettering) -> Text:
    """The cards on the table."""
    number = len(view["tricks"]) + 1
    if not view["trick"]:
        return Text(f"Trick {number}: nothing yet")
    return Text(f"Trick {number}: ").append_text(_played(view, view["trick"], lettering))


def _played(view: View, cards: Sequence[Any], lettering: Lettering) -> Text:
    """Who played what."""
    names = [lettering.words(seat["name"]) for seat in view["seats"]]
    return Text("   ").join(Text(f"{names[seat]} ").append_text(lettering.card(card)) for seat, card in cards)


def tricks_lines(view: View, lettering: Lettering) -> list[Text]:
    """The tricks that are over."""
    lines = []
    for number, trick in enumerate(view["tricks"], 1):
        is_you = trick["winner"] == view["you"]
        winner = "you" if is_you else lettering.words(view["seats"][trick["winner"]]["name"])
        played = _played(view, trick["cards"], lettering)
        lines.append(Text(f"Trick {number}: ").append_text(played).append(f"   won by {winner}"))
    return lines or [Text("No trick is over yet.")]


def hand_lines(view: View, lettering: Lettering) -> list[Text]:
    """The observer's cards, those that may be played in brackets, and below what to type for each."""
    cards = view["seats"][view["you"]]["cards"]
    legal = {choice["text"] for choice in view["legal"]}
    drawn, typed = Text("Your hand  "), Text("to type    ", "dim")
    for card in cards:
        left, right = ("[", "]") if card in legal else (" ", " ")
        shown = lettering.card(card)
        if legal and view["phase"] == "play" and card not in legal:
            shown.stylize("dim")
        drawn.append(left).append_text(shown).append(right + " ")
        typed.append(f" {card}".ljust(shown.cell_len + 3))
    return [drawn] if lettering.is_plain else [drawn, typed]


def told(view: View, step: View, lettering: Lettering) -> Text:
    """One action in a sentence."""
    names = [seat["name"] for seat in view["seats"]]
    return lettering.sentence(sentence(step, names, you=view["you"], turn_up=view["turnUp"]["card"]))


def choices_line(view: View) -> str:
    """What the observer may type now, in plain characters."""
    legal = [choice["text"] for choice in view["legal"]]
    if view["phase"] == "play":
        return f"play one of {', '.join(legal)}"
    most = max(len(text.split()) - 1 for text in legal)
    verb = "stay" if view["phase"] == "declare" else "draw"
    ways = [verb] if _may(legal, STAY_TEXT) else []
    if most:
        cards = view["seats"][view["you"]]["cards"]
        ways.append(f"{verb} and up to {most} card{'s' * (most > 1)} to throw away, such as: {verb} {cards[0]}")
    return " | ".join([*[PASS_TEXT] * _may(legal, PASS_TEXT), *ways])


def _may(legal: Collection[str], text: str) -> bool:
    """Whether an action is legal."""
    return text in legal
