"""One deal of Bourré as a game of OpenSpiel.

| Load | `import bourre_env.openspiel; pyspiel.load_game("python_bourre(rules=reduced_2p2c)")` |
|---|---|
| Players | the seats, 2 to 8 |
| Actions | those of the environment; 85 with the full pack |
| Information state | the observation of the environment, complete and of perfect recall |
| Returns | chips won or lost, and an equal share of the pot that stays |

### Parameters

* `rules`: a preset's name, "pagat" by default.
* `players`: seats; 0 (the default) for the number the preset has.
* `dealer`: the dealer's seat; -1 (the default) for the last one, so that player 0 is the eldest.
* `carry`: chips that lie in the pot, 0 by default.
* `chance`: "cards", "packs", or "auto" (the default): "cards" where that is possible.
* `seed`: which packs there are with `chance=packs`.
* `play_forced`: whether the table itself plays decisions with a single legal action, which makes the tree smaller and
  changes nothing else; False by default.

### Chance

With `chance=cards` each hand and each draw is one chance node, whose outcomes are the sets of cards it can bring, all
equally likely: the tree is that of the game. Suits are named so that trumps are clubs; renaming suits renames the
whole game, so nothing is lost by it. It is possible when no draw can need a reshuffle and no node has more than 10,000
outcomes: for the small packs.

With `chance=packs` four chance nodes of 256 outcomes each write down the number of a deal, and its pack is
`shuffled_decks(seed, [number])`, as in the environment. There are 2^32 packs, equally likely.

Both are explicit chance, so that histories can be replayed and states copied and written down.

### Returns

`returns[seat] + carry / players` after settlement: bourré debts and a tied pot belong to everybody equally. They add
up to the carry the deal began with: zero-sum without one, constant-sum else.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import unpack
from bourre_env.bourre.actions import action_text
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.table import SETTLED
from bourre_env.bourre.tables import Tables
from bourre_env.chance import NOTHING, chance_of

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        f'bourre_env.openspiel needs OpenSpiel ({error}); install it: pip install "bourre-env[openspiel]"'
    ) from error

GAME_NAME = "python_bourre"
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
PRIVATE = ("own_hand", "own_dealt", "own_discards")
"""Pieces of the observation that other seats do not see."""

WORD_BITS = 64
DEFAULTS: dict[str, Any] = {
    "rules": "pagat",
    "players": 0,
    "dealer": -1,
    "carry": 0,
    "chance": "auto",
    "seed": 0,
    "play_forced": False,
}


def _game_type(utility: Any) -> Any:
    """The kind of game it is, for games that are zero-sum or constant-sum."""
    return pyspiel.GameType(
        short_name=GAME_NAME,
        long_name="Bourré, one deal",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=8,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=DEFAULTS,
    )


# --- the table


class OneTable:
    """One table that can be set to any position of a deal; a position is the bytes of its record."""

    def __init__(self, rules: Rules, dealer: int, carry: int, play_forced: bool) -> None:
        """Make the table; the arguments are those of every deal."""
        self.rules, self.dealer, self.carry, self.play_forced = rules, dealer, carry, play_forced
        self.tables = Tables(rules, 1)
        self.record = self.tables.records[0]
        # Views of the record's bytes and of single fields: reading a field of a record costs ten times as much.
        state = np.asarray(self.tables.records)
        self._memory = state.view(np.uint8).data
        self._legal, self._phase, self._to_act = state["legal"][0], state["phase"], state["to_act"]
        self._position = self.position()
        self._words = np.empty((1, self.tables.layout.num_words), np.uint64)

    def position(self) -> bytes:
        """Where the table stands now."""
        self._position = bytes(self._memory)
        return self._position

    def at(self, position: bytes) -> "OneTable":
        """The table itself, set to a position."""
        if position is not self._position:
            self._memory[:] = position
            self._position = position
        return self

    def deal(self, deck: bytes) -> bytes:
        """The position after dealing a whole pack of real cards."""
        self.tables.deal(np.frombuffer(deck, np.int8)[None], self.dealer, carry=self.carry)
        if self.play_forced:
            self.tables.play_forced()
        return self.position()

    def after(self, actions: bytes) -> bytes:
        """The position some actions later."""
        for action in actions:
            self.tables.step(np.array([action]), self.play_forced)
        return self.position()

    def player(self) -> int:
        """The seat to act, or OpenSpiel's number for the end."""
        return TERMINAL if self._phase[0] == SETTLED else int(self._to_act[0])

    def legal(self) -> list[int]:
        """Legal actions of the seat to act, ascending."""
        low, high = self._legal.tolist()
        bits = f"{high << WORD_BITS | low:b}"[::-1]
        return [action for action, bit in enumerate(bits) if bit == "1"]

    def words(self, seat: int) -> NDArray[np.uint64]:
        """[W] uint64: what a seat may know, packed; overwritten by the next call."""
        return self.tables.observe_packed(self._words, [seat])[0]

    def utilities(self) -> list[float]:
        """Chips won or lost by each seat, with its share of what stays in the pot."""
        share = int(self.record["carry"]) / self.rules.num_players
        return [int(chips) + share for chips in self.record["returns"][: self.rules.num_players]]


# --- the game


class BourreGame(pyspiel.Game):  # type: ignore[misc]
    """One deal under the rules of a preset."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Set up the game; `params` as in the module's text.

        Raises:
            ValueError: a parameter that makes no game.
        """
        given = {**DEFAULTS, **(params or {})}
        players = {"num_players": given["players"]} if given["players"] else {}
        rules = Rules.preset(given["rules"], **players)
        dealer = rules.num_players - 1 if given["dealer"] == -1 else given["dealer"]
        self.chance = chance_of(rules, given["chance"], given["seed"])
        self.table = OneTable(rules, dealer, given["carry"], given["play_forced"])
        self.table.deal(bytes(rules.pack))  # refuses a dealer or a carry that makes no deal
        constant = pyspiel.GameType.Utility.CONSTANT_SUM if given["carry"] else pyspiel.GameType.Utility.ZERO_SUM
        super().__init__(_game_type(constant), self._info(rules, given["carry"]), params or {})

    def _info(self, rules: Rules, carry: int) -> Any:
        """The numbers OpenSpiel wants to know."""
        lowest, highest = _utility_bounds(rules, carry)
        return pyspiel.GameInfo(
            num_distinct_actions=self.table.tables.num_actions,
            max_chance_outcomes=self.chance.most_outcomes,
            num_players=rules.num_players,
            min_utility=lowest,
            max_utility=highest,
            utility_sum=float(carry),
            max_game_length=rules.max_decisions,
        )

    def new_initial_state(self) -> "BourreState":
        """The state before anything is dealt."""
        return BourreState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> "BourreObserver":
        """Something that writes down what a player knows."""
        return BourreObserver(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """The most chance nodes on the way to an end."""
        return self.chance.nodes


def _utility_bounds(rules: Rules, carry: int) -> tuple[float, float]:
    """The least and the most a seat can get out of a deal (rules 1.4, 6.1 to 6.4)."""
    players = rules.num_players
    drawing = rules.draw_fee * (rules.hand_size if rules.draw_fee_per == "card" else 1)
    stake = rules.ante + rules.play_fee + drawing
    pot = carry + players * stake
    penalty = {"match_pot": pot, "capped": min(pot, rules.penalty_chips), "fixed": rules.penalty_chips}
    debt = penalty[rules.bourre_penalty] if rules.limit is None else min(penalty[rules.bourre_penalty], rules.limit)
    return -stake - debt + debt / players, pot - rules.ante + debt * (players - 1) / players


class BourreState(pyspiel.State):  # type: ignore[misc]
    """A position of a deal, chance nodes included."""

    # What OpenSpiel copies and writes down: bytes and integers, which are cheap to copy.
    def __init__(self, game: BourreGame) -> None:
        """Nothing is dealt; OpenSpiel calls this through `Game.new_initial_state`."""
        super().__init__(game)
        self._deck = game.chance.start
        self._position = b""  # nothing until the hands are dealt
        self._actions = b""
        self._waiting = NOTHING  # the action of a seat that waits for the cards it draws
        self._player = CHANCE

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's numbers for chance and for the end."""
        return self._player

    def is_terminal(self) -> bool:
        """Whether the deal is settled."""
        return self._player == TERMINAL

    def returns(self) -> list[float]:
        """Each player's chips after settlement; zeros before."""
        game: BourreGame = self.get_game()
        return game.table.at(self._position).utilities() if self.is_terminal() else [0.0] * game.num_players()

    def _legal_actions(self, player: int) -> list[int]:
        """Legal actions of the seat to act, ascending."""
        return self._table().legal()

    def _table(self) -> OneTable:
        """The game's table, set to this position."""
        game: BourreGame = self.get_game()
        return game.table.at(self._position)

    # --- chance

    def _places(self) -> tuple[int, ...]:
        """The places of the pack that chance fills next."""
        stock_next = self._table().record["stock_next"] if self._position else 0
        places: tuple[int, ...] = self.get_game().chance.places(self._deck, int(stock_next), self._waiting)
        return places

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """All outcomes with their probabilities."""
        number = self.get_game().chance.num_outcomes(self._deck, self._places())
        return [(outcome, 1 / number) for outcome in range(number)]

    def _apply_action(self, action: int) -> None:
        """Go on to the next node."""
        game: BourreGame = self.get_game()
        if self._player == CHANCE:
            self._deck = game.chance.fill(self._deck, self._places(), action)
            self._chance_has_spoken(game)
        elif game.chance.number_drawn(action):
            self._waiting, self._player = action, CHANCE
        else:
            self._actions += bytes([action])
            self._move_to(game, game.table.at(self._position).after(bytes([action])))

    def _chance_has_spoken(self, game: BourreGame) -> None:
        """Deal, or serve the cards a seat has drawn: the deal is played again with the pack as it is known now."""
        if self._waiting == NOTHING and self._places():
            return
        if self._waiting != NOTHING:
            self._actions += bytes([self._waiting])
            self._waiting = NOTHING
        game.table.deal(game.chance.completed(self._deck))
        self._move_to(game, game.table.after(self._actions))

    def _move_to(self, game: BourreGame, position: bytes) -> None:
        """Stand at a position, to which the game's table is set."""
        self._position = position
        self._player = game.table.player()

    # --- text

    def _action_to_string(self, player: int, action: int) -> str:
        """An action or an outcome in words."""
        game: BourreGame = self.get_game()
        if player == CHANCE:
            text: str = game.chance.text(self._deck, self._places(), action)
            return text
        return action_text(game.table.rules, self._table().record, action)

    def __str__(self) -> str:
        """Everything that has happened, hidden cards included, on one line."""
        game: BourreGame = self.get_game()
        words = [game.chance.deck_text(self._deck)]
        taken = self._actions if self._waiting == NOTHING else self._actions + bytes([self._waiting])
        position = game.table.deal(game.chance.completed(self._deck)) if taken else b""
        for action in taken:
            record = game.table.at(position).record
            words.append(f"{record['to_act']}: {action_text(game.table.rules, record, action)}")
            if len(words) <= len(self._actions) + 1:  # what waits for cards cannot be played yet
                position = game.table.after(bytes([action]))
        return ", ".join(words)


class BourreObserver:
    """Writes down what a player knows, in the named pieces of the environment's observation.

    Attributes:
        tensor: [O] float32 of zeros and ones; zeros until the hands are dealt. A player who has thrown cards away and
            waits for others still sees the position before.
        dict: the named pieces, views of `tensor`.
    """

    def __init__(self, game: BourreGame, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        """Choose the pieces: the private ones, the public ones, or both.

        Raises:
            ValueError: parameters, or private information of all players.
        """
        if params:
            raise ValueError(f"an observer of {GAME_NAME} takes no parameters, but {params} were given")
        if iig_obs_type.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError(f"{GAME_NAME} has no observer of all players' cards; choose SINGLE_PLAYER or NONE")
        self._public = iig_obs_type.public_info
        self._private = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        layout = game.table.tables.layout
        shown = {
            name: piece.slice
            for name, piece in layout.segments.items()
            if (self._private if name in PRIVATE else self._public)
        }
        self.tensor = np.zeros(layout.size, np.float32)
        self.dict = {name: self.tensor[features] for name, features in shown.items()}
        self._hidden = np.ones(layout.size, np.bool_)
        for features in shown.values():
            self._hidden[features] = False

    def set_from(self, state: BourreState, player: int) -> None:
        """Write what `player` knows into `tensor`."""
        if not state._position:
            self.tensor.fill(0)
            return
        unpack(state._table().words(player)[None], self.tensor[None])
        self.tensor[self._hidden] = 0

    def string_from(self, state: BourreState, player: int) -> str:
        """What `player` knows, as text: its number, the observation's bits, and a draw that waits for cards."""
        if not state._position:
            return f"{player}:" if self._private else ""
        if self._public and self._private:
            text = f"{player}:{state._table().words(player).tobytes().hex()}"
        else:
            self.set_from(state, player)
            text = np.packbits(self.tensor > 0).tobytes().hex()
        return text + self._draw(state, player)

    def _draw(self, state: BourreState, player: int) -> str:
        """A draw that waits for cards: what was thrown away for the seat itself, how many cards for the others."""
        if state._waiting == NOTHING:
            return ""
        if self._private and state._table().player() == player:
            return f":{state._waiting}"
        return f":draws {state.get_game().chance.number_drawn(state._waiting)}" if self._public else ""


pyspiel.register_game(_game_type(pyspiel.GameType.Utility.ZERO_SUM), BourreGame)
