"""Many tables at once, one learner at each: `gymnasium.make_vec("bourre_env/Bourre-v0", num_envs=...)`.

The same episodes as `SyncVectorEnv` over `bourre_env.gym.BourreEnv`, to the byte, as long as opponents draw from
`Decision.key`: table i of `reset(seed=s)` has the seed s + i. But all tables step in compiled code, and each opponent
is asked once for all tables that wait for it.

Shapes: B tables, N seats, k chosen rows, O features, A actions.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bourre_env.bourre.deals import can_deal_again
from bourre_env.bourre.options import rules_of, stacks_bought
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.bourre.tables import Tables
from bourre_env.decision import Decision, are_legal
from bourre_env.deck import shuffled_decks
from bourre_env.env_options import checked_illegal, checked_num_deals, checked_seat, drawn_dealers
from bourre_env.errors import ResetNeededError
from bourre_env.gym import drawn_seats, observation_space
from bourre_env.opponents import ask, choice_keys, choice_numbers, load_opponents
from bourre_env.vector_parts import Infos, checked_actions, checked_num_envs, final_infos, rows_to_reset, seeds_of

OPTIONS = ("reset_mask", "seat")


class BourreVectorEnv(VectorEnv[Any, Any, Any]):
    """One learner at each of B tables.

    Attributes:
        tables: the tables themselves.
        opponents: who sits on the learner's left, in order; the same at every table.
        seats: [B] int64, the learner's seat in the current episodes.
    """

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 4,
        rules: str | Rules = "pagat",
        num_deals: int = 1,
        opponents: Any = "random",
        seat: int | None = None,
        illegal: str = "ignore",
        mask_in_observation: bool = False,
        buy_in: int | None = None,
        render_mode: None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    ) -> None:
        """Set up the tables; `reset` deals.

        Args:
            num_envs: B.
            num_players: as in `BourreEnv`, like all that follow but the last.
            rules: the name of a preset or a `Rules` value.
            num_deals: deals in an episode.
            opponents: who sits in the other seats of every table.
            seat: the learner's seat; drawn for each episode when left out.
            illegal: "ignore" or "raise".
            mask_in_observation: observations are dicts with the mask.
            buy_in: at table stakes the antes of each seat.
            render_mode: None: many tables are not drawn; `tables.snapshot(row)` shows one.
            autoreset_mode: what happens when an episode ends. "SameStep": the next one begins at once, and
                `infos["final_obs"]` and `infos["final_info"]` keep the last view; "NextStep": at the next step, whose
                action is ignored; "Disabled": when `reset(options={"reset_mask": ...})` asks for it.
        """
        self.rules = rules_of(rules, num_players)
        self._stacks_bought = stacks_bought(buy_in, self.rules)
        deals = checked_num_deals(num_deals)
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; many tables are not drawn: leave it out")
        self.num_envs, self.num_deals = checked_num_envs(num_envs), deals
        self.tables = Tables(self.rules, self.num_envs)
        self.opponents = load_opponents(opponents, self.rules)
        ids = [id(opponent) for opponent in self.opponents]
        self._each_opponent = [self.opponents[ids.index(one)] for one in dict.fromkeys(ids)]  # asked once a round
        self._opponent_at = np.array([list(dict.fromkeys(ids)).index(one) for one in ids])  # by place on the left
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self._fixed_seat = checked_seat(seat, self.rules.num_players, "seat")
        self._ignores_illegal = checked_illegal(illegal)
        self._mask_in_observation = mask_in_observation
        size, num_actions = self.tables.layout.size, self.tables.num_actions
        self.single_observation_space = observation_space(size, num_actions, mask_in_observation)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = spaces.Discrete(num_actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.seats = np.zeros(num_envs, np.int64)
        self._seeds = np.zeros(num_envs, np.uint64)
        self._deal_ids = np.full(num_envs, -1)  # in the streams of the seeds
        self._deals_played = np.zeros(num_envs, np.int64)  # in the current episodes
        self._keys = np.zeros((num_envs, MAX_PLAYERS), np.uint64)
        self._decisions = np.zeros((num_envs, MAX_PLAYERS), np.uint64)
        self._chips = np.zeros(num_envs)  # won or lost by the learners since their last decisions
        self._is_over = np.ones(num_envs, np.bool_)
        self._is_seeded = np.zeros(num_envs, np.bool_)
        self._rng: np.random.Generator | None = None
        self._is_broken = False  # a call has failed half-way

    # --- episodes ---

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Begin an episode at every table.

        Args:
            seed: s gives table i the seed s + i; or one for each table, None going on with its stream.
            options: `reset_mask`, [B] bool, for some of the tables only, and `seat`, the learner's in these episodes.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed.
            OpponentError: an opponent did not answer with a legal action; reset every table then.
        """
        chosen = self._checked_options(options)
        seat = checked_seat(chosen.get("seat"), self.rules.num_players, "options['seat']")
        rows = rows_to_reset(chosen.get("reset_mask"), self.num_envs)
        if self._is_broken and len(rows) < self.num_envs:
            raise ResetNeededError("the last call failed half-way; reset every table")
        seeds = seeds_of(seed, rows, self.num_envs)
        for row, one in zip(rows, seeds, strict=True):
            if one is not None or not self._is_seeded[row]:
                self._seeds[row] = secrets.randbits(64) if one is None else one
                self._deal_ids[row] = -1
                self._is_seeded[row] = True
        if self._rng is None or any(one is not None for one in seeds):
            self._rng = np.random.default_rng(self._seeds)
        self._is_broken = True
        self._begin(rows, seat)
        self._is_broken = False
        views = self._views()
        return views, self._infos(views, rows=rows)

    def _checked_options(self, options: dict[str, Any] | None) -> dict[str, Any]:
        """The options of `reset`, each of which must be known here."""
        if not isinstance(options, (dict, type(None))) or set(options or {}) - set(OPTIONS):
            raise ValueError(f"options is {options!r}; it must be a dict with some of {', '.join(OPTIONS)}")
        return dict(options or {})

    def _begin(self, rows: NDArray[np.int64], seat: int | None = None) -> None:
        """Begin episodes at the tables `rows` and play them up to the learners' first decisions."""
        self._is_over[rows] = False
        while len(rows):
            self._deal_ids[rows] += 1
            self._deals_played[rows] = 0
            self._chips[rows] = 0.0
            seeds, deal_ids = self._seeds[rows], self._deal_ids[rows]
            drawn = drawn_seats(seeds, deal_ids, self.rules.num_players)
            fixed = self._fixed_seat if seat is None else seat
            self.seats[rows] = drawn if fixed is None else fixed
            bought = self._stacks_bought
            stacks = None if bought is None else np.repeat(bought, len(rows), axis=0)
            self._deal(rows, drawn_dealers(seeds, deal_ids, self.rules.num_players), stacks=stacks)
            self._play_opponents(rows)
            rows = rows[self._is_over[rows]]  # nobody but opponents decided anything: left out
            self._is_over[rows] = False

    def _deal(
        self,
        rows: NDArray[np.int64],
        dealers: NDArray[np.int8],
        carry: NDArray[np.int64] | int = 0,
        exempt: NDArray[np.bool_] | None = None,
        stacks: NDArray[np.int64] | None = None,
    ) -> None:
        """Deal at the tables `rows` the packs of their current numbers."""
        seeds, deal_ids = self._seeds[rows], self._deal_ids[rows]
        self.tables.deal(shuffled_decks(seeds, deal_ids, pack=self.rules.pack), dealers, carry, exempt, rows, stacks)
        self._keys[rows] = choice_keys(seeds, deal_ids)
        self._decisions[rows] = 0

    # --- opponents ---

    def _play_opponents(self, rows: NDArray[np.int64]) -> None:
        """At the tables `rows` opponents decide until the learner is to act or its episode is over."""
        while len(rows):
            rows = self._settle(rows)
            seats = self.tables.to_act[rows]
            waits = seats != self.seats[rows]
            rows, seats = rows[waits], seats[waits]
            if len(rows):
                self.tables.step(self._choices(rows, seats), rows=rows)

    def _choices(self, rows: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        """[k] what the opponents in `seats` of the tables `rows` decide."""
        streams = MAX_PLAYERS * rows + seats
        numbers = self._decisions.reshape(-1)[streams] + np.uint64(1)
        self._decisions.reshape(-1)[streams] = numbers
        keys = choice_numbers(self._keys.reshape(-1)[streams], numbers)
        words, legal = self.tables.view_rows(rows)
        if len(self._each_opponent) == 1:
            return ask(
                self.opponents[0], Decision.from_packed(words, legal, seats, self.rules, keys), self._generator()
            )
        who = self._opponent_at[(seats - self.seats[rows] - 1) % self.rules.num_players]
        actions = np.empty(len(rows), np.int64)
        for index, opponent in enumerate(self._each_opponent):
            mine = who == index
            if mine.any():
                decision = Decision.from_packed(words[mine], legal[mine], seats[mine], self.rules, keys[mine])
                actions[mine] = ask(opponent, decision, self._generator())
        return actions

    def _generator(self) -> np.random.Generator:
        """What opponents draw from, besides their keys."""
        if self._rng is None:
            raise ResetNeededError("no episode has begun; call reset() first")
        return self._rng

    def _settle(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the chips of deals that have ended; deal again where the episode goes on, else end it.

        Returns:
            Those of the tables `rows` whose episodes go on.
        """
        ended = rows[self.tables.settled[rows]]
        if not len(ended):
            return rows
        while len(ended):
            self._chips[ended] += self.tables.returns[ended, self.seats[ended]]
            self._deals_played[ended] += 1
            stacks, exempt = self.tables.stacks, self.tables.exempt
            its_stacks = None if stacks is None else stacks[ended]
            goes_on = can_deal_again(self.rules, self.tables.carry[ended], exempt[ended], its_stacks)
            is_last = (self._deals_played[ended] == self.num_deals) | ~goes_on
            last, on = ended[is_last], ended[~is_last]
            carry = self.tables.carry
            self._chips[last] += carry[last] / self.rules.num_players
            self._is_over[last] = True
            if len(on):
                self._deal_ids[on] += 1
                dealers = (self.tables.dealer[on] + 1) % self.rules.num_players
                self._deal(on, dealers, carry[on], exempt[on], None if stacks is None else stacks[on])
            ended = on[self.tables.settled[on]]
        return rows[~self._is_over[rows]]

    # --- stepping ---

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Take every learner's decision, and then those of opponents up to its next one.

        Args:
            actions: [B] integers; ignored where a new episode begins at this step.

        Returns:
            Observations [B, …], rewards [B] float64, terminations [B], truncations [B], infos.

        Raises:
            IllegalActionError: an action is illegal and `illegal` is "raise"; nothing has changed.
            ResetNeededError: an episode is over, and `reset` was not called.
        """
        chosen = checked_actions(actions, self.num_envs)
        starting = self._is_over.copy()
        waits = starting.any() and self.autoreset_mode is not AutoresetMode.NEXT_STEP
        if waits or self._is_broken or not self._is_seeded.all():
            raise ResetNeededError("step() was called where no episode is going on; call reset() first")
        legal = are_legal(chosen, self.tables.legal_packed()) & ~starting
        illegal = ~legal & ~starting
        if illegal.any() and not self._ignores_illegal:
            row = int(np.argmax(illegal))
            raise self.tables.illegal_action(row, int(chosen[row]))
        self._is_broken = True
        if starting.any():
            self._begin(np.flatnonzero(starting))
        rows = np.flatnonzero(legal)
        self.tables.step(chosen[rows], rows=rows)
        self._play_opponents(rows)
        rewards = np.where(legal, self._chips, 0.0)
        self._chips[legal] = 0.0
        return self._results(rewards, illegal)

    def _results(
        self, rewards: NDArray[np.float64], illegal: NDArray[np.bool_]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """What `step` hands out; begins the next episodes, where that is to happen at once."""
        over = self._is_over.copy()
        nothing = np.zeros(self.num_envs, np.bool_)
        flags = (nothing, over) if self.num_deals > 1 else (over, nothing)
        infos: Infos = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos = self._final(over, illegal)
            self._begin(np.flatnonzero(over))
            illegal = illegal & ~over
        self._is_broken = False
        views = self._views()
        return views, rewards, *flags, infos | self._infos(views, illegal)

    def _final(self, over: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> Infos:
        """The last views of the episodes that are over, in the form of Gymnasium's own vector environments."""
        rows = np.flatnonzero(over)
        features = self.tables.take(rows).observe(seats=self.seats[rows])
        mask = np.zeros((self.num_envs, self.tables.num_actions), np.int8)
        views = [
            {"observation": row_features, "action_mask": mask[row]} if self._mask_in_observation else row_features
            for row, row_features in zip(rows, features, strict=True)
        ]
        details = {"action_mask": mask, "seat": np.where(over, self.seats, 0), "illegal_action": illegal & over}
        return final_infos(over, views, details)

    def _views(self) -> Any:
        """What the learners see, as fresh arrays."""
        features = self.tables.observe()
        if self._is_over.any():
            over = self._is_over
            features[over] = self.tables.observe(seats=np.where(over, self.seats, -1))[over]
        if not self._mask_in_observation:
            return features
        return {"observation": features, "action_mask": self.action_masks().astype(np.int8)}

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, A] bool: each learner's legal actions; none where its episode is over."""
        return self.tables.legal_action_mask()

    def _infos(
        self, views: Any, illegal: NDArray[np.bool_] | None = None, rows: NDArray[np.int64] | None = None
    ) -> Infos:
        """Masks, seats and illegal actions of all tables, or of those that were reset."""
        told = np.ones(self.num_envs, np.bool_)
        if rows is not None:
            told = np.isin(np.arange(self.num_envs), rows)
        mask = views["action_mask"].copy() if self._mask_in_observation else self.action_masks().astype(np.int8)
        mask[~told] = 0
        details = {
            "action_mask": mask,
            "seat": np.where(told, self.seats, 0),
            "illegal_action": np.zeros(self.num_envs, np.bool_) if illegal is None else illegal,
        }
        return details | {f"_{name}": told.copy() for name in details}
