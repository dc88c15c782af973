"""Decisions played on in two ways: what pairs hold, and that learning from them follows the policy gradient."""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, PAGAT, TINY, deals_of, tiny_config, tiny_learner, tiny_spec, tiny_trainer

from agents.arena import stream_seed
from agents.baselines import HEURISTIC, Random
from agents.bourre.starts import PotsAndStacks, StartingPots
from agents.checkpoint import parameter_hash
from agents.config import ConfigError, LearnConfig
from agents.descent import DivergedError
from agents.distribution import MaskedDistribution
from agents.metrics import Stopwatch
from agents.network import PASS, PLAY, STAY, Actor, NetworkSpec
from agents.pair_learner import PairBatch, PairLearner, pair_loss
from agents.pairs import Pairs, joined_pairs
from agents.policy import Decision, uniform_numbers
from agents.pot_credit import PotCredit
from agents.ppo import Measures, Weights
from agents.ranks import Ranks, Value
from agents.rollout import ACTION_STREAM, DEAL_STREAM, Rollout, SelfPlay, choose
from agents.starts import NETWORK, Opponents, words_of
from agents.threads import use_numba_threads
from agents.trainer import training_deals
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.deck import stream_keys
from bourre_env.family import game_named

FREE = Weights(1e-2, 0.0, 0.0)
GROUPS = torch.tensor([PLAY, STAY, STAY, STAY, PASS])


def learner_of(*, seed: int = 1, **learn: Any) -> PairLearner:
    return PairLearner(tiny_spec(), LearnConfig(minibatch=256, **learn), seed=seed)


def pairs_of(rollout: Rollout) -> Pairs:
    assert rollout.pairs is not None
    return rollout.pairs


ACTOR = learner_of().actor


# --- playing on in two ways ---


def test_every_pair_replays_on_a_table_of_its_own() -> None:
    """A slow reference: the deal up to the decision, the other action, and then the network with the same numbers."""
    rollout = deals_of(ACTOR, number=6, pairs=True)
    pairs = pairs_of(rollout)
    carry, exempt = StartingPots(0.5, 20, 0.5).draw(PAGAT, 1, np.arange(6))
    decks = shuffled_decks(stream_seed(1, DEAL_STREAM), np.arange(6))
    keys = stream_keys(stream_seed(1, ACTION_STREAM), np.arange(6))
    assert len(pairs) > 30
    for row in range(len(pairs)):
        deal, seat = int(pairs.deal[row]), int(pairs.seat[row])
        table = Tables(PAGAT, 1)
        table.deal(decks[[deal]], deal % 4, int(carry[deal]), exempt[[deal]])
        table.play_forced()
        taken, branched = [0] * 4, False
        for before in np.flatnonzero(rollout.deal == deal):
            if rollout.step[before] == pairs.step[row]:
                assert (rollout.actions[before], rollout.seat[before]) == (pairs.actions[row], seat)
                assert (table.observe_packed()[0] == pairs.words[row]).all()
                break
            taken[rollout.seat[before]] += 1
            table.step(rollout.actions[[before]], play_forced=True)
        while not table.settled[0]:
            mover = int(table.to_act[0])
            word = words_of(keys[[deal]], 2 * (mover * 7 + taken[mover]))
            drawn = choose(ACTOR, table.observe_packed(), table.legal_packed(), [uniform_numbers(word)], ONE_THREAD)
            table.step(drawn[0][0] if branched else pairs.others[[row]], play_forced=True)
            taken[mover] += 1
            branched = True
        result = (table.returns[0, seat] + table.carry[0] / 4) / rollout.pot[deal]
        assert rollout.results[deal, seat] - result == pytest.approx(pairs.gains[row], abs=1e-6)


STAKES = Rules.preset("hoyle", num_players=3, stacks="table_stakes")  # with two decisions before the first trick


def test_the_others_have_the_same_luck_after_either_action() -> None:
    """The same among random players at table stakes: whole deals, but for one decision."""
    actor = PairLearner(tiny_spec(STAKES), LearnConfig(), seed=1).actor
    setting = SelfPlay(STAKES, 1, 3, opponents=Opponents((Random(),), (1.0,)))
    rollout = setting.play(actor, np.arange(12), threads=ONE_THREAD, watch=Stopwatch(), pairs=True)
    pairs = pairs_of(rollout)
    assert len(pairs) > 15
    for row in range(len(pairs)):
        deal, seat = int(pairs.deal[row]), int(pairs.seat[row])
        earlier = int(((rollout.deal == deal) & (rollout.step < pairs.step[row])).sum())
        results = [
            result_of(setting, actor, deal, {(seat, earlier): int(action)})[seat]
            for action in (pairs.actions[row], pairs.others[row])
        ]
        assert results[0] == rollout.returns[deal, seat] + rollout.carry[deal] / 3
        assert (results[0] - results[1]) / rollout.pot[deal] == pytest.approx(pairs.gains[row], abs=1e-6)


def result_of(setting: SelfPlay, actor: Actor, deal: int, given: dict[tuple[int, int], int]) -> np.ndarray:
    """Chips that each seat gets in one deal, its part of the carry included; some decisions are given."""
    rules, number = setting.rules, np.array([deal])
    table, taken = Tables(rules, 1), [0] * rules.num_players
    decks = shuffled_decks(stream_seed(1, DEAL_STREAM), number, pack=rules.pack)
    (setting.starts or PotsAndStacks()).begin(table, decks, 1, number)
    table.play_forced()
    line_up = setting.opponents.line_ups(rules, 1, number)[0]
    while not table.settled[0]:
        mover = int(table.to_act[0])
        word = words_of(stream_keys(stream_seed(1, ACTION_STREAM), number), 2 * (mover * 7 + taken[mover]))
        seen = (table.observe_packed(), table.legal_packed())
        if line_up[mover] == NETWORK:
            drawn = choose(actor, *seen, [uniform_numbers(word)], ONE_THREAD)[0][0]
        else:
            asked = Decision.from_packed(*seen, table.to_act, rules, word)
            drawn = Random().act(asked, np.random.default_rng(0))
        action = given.get((mover, taken[mover]))
        table.step(drawn if action is None else np.array([action]), play_forced=True)
        taken[mover] += 1
    returns: np.ndarray = table.returns[0] + table.carry[0] / rules.num_players
    return returns


def test_pairs_leave_the_deals_as_they_are() -> None:
    alone, with_pairs = deals_of(ACTOR), deals_of(ACTOR, pairs=True)
    assert alone.pairs is None
    for column in ("actions", "rewards", "words", "returns", "deal", "step"):
        assert (getattr(alone, column) == getattr(with_pairs, column)).all()
    pairs = pairs_of(with_pairs)
    assert (pairs.actions != pairs.others).all()
    assert (np.diff(pairs.step) >= 0).all()
    assert 0.5 < len(pairs) / len(with_pairs) < 0.9  # hardly anything is decided yet
    assert (pairs.gains == 0).mean() > 0.2
    assert abs(pairs.gains.mean()) < 4 * pairs.gains.std() / math.sqrt(len(pairs))  # neither of two alike is better


def test_a_pair_does_not_depend_on_the_deals_beside_it() -> None:
    together = pairs_of(deals_of(ACTOR, number=20, pairs=True))
    alone = pairs_of(deals_of(ACTOR, first=13, number=1, pairs=True))
    rows = together.deal == 13
    assert alone.others.tolist() == together.others[rows].tolist()
    assert alone.gains.tolist() == together.gains[rows].tolist()


def test_only_decisions_of_the_network_make_pairs() -> None:
    setting = SelfPlay(PAGAT, 1, 4, opponents=Opponents((HEURISTIC,), (1.0,)))
    rollout = setting.play(ACTOR, np.arange(64), threads=ONE_THREAD, watch=Stopwatch(), pairs=True)
    seats = setting.opponents.line_ups(PAGAT, 1, np.arange(64)).argmin(axis=1)
    pairs = pairs_of(rollout)
    assert (pairs.seat == seats[pairs.deal]).all()


def test_a_network_without_doubts_makes_no_pairs() -> None:
    learner = learner_of()
    with torch.no_grad():
        learner.actor.head.weight.zero_()
        learner.actor.head.bias[-1] = 60.0  # always passes
        learner.actor.head.bias[:52] = torch.arange(52) * 50.0  # plays its highest card
        learner.actor.head.bias[52:-1] = -60.0
    rollout = deals_of(learner.actor, number=16, pairs=True)
    undecided = pairs_of(rollout)
    assert len(undecided) < len(rollout) / 4
    before = parameter_hash(learner.actor)
    empty = rollout.nothing()
    assert (len(pairs_of(empty)), empty.asked) == (0, 0)
    assert learner.update(empty, FREE, seed=1, threads=ONE_THREAD)["ppo/kl"] == 0
    assert parameter_hash(learner.actor) == before


def test_deals_of_several_sizes_keep_their_pairs_apart() -> None:
    config = tiny_config(rules={"num_players": [3, 5]})
    actor = PairLearner(tiny_spec(Rules.preset("pagat", num_players=5)), LearnConfig(), seed=1).actor
    deals = training_deals(config)
    played = [
        part.play(actor, np.arange(30)[deals.which(np.arange(30), 2) == index], **_ways())
        for index, part in enumerate(deals.sizes)
    ]
    together = deals.play(actor, np.arange(30), in_play=2, credit=PotCredit(), **_ways())
    parts = [pairs_of(rollout) for rollout in played]
    whole = pairs_of(together)
    assert whole.gains.tolist() == joined_pairs(parts).gains.tolist()
    assert (together.num_players[whole.deal] == np.repeat([3, 5], [len(part) for part in parts])).all()


def _ways() -> dict[str, Any]:
    return {"threads": ONE_THREAD, "watch": Stopwatch(), "pairs": True}


# --- the loss ---


def distribution_of(logits: torch.Tensor) -> MaskedDistribution:
    legal = torch.tensor([[False, True, True, True, True]]).expand(len(logits), -1)
    return MaskedDistribution(logits, legal)


def all_pairs(logits: torch.Tensor, values: torch.Tensor) -> tuple[PairBatch, torch.Tensor]:
    """Every pair of different legal actions of one decision, and how likely each is to be drawn."""
    probs = distribution_of(logits).probs[0].detach()
    first, second = torch.cartesian_prod(torch.arange(1, 5), torch.arange(1, 5)).T
    keep = first != second
    first, second = first[keep], second[keep]
    log_probs = distribution_of(logits).log_probs[0].detach()
    nothing = torch.empty(0)
    both = torch.stack([first, second], dim=1)
    batch = PairBatch(nothing, nothing, both, log_probs[both], values[first] - values[second])
    return batch, probs[first] * probs[second]


@pytest.mark.parametrize(("entropy", "between"), [(0.0, 0.0), (0.7, 0.0), (0.3, 0.4)])
def test_the_mean_over_all_pairs_is_the_gradient_of_value_and_entropy(entropy: float, between: float) -> None:
    values = torch.tensor([9.0, 1.0, -0.5, 0.3, 0.2])
    logits = torch.tensor([[5.0, 0.3, -0.4, 1.1, 0.6]], requires_grad=True)
    batch, likelihood = all_pairs(logits, values)
    weights = Weights(1.0, entropy, between)
    pair_gradient = torch.zeros(5)
    for row, share in enumerate(likelihood):
        one = PairBatch(*(column[row : row + 1] for column in (batch.observation, batch.legal)), **_row(batch, row))
        loss = pair_loss(distribution_of(logits), one, GROUPS, weights, LearnConfig(), Measures(idle=True))
        pair_gradient -= share * torch.autograd.grad(loss, logits)[0][0]

    distribution = distribution_of(logits)
    choice, inside = distribution.entropy_in_two_steps(GROUPS)
    objective = (distribution.probs * values).sum() + entropy * (choice + inside).sum() + between * choice.sum()
    assert pair_gradient == pytest.approx(torch.autograd.grad(objective, logits)[0][0], abs=1e-6)


def _row(batch: PairBatch, row: int) -> dict[str, torch.Tensor]:
    names = ("actions", "log_probs", "gains")
    return {name: getattr(batch, name)[row : row + 1] for name in names}


def test_a_ratio_beyond_the_clip_is_left_alone() -> None:
    """Once the better action is likelier by more than the clip, and the other less likely, nothing more is learned."""
    logits = torch.zeros((1, 5), requires_grad=True)
    batch = PairBatch(
        torch.empty(0),
        torch.empty(0),
        torch.tensor([[1, 2]]),
        torch.log(torch.tensor([[0.1, 0.5]])),  # both are 0.25 now
        torch.tensor([1.0]),
    )
    measures = Measures()
    loss = pair_loss(distribution_of(logits), batch, GROUPS, FREE, LearnConfig(), measures)
    assert torch.autograd.grad(loss, logits)[0].abs().max() == 0
    assert measures.means()["ppo/clip_fraction"] == 1
    better = pair_loss(distribution_of(logits), _turned(batch), GROUPS, FREE, LearnConfig(), Measures())
    assert torch.autograd.grad(better, logits)[0].abs().max() > 0


def _turned(batch: PairBatch) -> PairBatch:
    names = ("observation", "legal", "actions", "log_probs")
    return PairBatch(*(getattr(batch, name) for name in names), gains=-batch.gains)


# --- learning ---


def test_learning_from_pairs_finds_what_is_good() -> None:
    """With gains set so that passing alone pays, passing must become likelier."""
    learner = learner_of()
    rates = []
    for iteration in range(6):
        rollout = deals_of(learner.actor, first=128 * iteration, pairs=True)
        pairs = pairs_of(rollout)
        pairs.gains[:] = (pairs.actions == 84).astype(np.float32) - (pairs.others == 84)
        rates.append((rollout.actions == 84)[rollout.legal[:, 1] >> np.uint64(20) & np.uint64(1) == 1].mean())
        values = learner.update(rollout, Weights(3e-3, 0.0, 0.0), seed=iteration, threads=ONE_THREAD)
    assert rates[-1] > rates[0] + 0.15
    assert values["ppo/gradient_norm"] > 0


def test_an_update_reports_what_it_did() -> None:
    learner = learner_of()
    rollout = deals_of(learner.actor, pairs=True)
    values = learner.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    pairs = pairs_of(rollout)
    assert values["pairs/share"] == pytest.approx(len(pairs) / len(rollout))
    assert values["pairs/equal"] == pytest.approx((pairs.gains == 0).mean())
    assert values["pairs/gain_std"] == pytest.approx(np.sqrt((pairs.gains.astype(float) ** 2).mean()))
    assert values["policy/entropy_stay_or_pass"] == pytest.approx(math.log(2), abs=0.05)
    assert all(math.isfinite(value) for value in values.values())


def test_what_was_learned_with_a_critic_is_not_taken_up() -> None:
    learner = learner_of()
    with pytest.raises(ValueError, match="learned with a critic"):
        learner.load_state(tiny_learner().state())


def test_the_threads_of_the_engine_leave_those_of_the_networks_be() -> None:
    """In a process that has multiplied matrices on two threads, which is when Numba would bring them back."""
    torch.set_num_threads(2)
    torch.ones(512, 512) @ torch.ones(512, 512)
    torch.set_num_threads(1)
    use_numba_threads(2)
    assert torch.get_num_threads() == 1


def test_learning_from_pairs_wants_pairs() -> None:
    learner = learner_of()
    with pytest.raises(ValueError, match="play it with pairs=True"):
        learner.update(deals_of(learner.actor), FREE, seed=1, threads=ONE_THREAD)


def test_a_network_that_is_no_number_stops_the_update_before_a_step() -> None:
    learner = learner_of()
    rollout = deals_of(learner.actor, pairs=True)
    with torch.no_grad():
        learner.actor.head.bias[0] = torch.nan
    before = parameter_hash(learner.actor)
    with pytest.raises(DivergedError):
        learner.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    assert parameter_hash(learner.actor) == before


def test_a_run_that_learns_from_pairs_has_no_critic_and_says_how_pairs_are(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path, run={"deals": 256, "pictures_every": 1}, learn={"advantages": "pairs"})
    lines: list[dict[str, float]] = []
    trainer.run(stop=lambda: False, report=lines.append)
    trainer.close()
    assert trainer.learner.critic is None
    assert "critic_optimizer" not in trainer.learner.state()
    assert {"pairs/share", "pairs/gain_std", "pairs/equal", "ppo/kl"} <= set(lines[0])
    assert not any(tag.startswith("critic/") for tag in lines[0])
    assert trainer.learner.actor.spec.hidden_words == 0  # nobody looks at hidden hands


class OneOfTwo(Ranks):
    """A rank whose neighbour has found broken weights, and says so when asked for problems."""

    def gather(self, value: Value) -> list[Value]:
        return [value, BROKEN] if value is None else [value]  # type: ignore[list-item]


BROKEN = "row 3: the network's logits are not numbers"


def test_a_rank_whose_rows_alone_show_broken_weights_tells_the_others() -> None:
    """Else they would wait for it, and the run would end as if a rank had been lost."""
    learner = learner_of()
    rollout = deals_of(learner.actor, pairs=True)
    learner._ranks = OneOfTwo()
    with pytest.raises(FloatingPointError, match="row 3"):
        learner.update(rollout, FREE, seed=1, threads=ONE_THREAD)


# --- a second task for the hidden layers ---


def test_hidden_layers_learn_to_foretell_what_deals_bring() -> None:
    """The same deals over and over: most of their results can then be known from what a seat sees."""
    learner = learner_of(foretelling=1.0)
    rollout = deals_of(learner.actor, pairs=True)
    pairs = pairs_of(rollout)
    weights = Weights(1e-2, 0.0, 0.0)
    losses = [
        learner.update(rollout, weights, seed=seed, threads=ONE_THREAD)["pairs/foretelling_loss"] for seed in range(12)
    ]
    knows_nothing = torch.nn.functional.huber_loss(
        torch.zeros(len(pairs)), torch.from_numpy(rollout.results[pairs.deal, pairs.seat])
    )
    assert losses[0] < 1.2 * knows_nothing
    assert losses[-1] < 0.8 * losses[0]


def test_without_the_second_task_nothing_is_different() -> None:
    learner, foretelling = learner_of(), learner_of(foretelling=0.5)
    assert parameter_hash(learner.actor) == parameter_hash(foretelling.actor), "drawn before there was anything else"
    rollout = deals_of(learner.actor, pairs=True)
    assert "pairs/foretelling_loss" not in learner.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    foretelling.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    assert parameter_hash(learner.actor) != parameter_hash(foretelling.actor)
    assert set(learner.state()) == {"actor", "actor_optimizer"}


def test_what_foretells_goes_on_where_it_was() -> None:
    one, other = learner_of(foretelling=0.5), learner_of(foretelling=0.5, seed=2)
    rollout = deals_of(one.actor, pairs=True)
    one.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    other.load_state(copy.deepcopy(one.state()))
    found = [learner.update(rollout, FREE, seed=2, threads=ONE_THREAD) for learner in (one, other)]
    assert found[0] == found[1]
    assert parameter_hash(one.actor) == parameter_hash(other.actor)
    for learner, state in ((learner_of(), one.state()), (other, learner_of().state())):
        with pytest.raises(ValueError, match=r"learn\.foretelling"):
            learner.load_state(state)


def test_networks_without_a_last_hidden_layer_foretell_nothing() -> None:
    rules = game_named("bureau").preset("no_repeats")
    spec = NetworkSpec.for_rules(rules, seats_shown=1, privileged=False, layer_norm=True, head="structured", **TINY)
    with pytest.raises(ConfigError, match=r"learn\.foretelling = 0\.5: .* set it to 0"):
        PairLearner(spec, LearnConfig(foretelling=0.5), seed=1)
