"""Bourré for one learner among fixed opponents: `gymnasium.make("bourre_env/Bourre-v0", ...)`.

The learner sees float32 features and chooses among `Discrete(A)`, as in `bourre_env.env`, whose rules, observations and
actions these are; `layout(rules).segments` names the features. Opponents decide between its decisions. The environment
of many tables at once (`gymnasium.make_vec`) is in `bourre_env.gym_vector`.

* **An episode** begins at the learner's first decision. A deal that ends before it, because all others passed and the
  dealer takes the pot, is played and left out (in an episode of several deals its chips are part of the first reward).
* **Rewards** are chips won or lost since the last decision, unscaled, and after the last deal an equal share of the pot
  that is left.
* **Illegal actions** change nothing, pay 0 and set `info["illegal_action"]`: checkers and naive learners sample without
  the mask. `illegal="raise"` raises instead.
* **The mask** is in `info["action_mask"]` and `action_masks()`, and with `mask_in_observation=True` the observation is
  `{"observation": ..., "action_mask": ...}`.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import Rules
from bourre_env.decision import Decision
from bourre_env.deck import stream_keys
from bourre_env.env import raw_env
from bourre_env.env_options import checked_illegal, checked_seat, checked_seed, integer
from bourre_env.errors import ResetNeededError
from bourre_env.opponents import ask, choice_keys, choice_numbers, load_opponents

ENV_ID = "bourre_env/Bourre-v0"
_SEAT_STREAM = np.uint64(0x6C6561726E6572)  # keeps the draw of the learner's seat apart from the packs

Observation = NDArray[np.float32] | dict[str, NDArray[Any]]


def drawn_seats(seeds: NDArray[np.uint64], deals: NDArray[np.int64], num_players: int) -> NDArray[np.int64]:
    """[D] int64: the learner's seat in episodes that begin with the deals [D], each of its own seed [D]."""
    return (stream_keys(seeds ^ _SEAT_STREAM, deals) % np.uint64(num_players)).astype(np.int64)


def observation_space(size: int, actions: int, mask_in_observation: bool) -> spaces.Space[Any]:
    """Features [size] in 0..1, alone or beside the mask [actions]."""
    features = spaces.Box(0.0, 1.0, (size,), np.float32)
    if not mask_in_observation:
        return features
    return spaces.Dict({"observation": features, "action_mask": spaces.Box(0, 1, (actions,), np.int8)})


class BourreEnv(gymnasium.Env[Any, Any]):
    """One learner at one table.

    Attributes:
        table: the PettingZoo environment below, for `record()`, `snapshot()` and the words of actions.
        opponents: who sits on the learner's left, in order.
        seat: the learner's seat in this episode; -1 before the first.
    """

    metadata = {**raw_env.metadata}  # noqa: RUF012 - Gymnasium reads a plain dict

    def __init__(
        self,
        num_players: int = 4,
        rules: str | Rules = "pagat",
        num_deals: int = 1,
        opponents: Any = "random",
        seat: int | None = None,
        illegal: str = "ignore",
        mask_in_observation: bool = False,
        render_mode: str | None = None,
        render_seat: int | None = None,
        buy_in: int | None = None,
    ) -> None:
        """Set up a table; `reset` deals.

        Args:
            num_players: seats, 2 to 8.
            rules: the name of a preset or a `Rules` value.
            num_deals: deals in an episode; one deal ends by termination, several by truncation.
            opponents: a spec (`random`, `heuristic`, a checkpoint, …) or policy for all other seats, or a list of one
                for each, the first on the learner's left.
            seat: the learner's seat; drawn for each episode when left out.
            illegal: "ignore" or "raise".
            mask_in_observation: observations are dicts with the mask.
            render_mode: None, or as in `bourre_env.env`.
            render_seat: the seat whose hand alone is drawn; every hand when left out.
            buy_in: at table stakes the antes of each seat, as in `bourre_env.env`.
        """
        self.table = raw_env(num_players, rules, num_deals, render_mode, render_seat, buy_in)
        self.render_mode = render_mode
        self.opponents = load_opponents(opponents, self.table.rules)
        self.seat = -1
        self._fixed_seat = checked_seat(seat, self.table.rules.num_players, "seat")
        self._ignores_illegal = checked_illegal(illegal)
        self._mask_in_observation = mask_in_observation
        self._num_actions = num_actions(self.table.rules)
        self.action_space = spaces.Discrete(self._num_actions)
        size = layout(self.table.rules).size
        self.observation_space = observation_space(size, self._num_actions, mask_in_observation)
        self._rng = np.random.default_rng(0)
        self._keys: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._decisions: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._keys_of_deal = -1
        self._pending = 0.0  # chips won or lost in this episode before the learner's first decision
        self._is_on = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode, at the learner's first decision.

        Args:
            seed: starts a stream of deals; None goes on with the current one.
            options: `seat` of the learner, and those of `raw_env.reset`, which hold for the first deal only.

        Raises:
            ValueError: a seed or an option that makes no deal; the episode before goes on.
            OpponentError: an opponent did not answer with a legal action; no episode is going on then.
        """
        if seed is not None:
            seed = checked_seed(seed)
        seat, others = self._split(options)
        self.table.reset(seed=seed, options=others)
        super().reset(seed=seed)
        self._is_on = False
        if seed is not None or self.seat < 0:
            self._rng = np.random.default_rng([self._episode_seed])
        self._pending = self._begin(seat)
        while self._is_over():  # nobody but opponents decided anything
            self.table.reset()
            self._pending = self._begin(seat)
        self._is_on = True
        return self._seen()

    def _split(self, options: dict[str, Any] | None) -> tuple[int | None, dict[str, Any] | None]:
        """The learner's seat and the options of the table."""
        if not isinstance(options, dict):
            return self._fixed_seat, options
        others = {name: value for name, value in options.items() if name != "seat"}
        seat = checked_seat(options.get("seat"), self.table.rules.num_players, "options['seat']")
        return self._fixed_seat if seat is None else seat, others

    @property
    def _episode_seed(self) -> int:
        """The seed of the stream of deals."""
        seed = self.table.episode_seed
        if seed is None:
            raise ResetNeededError("no episode has begun; call reset() first")
        return seed

    def _begin(self, seat: int | None) -> float:
        """Seat the learner and let opponents decide up to its first decision; chips won or lost by then."""
        if seat is None:
            seeds, deals = np.array([self._episode_seed], np.uint64), np.array([self.table.deal_id])
            seat = int(drawn_seats(seeds, deals, self.table.rules.num_players)[0])
        self.seat = seat
        self._keys_of_deal = -1
        return self._play_opponents()

    def _play_opponents(self) -> float:
        """Opponents decide until the learner is to act or the episode is over; chips the learner won or lost."""
        chips, learner = 0.0, self.table.possible_agents[self.seat]
        while not self._is_over() and self.table.agent_selection != learner:
            self.table.step(self._choice_of_opponent())
            chips += self.table.rewards[learner]
        return chips

    def _choice_of_opponent(self) -> int:
        """What the opponent to act decides."""
        table = self.table
        seat = table.possible_agents.index(table.agent_selection)
        if self._keys_of_deal != table.deal_id:
            self._keys_of_deal = table.deal_id
            self._keys = choice_keys(np.array([self._episode_seed], np.uint64), np.array([table.deal_id]))[0]
            self._decisions = np.zeros(len(self._keys), np.uint64)
        self._decisions[seat] += np.uint64(1)
        seen = table.observe(table.agent_selection)
        decision = Decision(
            seen["observation"][None],
            seen["action_mask"][None].astype(np.bool_),
            np.array([seat], np.int8),
            table.rules,
            choice_numbers(self._keys[[seat]], self._decisions[[seat]]),
        )
        opponent = self.opponents[(seat - self.seat - 1) % table.rules.num_players]
        return int(ask(opponent, decision, self._rng)[0])

    def _is_over(self) -> bool:
        """Whether the episode has ended."""
        agent = self.table.possible_agents[0]
        return self.table.terminations[agent] or self.table.truncations[agent]

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the learner's decision, and then those of opponents up to its next one.

        Raises:
            IllegalActionError: the action is illegal and `illegal` is "raise"; nothing has changed.
            OpponentError: an opponent did not answer with a legal action; `reset` begins anew.
            ResetNeededError: no episode is going on.
        """
        if not self._is_on:
            raise ResetNeededError("step() was called with no episode going on; call reset() first")
        if self._ignores_illegal and not self._is_legal(action):
            observation, info = self._seen(illegal_action=True)
            return observation, 0.0, False, False, info
        learner = self.table.possible_agents[self.seat]
        self._is_on = not self._is_legal(action)  # off until opponents have answered, too: one of them may fail
        self.table.step(action)
        won = self.table.rewards[learner]
        reward = self._pending + won + self._play_opponents()
        self._pending = 0.0
        self._is_on = not self._is_over()
        observation, info = self._seen()
        return observation, reward, self.table.terminations[learner], self.table.truncations[learner], info

    def _is_legal(self, action: object) -> bool:
        """Whether the learner may take an action; anything may be asked about."""
        number = integer(action)
        return number is not None and 0 <= number < self._num_actions and bool(self.action_masks()[number])

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] bool: the learner's legal actions, under the name that SB3's MaskablePPO asks for."""
        return self._view()["action_mask"].astype(np.bool_)

    def _view(self) -> dict[str, NDArray[Any]]:
        """The learner's observation and mask: fresh arrays."""
        view: dict[str, NDArray[Any]] = self.table.observe(self.table.possible_agents[self.seat])
        return view

    def _seen(self, illegal_action: bool = False) -> tuple[Observation, dict[str, Any]]:
        """The observation and the infos that `reset` and `step` hand out, from one look at the table."""
        view = self._view()
        info = {"action_mask": view["action_mask"].copy(), "seat": self.seat, "illegal_action": illegal_action}
        return (view if self._mask_in_observation else view["observation"]), info

    def render(self) -> Any:
        """As `raw_env.render`."""
        return self.table.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.table.close()


def register() -> None:
    """Make the environments known to `gymnasium.make` and `gymnasium.make_vec`."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="bourre_env.gym:BourreEnv",
            vector_entry_point="bourre_env.gym_vector:BourreVectorEnv",
        )
