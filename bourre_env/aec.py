"""The PettingZoo AEC shell over one table, whichever game is played there.

A game's environment is a `TableEnv` that sets up its tables, deals them and says what a settled deal pays. Everything
that PettingZoo asks for is here. Shapes: N seats, O features, A actions.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

import numpy as np
import pettingzoo
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray
from pettingzoo.utils import wrappers

from bourre_env.bits import Layout
from bourre_env.drawing.window import Window, need_pygame
from bourre_env.env_options import checked_seat, integer
from bourre_env.errors import IllegalActionError, ResetNeededError, UnknownAgentError

Observation = dict[str, NDArray[Any]]

ILLEGAL = ("raise", "terminate", "forfeit")
FORFEIT = -1  # in place of an action: the seat to act forfeits the deal; no action that a policy can choose


class OneTable(Protocol):
    """What the shell needs of a game's tables, of which it has one."""

    num_actions: int
    layout: Layout

    @property
    def records(self) -> "np.recarray[Any, Any]":
        """[1], the table itself."""

    @property
    def returns(self) -> NDArray[np.int32]:
        """[1, N], what the deal brought each seat."""

    def step(self, actions: ArrayLike) -> None:
        """Take a decision."""

    def forfeit(self, rows: ArrayLike) -> None:
        """End the deal: the seat to act forfeits."""

    def view_one(self, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """A seat's observation [O] and legal actions [A]."""

    def illegal_action(self, row: int, action: object) -> IllegalActionError:
        """The error for an action the table refuses."""


def wrapped(table: "TableEnv", illegal: str, own: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
    """An environment with PettingZoo's usual wrappers.

    Args:
        table: the environment without them.
        illegal: what an illegal action does: one of `ILLEGAL`, or of `own`.
        own: what the game knows besides: the wrapper of each word.

    Raises:
        ValueError: another word.
    """
    own = own or {}
    if illegal not in (*ILLEGAL, *own):
        raise ValueError(f"illegal is {illegal!r}; choose one of {', '.join(map(repr, (*ILLEGAL, *own)))}")
    if illegal in own:
        table = own[illegal](table)
    if illegal == "terminate":
        table = wrappers.TerminateIllegalWrapper(table, illegal_reward=-1)
        table = wrappers.AssertOutOfBoundsWrapper(table)
    if illegal == "forfeit":
        table = ForfeitIllegalWrapper(table)
    return wrappers.OrderEnforcingWrapper(table)


class ForfeitIllegalWrapper(wrappers.BaseWrapper):  # type: ignore[misc]
    """An illegal action of an agent that is to act forfeits its deal (rules 7.2 and E6.2) instead of raising."""

    def step(self, action: Any) -> None:
        """Take the action; when it is refused, the agent forfeits and its infos hold the action and the reason."""
        agent = self.agent_selection if getattr(self.unwrapped, "agents", None) else None
        try:
            super().step(action)
        except IllegalActionError as error:
            if self.terminations[agent] or self.truncations[agent]:
                raise
            self.unwrapped.forfeit(illegal_action=action, reason=str(error))


class TableEnv(pettingzoo.AECEnv):  # type: ignore[misc]
    """One table as an AEC environment: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        deal_index: the number of the current deal in its episode.
        episode_seed: the seed of the stream of deals.
    """

    metadata: dict[str, Any]
    _tables: OneTable
    _settled: int  # the phase of a table whose deal is over
    _illegal_note = ""  # what is added to the error of an illegal action
    _title = ""  # of the window

    def __init__(self, tables: OneTable, num_players: int, *, render_mode: str | None, render_seat: int | None) -> None:
        """Set up a table; `reset` deals.

        Args:
            tables: one table.
            num_players: N.
            render_mode: one of the metadata's, or None.
            render_seat: the seat from which the table is shown; None shows every hand.
        """
        super().__init__()
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise ValueError(f"render_mode is {render_mode!r}; choose None or one of {modes}")
        if render_mode == "human":
            need_pygame()
        self.render_mode = render_mode
        self.render_seat = checked_seat(render_seat, num_players, "render_seat")
        self._window: Window | None = None
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._tables = tables
        self._table = self._view_of_table()
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (tables.layout.size,), np.float32),
                    "action_mask": spaces.Box(0, 1, (tables.num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(tables.num_actions) for agent in self.possible_agents}
        self.episode_seed: int | None = None
        self._deals_since_seed = 0
        self.deal_index = 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what `agent` observes: the same object at each call."""
        return self.observation_spaces[self.possible_agents[self._seat_of(agent)]]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's actions: the same object at each call."""
        return self.action_spaces[self.possible_agents[self._seat_of(agent)]]

    def _seat_of(self, agent: str) -> int:
        """The seat of an agent.

        Raises:
            UnknownAgentError: no agent is called so.
        """
        try:
            return self._seats[agent]
        except (KeyError, TypeError):  # a list, say, cannot be looked up at all
            named = f"there is no agent {agent!r}; agents are {', '.join(self.possible_agents)}"
            raise UnknownAgentError(named) from None

    # --- episodes ---

    @property
    def deal_id(self) -> int:
        """The number of the current deal in the stream of the seed."""
        return self._deals_since_seed - 1

    def _begin_bookkeeping(self) -> None:
        """The dictionaries PettingZoo asks for, as they are before the first action."""
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._agent_to_act()

    def _agent_to_act(self) -> str:
        """The agent whose decision the table waits for."""
        return self.possible_agents[self._table["to_act"]]

    def step(self, action: int | None) -> None:
        """Take the decision of `agent_selection`; `None` from an agent whose episode has ended.

        Raises:
            IllegalActionError: the action is not legal, not an integer, or None from an agent that is to act.
            ResetNeededError: no episode has begun, or all agents have left.
        """
        if not getattr(self, "agents", None):
            raise ResetNeededError("step() was called with no episode going on; call reset() first")
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._leave(action)
            return
        number = integer(action)
        try:
            if number is None or not 0 <= number < self._tables.num_actions:
                raise self._tables.illegal_action(0, action if number is None else number)
            returns = self._take(number)
        except IllegalActionError as error:
            if self._illegal_note:
                error.add_note(self._illegal_note)
            raise
        self._go_on(returns)

    def forfeit(self, **info: Any) -> None:
        """End the deal: the agent to act forfeits it, as after an illegal action (rules 7.2 and E6.2).

        Args:
            **info: what the agent's infos say besides `forfeited_deal`, the number of the deal, until its next action.

        Raises:
            ResetNeededError: no deal is going on.
        """
        if not getattr(self, "agents", None) or self._is_over():
            raise ResetNeededError("forfeit() was called with no deal going on; call reset() first")
        offender, deal_index = self.agent_selection, self.deal_index
        self._go_on(self._take(FORFEIT))
        self.infos[offender] = {"forfeited_deal": deal_index, **info}

    def _go_on(self, returns: NDArray[np.int32] | None) -> None:
        """Pay what an action has settled, and turn to the agent that is to act next."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.infos[self.agent_selection]:
            self.infos[self.agent_selection] = {}
        if returns is not None:
            self._pay(returns)
        if not self._is_over():
            self.agent_selection = self._agent_to_act()
        self._follow()

    def _take(self, number: int) -> NDArray[np.int32] | None:
        """Hand an action or `FORFEIT` to the table, and deal again where it settled a deal that another one follows.

        Returns:
            [N] what the deal brought each seat, when the action settled it.
        """
        if number == FORFEIT:
            self._tables.forfeit([0])
        else:
            self._tables.step(np.array([number]))
        if self._table["phase"] != self._settled:
            return None
        returns: NDArray[np.int32] = self._tables.returns[0]
        self._deal_next()
        return returns

    def _deal_next(self) -> None:
        """Deal again where another deal follows in the episode."""

    def _pay(self, returns: NDArray[np.int32]) -> None:
        """Pay the rewards of a settled deal; note the deal that has begun, or end the episode."""
        raise NotImplementedError

    def _pay_rewards(self, paid: NDArray[np.float64]) -> None:
        """Give each seat its reward [N]."""
        self.rewards = {agent: float(reward) for agent, reward in zip(self.possible_agents, paid, strict=True)}
        self._accumulate_rewards()

    def _end_episode(self, flags: dict[str, bool]) -> None:
        """Every agent's episode ends now: `flags` are its terminations or its truncations."""
        for agent in self.agents:
            flags[agent] = True
        self.agent_selection = self.agents[0]

    def _leave(self, action: object) -> None:
        """The last step of an agent whose episode has ended: it leaves, in seat order."""
        if action is not None:
            raise IllegalActionError(
                f"{self.agent_selection} has finished its episode and takes no action, but {action!r} was given; "
                "pass None"
            )
        self._was_dead_step(None)

    def _is_over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminations[self.agents[0]] or self.truncations[self.agents[0]]

    def _view_of_table(self) -> np.void:
        """The table's record without attributes: its fields are read several times faster than those of `np.record`."""
        records = np.asarray(self._tables.records)
        return records.view(np.dtype((np.void, records.dtype)))[0]

    # --- looking ---

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, flags and infos of the agent to act.

        Raises:
            ResetNeededError: before the first `reset`.
        """
        self._need_deal("last")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def _need_deal(self, method: str) -> None:
        """Refuse to look at a table before the first deal."""
        if self.episode_seed is None:
            raise ResetNeededError(f"{method}() was called before the first deal; call reset() first")

    def observe(self, agent: str) -> Observation:
        """What an agent may know, and its legal actions: fresh arrays at each call.

        Returns:
            `observation` float32 [O] and `action_mask` int8 [A]; the mask is zero unless the agent is to act.

        Raises:
            ResetNeededError: before the first `reset`.
            UnknownAgentError: no agent is called so.
        """
        self._need_deal("observe")
        observation, mask = self._tables.view_one(self._seat_of(agent))
        return {"observation": observation, "action_mask": mask}

    def snapshot(self) -> Any:
        """The table in real cards, hidden cards included."""
        raise NotImplementedError

    def action_text(self, action: int) -> str:
        """An action in words, for the agent to act."""
        raise NotImplementedError

    def action_id(self, text: str) -> int:
        """The action that words name, for the agent to act; the inverse of `action_text`."""
        raise NotImplementedError

    def render(self) -> str | NDArray[np.uint8] | None:
        """The table as `render_mode` says, from `render_seat`; reads, never changes.

        Returns:
            Text for "ansi", [704, 1024, 3] uint8 for "rgb_array"; None for "human", which shows a window, and without
            a mode.
        """
        self._need_deal("render")
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return self._text()
        image = self._image()
        if self.render_mode == "rgb_array":
            return image
        self._window = self._window or Window(self._title)
        self._window.show(image, fps=self.metadata["render_fps"])
        return None

    def _text(self) -> str:
        """The table as text."""
        raise NotImplementedError

    def _image(self) -> NDArray[np.uint8]:
        """[704, 1024, 3] uint8: the table as a picture, for a game whose metadata say that there is one."""
        raise NotImplementedError

    def _follow(self) -> None:
        """Show what has changed, where a window follows the play."""
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window, if there is one; the environment can still be used."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # --- copying ---

    def clone(self) -> Self:
        """An exact copy, also in the middle of a deal."""
        return copy.deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickle; the table's record must point into the copied array again."""
        self.__dict__.update(state, _window=None)
        self._table = self._view_of_table()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the view of the table's record and the window."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_table", "_window")}

    def __str__(self) -> str:
        """The name with the version."""
        return str(self.metadata["name"])
