"""Many tables of Bureau at once: `gymnasium.make_vec("bourre_env/Bureau-v0", num_envs=...)`.

The same episodes as `SyncVectorEnv` over `bourre_env.bureau.env.BureauEnv`, to the byte: table i of `reset(seed=s)` has
the seed s + i. But all tables step in compiled code.

Shapes: B tables, A actions.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bourre_env.bureau.env import observation_space, rules_of, value_of
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.tables import BureauTables
from bourre_env.decision import are_legal
from bourre_env.deck import shuffled_decks
from bourre_env.env_options import checked_illegal
from bourre_env.errors import ResetNeededError
from bourre_env.vector_parts import Infos, checked_actions, checked_num_envs, final_infos, rows_to_reset, seeds_of

OPTIONS = ("reset_mask",)


class BureauVectorEnv(VectorEnv[Any, Any, Any]):
    """B tables, each with its player.

    Attributes:
        rules: the rules played by.
        tables: the tables themselves.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | BureauRules = "standard",
        illegal: str = "ignore",
        mask_in_observation: bool = False,
        render_mode: None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **changes: Any,
    ) -> None:
        """Set up the tables; `reset` deals.

        Args:
            num_envs: B.
            rules: as in `BureauEnv`, like the two that follow and `changes`.
            illegal: "ignore" or "raise".
            mask_in_observation: observations are dicts with the mask.
            render_mode: None: many tables are not drawn; `tables.snapshot(row)` shows one.
            autoreset_mode: what happens when an episode ends. "SameStep": the next one begins at once, and
                `infos["final_obs"]` and `infos["final_info"]` keep the last view; "NextStep": at the next step, whose
                action is ignored; "Disabled": when `reset(options={"reset_mask": ...})` asks for it.
            **changes: fields of the preset to set instead.
        """
        self.rules = rules_of(rules, changes)
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; many tables are not drawn: leave it out")
        self.num_envs = checked_num_envs(num_envs)
        self.tables = BureauTables(self.rules, self.num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self._ignores_illegal = checked_illegal(illegal)
        self._mask_in_observation = mask_in_observation
        self.single_observation_space = observation_space(self.rules.num_actions, mask_in_observation)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = spaces.Discrete(self.rules.num_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._seeds = np.zeros(self.num_envs, np.uint64)
        self._deal_ids = np.full(self.num_envs, -1)  # in the streams of the seeds
        self._is_seeded = np.zeros(self.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Deal at every table.

        Args:
            seed: s gives table i the seed s + i; or one for each table, None going on with its stream.
            options: `reset_mask`, [B] bool, for some of the tables only.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed.
        """
        if not isinstance(options, (dict, type(None))) or set(options or {}) - set(OPTIONS):
            raise ValueError(f"options is {options!r}; it must be a dict with some of {', '.join(OPTIONS)}")
        rows = rows_to_reset((options or {}).get("reset_mask"), self.num_envs)
        for row, one in zip(rows, seeds_of(seed, rows, self.num_envs), strict=True):
            if one is not None or not self._is_seeded[row]:
                self._seeds[row] = secrets.randbits(64) if one is None else one
                self._deal_ids[row] = -1
                self._is_seeded[row] = True
        self._deal(rows)
        told = np.isin(np.arange(self.num_envs), rows)
        return self._views(), self._infos(np.zeros(self.num_envs, np.bool_), told)

    def _deal(self, rows: NDArray[np.int64]) -> None:
        """Begin the next episodes at the tables `rows`."""
        self._deal_ids[rows] += 1
        decks = shuffled_decks(self._seeds[rows], self._deal_ids[rows], pack=self.rules.pack)
        self.tables.deal(decks, rows=rows)

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Take a decision at every table.

        Args:
            actions: [B] integers; ignored where a new episode begins at this step.

        Returns:
            Observations [B, …], rewards [B] float64, terminations [B], truncations [B], infos.

        Raises:
            IllegalActionError: an action is illegal and `illegal` is "raise"; nothing has changed.
            ResetNeededError: an episode is over, and `reset` was not called.
        """
        chosen = checked_actions(actions, self.num_envs)
        starting = self.tables.settled
        waits = starting.any() and self.autoreset_mode is not AutoresetMode.NEXT_STEP
        if waits or not self._is_seeded.all():
            raise ResetNeededError("step() was called where no episode is going on; call reset() first")
        legal = are_legal(chosen, self.tables.legal_packed()) & ~starting
        illegal = ~legal & ~starting
        if illegal.any() and not self._ignores_illegal:
            row = int(np.argmax(illegal))
            raise self.tables.illegal_action(row, int(chosen[row]))
        before = value_of(self.tables)
        rows = np.flatnonzero(legal)
        self.tables.step(chosen[rows], rows=rows)
        rewards = np.where(legal, value_of(self.tables) - before, 0.0)
        truncated = self.tables.stopped & ~starting
        terminated = self.tables.settled & ~truncated & ~starting
        if starting.any():
            self._deal(np.flatnonzero(starting))
        return self._results(rewards, terminated, truncated, illegal)

    def _results(
        self,
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        illegal: NDArray[np.bool_],
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """What `step` hands out; begins the next episodes, where that is to happen at once."""
        over = terminated | truncated
        infos: Infos = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos = self._final(over, illegal)
            self._deal(np.flatnonzero(over))
            illegal = illegal & ~over
        infos |= self._infos(illegal, np.ones(self.num_envs, np.bool_))
        return self._views(), rewards, terminated, truncated, infos

    def _final(self, over: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> Infos:
        """The last views of the episodes that are over."""
        seen = self.tables.observe_numbers()
        mask = np.zeros((self.num_envs, self.rules.num_actions), np.int8)
        views = [
            {"observation": seen[row], "action_mask": mask[row]} if self._mask_in_observation else seen[row]
            for row in np.flatnonzero(over)
        ]
        return final_infos(over, views, self._details(mask, illegal & over, over))

    def _details(self, mask: NDArray[np.int8], illegal: NDArray[np.bool_], told: NDArray[np.bool_]) -> Infos:
        """Arrays of the infos; of tables that are not told of, zeros."""
        cards = np.where(told, self.tables.cards_up.astype(np.int64), 0)
        return {"action_mask": mask, "cards_up": cards, "illegal_action": illegal}

    def _views(self) -> Any:
        """What the players see, as fresh arrays."""
        seen = self.tables.observe_numbers()
        if not self._mask_in_observation:
            return seen
        return {"observation": seen, "action_mask": self.action_masks().astype(np.int8)}

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, A] bool: the legal actions at each table; none where its episode is over."""
        return self.tables.legal_action_mask()

    def _infos(self, illegal: NDArray[np.bool_], told: NDArray[np.bool_]) -> Infos:
        """Masks, cards up and illegal actions of the tables that are told of."""
        mask = self.action_masks().astype(np.int8)
        mask[~told] = 0
        details = self._details(mask, illegal, told)
        return details | {f"_{name}": told.copy() for name in details}
