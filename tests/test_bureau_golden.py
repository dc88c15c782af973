"""The golden cases of Bureau, worked out by hand from the law: positions, their legal actions, what comes of some."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bureau_play import id_of, laid_table
from bureau_positions import tables_at

from bourre_env.bureau.actions import action_id, action_text
from bourre_env.bureau.rules import BureauRules

GOLDEN = json.loads((Path(__file__).parent / "golden" / "bureau_cases.json").read_text(encoding="utf-8"))

Case = dict[str, Any]


def cases(kind: str) -> Any:
    """Parametrise over the golden cases of one kind."""
    chosen = [case for case in GOLDEN["cases"] if case["kind"] == kind]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def test_every_kind_of_case_is_run() -> None:
    assert {case["kind"] for case in GOLDEN["cases"]} == {"bureau_state", "action_ids"}


@cases("bureau_state")
def test_engine_agrees_with_positions_laid_by_hand(case: Case) -> None:
    tables = tables_at(case["given"], BureauRules(n_foundations=case["given"]["n_foundations"]))
    assert set(np.flatnonzero(tables.legal_action_mask()[0])) == set(case["expect"]["legal"]), case["why"]
    for action in case["given"].get("then_actions", []):
        tables.step([action])
    after, now = case["expect"].get("after", {}), tables.snapshot(0)
    if "legal" in after:
        assert set(np.flatnonzero(tables.legal_action_mask()[0])) == set(after["legal"])
    for column, cards in enumerate(after.get("tableau_head", [])):
        assert list(now.columns[column]) == cards
    if "foundations" in after:
        assert list(now.foundations) == after["foundations"]
    if "won" in after:
        assert (now.cards_up, now.ending) == (after["foundation_cards"], "won")
    if not case["expect"]["legal"]:
        assert now.ending == "lost"


@cases("bureau_state")
def test_oracle_agrees_with_positions_laid_by_hand(case: Case) -> None:
    table = laid_table(case["given"])
    assert {id_of(action) for action in table.legal()} == set(case["expect"]["legal"]), case["why"]
    for number in case["given"].get("then_actions", []):
        (action,) = (action for action in table.legal() if id_of(action) == number)
        table.step(action)
    after = case["expect"].get("after", {})
    if "legal" in after:
        assert {id_of(action) for action in table.legal()} == set(after["legal"])
    for column, cards in enumerate(after.get("tableau_head", [])):
        assert [("" if is_up else "#") + str(card) for card, is_up in table.columns[column]] == cards


@cases("action_ids")
def test_actions_have_the_ids_of_the_law(case: Case) -> None:
    rules = BureauRules()
    assert rules.num_actions == case["expect"]["size"]
    for text, action in case["expect"]["ids"].items():
        assert (action_id(rules, text), action_text(rules, action)) == (action, text)
