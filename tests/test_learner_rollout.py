"""Self-play: whole deals, the right credit for the right seat, and nothing that depends on company."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, PAGAT, deals_of, tiny_learner, tiny_spec

from agents.arena import play_line_ups, stream_seed
from agents.baselines import HEURISTIC, Random
from agents.bourre.description import described
from agents.bourre.starts import PotsAndStacks, StartingPots, StartingStacks
from agents.metrics import Stopwatch
from agents.packed_linear import as_tensor
from agents.policy import Decision, load_policy
from agents.rollout import (
    DEAL_STREAM,
    Rollout,
    SelfPlay,
    choose,
)
from agents.starts import NETWORK, Opponents
from agents.threads import Threads
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bits import unpack_actions

ACTOR = tiny_learner().actor
EVERYBODY_ANTES = PotsAndStacks()


def by_deal(rollout: Rollout, column: np.ndarray, deal: int) -> list[int]:
    return column[rollout.deal == deal].tolist()


def test_every_decision_is_credited_with_what_its_seat_got() -> None:
    rollout = deals_of(ACTOR)
    shares = (rollout.returns + rollout.carry[:, None] / 4) / rollout.pot[:, None]
    assert rollout.rewards == pytest.approx(shares[rollout.deal, rollout.seat], abs=1e-6)
    assert len(set(rollout.seat)) == 4


def test_chips_are_conserved_and_pots_are_what_was_played_for() -> None:
    rollout = deals_of(ACTOR)
    carry, exempt = StartingPots(0.5, 20, 0.5).draw(PAGAT, 1, np.arange(128))
    assert (rollout.pot == carry + 4 - exempt.sum(axis=1)).all()
    assert (rollout.returns.sum(axis=1) + rollout.carry == carry).all()


def test_the_trajectory_of_a_deal_replays_on_a_table_of_its_own() -> None:
    """A slow reference: one table a deal, each recorded decision is the table's next one with a choice."""
    rollout = deals_of(ACTOR, number=24)
    carry, exempt = StartingPots(0.5, 20, 0.5).draw(PAGAT, 1, np.arange(24))
    decks = shuffled_decks(stream_seed(1, DEAL_STREAM), np.arange(24))
    for deal in range(24):
        table = Tables(PAGAT, 1)
        table.deal(decks[[deal]], deal % 4, int(carry[deal]), exempt[[deal]])
        table.play_forced()
        for row in np.flatnonzero(rollout.deal == deal):
            assert table.to_act[0] == rollout.seat[row]
            assert (table.observe_packed()[0] == rollout.words[row, : rollout.num_words]).all()
            assert (table.hidden_packed()[0, 1:] == rollout.words[row, rollout.num_words :]).all()
            assert (table.legal_packed()[0] == rollout.legal[row]).all()
            table.step(rollout.actions[[row]], play_forced=True)
        assert table.settled[0]
        assert table.returns[0].tolist() == rollout.returns[deal].tolist()
        assert table.carry[0] == rollout.carry[deal]


def test_no_decision_of_a_single_choice_is_recorded() -> None:
    rollout = deals_of(ACTOR)
    assert (np.bitwise_count(rollout.legal).sum(axis=1) >= 2).all()


def test_a_deal_does_not_depend_on_those_beside_it() -> None:
    together = deals_of(ACTOR, number=32)
    for deal in (0, 5, 31):
        alone = deals_of(ACTOR, first=deal, number=1)
        assert alone.actions.tolist() == by_deal(together, together.actions, deal)
        assert alone.returns[0].tolist() == together.returns[deal].tolist()


def test_deals_differ_and_the_seed_changes_them() -> None:
    rollout = deals_of(ACTOR)
    openings = {tuple(rollout.words[rollout.deal == deal][0]) for deal in range(rollout.num_deals)}
    assert len(openings) == rollout.num_deals
    other = SelfPlay(PAGAT, 2, 4).play(ACTOR, np.arange(8), threads=ONE_THREAD, watch=Stopwatch())
    assert (other.words[:8, 0] != rollout.words[:8, 0]).any()


def test_threads_change_nothing() -> None:
    """Two threads work on the same parts as one, so not a bit differs."""
    rows = np.arange(2500) % 128
    rollout = deals_of(ACTOR)
    words, legal = rollout.words[rows, : rollout.num_words], rollout.legal[rows]
    uniforms = np.random.default_rng(0).random(len(rows))
    two = Threads(2)
    columns = [uniforms, 1 - uniforms]
    one_result, two_result = (choose(ACTOR, words, legal, columns, threads) for threads in (ONE_THREAD, two))
    two.close()
    torch.set_num_threads(1)
    for (actions, log_probs), (same_actions, same_log_probs) in zip(one_result, two_result, strict=True):
        assert (actions == same_actions).all()
        assert (log_probs == same_log_probs).all()


def test_training_deals_are_not_the_deals_of_the_arena() -> None:
    evaluated = play_line_ups(PAGAT, [Random()], np.zeros((200, 4), np.int64), seed=1, deal_ids=np.arange(200))
    trained = SelfPlay(PAGAT, 1, 4, EVERYBODY_ANTES, Opponents((Random(),), (1.0,)))
    rollout = trained.play(ACTOR, np.arange(200), threads=ONE_THREAD, watch=Stopwatch())
    assert (rollout.returns != evaluated.returns).any(axis=1).mean() > 0.5


def test_recorded_probabilities_are_those_of_the_network() -> None:
    rollout = deals_of(ACTOR)
    observation = as_tensor(rollout.words[:, : rollout.num_words])
    distribution = ACTOR(observation, torch.from_numpy(unpack_actions(rollout.legal, 85)))
    again = distribution.log_prob(torch.from_numpy(rollout.actions)).detach().numpy()
    assert again == pytest.approx(rollout.log_probs, abs=1e-6)


# --- starting pots ---------------------------------------------------------------------------------------------------


def test_starting_pots_have_the_shares_and_sizes_asked_for() -> None:
    rules = Rules.preset("pagat", num_players=4, ante=3)
    carry, exempt = StartingPots(0.25, 40, 0.5).draw(rules, 7, np.arange(20_000))
    carries = carry > 0
    assert carries.mean() == pytest.approx(0.25, abs=0.01)
    assert (carry % 3 == 0).all()
    assert carry[carries].min() == 3
    assert carry.max() == 120
    assert (carry[carries] <= 3 * 6).mean() == pytest.approx(0.52, abs=0.03)  # logarithm of 6.4 over that of 41
    assert not exempt[~carries].any()
    assert exempt[carries].mean() == pytest.approx(0.5, abs=0.01)


def test_without_carries_everybody_antes_into_an_empty_pot() -> None:
    carry, exempt = EVERYBODY_ANTES.pots.draw(PAGAT, 7, np.arange(100))
    assert not carry.any()
    assert not exempt.any()


# --- starting stacks -------------------------------------------------------------------------------------------------

STAKES = Rules.preset("pagat", stacks="table_stakes", ante=3)


def test_6_7_starting_stacks_are_uniform_chips_of_each_seat_alone() -> None:
    stacks = StartingStacks(2, 5).draw(STAKES, 7, np.arange(20_000))
    assert stacks is not None
    assert stacks.shape == (20_000, 4)
    assert np.bincount(stacks.ravel(), minlength=16)[6:] / 80_000 == pytest.approx([0.1] * 10, abs=0.01)
    assert abs(np.corrcoef(stacks.T) - np.eye(4)).max() < 0.03
    assert (stacks[5:9] == StartingStacks(2, 5).draw(STAKES, 7, np.arange(5, 9))).all()
    assert StartingStacks().draw(PAGAT, 7, np.arange(3)) is None


def test_6_7_training_deals_at_table_stakes_cost_nobody_more_than_it_has() -> None:
    pots, stacks = StartingPots(0.5, 20, 0.5), StartingStacks(1, 4)
    deals = SelfPlay(STAKES, 1, 8, PotsAndStacks(pots, stacks), Opponents((HEURISTIC,), (0.3,)))
    actor = tiny_learner(spec=tiny_spec(STAKES, seats_shown=8)).actor
    rollout = deals.play(actor, np.arange(128), threads=ONE_THREAD, watch=Stopwatch())
    had = stacks.draw(STAKES, 1, np.arange(128))
    carry, exempt = pots.draw(STAKES, 1, np.arange(128))
    assert had is not None
    assert (rollout.pot == carry + np.where(exempt, 0, 3).sum(axis=1)).all()
    assert (rollout.returns >= -had).all()
    assert (rollout.returns == -had).any()
    assert (rollout.returns.sum(axis=1) + rollout.carry == carry).all()
    assert described(rollout, actor.spec)["game/decisions_per_deal"] == len(rollout) / 128


# --- opponents -------------------------------------------------------------------------------------------------------


def test_opponents_sit_in_their_share_of_deals_in_all_seats_but_one() -> None:
    line_ups = Opponents((Random(), HEURISTIC), (0.3, 0.1)).line_ups(PAGAT, 5, np.arange(20_000))
    pure = (line_ups == NETWORK).all(axis=1)
    assert pure.mean() == pytest.approx(0.6, abs=0.015)
    assert ((line_ups[~pure] == NETWORK).sum(axis=1) == 1).all()
    assert ((line_ups == 0).sum(axis=1) == 3).mean() == pytest.approx(0.3, abs=0.015)
    assert ((line_ups == 1).sum(axis=1) == 3).mean() == pytest.approx(0.1, abs=0.01)
    seats = np.argmax(line_ups[~pure] == NETWORK, axis=1)
    assert np.bincount(seats) / len(seats) == pytest.approx([0.25] * 4, abs=0.02)


def test_without_opponents_the_network_has_every_seat() -> None:
    assert (Opponents().line_ups(PAGAT, 5, np.arange(50)) == NETWORK).all()


def test_only_the_networks_own_decisions_are_recorded() -> None:
    opponents = Opponents((HEURISTIC,), (0.5,))
    rollout = deals_of(ACTOR, opponents=opponents)
    line_ups = opponents.line_ups(PAGAT, 1, np.arange(128))
    assert 0.3 < rollout.self_play.mean() < 0.7
    assert (line_ups[rollout.deal, rollout.seat] == NETWORK).all()
    assert (rollout.self_play == (line_ups == NETWORK).all(axis=1)).all()
    mixed = ~rollout.self_play[rollout.deal]
    assert (rollout.seat[mixed] == np.argmax(line_ups == NETWORK, axis=1)[rollout.deal[mixed]]).all()


def test_how_it_was_played_is_described() -> None:
    rollout = deals_of(ACTOR, number=400)
    values = described(rollout, tiny_spec())
    declares = rollout.legal[:, 1] >> np.uint64(20) & np.uint64(1) == 1
    no_trump = declares & (rollout.words[:, 0] & np.uint64(2**13 - 1) == 0)
    assert values["pass_rate/trumps_0"] == pytest.approx((rollout.actions[no_trump] == 84).mean())
    assert values["pass_rate/all"] == pytest.approx(0.5, abs=0.06)
    assert values["game/discards"] == pytest.approx(2.5, abs=0.15)
    assert values["game/seats_in"] == pytest.approx(rollout.stayed.sum() / 400)
    assert values["game/carry_rate"] == pytest.approx((rollout.carry > 0).mean())
    assert values["game/decisions_per_deal"] == len(rollout) / 400
    lost = rollout.returns + (rollout.pot[:, None] > 0)  # antes apart, only a bourré loses chips
    assert values["game/bourre_rate"] == pytest.approx((lost < 0).sum() / rollout.stayed.sum(), abs=1e-9)


class Recorder:
    """Plays its first legal action, and keeps what randomness it is given."""

    name = "recorder"

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.keys: list[int] = []

    def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
        self.numbers.append(rng.random())
        self.keys += decision.key.tolist()
        return decision.legal_action_mask.argmax(axis=1)


@pytest.mark.parametrize("preset", ["pagat", "hoyle"])  # hoyle has two decisions before the first trick
def test_other_policies_get_new_random_numbers_at_every_decision(preset: str) -> None:
    rules, recorder = Rules.preset(preset, num_players=4), Recorder()
    actor = tiny_learner(spec=tiny_spec(rules)).actor
    SelfPlay(rules, 1, 4, opponents=Opponents((recorder,), (1.0,))).play(
        actor, np.arange(40), threads=ONE_THREAD, watch=Stopwatch()
    )
    assert len(set(recorder.numbers)) == len(recorder.numbers) > 8
    assert len(set(recorder.keys)) == len(recorder.keys) > 200


def test_the_engine_on_all_threads_plays_the_same_deals() -> None:
    actor = tiny_learner().actor
    opponents = Opponents((load_policy("random"),), (0.4,))
    plain, parallel = (deals_of(actor, opponents=opponents, parallel=parallel) for parallel in (False, True))
    for field in fields(plain):
        assert np.array_equal(getattr(plain, field.name), getattr(parallel, field.name)), field.name
