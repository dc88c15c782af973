"""Partnership auction Pinochle as a PettingZoo AEC environment.

| Import | `import bourre_env; bourre_env.pinochle_env()` or `pettingzoo.make("aec", "bourre/pinochle-v0")` |
|---|---|
| Agents | `player_0` … `player_3`; partners sit opposite: 0 and 2, 1 and 3 |
| Actions | `Discrete(69)` |
| Observation | `{"observation": float32 [1664], "action_mask": int8 [69]}`, values 0 and 1 |
| Rewards | points of a hand: the change of the own side's score less that of the other's |

### Rules

`docs/pinochle.md` has the law with its numbers; `rules` names a preset or is a `PinochleRules` value.

### Arguments

* `rules`: "modern", "modern_relative", "counters10", "classic", "simplified", "exchange_four", "older" or a
  `PinochleRules` value.
* `episode`: "hand" for one hand; "game" for hands until a side has the target, the dealer moving on each time.
* `render_mode`: None; "ansi" for text; "rgb_array" for a picture, [704, 1024, 3] uint8, drawn without a display;
  "human" for a window that follows the play (needs the extra `render`).
* `render_seat`: the seat from which the table is shown, other hands hidden; None shows every hand.
* `illegal` (`pinochle_env` only): "raise" lets `IllegalActionError` through. "correct" is the house rule (P7.2): a card
  played against the duties goes back, stays known to all, and the agent is to act again; its infos hold
  `illegal_action`, `reason` and `exposed` (the card, or nothing) until its next action. A second illegal action at the
  same decision truncates the episode for all agents, with rewards of 0. "forfeit" ends the hand (P7.3), and the
  offender's infos hold `forfeited_deal`, `illegal_action` and `reason` until its next action. "terminate" adds
  PettingZoo's `TerminateIllegalWrapper`, whose rewards are no points.

### Options

`reset(options={...})` sets up the first hand of an episode: `deck` (card texts in dealing order, each twice), `dealer`
(a seat; else drawn from the seed), `score` (points of the two sides, which may be below 0).

### Observation

Zeros and ones from the agent's own seat: seats by distance clockwise, kinds of cards by id (6*suit + rank; suits clubs,
diamonds, hearts, spades; ranks nine, jack, queen, king, ten, ace). A set of cards has 48 features: 24 kinds of which
there is a copy, then 24 of which there are both. A starred number is a thermometer: bit i is set when it is above i.
`bourre_env.pinochle.observation.layout(rules).segments` has the pieces as slices. With `PinochleRules(card_ids=
"relative")` the suits of cards are counted from that of trumps once they are named, but not that of `trump_suit` (rule
P7.4). Without history (P7.5) the row ends after `their_score`.

Points are those of the modern scale, tenths of those of the others. Meld points are above 0, 1, 2, 3, 4, 5, 7, 9, 11,
14, 17, 20, 27, 35, 50, 100. A score is above so many 32nds of the target: -64, -48, -32, -24, -16, -12, -8, -4, and 0
to 31.

| piece | first index | features | says |
|---|---|---|---|
| `own_hand` | 0 | 48 | cards in hand |
| `phase` | 48 | 4 | bid, trump, exchange, play: the one that goes on |
| `dealer` | 52 | 4 | the dealer, by distance |
| `passed` | 56 | 4 | who has passed, by distance |
| `trump_suit` | 60 | 4 | the suit of trumps, once named, as printed |
| `high_bid` | 64 | 40 | levels up to the high bid * |
| `high_bidder` | 104 | 4 | whose it is, by distance: the declarer, once the auction is over |
| `leader` | 108 | 4 | who leads to the current trick, by distance |
| `led_suit` | 112 | 4 | the suit led; none on lead |
| `last_to_play` | 116 | 1 | nobody plays after this seat in the current trick |
| `taken_back` | 117 | 1 | the seat to act has just taken a card back (P7.2) |
| `seat_0_bids` | 128 | 40 | levels that the seat at distance 0 has bid |
| `seat_0_on_table` | 168 | 24 | the card in the current trick of the seat at distance 0 |
| `seat_1_bids` | 192 | 40 | … at distance 1 |
| `seat_1_on_table` | 232 | 24 | … at distance 1 |
| `seat_2_bids` | 256 | 40 | … at distance 2 |
| `seat_2_on_table` | 296 | 24 | … at distance 2 |
| `seat_3_bids` | 320 | 40 | … at distance 3 |
| `seat_3_on_table` | 360 | 24 | … at distance 3 |
| `sent` | 384 | 48 | cards given to the partner |
| `our_tricks` | 432 | 12 | tricks of the own side * |
| `received` | 448 | 48 | cards the partner gave |
| `their_tricks` | 496 | 12 | tricks of the other side * |
| `seat_0_melded` | 512 | 48 | cards that the seat at distance 0 has shown in melds |
| `seat_0_meld_points` | 560 | 16 | points of its melds, in the steps named above |
| `seat_1_melded` | 576 | 48 | … at distance 1 |
| `seat_1_meld_points` | 624 | 16 | points of its melds |
| `seat_2_melded` | 640 | 48 | … at distance 2 |
| `seat_2_meld_points` | 688 | 16 | points of its melds |
| `seat_3_melded` | 704 | 48 | … at distance 3 |
| `seat_3_meld_points` | 752 | 16 | points of its melds |
| `seat_0_exposed` | 768 | 24 | kinds that the seat at distance 0 has had to take back (P7.2) |
| `seat_1_exposed` | 792 | 24 | … at distance 1 |
| `seat_2_exposed` | 832 | 24 | … at distance 2 |
| `seat_3_exposed` | 856 | 24 | … at distance 3 |
| `our_trick_points` | 896 | 24 | points of the own side's tricks * |
| `our_score` | 920 | 40 | score of the own side, in the steps named above |
| `their_trick_points` | 960 | 24 | the same of the other side * |
| `their_score` | 984 | 40 | the same of the other side |
| `seat_0_played` | 1024 | 48 | kinds of which the seat at distance 0 has played the first copy; the second |
| `seat_1_played` | 1088 | 48 | … at distance 1 |
| `seat_2_played` | 1152 | 48 | … at distance 2 |
| `seat_3_played` | 1216 | 48 | … at distance 3 |
| `trick_1_ago` | 1280 | 24 | kinds in the trick before |
| `trick_2_ago` | 1304 | 24 | kinds in the trick 2 before |
| `trick_3_ago` | 1344 | 24 | kinds in the trick 3 before |
| `trick_4_ago` | 1368 | 24 | kinds in the trick 4 before |
| `trick_5_ago` | 1408 | 24 | kinds in the trick 5 before |
| `trick_6_ago` | 1432 | 24 | kinds in the trick 6 before |
| `trick_7_ago` | 1472 | 24 | kinds in the trick 7 before |
| `trick_8_ago` | 1496 | 24 | kinds in the trick 8 before |
| `trick_9_ago` | 1536 | 24 | kinds in the trick 9 before |
| `trick_10_ago` | 1560 | 24 | kinds in the trick 10 before |
| `trick_11_ago` | 1600 | 24 | kinds in the trick 11 before |
| all | 0 | 1664 | indices not named are always 0 |

### Actions

`action_text` and `action_id` translate.

| action | means | words |
|---|---|---|
| 0-23 | play a card of that kind, or send it to the partner | `9C` … `AS` |
| 24 | pass | `pass` |
| 25-64 | bid level 0 to 39: the lowest bid, and up in steps | `bid_25` … `bid_64` |
| 65-68 | make clubs, diamonds, hearts, spades trumps | `name_C` … `name_S` |

### Rewards

When a hand is settled each agent receives the change of its side's score less that of the other's; a hand that is
thrown in pays 0. All agents stay until the episode ends.

### Seeds

`reset(seed=s)` starts a stream of hands: hand n since then has the pack `shuffled_decks(s, [n], pack=rules.pack)`, in
which cards 2*kind and 2*kind + 1 are twins. `reset()` goes on with the next hand of the stream; without any seed the
operating system gives one, which `episode_seed` tells.

### Version history

* v0: first version.
"""

from typing import Any

import numpy as np
import pettingzoo
from numpy.typing import NDArray
from pettingzoo.utils import wrappers

from bourre_env.aec import wrapped
from bourre_env.drawing.pinochle_picture import pinochle_picture
from bourre_env.env_options import integer
from bourre_env.errors import IllegalActionError, RulesError
from bourre_env.hands_env import HandsEnv
from bourre_env.pinochle.cards import deck_ids
from bourre_env.pinochle.render import ansi, seen_by
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.pinochle.table import SETTLED
from bourre_env.pinochle.tables import LOWEST_SCORE, PinochleTables

ENV_ID = "bourre/pinochle-v0"


def pinochle_env(
    rules: str | PinochleRules = "modern",
    episode: str = "hand",
    render_mode: str | None = None,
    illegal: str = "raise",
    render_seat: int | None = None,
) -> Any:
    """Pinochle with PettingZoo's usual wrappers; arguments as in the text of `bourre_env.pinochle.env`."""
    table = raw_pinochle_env(rules, episode, render_mode, render_seat)
    return wrapped(table, illegal, own={"correct": CorrectIllegalWrapper})


class CorrectIllegalWrapper(wrappers.BaseWrapper):  # type: ignore[misc]
    """An illegal action of an agent that is to act is corrected (rule P7.2) instead of raising."""

    def step(self, action: Any) -> None:
        """Take the action; when it is refused, the agent has one more try."""
        agent = self.agent_selection if getattr(self.unwrapped, "agents", None) else None
        try:
            super().step(action)
        except IllegalActionError as error:
            if self.terminations[agent] or self.truncations[agent]:
                raise
            self.unwrapped.correct(action, reason=str(error))


class raw_pinochle_env(HandsEnv):  # noqa: N801 - named as PettingZoo's users expect
    """Pinochle without wrappers: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        rules: the house rules.
        episode: "hand" or "game" (P6.4); the deal moves on from hand to hand (P1.6).
        deal_index: the number of the current hand in its episode.
        episode_seed: the seed of the stream of hands.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo reads a plain dict
        "name": "pinochle_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    _settled = SETTLED
    _title = "Pinochle"
    _lowest_score = LOWEST_SCORE
    _was_corrected = False  # the agent to act has had its second try

    def __init__(
        self,
        rules: str | PinochleRules = "modern",
        episode: str = "hand",
        render_mode: str | None = None,
        render_seat: int | None = None,
    ) -> None:
        """Set up a table; `reset` deals. Arguments as in the text of this module.

        Raises:
            RulesError: no rules, or no preset of that name.
            ValueError: another argument that is not among those listed.
        """
        given = PinochleRules.preset(rules) if isinstance(rules, str) else rules
        if not isinstance(given, PinochleRules):
            raise RulesError(f"rules is {rules!r}; give the name of a preset or a PinochleRules value")
        super().__init__(PinochleTables(given, 1), episode, render_mode, render_seat)

    def _begin_bookkeeping(self) -> None:
        """What PettingZoo asks for, and that nothing has been corrected."""
        super()._begin_bookkeeping()
        self._was_corrected = False

    def _go_on(self, returns: NDArray[np.int32] | None) -> None:
        """Pay what an action has settled, and turn to the agent that is to act next, which may err once."""
        self._was_corrected = False
        super()._go_on(returns)

    def correct(self, illegal_action: Any, *, reason: str) -> None:
        """Rule P7.2: the agent to act has tried an illegal action; it has one more try, or the episode is broken off.

        Args:
            illegal_action: what it tried.
            reason: for its infos.

        Raises:
            ResetNeededError: nothing has been dealt.
        """
        self._need_deal("correct")
        agent = self.agent_selection
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        exposed = ""
        if self._was_corrected:
            self._end_episode(self.truncations)
        elif (number := integer(illegal_action)) is not None and self._tables.take_back(0, number):
            exposed = self.action_text(number)
        self._was_corrected = True
        self.infos[agent] = {"illegal_action": illegal_action, "reason": reason, "exposed": exposed}
        self._follow()

    def _card_ids(self, texts: Any) -> list[int]:
        """Ids of cards written as texts, the first copy of a kind before its twin."""
        return deck_ids(list(texts))

    def _text(self) -> str:
        """The table as text, from `render_seat`."""
        return ansi(self.snapshot(), self.render_seat)

    def _image(self) -> NDArray[np.uint8]:
        """[704, 1024, 3] uint8: the table as a picture, from `render_seat`."""
        return pinochle_picture(seen_by(self.snapshot(), self.render_seat), self.render_seat or 0)


def register() -> None:
    """Make the environment known to `pettingzoo.make`, which came with PettingZoo 1.27."""
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", ENV_ID, entry_point=pinochle_env)
