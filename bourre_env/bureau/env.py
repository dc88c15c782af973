"""Bureau for one player: `gymnasium.make("bourre_env/Bureau-v0", ...)`.

`docs/bureau.md` has the rules. The environment of many tables at once (`gymnasium.make_vec`) is in
`bourre_env.bureau.vector_env`. There is no taking back.

* **An episode** is one deal. It ends by termination when the deal is won or lost, or the player has resigned, and by
  truncation after `max_steps` decisions.
* **Observations** are 323 small integers (B6.5), and with `mask_in_observation=True` the observation is
  `{"observation": ..., "action_mask": ...}`.
* **Rewards** are 1/104 for each card that goes up, so that a win brings 1 in all; with `reward="win"` 1 for a win.
* **Illegal actions** change nothing, pay 0 and set `info["illegal_action"]`: checkers and naive learners sample without
  the mask. `illegal="raise"` raises instead.
* **The mask** is in `info["action_mask"]` and `action_masks()`; `info["cards_up"]` counts the cards on the foundations.

Version history: v0, the first.
"""

import secrets
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bourre_env.bureau import actions, numbers
from bourre_env.bureau.cards import NUM_CARDS, printed_id
from bourre_env.bureau.render import ansi
from bourre_env.bureau.rules import MAX_PASSES, STOCK_SIZE, BureauRules
from bourre_env.bureau.snapshot import BureauSnapshot
from bourre_env.bureau.tables import BureauTables
from bourre_env.deck import shuffled_decks
from bourre_env.drawing.bureau_picture import bureau_picture
from bourre_env.env_options import checked_illegal, checked_seed, integer, named_options
from bourre_env.errors import DeckError, ResetNeededError, RulesError

ENV_ID = "bourre_env/Bureau-v0"
OPTIONS = ("deck",)

Observation = NDArray[np.int8] | dict[str, NDArray[np.int8]]


def rules_of(rules: str | BureauRules, changes: dict[str, Any]) -> BureauRules:
    """The rules of an environment, from a preset's name or a value, with some fields changed.

    Raises:
        RulesError: no rules, or a field or value that is not allowed.
    """
    if isinstance(rules, str):
        return BureauRules.preset(rules, **changes)
    if not isinstance(rules, BureauRules):
        raise RulesError(f"rules is {rules!r}; give the name of a preset or a BureauRules value")
    if changes:
        raise RulesError(f"{', '.join(sorted(changes))}: change fields of a BureauRules value in the value itself")
    return rules


def observation_space(num_actions: int, mask_in_observation: bool) -> spaces.Space[Any]:
    """The integers of the observation, alone or beside the mask [A]."""
    sizes = [numbers.NUM_CODES] * numbers.SIZES + [STOCK_SIZE + 1] * 2 + [MAX_PASSES]
    seen = spaces.MultiDiscrete(sizes, dtype=np.int8)
    if not mask_in_observation:
        return seen
    return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def value_of(tables: BureauTables) -> NDArray[np.float64]:
    """[B] float64: what the deals have paid so far: shares of the cards that are up, or 1 for a win."""
    if tables.rules.reward == "win":
        return tables.won.astype(np.float64)
    return tables.cards_up / NUM_CARDS


class BureauEnv(gymnasium.Env[Any, Any]):
    """One table and its player.

    Attributes:
        rules: the rules played by.
        episode_seed: the seed of the stream of deals; None before the first.
        deal_index: the number of the deal in that stream.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium reads a plain dict

    def __init__(
        self,
        rules: str | BureauRules = "standard",
        illegal: str = "ignore",
        mask_in_observation: bool = False,
        render_mode: str | None = None,
        **changes: Any,
    ) -> None:
        """Set up a table; `reset` deals.

        Args:
            rules: the name of a preset or a `BureauRules` value.
            illegal: "ignore" or "raise".
            mask_in_observation: observations are dicts with the mask.
            render_mode: None, "ansi" or "rgb_array"; cards that lie face down are never shown.
            **changes: fields of the preset to set instead, such as `n_foundations=4` or `reward="win"`.

        Raises:
            RulesError: no such preset or field, or a value that is not allowed.
            ValueError: another argument that is not allowed.
        """
        self.rules = rules_of(rules, changes)
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise ValueError(f"render_mode is {render_mode!r}; choose None or one of {modes}")
        self.render_mode = render_mode
        self._ignores_illegal = checked_illegal(illegal)
        self._mask_in_observation = mask_in_observation
        self._tables = BureauTables(self.rules, 1)
        self.action_space = spaces.Discrete(self.rules.num_actions)
        self.observation_space = observation_space(self.rules.num_actions, mask_in_observation)
        self.episode_seed: int | None = None
        self.deal_index = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal.

        Args:
            seed: 0 to 2^64 - 1 starts a stream of deals; None goes on with the current one.
            options: `deck`, 104 card texts in dealing order.

        Raises:
            ValueError: a seed or an option that makes no deal; the episode before goes on.
        """
        if seed is not None:
            seed = checked_seed(seed)
        deck = _checked_deck(options)
        begins = seed is not None or self.episode_seed is None
        stream = self.episode_seed if seed is None else seed
        stream = secrets.randbits(64) if stream is None else stream
        deal_index = 0 if begins else self.deal_index + 1
        self._tables.deal(shuffled_decks(stream, [deal_index], pack=self.rules.pack) if deck is None else deck)
        super().reset(seed=seed)
        self.episode_seed, self.deal_index = stream, deal_index
        return self._seen()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take a decision.

        Raises:
            IllegalActionError: the action is illegal and `illegal` is "raise"; nothing has changed.
            ResetNeededError: no episode is going on.
        """
        self._need_deal("step")
        if self._tables.settled[0]:
            raise ResetNeededError("step() was called after the end of the episode; call reset() first")
        number = integer(action)
        if number is None or not 0 <= number < self.rules.num_actions or not self.action_masks()[number]:
            if not self._ignores_illegal:
                raise self._tables.illegal_action(0, action)
            observation, info = self._seen(illegal_action=True)
            return observation, 0.0, False, False, info
        before = value_of(self._tables)[0]
        self._tables.step([number])
        truncated = bool(self._tables.stopped[0])
        terminated = bool(self._tables.settled[0]) and not truncated
        observation, info = self._seen()
        return observation, float(value_of(self._tables)[0] - before), terminated, truncated, info

    def _need_deal(self, name: str) -> None:
        """Refuse calls before the first `reset`."""
        if self.episode_seed is None:
            raise ResetNeededError(f"{name}() was called before reset(); call reset() first")

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] bool: the legal actions, under the name that SB3's MaskablePPO asks for."""
        return self._tables.legal_action_mask()[0]

    def _seen(self, illegal_action: bool = False) -> tuple[Observation, dict[str, Any]]:
        """The observation and the infos that `reset` and `step` hand out."""
        mask = self.action_masks().astype(np.int8)
        seen = self._tables.observe_numbers()[0]
        info = {"action_mask": mask, "cards_up": int(self._tables.cards_up[0]), "illegal_action": illegal_action}
        return ({"observation": seen, "action_mask": mask.copy()} if self._mask_in_observation else seen), info

    def snapshot(self) -> BureauSnapshot:
        """The table in words, hidden cards included."""
        self._need_deal("snapshot")
        return replace(self._tables.snapshot(0), deal_index=self.deal_index)

    def action_text(self, action: int) -> str:
        """An action in words: "draw", "redeal", "waste_to_col_3", "col_0_to_foundation", "col_2_to_col_0", …."""
        return actions.action_text(self.rules, action)

    def action_id(self, text: str) -> int:
        """The action that words name; the inverse of `action_text`."""
        return actions.action_id(self.rules, text)

    def render(self) -> Any:
        """The table as text or as [704, 1024, 3] uint8, as `render_mode` asks; None without one."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode; make the environment with one")
            return None
        return ansi(self.snapshot()) if self.render_mode == "ansi" else bureau_picture(self.snapshot())


def _checked_deck(options: dict[str, Any] | None) -> NDArray[np.int8] | None:
    """[1, 104] printed ids of the deck among the options of `reset`; None without one."""
    deck = named_options(options, OPTIONS).get("deck")
    if deck is None:
        return None
    try:
        return np.array([[printed_id(text) for text in deck]], np.int8)
    except (ValueError, TypeError) as error:
        raise DeckError(f"options['deck']: {error}") from None


def register() -> None:
    """Make the environment known to `gymnasium.make` and `gymnasium.make_vec`."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="bourre_env.bureau.env:BureauEnv",
            vector_entry_point="bourre_env.bureau.vector_env:BureauVectorEnv",
        )
