"""Cards and words as a terminal shows them: real suits in colour where it can, letters everywhere else.

Suits never differ by colour alone. In the four-colour pack of card rooms clubs are green and diamonds blue.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rich.text import Text

from bourre_env.render import HIDDEN
from bourre_env.streams import plain

SUITS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
STYLES = {"C": "green", "D": "bright_blue", "H": "red", "S": "bold"}
_CARD = re.compile(r"(?<![\w])(?:[2-9TJQKA][CDHS])(?![\w])")


@dataclass(frozen=True, slots=True)
class Lettering:
    """How to write cards.

    Attributes:
        is_plain: whether the terminal shows nothing but ASCII.
    """

    is_plain: bool

    def suit(self, letter: str) -> Text:
        """A suit."""
        return Text(letter if self.is_plain else SUITS[letter], STYLES[letter])

    def card(self, card: str) -> Text:
        """A card, or the back of one."""
        if card == HIDDEN:
            return Text(HIDDEN if self.is_plain else "░░", "dim")
        rank, letter = card[:-1], card[-1]
        return Text(card if self.is_plain else f"{rank.replace('T', '10')}{SUITS[letter]}", STYLES[letter])

    def cards(self, cards: Iterable[str]) -> Text:
        """Some cards in a row."""
        return Text(" ").join(self.card(card) for card in cards)

    def sentence(self, text: str, style: str = "") -> Text:
        """Words in which every card, such as QS, is drawn as one."""
        written, start = Text(style=style), 0
        for found in _CARD.finditer(text):
            written.append(self.words(text[start : found.start()]))
            written.append_text(self.card(found[0]))
            start = found.end()
        return written.append(self.words(text[start:]))

    def words(self, text: str) -> str:
        """Words; without accents where the terminal has none."""
        return plain(text) if self.is_plain else text


def lettering_for(encoding: str | None) -> Lettering:
    """The lettering that an output of some encoding can show."""
    try:
        "".join([*SUITS.values(), "é░"]).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return Lettering(is_plain=True)
    return Lettering(is_plain=False)
