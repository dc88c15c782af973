"""A fast lower bound on exploitability: an attacker that looks ahead at each of its decisions.

After the local best response of Lisý and Bowling (2017): at every decision the attacker imagines worlds in which the
others, playing by the target policy, would have shown it what it has seen (`likely_worlds`), tries its actions in each,
lets the target policy play all seats to the end, and takes the action of the best mean. What its actions then earn in
real deals is what somebody who knows the target can surely gain; how good its guesses were does not matter.

Noise in the guesses costs money: the best of many noisy means is often a bad action. So one half of the worlds names
the best action, and the attacker leaves the target's own action for it only if the other half confirms a gain.

Shapes: R tables, A decisions, C candidates a decision, W worlds, O words of an observation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.arena import ActionStreams, Tally, begin_deals, stream_seed
from agents.blocks import Blocks
from agents.likely_worlds import Worlds, likely_worlds
from agents.lookahead import NO_ACTION, best_means, candidates_of, confirmed, try_actions
from agents.policy import Decision, Policy, check_rules
from agents.referee import strict_answer
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.bourre.tables import Tables

WORLD_STREAM = "local best response: worlds"
ASKED_AT_ONCE = 32  # decisions; bounds the memory and changes nothing else


@dataclass(frozen=True, slots=True)
class Search:
    """How hard the attacker thinks.

    Attributes:
        worlds: most worlds an action is tried in; half of them choose, half confirm.
        proposals: worlds drawn to find those.
        fewest: worlds that are too few to trust; blind ones are taken instead.
        caution: standard errors by which the confirmed gain must exceed 0.
    """

    worlds: int = 256
    proposals: int = 2048
    fewest: int = 16
    caution: float = 1.0


def play_local_blocks(
    rules: Rules, target: Policy, *, seed: int, deal_ids: ArrayLike, search: Search | None = None
) -> Blocks:
    """Play blocks of the arena: each deal once with the attacker in every seat against a table full of the target.

    Packs, dealers and the target's random numbers are those of `play_blocks`, so an attacker that never leaves the
    target's own action earns exactly what the target earns against itself: 0 in every block.

    Args:
        rules: the rules played by, on credit.
        target: the policy that is attacked.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [D] integers from 0, each a deal of the experiment.
        search: how hard the attacker thinks.

    Raises:
        PolicyError: the target cannot play by these rules.
        PolicyFailedError: the target raised, or did not answer with legal actions.
        ValueError: the rules play table stakes.
    """
    if rules.stacks != "credit":
        raise ValueError("the local best response plays on credit only")
    check_rules(target, rules)
    blocks = np.atleast_1d(np.asarray(deal_ids, np.int64))
    deals = np.repeat(blocks, rules.num_players)
    tables = Tables(rules, len(deals))
    tally = Tally(tables, deals)
    begin_deals(tables, seed=seed, deals=deals)
    attacker = Attacker(target, tables, deals, seed=seed, search=search or Search())
    streams = ActionStreams(seed, deals, rules.num_players)
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        keys = streams.next(waiting, seats)
        actions = strict_answer(target, Decision.from_packed(packed, legal, seats, rules, keys), streams.generator)
        mine = np.flatnonzero(seats == waiting % rules.num_players)
        actions[mine] = attacker.choose(tables, waiting[mine], packed[mine], legal[mine], actions[mine])
        tables.step(actions, rows=waiting, play_forced=True)
    tally.add()
    return Blocks.of_rows(rules, 1, tally.rows())


class Attacker:
    """The seat that looks ahead, at many tables."""

    def __init__(self, target: Policy, tables: Tables, deals: NDArray[np.int64], *, seed: int, search: Search) -> None:
        """Sit down, at table i in seat i mod N.

        Args:
            target: the policy of all other seats.
            tables: [R] tables at which a deal has begun; only their number and rules matter.
            deals: [R] numbers of the deals.
            seed: of the experiment, 0 to 2^64 - 1.
            search: how hard to think.
        """
        self._target, self._search = target, search
        self._seed = stream_seed(seed, WORLD_STREAM)
        self._most = tables.rules.hand_size + 2  # decisions of a seat in a deal: declaring, drawing, cards
        self._decided = np.zeros(tables.num_tables, np.int64)  # decisions so far
        self._streams = deals * MAX_PLAYERS + np.arange(tables.num_tables) % tables.rules.num_players

    def choose(
        self,
        tables: Tables,
        rows: NDArray[np.int64],
        packed: NDArray[np.uint64],
        legal: NDArray[np.uint64],
        own: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The attacker's actions, which depend on what it has seen alone.

        Args:
            tables: [R] the tables; what the attacker has not seen there is drawn anew before anything is looked at.
            rows: [A] where it is to act.
            packed: [A, O] what it sees there.
            legal: [A, 2] its legal actions.
            own: [A] what the target would do in its place.

        Returns:
            [A] int64.
        """
        chosen = own.copy()
        for start in range(0, len(rows), ASKED_AT_ONCE):
            part = slice(start, start + ASKED_AT_ONCE)
            candidates = candidates_of(tables.rules, packed[part], legal[part], own[part])
            chosen[part] = self._best(tables, rows[part], candidates)
        self._decided[rows] += 1
        return chosen

    def _best(self, tables: Tables, rows: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """[A] int64: the candidates [A, C] that promise most, at a few tables."""
        search = self._search
        groups = likely_worlds(
            tables,
            self._target,
            rows,
            seed=self._seed,
            streams=self._streams[rows] * self._most + self._decided[rows],
            proposals=search.proposals,
            worlds=search.worlds,
            fewest=search.fewest,
        )
        best = best_means(candidates, self._tried(groups, 0, candidates))
        finalists = np.stack([candidates[:, 0], np.where(best == candidates[:, 0], NO_ACTION, best)], axis=1)
        return confirmed(finalists, self._tried(groups, 1, finalists), search.caution)

    def _tried(self, groups: tuple[Worlds, ...], half: int, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """[A, C, W/2] float64: what the candidates bring in one half of the worlds, NaN where there is none."""
        values = np.full((*candidates.shape, (self._search.worlds + 1) // 2), np.nan)
        for worlds in groups:
            try_actions(worlds.every_other(half), candidates, self._target, values)
        return values
