"""Bourré as a PettingZoo AEC environment.

| Import | `import bourre_env; bourre_env.env()` or `pettingzoo.make("aec", "bourre/bourre-v0")` |
|---|---|
| Agents | `player_0` … `player_{N-1}`, N = 2 to 8 (default 4) |
| Actions | `Discrete(85)` with the full pack |
| Observation | `{"observation": float32 [O], "action_mask": int8 [A]}`, values 0 and 1 |
| Rewards | chips, unscaled |

### Rules

`RULES.md` has the law with its numbers; `rules` names a preset or is a `Rules` value.

### Arguments

* `num_players`: seats, 2 to 8. A `Rules` value brings its own number; another than the default must agree with it.
* `rules`: "pagat", "pagat_limit", … or a `Rules` value.
* `num_deals`: deals in an episode. The dealer moves on, the pot left, the exemptions and, at table stakes, the stacks
  carry over.
* `render_mode`: None; "ansi" for text; "rgb_array" for a picture, [704, 1024, 3] uint8, drawn without a display;
  "human" for a window that follows the play (needs the extra `render`).
* `render_seat`: the seat from which the table is shown, other hands hidden; None shows every hand.
* `illegal` (`env` only): "raise" lets `IllegalActionError` through. "forfeit" treats the offender as bourré (rule
  7.2): the deal ends, the others still in it share the pot, the offender pays what a bourré pays, a session goes on,
  and no chip is lost. The offender's infos hold `forfeited_deal`, `illegal_action` and `reason` until its next action.
  "terminate" adds PettingZoo's `TerminateIllegalWrapper`, which ends the episode with -1 for the offender and nothing
  for the others. That is no chip count: rewards no longer sum to zero. Never train or rate through it.
* `buy_in`: at table stakes (`Rules(stacks="table_stakes")`, rule 6.7) the antes each seat sits down with in an episode;
  None for 100. On credit there is none.

### Options

`reset(options={...})` sets up the first deal of an episode. Options left out, or None, are as usual.

* `deck`: card texts in dealing order.
* `dealer`: a seat; else drawn from the seed.
* `carry`: chips in the pot before the antes.
* `exempt`: a list of the seats that pay no ante.
* `stacks`: chips of each seat at table stakes, in place of `buy_in`.

### Observation

Zeros and ones, from the agent's own seat: cards by trump-relative id (13*suit + rank; suit 0 is trumps, the other suits
follow in the order clubs, diamonds, hearts, spades; rank 0 is the two), seats by distance: how many places
clockwise from the agent they sit. A starred number is a thermometer: bit i is set when it is above i. Only the agent
to act has ones in its mask. `bourre_env.bourre.observation.layout(rules).segments` has the same pieces as slices, and
`python -m bourre_env.spec --rules pagat --players 6` prints these tables for other presets and table sizes. One vector
of everything is `gymnasium.spaces.flatten(env.observation_space(agent), observation)`: the mask, then the observation.
At table stakes 64 features more, the last, tell the stacks.

| piece | first index | features | says |
|---|---|---|---|
| `own_hand` | 0 | 52 | cards in hand |
| `phase` | 52 | 3 | declare, draw, play: the one that goes on |
| `led_suit` | 55 | 4 | the suit led, trumps first; none on lead |
| `tricks_done` | 59 | 5 | number of tricks finished * |
| `own_dealt` | 64 | 52 | cards first dealt |
| `dealer` | 116 | 8 | the dealer, by distance |
| `last_to_play` | 124 | 1 | nobody plays after this seat in the current trick |
| `pot_over_limit` | 125 | 3 | the pot is at least 1/2, 1, 2 limits |
| `own_discards` | 128 | 52 | cards thrown away, or laid down by passing |
| `exempt` | 180 | 8 | who paid no ante, by distance |
| `turn_up_gone` | 188 | 1 | the turn-up is out of play |
| `turn_up` | 192 | 52 | the card turned up |
| `pot` | 244 | 12 | the pot is at least 1/2, 1, 3/2, 2, 3, 4, 6, 8, 12, 16, 32, 64 antes of the whole table |
| `table_cards` | 256 | 52 | cards of the current trick |
| `leader` | 308 | 8 | who leads to the current trick, by distance |
| `trick_k_ago` | 256 + 64k | 52 | cards of the trick k tricks before, k = 1, 2, … |
| `seat_exists` | 372 | 8 | number of seats at the table * |
| `seat_k_played` | 576 + 64k | 52 | cards played by the seat at distance k, k = 0, 1, … |
| `seat_k_stayed` | 628 + 64k | 1 | it has stayed |
| `seat_k_passed` | 629 + 64k | 1 | it has passed |
| `seat_k_discards` | 630 + 64k | 5 | number of cards it threw away * |
| `seat_k_tricks` | 635 + 64k | 5 | number of tricks it has won * |
| all | 0 | 832 | for 4 seats; indices not named are always 0 |

### Actions

`action_text` and `action_id` translate.

| action | means |
|---|---|
| 0-12 | play a trump, two to ace |
| 13-25 | play a card of the first other suit, two to ace |
| 26-38 | play a card of the second other suit, two to ace |
| 39-51 | play a card of the third other suit, two to ace |
| 52 | stay and throw nothing away |
| 53-83 | stay and throw away: bit i of the id less 52 for the i-th lowest card held |
| 84 | pass |

### Rewards

When a deal is settled each agent receives the chips it won or lost in it, ante and bourré debt included. At the end of
the episode the pot that is left is shared equally, so that the rewards of an episode sum to zero (or to the carry
handed in through `options`).

### End of the episode

All agents stay until the episode ends; passing ends nothing. A single deal ends by termination; an episode of several
deals ends by truncation after the last one. The action that settles one deal also deals the next. An
episode ends earlier when the next deal's pot could pass 2,147,483,647 chips (rule 1.5) and, at table stakes, when fewer
than two seats could play it (rule 6.7).

### Seeds

`reset(seed=s)` starts a stream of deals: deal n since then has the pack `shuffled_decks(s, [n])`. `reset()` goes on
with the next deal of the stream; without any seed the operating system gives one, which `episode_seed` tells.

### Version history

* v0: first version.
"""

import secrets
from dataclasses import replace
from typing import Any

import numpy as np
import pettingzoo
from numpy.typing import NDArray

from bourre_env.aec import ILLEGAL as ILLEGAL
from bourre_env.aec import ForfeitIllegalWrapper as ForfeitIllegalWrapper
from bourre_env.aec import TableEnv, wrapped
from bourre_env.bourre import actions
from bourre_env.bourre.deals import can_deal_again
from bourre_env.bourre.options import DEFAULT_PLAYERS, checked_options, rules_of, seat_flags, stacks_bought
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.bourre.table import RAW_TABLE, SETTLED, TABLE
from bourre_env.bourre.tables import Tables
from bourre_env.deck import shuffled_decks
from bourre_env.drawing.picture import picture
from bourre_env.env_options import checked_num_deals, checked_seed, drawn_dealers
from bourre_env.notation import DealRecord, write
from bourre_env.render import ansi, seen_by

ENV_ID = "bourre/bourre-v0"
RENDER_MODES = ["ansi", "rgb_array", "human"]


def env(
    num_players: int = 4,
    rules: str | Rules = "pagat",
    num_deals: int = 1,
    render_mode: str | None = None,
    illegal: str = "raise",
    render_seat: int | None = None,
    buy_in: int | None = None,
) -> Any:
    """The environment with PettingZoo's usual wrappers; arguments as in the module's text."""
    return wrapped(raw_env(num_players, rules, num_deals, render_mode, render_seat, buy_in), illegal)


class raw_env(TableEnv):  # noqa: N801 - the name PettingZoo's users expect
    """Bourré without wrappers: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        rules: the house rules.
        num_deals: deals in an episode.
        deal_index: the number of the current deal in its episode.
        episode_seed: the seed of the stream of deals.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo reads a plain dict
        "name": "bourre_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    _tables: Tables
    _settled = SETTLED
    _illegal_note = "env.unwrapped.record() writes down the deal so far, hidden cards included."
    _title = "Bourré"

    def __init__(
        self,
        num_players: int = DEFAULT_PLAYERS,
        rules: str | Rules = "pagat",
        num_deals: int = 1,
        render_mode: str | None = None,
        render_seat: int | None = None,
        buy_in: int | None = None,
    ) -> None:
        """Set up a table; `reset` deals."""
        deals = checked_num_deals(num_deals)
        self.rules = rules_of(rules, num_players)
        super().__init__(
            Tables(self.rules, 1), self.rules.num_players, render_mode=render_mode, render_seat=render_seat
        )
        self._buy_in = stacks_bought(buy_in, self.rules)
        self.num_deals = deals

    # --- episodes ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: 0 to 2^64 - 1 starts a stream of deals; None goes on with the current one.
            options: for the first deal: `deck` (card texts in dealing order), `dealer` (else drawn from the seed),
                `carry` (chips in the pot), `exempt` (seats that pay no ante) and `stacks` (chips of the seats).

        Raises:
            ValueError: a seed or an option that makes no deal; nothing is changed.
        """
        chosen = checked_options(options, self.rules)
        new_seed = checked_seed(seed) if seed is not None else self.episode_seed
        if new_seed is None:
            new_seed = secrets.randbits(64)
        deal_id = 0 if new_seed != self.episode_seed or seed is not None else self._deals_since_seed
        deck = chosen.get("deck")
        self._tables.deal(
            self._deck(new_seed, deal_id) if deck is None else deck[None],
            chosen.get("dealer", drawn_dealers(new_seed, [deal_id], self.rules.num_players)),
            carry=chosen.get("carry", 0),
            exempt=seat_flags(chosen.get("exempt", ()), self.rules.num_players),
            stacks=chosen.get("stacks", self._buy_in),
        )
        self.episode_seed, self._deals_since_seed = new_seed, deal_id + 1
        self.deal_index = 0
        self._begin_bookkeeping()
        self._follow()

    def _deck(self, seed: int, deal_id: int) -> NDArray[np.int8]:
        """[1, C]: the pack of a numbered deal."""
        return shuffled_decks(seed, [deal_id], pack=self.rules.pack)

    def _begin_bookkeeping(self) -> None:
        """Nothing has been played and paid yet."""
        self._log: list[tuple[np.void, list[int]]] = []
        self._begin_log()
        self._chips_before = np.zeros(self.rules.num_players, np.int64)
        super()._begin_bookkeeping()

    def _begin_log(self) -> None:
        """Keep the table as dealt and nothing played yet, for the hand record."""
        self._log.append((self._table_bytes(), []))

    def _take(self, number: int) -> NDArray[np.int32] | None:
        """The same, and the action is written down."""
        deal = self._log[-1]
        returns = super()._take(number)
        deal[1].append(number)
        return returns

    def _table_bytes(self) -> np.void:
        """A copy of the table's record."""
        return np.asarray(self._tables.records).view(RAW_TABLE).copy()[0]

    def _can_deal_again(self) -> bool:
        """Whether another deal can follow (1.5, 6.7)."""
        tables = self._tables
        return bool(can_deal_again(self.rules, tables.carry, tables.exempt, tables.stacks)[0])

    def _deal_next(self) -> None:
        """Deal again: the office of dealer, the carry, the exemptions and stacks move on (1.6, 6.5, 6.6, 6.7)."""
        if self.deal_index + 1 >= self.num_deals or not self._can_deal_again():
            return
        seed = self.episode_seed if self.episode_seed is not None else 0
        tables = self._tables
        dealer = (int(self._table["dealer"]) + 1) % self.rules.num_players
        deck = self._deck(seed, self._deals_since_seed)
        tables.deal(deck, dealer, carry=tables.carry, exempt=tables.exempt, stacks=tables.stacks)

    def _pay(self, returns: NDArray[np.int32]) -> None:
        """Pay the rewards of a settled deal; note the deal that has begun, or end the episode."""
        paid = returns.astype(np.float64)
        last = self._table["phase"] == SETTLED  # no other deal has been dealt
        if last:
            paid += self._table["carry"] / self.rules.num_players
        self._pay_rewards(paid)
        if last:  # a single deal ends by termination, a session by truncation
            self._end_episode(self.truncations if self.num_deals > 1 else self.terminations)
            return
        self._chips_before += returns
        self._deals_since_seed += 1
        self.deal_index += 1
        self._begin_log()

    # --- looking ---

    def snapshot(self) -> Snapshot:
        """The table in real cards, hidden cards included; `chips` are those of the episode so far."""
        self._need_deal("snapshot")
        deal = self._tables.snapshot(0)
        chips = tuple(int(before) + now for before, now in zip(self._chips_before, deal.chips, strict=True))
        return replace(deal, chips=chips, deal_index=self.deal_index)

    def record(self) -> str:
        """The episode so far as a hand record (`bourre_env.notation`), hidden cards included."""
        self._need_deal("record")
        openings = [np.array([raw]).view(TABLE).view(np.recarray)[0] for raw, _ in self._log]
        deals = zip(openings, self._log, strict=True)
        return write([DealRecord.of_table(self.rules, opening, ids) for opening, (_, ids) in deals])

    def action_text(self, action: int) -> str:
        """An action in words, for the agent to act: "pass", "stay 2C 4D", "QS"."""
        self._need_deal("action_text")
        return actions.action_text(self.rules, self._tables.records[0], action)

    def action_id(self, text: str) -> int:
        """The action that words name, for the agent to act; the inverse of `action_text`."""
        self._need_deal("action_id")
        return actions.action_id(self.rules, self._tables.records[0], text)

    def _text(self) -> str:
        """The table as text, from `render_seat`."""
        return ansi(self._shown())

    def _image(self) -> NDArray[np.uint8]:
        """[704, 1024, 3] uint8: the table as a picture, from `render_seat`."""
        return picture(self._shown(), self.render_seat or 0)

    def _shown(self) -> Snapshot:
        """What is drawn: other hands than that of `render_seat` hidden."""
        return seen_by(self.snapshot(), self.render_seat, blind_declaring=self.rules.blind_declaring)


def register() -> None:
    """Make the environment known to `pettingzoo.make`, which came with PettingZoo 1.27."""
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", ENV_ID, entry_point=env)
