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

from typing import Any

import numpy as np
import pettingzoo
from numpy.typing import NDArray

from bourre_env.aec import wrapped
from bourre_env.drawing.euchre_picture import euchre_picture
from bourre_env.errors import RulesError
from bourre_env.euchre.cards import card_id
from bourre_env.euchre.render import ansi, seen_by
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.table import SETTLED
from bourre_env.euchre.tables import EuchreTables
from bourre_env.hands_env import HandsEnv

ENV_ID = "bourre/euchre-v0"


def euchre_env(
    rules: str | EuchreRules = "cornish",
    episode: str = "hand",
    render_mode: str | None = None,
    illegal: str = "raise",
    render_seat: int | None = None,
) -> Any:
    """Euchre with PettingZoo's usual wrappers; arguments as in the text of `bourre_env.euchre.env`."""
    return wrapped(raw_euchre_env(rules, episode, render_mode, render_seat), illegal)


class raw_euchre_env(HandsEnv):  # noqa: N801 - named as PettingZoo's users expect
    """Euchre without wrappers: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        rules: the house rules.
        episode: "hand" or "game" (E5.4); the deal moves on from hand to hand (E1.6).
        deal_index: the number of the current hand in its episode.
        episode_seed: the seed of the stream of hands.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo reads a plain dict
        "name": "euchre_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

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
        given = EuchreRules.preset(rules) if isinstance(rules, str) else rules
        if not isinstance(given, EuchreRules):
            raise RulesError(f"rules is {rules!r}; give the name of a preset or an EuchreRules value")
        super().__init__(EuchreTables(given, 1), episode, render_mode, render_seat)

    def _card_ids(self, texts: Any) -> list[int]:
        """Ids of cards written as texts."""
        return [card_id(text) for text in texts]

    def _text(self) -> str:
        """The table as text, from `render_seat`."""
        return ansi(self.snapshot(), self.render_seat)

    def _image(self) -> NDArray[np.uint8]:
        """[704, 1024, 3] uint8: the table as a picture, from `render_seat`."""
        return euchre_picture(seen_by(self.snapshot(), self.render_seat), self.render_seat or 0)


def register() -> None:
    """Make the environment known to `pettingzoo.make`, which came with PettingZoo 1.27."""
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", ENV_ID, entry_point=euchre_env)
