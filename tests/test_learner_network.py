"""Actor and critic: what they start from, what they may see, and that they play under all rules."""

import dataclasses

import numpy as np
import pytest
import torch
from conftest import EVERY_TABLE, dealt, random_play
from decisions import asked, middle_of_deals

from agents.checkpoint import Header, parameter_hash
from agents.declaration_head import _cards_by_rank_in_steps, cards_by_rank
from agents.network import PASS, PLAIN, STAY, Actor, Critic, NetworkSpec
from agents.neural import CHUNK, NetworkPolicy
from agents.packed_linear import as_tensor
from agents.policy import Decision, PolicyError
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bourre.observation import layout
from bourre_env.deck import stream_keys

FULL_HAND = 5
SIZES = {"actor_width": 16, "actor_layers": 1, "critic_width": 16, "critic_layers": 1, "layer_norm": True}
PAGAT = Rules.preset("pagat", num_players=4)


def spec_of(rules: Rules, *, seats_shown: int | None = None, privileged: bool = True) -> NetworkSpec:
    return NetworkSpec.for_rules(rules, seats_shown=seats_shown or rules.num_players, privileged=privileged, **SIZES)


def actor_of(rules: Rules, *, seed: int = 1, seats_shown: int | None = None) -> Actor:
    return Actor(spec_of(rules, seats_shown=seats_shown), torch.Generator().manual_seed(seed))


def policy_of(rules: Rules, *, greedy: bool = False, seats_shown: int | None = None) -> NetworkPolicy:
    seats = seats_shown or rules.num_players
    actor = actor_of(rules, seats_shown=seats)
    with torch.no_grad():  # far from even, so that choices depend on what is seen
        actor.head.weight.normal_(0, 1, generator=torch.Generator().manual_seed(5))
    header = Header((rules,), seats, layout(rules, seats).hash, actor.spec)
    return NetworkPolicy(actor, header, name="network", greedy=greedy)


def declarations(rules: Rules, num_tables: int = 64) -> Tables:
    """Tables at the first declaration."""
    tables = Tables(rules, num_tables)
    tables.deal(shuffled_decks(2, np.arange(num_tables), pack=rules.pack), np.arange(num_tables) % rules.num_players)
    return tables


def seen(tables: Tables) -> tuple[torch.Tensor, torch.Tensor]:
    return as_tensor(tables.observe_packed()), torch.from_numpy(tables.legal_action_mask())


# --- the declaration -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_passing_starts_at_exactly_one_half_however_many_discards_are_legal(num_players: int) -> None:
    rules = Rules.preset("pagat", num_players=num_players)
    observation, legal = seen(declarations(rules))
    probabilities = actor_of(rules)(observation, legal).log_probs.exp()
    assert legal[:, -1].all()
    assert torch.allclose(probabilities[:, -1], torch.full((64,), 0.5), atol=1e-6)
    for kept in (1, 3, 17):  # as if only some ways to discard were legal
        fewer = legal.clone()
        fewer[:, 52 + kept : 84] = False
        assert torch.allclose(actor_of(rules)(observation, fewer).log_probs.exp()[:, -1], torch.tensor(0.5), atol=1e-6)


def test_where_passing_is_illegal_staying_takes_everything() -> None:
    observation, legal = seen(declarations(PAGAT))
    legal[:, -1] = False
    probabilities = actor_of(PAGAT)(observation, legal).log_probs.exp()
    assert (probabilities[:, -1] == 0).all()
    assert torch.allclose(probabilities[:, 52:84].sum(dim=1), torch.ones(64), atol=1e-5)


def test_hands_are_listed_alike_on_the_processor_and_by_what_a_gpu_does() -> None:
    words = np.random.default_rng(1).integers(0, 1 << 52, (200, 3), np.int64)
    hands = torch.from_numpy(np.concatenate([words[:, 0] & words[:, 1] & words[:, 2], [0, 1, 1 << 51]]))
    hands = hands[[number.bit_count() <= 7 for number in hands.tolist()]]
    listed = cards_by_rank(hands, 7)
    assert torch.equal(listed, _cards_by_rank_in_steps(hands, 7))
    for hand, row in zip(hands.tolist(), listed.tolist(), strict=True):
        held = [card for card in range(52) if hand >> card & 1]
        assert row == held + [0] * (7 - len(held))


def test_a_discard_scores_the_cards_it_throws_away_and_their_number() -> None:
    """By hand: the log-odds of two ways to discard are sums over the cards, lowest id first."""
    actor = actor_of(PAGAT)
    tables = declarations(PAGAT, 32)
    observation, legal = seen(tables)
    cards, counts = torch.arange(52.0) / 10, torch.tensor([0.0, 1.0, -2.0, 0.5, 0.0, 3.0])
    with torch.no_grad():
        actor.head.weight.zero_()
        actor.head.bias.copy_(torch.cat([torch.zeros(52), cards, counts, torch.zeros(1)]))
        log_probs = actor(observation, legal).log_probs
    for row in range(32):
        hand = [card for card in range(52) if int(tables.observe_packed()[row, 0]) >> card & 1]
        assert len(hand) == FULL_HAND
        for mask in (1, 2, 16, 0b01101, 31):
            thrown = [card for place, card in enumerate(hand) if mask >> place & 1]
            expected = sum(card / 10 for card in thrown) + counts[len(thrown)].item()
            assert (log_probs[row, 52 + mask] - log_probs[row, 52]).item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("num_players", [2, 8])
def test_the_plain_head_starts_even_too_and_has_an_output_for_each_way_to_discard(num_players: int) -> None:
    rules = Rules.preset("pagat", num_players=num_players)
    actor = Actor(dataclasses.replace(spec_of(rules), head=PLAIN), torch.Generator().manual_seed(1))
    observation, legal = seen(declarations(rules))
    assert torch.allclose(actor(observation, legal).log_probs.exp()[:, -1], torch.tensor(0.5), atol=1e-6)
    with torch.no_grad():
        actor.head.weight.zero_()
        actor.head.bias.copy_(torch.cat([torch.zeros(52), torch.arange(32.0), torch.zeros(1)]))
    log_probs = actor(observation, legal).log_probs
    assert torch.allclose(log_probs[:, 52:84] - log_probs[:, 52:53], torch.arange(32.0).expand(64, 32), atol=1e-4)


def test_all_of_the_declaration_is_learned_from() -> None:
    observation, legal = seen(declarations(PAGAT))
    actor = actor_of(PAGAT)
    distribution = actor(observation, legal)
    distribution.log_prob(torch.full((64,), 52 + 5)).sum().backward()
    gradient = actor.head.weight.grad
    assert gradient is not None
    play, card_scores, count_scores, passing = gradient.split(actor.parts)
    assert (play == 0).all()  # no card is played here
    for part in (card_scores, count_scores, passing):
        assert (part != 0).any()


def test_actions_are_grouped_into_playing_staying_and_passing() -> None:
    groups = actor_of(PAGAT).groups
    assert (groups[:52] == 0).all()
    assert (groups[52:84] == STAY).all()
    assert groups[84] == PASS


# --- what the networks see -------------------------------------------------------------------------------------------


def test_the_actor_never_sees_hidden_cards_and_the_critic_does() -> None:
    rules, seat = PAGAT, 0
    decks = np.repeat(shuffled_decks(4, [1]), 2, axis=0)
    # the second deck deals two hidden cards of the others the other way round: places 1 and 2 of the round
    decks[1, [1, 2]] = decks[0, [2, 1]]
    tables = Tables(rules, 2)
    tables.deal(decks, 3)
    assert (tables.to_act == seat).all()
    actor, critic = actor_of(rules), Critic(spec_of(rules), torch.Generator().manual_seed(3))
    words, hidden = tables.observe_packed(), tables.hidden_packed()
    assert (hidden[0] != hidden[1]).any()
    observation, legal = seen(tables)
    log_probs = actor(observation, legal).log_probs
    assert torch.equal(log_probs[0], log_probs[1])
    values = critic(as_tensor(np.concatenate([words, hidden[:, 1:]], axis=1)))
    assert values[0] != values[1]


def test_a_critic_without_privileges_has_the_size_of_the_observation() -> None:
    spec = spec_of(PAGAT, privileged=False)
    assert spec.hidden_words == 0
    values = Critic(spec, torch.Generator())(as_tensor(declarations(PAGAT).observe_packed()))
    assert values.shape == (64,)


def test_weights_come_from_the_generator_alone() -> None:
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = parameter_hash(actor_of(PAGAT, seed=7))
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(2)
    assert parameter_hash(actor_of(PAGAT, seed=7)) == first
    assert parameter_hash(actor_of(PAGAT, seed=8)) != first


def test_a_spec_survives_json_and_refuses_nonsense() -> None:
    spec = spec_of(PAGAT)
    plain = spec.to_plain()
    assert NetworkSpec.from_plain(plain) == spec
    for change in (
        {"actor_width": "16"},
        {"actor_width": True},
        {"layer_norm": 1},
        {"cards": 52},
        {"surplus": 1},
        {"head": "odd"},
    ):
        with pytest.raises(ValueError, match="network spec"):
            NetworkSpec.from_plain({**plain, **change})
    older = {name: value for name, value in plain.items() if name != "head"}
    assert NetworkSpec.from_plain(older) == spec
    with pytest.raises(ValueError, match="has the fields"):
        NetworkSpec.from_plain({"num_words": 13})


# --- every rule set --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_the_network_plays_legally_under_all_rules(name: str) -> None:
    rules = EVERY_TABLE[name]
    actor = actor_of(rules)
    tables = dealt(rules, 40, seed=3)
    for _ in random_play(tables, seed=4):
        rows = np.flatnonzero(tables.to_act >= 0)
        observation, legal = (part[rows] for part in seen(tables))
        distribution = actor(observation, legal)
        assert torch.isfinite(distribution.log_probs).all()
        assert legal.gather(1, distribution.sample(torch.full((len(rows),), 0.5)).unsqueeze(1)).all()


def test_a_shorter_pack_has_its_own_smaller_head() -> None:
    rules = Rules(num_players=2, ranks="TJQKA", suits="CD", hand_size=2)
    spec = spec_of(rules)
    assert spec.num_actions == 10 + 4 + 1
    assert spec.cards == (8, 9, 10, 11, 12, 21, 22, 23, 24, 25)
    tables = declarations(rules)
    observation, legal = seen(tables)
    actor = Actor(spec, torch.Generator().manual_seed(1))
    with torch.no_grad():
        actor.head.weight.zero_()
        actor.head.bias.copy_(torch.cat([torch.zeros(10), torch.arange(10.0), torch.zeros(3), torch.zeros(1)]))
    log_probs = actor(observation, legal).log_probs
    for row in range(len(observation)):
        hand = [number for number, card in enumerate(spec.cards) if int(tables.observe_packed()[row, 0]) >> card & 1]
        if legal[row, 13]:
            assert (log_probs[row, 13] - log_probs[row, 10]).item() == pytest.approx(sum(hand), abs=1e-4)


# --- as a policy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("greedy", [False, True])
def test_a_choice_does_not_depend_on_what_is_asked_beside_it(greedy: bool) -> None:
    policy = policy_of(PAGAT, greedy=greedy)
    decision = asked(middle_of_deals(4, steps=3, num_tables=2 * CHUNK + 50))
    rng = np.random.default_rng(0)
    together = policy.act(decision, rng)
    order = np.random.default_rng(1).permutation(len(decision))
    assert (policy.act(rows_of(decision, order), rng) == together[order]).all()
    for rows in np.array_split(order, [1, 2, 7, 40, 300]):
        assert (policy.act(rows_of(decision, rows), rng) == together[rows]).all()
    assert decision.legal_action_mask[np.arange(len(decision)), together].all()


def rows_of(decision: Decision, rows: np.ndarray) -> Decision:
    return Decision.from_packed(
        decision.packed[rows], decision.legal_packed[rows], decision.seat[rows], decision.rules, decision.key[rows]
    )


def test_the_key_alone_decides_what_is_drawn() -> None:
    policy = policy_of(PAGAT)
    decision = asked(declarations(PAGAT, 300))
    first = policy.act(decision, np.random.default_rng(0))
    assert (policy.act(decision, np.random.default_rng(99)) == first).all()
    decision.key = stream_keys(77, np.arange(300))
    assert (policy.act(decision, np.random.default_rng(0)) != first).any()


def test_a_network_that_shows_eight_seats_plays_on_a_table_that_shows_four() -> None:
    policy = policy_of(PAGAT, seats_shown=8)
    small, padded = asked(middle_of_deals(4)), asked(middle_of_deals(4, seats_shown=8))
    rng = np.random.default_rng(0)
    assert (policy.act(small, rng) == policy.act(padded, rng)).all()


def test_other_rules_are_refused_by_name() -> None:
    policy = policy_of(PAGAT)
    policy.check_rules(PAGAT)
    for other in (Rules.preset("pagat", num_players=5), Rules.preset("pagat_nocinch", num_players=4)):
        with pytest.raises(PolicyError, match=f"not trained for {other.num_players} seats .*it plays: 4 seats"):
            policy.check_rules(other)
