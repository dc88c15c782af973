"""Bureau in plain Python: a second reading of docs/bureau.md that shares no code with the engine.

Cards are texts ("QH"; S is black, H is red), a column is a list of [card, is face up] pairs, bottom first. Actions are
tuples: ("draw",), ("redeal",), ("up", source), ("down", source, target) and ("resign",); a source is the number of a
column or "waste".
"""

from dataclasses import dataclass, field

RANKS = "A23456789TJQK"
COLUMNS = 13
Action = tuple[object, ...]


@dataclass(frozen=True)
class HouseRules:
    """The options, by the names that the rules page gives them."""

    n_foundations: int = 8
    max_passes: int = 2
    max_steps: int = 600
    forbid_repeat: bool = False
    reward: str = "cards"
    resign: bool = False


def full_pack() -> list[str]:
    return [rank + colour for colour in "SH" for rank in RANKS for _ in range(4)]


def goes_under(lower: str, upper: str) -> bool:
    """Whether `upper` may lie on `lower` in a column: one rank lower, the other colour."""
    return RANKS.index(lower[0]) == RANKS.index(upper[0]) + 1 and lower[1] != upper[1]


@dataclass
class ReferenceBureau:
    """One deal.

    Attributes:
        rules: the options.
        deck: card texts in dealing order; with none the table is laid by hand.
    """

    rules: HouseRules
    deck: list[str] = field(default_factory=list)
    columns: list[list[list[object]]] = field(default_factory=lambda: [[] for _ in range(COLUMNS)])
    foundations: list[list[str]] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    waste: list[str] = field(default_factory=list)
    redeals_used: int = 0
    steps: int = 0
    ending: str = ""
    history: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.deck:
            for number, card in enumerate(self.deck[:52]):
                row = number // COLUMNS
                self.columns[number % COLUMNS].append([card, row in (1, 3)])
            self.stock = list(self.deck[52:])
        self.begin()

    def begin(self) -> None:
        """The position that play starts from."""
        self.history = [self.position()]

    def position(self) -> str:
        return repr(self.columns)

    @property
    def cards_up(self) -> int:
        return sum(map(len, self.foundations))

    @property
    def returns(self) -> int:
        if not self.ending:
            return 0
        return self.cards_up if self.rules.reward == "cards" or self.ending == "won" else 0

    def exposed(self, source: object) -> str | None:
        """The card of a column or of the waste that may be moved."""
        if source == "waste":
            return self.waste[-1] if self.waste else None
        column = self.columns[source]  # type: ignore[call-overload]
        return column[-1][0] if column else None

    def foundation_for(self, card: str) -> int | None:
        """The first pile that takes a card; the number of piles for a new one."""
        for number, pile in enumerate(self.foundations):
            if len(pile) < 13 and goes_under(card, pile[-1]):
                return number
        if card[0] == "A" and len(self.foundations) < self.rules.n_foundations:
            return len(self.foundations)
        return None

    def length_to_move(self, source: int, target: int) -> int | None:
        """How many cards move from one column to another."""
        if source == target or not self.columns[source] or not self.columns[target]:
            return None
        base = self.columns[target][-1][0]
        pile = self.columns[source]
        for length in range(1, len(pile) + 1):
            card, is_up = pile[-length]
            if not is_up or (length > 1 and not goes_under(card, pile[-length + 1][0])):
                return None
            if goes_under(base, card):
                return length
        return None

    def moves(self) -> set[Action]:
        """Every action but resigning."""
        found: set[Action] = set()
        if self.stock:
            found.add(("draw",))
        if not self.stock and self.waste and self.redeals_used + 1 < self.rules.max_passes:
            found.add(("redeal",))
        for source in ["waste", *range(COLUMNS)]:
            card = self.exposed(source)
            if card is not None and self.foundation_for(card) is not None:
                found.add(("up", source))
        for target in range(COLUMNS):
            base, card = self.exposed(target), self.exposed("waste")
            if base is not None and card is not None and goes_under(base, card):
                found.add(("down", "waste", target))
            for source in range(COLUMNS):
                if self.length_to_move(source, target) and not self._is_forbidden(source, target):
                    found.add(("down", source, target))
        return found

    def _is_forbidden(self, source: int, target: int) -> bool:
        if not self.rules.forbid_repeat:
            return False
        kept = [[list(pair) for pair in pile] for pile in self.columns]
        lasting = self._shift(source, target)
        after = self.position()
        self.columns = kept
        return not lasting and after in self.history

    def _shift(self, source: int, target: int) -> bool:
        """Move cards between columns; whether that cannot be taken back."""
        length = self.length_to_move(source, target)
        assert length
        self.columns[target] += self.columns[source][-length:]
        del self.columns[source][-length:]
        return not self.columns[source] or self._turn_up(source)

    def _turn_up(self, column: int) -> bool:
        if self.columns[column] and not self.columns[column][-1][1]:
            self.columns[column][-1][1] = True
            return True
        return False

    def legal(self) -> set[Action]:
        if self.ending:
            return set()
        return self.moves() | ({("resign",)} if self.rules.resign else set())

    def step(self, action: Action) -> None:
        """Take a legal action."""
        assert action in self.legal(), (action, self.legal())
        self.steps += 1
        if action == ("resign",):
            self.ending = "resigned"
            return
        lasting = True
        if action[0] == "down" and action[1] != "waste":
            lasting = self._shift(*action[1:])  # type: ignore[arg-type]
        elif action == ("draw",):
            self.waste.append(self.stock.pop(0))
        elif action == ("redeal",):
            self.stock, self.waste = self.waste, []
            self.redeals_used += 1
        else:
            card = self._taken(action[1])
            if action[0] == "down":
                self.columns[action[2]].append([card, True])  # type: ignore[call-overload]
            else:
                self._put_up(card)
        self.history = ([] if lasting else self.history) + [self.position()]
        self._end()

    def _taken(self, source: object) -> str:
        if source == "waste":
            return self.waste.pop()
        card = self.columns[source].pop()[0]  # type: ignore[call-overload]
        self._turn_up(source)  # type: ignore[arg-type]
        return card

    def _put_up(self, card: str) -> None:
        number = self.foundation_for(card)
        assert number is not None
        if number == len(self.foundations):
            self.foundations.append([])
        self.foundations[number].append(card)

    def _end(self) -> None:
        if self.cards_up == 104:
            self.ending = "won"
        elif not self.moves():
            self.ending = "lost"
        elif self.steps == self.rules.max_steps:
            self.ending = "stopped"
