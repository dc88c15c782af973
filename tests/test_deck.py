"""Shuffled packs: a pure function of seed and deal number, the same everywhere (8.1 to 8.4: `test_rules.py`)."""

import hashlib
import random

import numpy as np
import pytest
from reference_shuffle import deck_of_deal

from bourre_env import Rules, shuffled_decks
from bourre_env.deck import mix_array, stream_keys

FIRST_THOUSAND = "5da2ff1cdc8739b4580b23f696ac540410794e45ea9298c7588c7585469c3a3a"  # SHA-256 of 52,000 bytes


def test_b060_first_1000_deals_of_seed_0_are_the_same_on_every_machine() -> None:
    decks = shuffled_decks(0, range(1000))
    assert hashlib.sha256(decks.tobytes()).hexdigest() == FIRST_THOUSAND
    assert decks.tolist() == [deck_of_deal(0, deal_id) for deal_id in range(1000)]


def test_11_pack_of_a_deal_does_not_depend_on_the_others_asked_for() -> None:
    ids = np.random.default_rng(1).integers(0, 2**62, 200)
    together = shuffled_decks(5, ids)
    assert [shuffled_decks(5, [one])[0].tolist() for one in ids[:20]] == together[:20].tolist()
    assert (shuffled_decks(5, ids[::-1]) == together[::-1]).all()
    assert (shuffled_decks(5, np.concatenate([ids, ids]))[200:] == together).all()


def test_11_other_deal_numbers_and_other_seeds_give_other_packs() -> None:
    decks = np.concatenate([shuffled_decks(seed, range(2000)) for seed in (0, 1, 2, 2**32, 2**63, 2**64 - 1)])
    assert len({deck.tobytes() for deck in decks}) == len(decks)
    assert (np.sort(decks, axis=1) == np.arange(52)).all()


def test_packs_are_fresh_int8_arrays() -> None:
    decks = shuffled_decks(3, [4, 5])
    assert (decks.dtype, decks.shape) == (np.int8, (2, 52))
    kept = decks.copy()
    decks[...] = 0
    assert (shuffled_decks(3, [4, 5]) == kept).all()
    pack = Rules(num_players=2, ranks="JQKA").pack
    short = shuffled_decks(3, [4], pack=pack)
    short[...] = 0
    assert (np.sort(shuffled_decks(3, [4], pack=pack)[0]) == pack).all()


def test_one_number_and_none_are_lists_too() -> None:
    assert (shuffled_decks(3, 7) == shuffled_decks(3, [7])).all()
    assert shuffled_decks(3, []).shape == (0, 52)
    assert stream_keys(3, np.zeros(0, np.int64)).shape == (0,)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "7", None, True, [3, 4], [-1], [1.0], np.float64(2), np.bool_(True)])
def test_b062_seed_that_is_no_64_bit_number_is_refused(seed: object) -> None:
    for function in (shuffled_decks, stream_keys):
        with pytest.raises(ValueError, match=r"seed .* is not an integer from 0 to 2\^64 - 1"):
            function(seed, [0])  # type: ignore[operator]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_b062_numpy_integers_are_seeds_and_deal_numbers_like_any_other(kind: type) -> None:
    assert (shuffled_decks(kind(7), np.array([3, 9], kind)) == shuffled_decks(7, [3, 9])).all()
    assert (stream_keys(kind(7), [kind(3)]) == stream_keys(7, [3])).all()


@pytest.mark.parametrize("ids", [[-1], [0, -5], [1.0], ["1"], [True], [[1, 2], [3, 4]], [None]])
def test_deal_numbers_that_are_no_counting_numbers_are_refused(ids: list[object]) -> None:
    with pytest.raises(ValueError, match="id"):
        shuffled_decks(0, ids)  # type: ignore[arg-type]


def test_streams_of_one_seed_differ_from_each_other_and_from_those_of_the_next() -> None:
    keys = np.concatenate([stream_keys(seed, np.arange(1000)) for seed in range(20)])
    assert len(np.unique(keys)) == len(keys)
    assert keys.dtype == np.uint64


def test_mixing_is_one_to_one_on_a_sample() -> None:
    words = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mix_array(words))) == len(words)


def test_b054_global_generators_neither_matter_nor_move() -> None:
    expected = shuffled_decks(9, range(50))
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the point is that nobody looks at it
    states = (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
    assert (shuffled_decks(9, range(50)) == expected).all()
    assert (random.getstate(), repr(np.random.get_state())) == states  # noqa: NPY002


def test_each_deal_may_have_a_seed_of_its_own() -> None:
    seeds, deals = [5, 2**64 - 1, 0], [3, 0, 2**40]
    decks, keys = shuffled_decks(np.array(seeds, np.uint64), deals), stream_keys(np.array(seeds, np.uint64), deals)
    for row, (seed, deal) in enumerate(zip(seeds, deals, strict=True)):
        assert (decks[row] == shuffled_decks(seed, [deal])[0]).all()
        assert keys[row] == stream_keys(seed, [deal])[0]
    assert (shuffled_decks([7], [4]) == shuffled_decks(7, [4])).all()


def test_seeds_that_do_not_fit_the_deals_are_refused() -> None:
    with pytest.raises(ValueError, match="nor one for each of 3 numbers"):
        shuffled_decks([1, 2], [0, 1, 2])


def test_decks_go_into_the_array_that_is_given() -> None:
    out = np.zeros((2, 52), np.int8)
    assert shuffled_decks(3, [1, 2], out=out) is out
    assert (out == shuffled_decks(3, [1, 2])).all()
    with pytest.raises(ValueError, match="out is"):
        shuffled_decks(3, [1, 2, 3], out=out)
