"""`Rules`: what is accepted, what is refused and in which words, presets, fingerprint, the compiled record."""

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import TABLE_SIZES

from bourre_env import PRESETS, Rules, RulesError
from bourre_env.bourre.rules import CHOICES

FIELDS = {field.name: field for field in dataclasses.fields(Rules)}
FLAGS = [name for name, field in FIELDS.items() if isinstance(field.default, bool)]
AMOUNTS = ["penalty_chips", "play_fee", "draw_fee"]
MOST_CHIPS = 2**31 - 1


# --- one field at a time

WRONG_TYPES: dict[str, list[Any]] = (
    {name: [1, 0, None, "True", np.bool_(True)] for name in FLAGS}
    | {name: [0, None, True, b"off"] for name in [*CHOICES, "ranks", "suits"]}
    | {name: [True, 1.0, "1", None, [1]] for name in ["num_players", "hand_size", "ante", *AMOUNTS]}
    | {"limit": [True, 20.0, "20", [20]], "max_discards": [True, 5.0, "5", None, [5] * 7]}
)


def test_every_field_is_tried_with_wrong_types() -> None:
    assert set(WRONG_TYPES) == set(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_value_of_the_wrong_type_is_refused_by_field_value_and_expected_type(name: str) -> None:
    for value in WRONG_TYPES[name]:
        with pytest.raises(
            RulesError, match=rf"Rules\.{name} is .*; it must be (an integer|a text|True or False)"
        ) as error:
            Rules(**{name: value})
        assert repr(value) in str(error.value)


OUT_OF_RANGE: dict[str, list[Any]] = {
    "num_players": [1, 0, -4, 9, 2**40],
    "hand_size": [1, 0, 6, -1],
    "ante": [0, -1, 2**31, MOST_CHIPS // 8 + 1],
    "limit": [0, -20, MOST_CHIPS + 1],
    "penalty_chips": [-1, 2**31],
    "play_fee": [-1, 2**31],
    "draw_fee": [-1, 2**31],
    "max_discards": [-1, 6, (5,) * 6, (5,) * 8, (), (5, 5, 5, 6, 5, 5, 5), (5, 5, 5, True, 5, 5, 5), (5.0,) * 7],
    "ranks": ["", "A", "AA", "1KA", "KAx", "ka", "23456789TJQKA2"],
    "suits": ["", "C", "DC", "CDX", "SHDC", "cd", "CDHSC", "CCDD"],
} | {name: ["", "Off", "nonsense", values[0].upper()] for name, values in CHOICES.items()}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_value_out_of_range_is_refused_with_field_and_value(name: str) -> None:
    for value in OUT_OF_RANGE[name]:
        with pytest.raises(RulesError, match=name):
            Rules(**{name: value})


def test_near_miss_of_a_choice_is_met_with_a_suggestion() -> None:
    with pytest.raises(
        RulesError, match=r"'lead_and_folow' \(did you mean 'lead_and_follow'\?\); choose 'off', 'lead', "
    ):
        Rules(cinch="lead_and_folow")


@pytest.mark.parametrize(
    "changes",
    [
        {"num_players": 8},
        {"num_players": 2, "hand_size": 2},
        {"ante": MOST_CHIPS // 8},
        {"limit": 1},
        {"limit": MOST_CHIPS},
        {"max_discards": 0},
        {"max_discards": (0, 1, 2, 3, 4, 5, 5)},
        {"ranks": "KA", "hand_size": 2, "num_players": 4},
        {"suits": "CD", "num_players": 5},
        {"bourre_penalty": "capped", "penalty_chips": 1},
        {"bourre_penalty": "fixed", "penalty_chips": MOST_CHIPS // 8},
    ],
)
def test_value_at_the_edge_of_its_range_is_accepted(changes: dict[str, Any]) -> None:
    rules = Rules(**changes)
    assert {name: getattr(rules, name) for name in changes} == changes


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"num_players": 8, "ranks": "89TJQKA"}, "deals 40 cards from a pack of 28"),
    ({"num_players": 5, "suits": "CD", "turn_up_owner": "table", "ranks": "3456789TJQKA"}, "deals 26 cards"),
    ({"num_players": 8, "turn_up_owner": "table", "ranks": "56789TJQKA"}, "deals 41 cards"),
    ({"penalty_chips": 5}, "penalty_chips=5 has no meaning"),
    ({"bourre_penalty": "capped"}, "needs penalty_chips"),
    ({"bourre_penalty": "fixed"}, "needs penalty_chips"),
    ({"blind_declaring": True}, "blind_declaring needs declare_mode='two_rounds'"),
    ({"dealer_always_stays": True, "all_pass": "pot_stays"}, "contradict"),
    ({"must_trump": False}, "must_overtrump needs must_trump"),
    ({"must_trump": False, "must_overtrump": False}, "must_undertrump needs must_trump"),
    (
        {"must_trump": False, "must_overtrump": False, "must_undertrump": False, "trump_with_highest": True},
        "trump_with_highest needs must_trump",
    ),
]


@pytest.mark.parametrize(("changes", "words"), CONTRADICTIONS, ids=[words for _, words in CONTRADICTIONS])
def test_fields_that_contradict_each_other_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError, match=words):
        Rules(**changes)


# --- a value


def test_rules_are_frozen_and_named_only() -> None:
    rules = Rules()
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.ante = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        Rules(4)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Rules(antes=2)  # type: ignore[call-arg]


def test_equal_rules_are_equal_values() -> None:
    one, other = Rules(num_players=5, limit=40), Rules(num_players=5, limit=40)
    assert (one, hash(one), one.fingerprint) == (other, hash(other), other.fingerprint)
    copied = pickle.loads(pickle.dumps(one))
    assert (copied, copied.fingerprint, copied.pack) == (one, one.fingerprint, one.pack)
    changed = dataclasses.replace(one, ante=2)
    assert (changed.ante, changed.num_players) == (2, 5)
    assert changed.fingerprint != one.fingerprint


OTHER_VALUES: dict[str, Any] = (
    {name: not FIELDS[name].default for name in FLAGS}
    | {name: next(value for value in values if value != FIELDS[name].default) for name, values in CHOICES.items()}
    | {"num_players": 5, "hand_size": 4, "ante": 2, "limit": 20, "max_discards": 4, "ranks": "789TJQKA", "suits": "CDH"}
    | {"penalty_chips": 3, "play_fee": 1, "draw_fee": 1}
)
NEEDED = {
    "penalty_chips": {"bourre_penalty": "fixed"},
    "bourre_penalty": {"penalty_chips": 2},
    "blind_declaring": {"declare_mode": "two_rounds"},
    "must_trump": {"must_overtrump": False, "must_undertrump": False},
}


def test_fingerprint_differs_whenever_a_field_does() -> None:
    assert set(OTHER_VALUES) == set(FIELDS)
    prints = {Rules().fingerprint: "defaults"}
    for name, value in OTHER_VALUES.items():
        rules = Rules(**({name: value} | NEEDED.get(name, {})))
        assert len(rules.fingerprint) == 16
        assert int(rules.fingerprint, 16) >= 0
        assert prints.setdefault(rules.fingerprint, name) == name
    assert Rules(penalty_chips=2, bourre_penalty="fixed").fingerprint not in prints
    assert Rules(max_discards=(5,) * 7).fingerprint not in prints


# --- presets


def test_presets_of_the_contract_exist_and_differ() -> None:
    contract = {"pagat", "pagat_limit", "pagat_nocinch", "hoyle", "bicycle", "wiki"}
    assert contract <= set(PRESETS)
    assert len({Rules.preset(name).fingerprint for name in contract}) == len(contract)


def test_pagat_is_what_rules_are_by_default() -> None:
    for size in TABLE_SIZES:
        assert Rules.preset("pagat", num_players=size) == Rules(num_players=size)


@pytest.mark.parametrize("ante", [1, 3, 250])
def test_6_4_limit_of_pagat_limit_is_twenty_antes(ante: int) -> None:
    assert Rules.preset("pagat_limit", ante=ante).limit == 20 * ante
    assert Rules.preset("pagat_limit", ante=ante, limit=7).limit == 7
    assert Rules.preset("pagat", ante=ante).limit is None


@pytest.mark.parametrize("ante", [None, "2", 1.5, True, [1], {}, -1, 0])
def test_ante_that_is_no_number_is_refused_by_every_preset_alike(ante: Any) -> None:
    for preset in PRESETS:
        with pytest.raises(RulesError, match=r"Rules\.ante is"):
            Rules.preset(preset, ante=ante)


def test_unknown_preset_or_field_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RulesError, match=r"'pagat_limt' \(did you mean 'pagat_limit'\?\); choose 'pagat', "):
        Rules.preset("pagat_limt")
    with pytest.raises(RulesError, match=r"no field 'num_player' \(did you mean 'num_players'\?\)"):
        Rules.preset("pagat", num_player=3)
    with pytest.raises(RulesError, match="no rules preset is called 'zzz'; choose"):
        Rules.preset("zzz")


@pytest.mark.parametrize("name", PRESETS)
def test_preset_can_be_changed_and_stays_what_it_was(name: str) -> None:
    before = Rules.preset(name).fingerprint
    assert Rules.preset(name, draw_fee=2).draw_fee == 2
    for wrong in (1, 9, True, "4", 2.0):
        with pytest.raises(RulesError, match="players"):
            Rules.preset(name, num_players=wrong)
    assert Rules.preset(name).fingerprint == before


# --- what follows from the fields


def test_3_3_discards_allowed_at_each_table_size() -> None:
    by_size = (0, 1, 2, 3, 4, 5, 4)
    allowed = [Rules(num_players=size, max_discards=by_size).discards_allowed for size in TABLE_SIZES]
    assert allowed == list(by_size)
    assert {Rules(num_players=size, max_discards=3).discards_allowed for size in TABLE_SIZES} == {3}


@pytest.mark.parametrize(("changes", "decisions"), [({}, 24), ({"num_players": 8}, 48), ({"hand_size": 2}, 12)])
def test_10_stated_number_of_decisions(changes: dict[str, Any], decisions: int) -> None:
    assert Rules(**changes).max_decisions == decisions
    extra = changes.get("num_players", 4)
    assert Rules(**changes, declare_mode="two_rounds").max_decisions == decisions + extra


def test_compiled_record_holds_large_numbers_whole_and_every_choice() -> None:
    largest = MOST_CHIPS // 8
    rules = Rules(ante=largest, play_fee=largest, draw_fee=largest, bourre_penalty="fixed", penalty_chips=largest)
    record = rules.record()[0]
    assert [int(record[name]) for name in ("ante", "play_fee", "draw_fee", "penalty_chips")] == [largest] * 4
    assert int(Rules(limit=123456789).record()[0]["limit"]) == 123456789
    for name in CHOICES:
        records = set()
        for value in CHOICES[name]:
            needed = {"penalty_chips": 0 if value == "match_pot" else 2} if name == "bourre_penalty" else {}
            records.add(Rules(**{name: value}, **needed).record().tobytes())
        assert len(records) == len(CHOICES[name]), name


def test_every_flag_reaches_the_compiled_record() -> None:
    for name in FLAGS:
        needed = NEEDED.get(name, {})
        off, on = (Rules(**({name: value} | needed)).record().tobytes() for value in (False, True))
        assert off != on, name
