"""What training needs of Bourré (`agents.trainings`).

Shapes: D decisions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.bourre.description import BourreRollout, described, details
from agents.bourre.starts import PotsAndStacks, StartingPots, StartingStacks
from agents.config import Config
from agents.network import NetworkSpec
from agents.pot_credit import PotCredit
from agents.rollout import Rollout
from bourre_env.bourre.actions import card_of_action
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import MAX_HAND, Rules

_MOST_DECISIONS = MAX_HAND + 2
"""More than a seat has choices, for the last card is counted, too: with a second round of declaring it is a bound."""


class BourreTraining:
    """Bourré's part of training."""

    rollout: type[Rollout] = BourreRollout

    def decisions_a_seat(self, rules: Rules) -> int:
        """The same for all rules."""
        return _MOST_DECISIONS

    def network_spec(self, rules: Rules, *, seats_shown: int, privileged: bool, **sizes: Any) -> NetworkSpec:
        """Networks with a head for declarations."""
        observation = layout(rules, seats_shown)
        record = rules.record()[0]
        return NetworkSpec(
            num_words=observation.num_words,
            hidden_words=seats_shown - 1 if privileged else 0,
            own_hand=observation.segments["own_hand"].start,
            cards=tuple(int(card_of_action(record, action)) for action in range(len(rules.pack))),
            hand_size=rules.hand_size,
            **sizes,
        )

    def usual_starts(self) -> PotsAndStacks:
        """Everybody antes into an empty pot; stacks as usual at table stakes."""
        return PotsAndStacks()

    def starts(self, config: Config) -> PotsAndStacks:
        """Pots and stacks drawn as some settings say."""
        rollout = config.rollout
        return PotsAndStacks(
            StartingPots(rollout.carry_share, rollout.largest_carry, rollout.exempt_share),
            StartingStacks(rollout.smallest_stack, rollout.largest_stack),
        )

    def credits(self, config: Config) -> PotCredit:
        """Whose the pots are that deals leave behind."""
        return PotCredit(config.rollout.carry_credit == "by_seat", config.rollout.ante_credit)

    def describe(self, rollout: BourreRollout, spec: NetworkSpec) -> dict[str, float]:
        """Passing, draws, bourrés and carries."""
        return described(rollout, spec)

    def details(
        self, spec: NetworkSpec, rollout: BourreRollout, rows: NDArray[np.int64], entropies: NDArray[np.float32] | None
    ) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
        """Hands that stay and pass, and entropy by trick."""
        return details(rollout, rows, entropies, spec)


TRAINING = BourreTraining()
