"""What a pot that stays is worth to each seat: by hand, and where the estimate comes to rest."""

import numpy as np
import pytest
from learning import PAGAT, deals_of, tiny_learner

from agents.policy import load_policy
from agents.pot_credit import MEMORY, Credit, PotCredit
from agents.rollout import Rollout
from agents.starts import Opponents

ACTOR = tiny_learner().actor
UNEQUAL = Credit(np.array([0.4, 0.3, 0.2, 0.1]))
NOBODY = np.zeros((1, 4), np.bool_)


def test_equal_credit_by_hand() -> None:
    of_pot, in_all = Credit.equal(4).chips(np.array([6, 0]), np.repeat(NOBODY, 2, axis=0), np.array([0, 3]), 1)
    assert of_pot.tolist() == in_all.tolist() == [[1.5] * 4, [0.0] * 4]


def test_credit_by_distance_from_the_next_dealer_by_hand() -> None:
    """Seat 1 dealt, so seat 2 deals next and has the first share, seat 3 the second, seat 0 the third."""
    of_pot, in_all = UNEQUAL.chips(np.array([10]), NOBODY, np.array([1]), 1)
    assert of_pot[0] == pytest.approx([2, 1, 4, 3])
    assert (in_all == of_pot).all()


def test_saved_antes_by_hand() -> None:
    """Seats 0 and 3 skip antes of 5; the next pot lacks 10, of which each loses its share."""
    exempt = np.array([[True, False, False, True]])
    credit = Credit(UNEQUAL.shares, saved_antes=True)
    of_pot, in_all = credit.chips(np.array([10]), exempt, np.array([1]), 5)
    assert of_pot[0] == pytest.approx([2, 1, 4, 3])
    assert in_all[0] == pytest.approx([2 + 5 - 2, 1 - 1, 4 - 4, 3 + 5 - 3])
    assert in_all.sum() == pytest.approx(10)


@pytest.mark.parametrize("saved_antes", [False, True])
def test_every_decision_is_credited_by_the_shares_of_its_seat(saved_antes: bool) -> None:
    credit = Credit(UNEQUAL.shares, saved_antes)
    rollout = deals_of(ACTOR, credit=credit)
    plain = deals_of(ACTOR)
    assert (rollout.actions == plain.actions).all()
    dealer = np.arange(128) % 4
    next_dealer = (dealer + 1) % 4
    shares = UNEQUAL.shares[(rollout.seat - next_dealer[rollout.deal]) % 4]
    pot = rollout.pot[rollout.deal]
    expected = (rollout.returns[rollout.deal, rollout.seat] + shares * rollout.carry[rollout.deal]) / pot
    if saved_antes:
        assert (rollout.rewards != expected.astype(np.float32)).any()
        without_carry = rollout.carry[rollout.deal] == 0
        assert rollout.rewards[without_carry] == pytest.approx(expected[without_carry], abs=1e-6)
    else:
        assert rollout.rewards == pytest.approx(expected, abs=1e-6)


def test_what_pots_brought_sums_to_one_pot() -> None:
    rollout = deals_of(ACTOR, credit=Credit(UNEQUAL.shares, saved_antes=True))
    assert rollout.earned.sum(axis=1) == pytest.approx(np.ones(128))
    assert (rollout.earned[:, 0] != rollout.earned[:, 1]).any()


def rollouts_with(earned: list[float], number: int) -> Rollout:
    """Self-play deals that brought the distances from the dealer just that."""
    rollout = deals_of(ACTOR, number=number)
    rollout.earned[:] = earned
    return rollout


def test_shares_move_exponentially_towards_what_pots_brought() -> None:
    credit = PotCredit(by_seat=True)
    assert credit.at(4).shares.tolist() == [0.25] * 4
    for _ in range(5):
        credit.learn(rollouts_with([1.0, 0.0, 0.0, 0.0], 100))
    left = 0.75 * np.exp(-500 / MEMORY)
    assert credit.at(4).shares == pytest.approx([1 - left] + [left / 3] * 3)
    assert credit.describe()["credit/4_seats_0_from_dealer"] == pytest.approx(1 - left)
    again = PotCredit(by_seat=True)
    again.load_state(credit.state())
    assert (again.at(4).shares == credit.at(4).shares).all()


def test_only_self_play_tells_what_pots_are_worth_and_only_if_asked() -> None:
    mixed = deals_of(ACTOR, opponents=Opponents((load_policy("random"),), (1.0,)))
    for by_seat, rollout in ((True, mixed), (False, deals_of(ACTOR))):
        credit = PotCredit(by_seat=by_seat)
        credit.learn(rollout)
        assert credit.state() == {}


def test_the_dealer_gets_more_out_of_pots() -> None:
    """Even among beginners: the turn-up is the dealer's."""
    credit = PotCredit(by_seat=True)
    for start in range(0, 16_000, 2_000):
        rollout = deals_of(ACTOR, first=start, number=2_000, credit=credit.at(PAGAT.num_players))
        credit.learn(rollout)
    shares = credit.at(4).shares
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > max(shares[1:]) + 0.01
