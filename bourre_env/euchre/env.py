"""British Euchre as a PettingZoo AEC environment.

| Import | `import bourre_env; bourre_env.euchre_env()` or `pettingzoo.make("aec", "bourre/euchre-v0")` |
|---|---|
| Agents | `player_0` … `player_3`; partners sit opposite: 0 and 2, 1 and 3 |
| Actions | `Discrete(33)` |
| Observation | `{"observation": float32 [576], "action_mask": int8 [33]}`, values 0 and 1 |
| Rewards | points of a hand: own side's less the other's |

### Rules

`docs/euchre.md` has the law with its numbers; `rules` names a preset or is an `EuchreRules` value.

### Arguments

* `rules`: "cornish", "cornish_relative", "openspiel" or an `EuchreRules` value.
* `episode`: "hand" for one hand; "game" for hands until a side has the target, the dealer moving on each time.
* `render_mode`: None; "ansi" for text; "rgb_array" for a picture, [704, 1024, 3] uint8, drawn without a display;
  "human" for a window that follows the play (needs the extra `render`).
* `render_seat`: the seat from which the table is shown, other hands hidden; None shows every hand.
* `illegal` (`euchre_env` only): "raise" lets `IllegalActionError` through. "forfeit" ends the hand: the other side
  scores four points (rule E6.2), and the offender's infos hold `forfeited_deal`, `illegal_action` and `reason` until
  its next action. "terminate" adds PettingZoo's `TerminateIllegalWrapper`, whose rewards are no points.

### Options

`reset(options={...})` sets up the first hand of an episode: `deck` (card texts in dealing order), `dealer` (a seat;
else drawn from the seed), `score` (points of the two sides).

### Observation

Zeros and ones from the agent's own seat: seats by distance clockwise, cards by id (6*suit + rank; suits clubs,
diamonds, hearts, spades; ranks nine, ten, jack, queen, king, ace; the Benny is 24). A starred number is a thermometer:
bit i is set when it is above i. `bourre_env.euchre.observation.layout(rules).segments` has the pieces as slices. With
`EuchreRules(card_ids="relative")` suits are counted from that of trumps, or of the up-card until they are named (rule
E6.3).

| piece | first index | features | says |
|---|---|---|---|
| `own_hand` | 0 | 25 | cards in hand; none while trumps must be named unseen |
| `up_card` | 25 | 25 | the card turned up |
| `phase` | 50 | 6 | blind, bid1, discard, bid2, alone, play: the one that goes on |
| `dealer` | 56 | 4 | the dealer, by distance |
| `led_suit` | 60 | 4 | the suit that the card led counts as; none on lead |
| `own_shed` | 64 | 25 | the card this seat laid away for the up-card |
| `table_cards` | 89 | 25 | cards of the current trick |
| `trump_suit` | 114 | 4 | the suit of trumps, once named |
| `maker` | 118 | 4 | who named it, by distance |
| `leader` | 122 | 4 | who leads to the current trick, by distance |
| `last_to_play` | 126 | 1 | nobody plays after this seat in the current trick |
| `trick_1_ago` | 128 | 25 | cards of the trick before |
| `trick_2_ago` | 153 | 25 | cards of the trick before that |
| `our_tricks` | 178 | 5 | tricks of the own side * |
| `their_tricks` | 183 | 5 | tricks of the other side * |
| `trick_3_ago` | 192 | 25 | cards of the trick three before |
| `trick_4_ago` | 217 | 25 | cards of the trick four before |
| `alone` | 242 | 4 | who plays alone, by distance |
| `out` | 246 | 4 | whose partner plays alone, by distance |
| `with_partner` | 250 | 4 | who was asked and plays with the partner, by distance |
| `seat_0_on_table` | 256 | 25 | the card in the current trick of the seat at distance 0 |
| `seat_1_on_table` | 281 | 25 | … at distance 1 |
| `call_0` | 306 | 6 | the eldest's first call: pass, the four suits, "I turn it down" |
| `call_1` | 312 | 6 | the next call |
| `seat_2_on_table` | 320 | 25 | … at distance 2 |
| `seat_3_on_table` | 345 | 25 | … at distance 3 |
| `call_2` | 370 | 6 | the next call |
| `call_3` | 376 | 6 | the next call |
| `seat_0_played` | 384 | 25 | all cards played by the seat at distance 0 |
| `seat_1_played` | 409 | 25 | … at distance 1 |
| `call_4` | 434 | 6 | the eldest's call in the second round |
| `call_5` | 440 | 6 | the next call |
| `seat_2_played` | 448 | 25 | … at distance 2 |
| `seat_3_played` | 473 | 25 | … at distance 3 |
| `call_6` | 498 | 6 | the next call |
| `call_7` | 504 | 6 | the dealer's last call |
| `our_score` | 512 | 20 | points of the own side in the game * |
| `their_score` | 532 | 20 | points of the other side in the game * |
| all | 0 | 576 | indices not named are always 0 |

### Actions

`action_text` and `action_id` translate.

| action | means | words |
|---|---|---|
| 0-23 | play a card, or lay it away | `9C` … `AS` |
| 24 | the same with the Benny | `BN` |
| 25 | pass | `pass` |
| 26-29 | make clubs, diamonds, hearts, spades trumps | `name_C` … `name_S` |
| 30 | turn the up-card down and play alone in its suit | `turn_down` |
| 31 | play alone | `alone` |
| 32 | play with the partner | `with_partner` |

### Rewards

When a hand is settled each agent receives its side's points less the other side's; a hand that is thrown in pays 0. All
agents stay until the episode ends, also one whose partner plays alone, which is not asked to act.

### Seeds

`reset(seed=s)` starts a stream of hands: hand n since then has the pack `shuffled_decks(s, [n], pack=rules.pack)`.
`reset()` goes on with the next hand of the stream; without any seed the operating system gives one, which
`episode_seed` tells.

### Version history

* v0: first version.
"""

import secrets
from dataclasses import replace
from typing import Any

import numpy as np
import pettingzoo
from numpy.typing import NDArray

from bourre_env.aec import TableEnv, wrapped
from bourre_env.deck import shuffled_decks
from bourre_env.drawing.euchre_picture import euchre_picture
from bourre_env.env_options import checked_seat, checked_seed, drawn_dealers, integer, named_options
from bourre_env.errors import DeckError, RulesError
from bourre_env.euchre import actions
from bourre_env.euchre.cards import card_id
from bourre_env.euchre.render import ansi, seen_by
from bourre_env.euchre.rules import NUM_SEATS, EuchreRules
from bourre_env.euchre.snapshot import EuchreSnapshot
from bourre_env.euchre.table import SETTLED
from bourre_env.euchre.tables import EuchreTables

ENV_ID = "bourre/euchre-v0"
EPISODES = ("hand", "game")
OPTIONS = ("deck", "dealer", "score")


def euchre_env(
    rules: str | EuchreRules = "cornish",
    episode: str = "hand",
    render_mode: str | None = None,
    illegal: str = "raise",
    render_seat: int | None = None,
) -> Any:
    """Euchre with PettingZoo's usual wrappers; arguments as in the text of `bourre_env.euchre.env`."""
    return wrapped(raw_euchre_env(rules, episode, render_mode, render_seat), illegal)


class raw_euchre_env(TableEnv):  # noqa: N801 - named as PettingZoo's users expect
    """Euchre without wrappers: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        rules: the house rules.
        episode: "hand" or "game".
        deal_index: the number of the current hand in its episode.
        episode_seed: the seed of the stream of hands.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo reads a plain dict
        "name": "euchre_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    _tables: EuchreTables
    _settled = SETTLED
    _title = "Euchre"

    def __init__(
        self,
        rules: str | EuchreRules = "cornish",
        episode: str = "hand",
        render_mode: str | None = None,
        render_seat: int | None = None,
    ) -> None:
        """Set up a table; `reset` deals. Arguments as in the text of this module.

        Raises:
            RulesError: no rules, or no preset of that name.
            ValueError: another argument that is not among those listed.
        """
        self.rules = EuchreRules.preset(rules) if isinstance(rules, str) else rules
        if not isinstance(self.rules, EuchreRules):
            raise RulesError(f"rules is {rules!r}; give the name of a preset or an EuchreRules value")
        if episode not in EPISODES:
            raise ValueError(f"episode is {episode!r}; choose one of {', '.join(map(repr, EPISODES))}")
        self.episode = episode
        super().__init__(
            EuchreTables(self.rules, 1), self.rules.num_players, render_mode=render_mode, render_seat=render_seat
        )

    # --- episodes ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: 0 to 2^64 - 1 starts a stream of hands; None goes on with the current one.
            options: for the first hand: `deck` (card texts in dealing order), `dealer` (else drawn from the seed) and
                `score` (points of the two sides).

        Raises:
            ValueError: a seed or an option that makes no hand; nothing is changed.
        """
        chosen = _checked_options(options, self.rules.target)
        new_seed = checked_seed(seed) if seed is not None else self.episode_seed
        if new_seed is None:
            new_seed = secrets.randbits(64)
        deal_id = 0 if new_seed != self.episode_seed or seed is not None else self._deals_since_seed
        deck = chosen.get("deck")
        self._tables.deal(
            self._deck(new_seed, deal_id) if deck is None else deck,
            chosen.get("dealer", drawn_dealers(new_seed, [deal_id], self.rules.num_players)),
            score=chosen.get("score"),
        )
        self.episode_seed, self._deals_since_seed = new_seed, deal_id + 1
        self.deal_index = 0
        self._begin_bookkeeping()
        self._follow()

    def _deck(self, seed: int, deal_id: int) -> NDArray[np.int8]:
        """[1, C]: the pack of a numbered hand."""
        return shuffled_decks(seed, [deal_id], pack=self.rules.pack)

    def _deal_next(self) -> None:
        """Rules E1.6 and E5.4: the seat on the left deals, unless the episode is over."""
        score = self._tables.score
        if self.episode == "hand" or score.max() >= self.rules.target:
            return
        seed = self.episode_seed if self.episode_seed is not None else 0
        dealer = (int(self._table["dealer"]) + 1) % self.rules.num_players
        self._tables.deal(self._deck(seed, self._deals_since_seed), dealer, score=score)

    def _pay(self, returns: NDArray[np.int32]) -> None:
        """Rule E5.3: pay a settled hand; note the hand that has begun, or end the episode."""
        self._pay_rewards(returns.astype(np.float64))
        if self._table["phase"] == SETTLED:
            self._end_episode(self.terminations)
            return
        self._deals_since_seed += 1
        self.deal_index += 1

    # --- looking ---

    def snapshot(self) -> EuchreSnapshot:
        """The table in words, hidden cards included."""
        self._need_deal("snapshot")
        return replace(self._tables.snapshot(0), hand_index=self.deal_index)

    def action_text(self, action: int) -> str:
        """An action in words, for the agent to act: "JH", "pass", "name_H", "turn_down", "alone", "with_partner"."""
        self._need_deal("action_text")
        return actions.action_text(self.rules, self._tables.records[0], action)

    def action_id(self, text: str) -> int:
        """The action that words name, for the agent to act; the inverse of `action_text`."""
        self._need_deal("action_id")
        return actions.action_id(self.rules, self._tables.records[0], text)

    def _text(self) -> str:
        """The table as text, from `render_seat`."""
        return ansi(self.snapshot(), self.render_seat)

    def _image(self) -> NDArray[np.uint8]:
        """[704, 1024, 3] uint8: the table as a picture, from `render_seat`."""
        return euchre_picture(seen_by(self.snapshot(), self.render_seat), self.render_seat or 0)


def _checked_options(options: dict[str, Any] | None, target: int) -> dict[str, Any]:
    """The options of `reset` with the deck as ids, as far as they can be checked before the table sees them."""
    chosen = {name: value for name, value in named_options(options, OPTIONS).items() if value is not None}
    if "deck" in chosen:
        chosen["deck"] = _deck_of_texts(chosen["deck"])
    if "dealer" in chosen:
        chosen["dealer"] = checked_seat(chosen["dealer"], NUM_SEATS, "options['dealer']")
    if "score" in chosen:
        chosen["score"] = _score_of_sides(chosen["score"], target)
    return chosen


def _deck_of_texts(texts: Any) -> NDArray[np.int8]:
    """[1, C] ids of a deck written as card texts."""
    try:
        return np.array([[card_id(text) for text in texts]], np.int8)
    except (ValueError, TypeError) as error:
        raise DeckError(f"options['deck']: {error}") from None


def _score_of_sides(score: Any, target: int) -> NDArray[np.int64]:
    """[1, 2] points of the sides, each short of the target (E5.4)."""
    points = [integer(number) for number in score] if isinstance(score, (list, tuple, np.ndarray)) else []
    if len(points) != 2 or any(number is None or not 0 <= number < target for number in points):
        raise ValueError(
            f"options['score'] is {score!r}; it must be two integers from 0 to {target - 1}, points of seats 0 and 2, "
            "of 1 and 3"
        )
    return np.array([points], np.int64)


def register() -> None:
    """Make the environment known to `pettingzoo.make`, which came with PettingZoo 1.27."""
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", ENV_ID, entry_point=euchre_env)
