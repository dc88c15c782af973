"""Checkpoints: what is in them, that they come back whole, and that whatever is wrong with one is said in one line."""

import dataclasses
import errno
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from decisions import asked, middle_of_deals
from learning import PAGAT, header_of, tiny_learner
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from agents.checkpoint import CheckpointError, load_checkpoint, parameter_hash, save_checkpoint, source_commit
from agents.network import Actor
from agents.policy import PolicyError, load_policy
from bourre_env import Rules

ACTOR = tiny_learner().actor


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "best.safetensors"
    path.parent.mkdir()
    save_checkpoint(path, ACTOR, header_of(ACTOR))
    return path


def plain_header(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="pt") as file:
        return json.loads(file.metadata()["bourre"])


def rewrite(path: Path, **changes: Any) -> None:
    """The same checkpoint with entries of the header changed."""
    header = {**plain_header(path), **changes}
    save_file(load_file(path), path, {"bourre": json.dumps(header)})


def test_a_checkpoint_comes_back_whole(checkpoint: Path) -> None:
    header, actor = load_checkpoint(checkpoint)
    assert header == header_of(ACTOR)
    assert parameter_hash(actor) == parameter_hash(ACTOR)


def test_the_header_is_plain_and_complete(checkpoint: Path) -> None:
    plain = plain_header(checkpoint)
    assert plain["format"] == 1
    assert plain["game"] == "bourre"
    assert plain["rules"][0]["fingerprint"] == PAGAT.fingerprint
    assert plain["rules"][0]["num_players"] == 4
    assert plain["network"]["actor_width"] == 16
    assert (plain["iteration"], plain["deals"], plain["decisions"]) == (3, 192, 1800)
    assert set(plain) >= {"layout", "commit", "weights", "seats_shown"}


def test_the_same_network_gives_the_same_bytes(checkpoint: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "again.safetensors", ACTOR, header_of(ACTOR))
    assert (tmp_path / "again.safetensors").read_bytes() == checkpoint.read_bytes()


@pytest.mark.parametrize("suffix", ["", ":greedy"])
@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_checkpoint_is_a_policy_that_every_command_can_load(checkpoint: Path, place: str, suffix: str) -> None:
    policy = load_policy(str(checkpoint if place == "file" else checkpoint.parent) + suffix)
    assert policy.name == "run/best" + suffix
    decision = asked(middle_of_deals(4))
    actions = policy.act(decision, np.random.default_rng(0))
    assert decision.legal_action_mask[np.arange(len(decision)), actions].all()


def test_several_rule_sets_may_be_listed(tmp_path: Path) -> None:
    others = (PAGAT, Rules.preset("pagat", num_players=4, limit=30))
    save_checkpoint(tmp_path / "a.safetensors", ACTOR, dataclasses.replace(header_of(ACTOR), rules=others))
    policy = load_policy(str(tmp_path / "a.safetensors"))
    for rules in others:
        policy.check_rules(rules)  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="not trained for 5 seats"):
        policy.check_rules(Rules.preset("pagat", num_players=5))  # type: ignore[attr-defined]


# --- what can be wrong -----------------------------------------------------------------------------------------------


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit_of_the_weights(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)


def become_a_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"weights": [1, 2, 3]}))


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def lose_the_header(path: Path) -> None:
    save_file(load_file(path), path)


def shrink_the_network(path: Path) -> None:
    rewrite(path, network={**plain_header(path)["network"], "actor_width": 8})


def other_rules(path: Path) -> None:
    rules = plain_header(path)["rules"]
    rewrite(path, rules=[{**rules[0], "num_players": 5}])


def unknown_rule(path: Path) -> None:
    rules = plain_header(path)["rules"]
    rewrite(path, rules=[{**rules[0], "wild_cards": 2}])


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "there is no checkpoint"),
    "cut_short": (cut_short, "no readable safetensors file, or a damaged one"),
    "empty": (cut_to_nothing, "no readable safetensors file"),
    "bit_flip": (flip_a_bit_of_the_weights, "damaged: its weights do not match their checksum"),
    "pickle": (become_a_pickle, "no readable safetensors file"),
    "folder": (become_a_folder, "no readable safetensors file"),
    "no_header": (lose_the_header, "not a checkpoint of bourre"),
    "other_game": (lambda path: rewrite(path, game="whist"), "plays 'whist'; this version knows bourre"),
    "rules_of_another_game": (lambda path: rewrite(path, game="euchre"), "cannot read .*num_players"),
    "other_format": (lambda path: rewrite(path, format=2), "format 2; this version reads format 1"),
    "other_layout": (lambda path: rewrite(path, layout="0123456789abcdef"), "observation layout 0123456789abcdef"),
    "other_network": (shrink_the_network, "tensors do not fit the network"),
    "other_rules": (other_rules, "cannot read .*mean something else"),
    "unknown_rule": (unknown_rule, "cannot read .*wild_cards"),
    "no_rules": (lambda path: rewrite(path, rules=[]), "cannot read"),
    "network_of_text": (lambda path: rewrite(path, network="large"), "cannot read .*network spec"),
}


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_with_a_file_is_said_in_one_line(name: str, checkpoint: Path) -> None:
    spoil, message = WRONG[name]
    spoil(checkpoint)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(checkpoint)
    assert "\n" not in str(caught.value)
    assert checkpoint.name in str(caught.value)


def test_b116_a_full_disk_leaves_the_good_file_and_no_other(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = checkpoint.read_bytes()

    def disk_full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    other = tiny_learner(seed=2).actor
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(checkpoint, other, header_of(other))
    assert checkpoint.read_bytes() == good
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]


def test_the_commit_is_that_of_this_tree_or_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = source_commit()
    assert found == "unknown" or (len(found) == 40 and int(found, 16) >= 0)
    monkeypatch.setenv("PATH", "")
    assert source_commit() == "unknown"


def test_loading_leaves_the_global_generator_alone(checkpoint: Path) -> None:
    before = torch.random.get_rng_state()
    load_checkpoint(checkpoint)
    Actor(header_of(ACTOR).network, torch.Generator())
    assert torch.equal(torch.random.get_rng_state(), before)
