"""Checkpoints: one `safetensors` file with the actor's weights and a plain JSON header.

Nothing in a checkpoint is code: it can be taken from a stranger. The header is the file's `__metadata__`, one entry
"bourre" with a JSON text.
"""

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from agents.action_values import ActionValues
from agents.files import replace_file
from agents.network import Actor, NetworkSpec
from agents.policy import PolicyError
from bourre_env.errors import RulesError
from bourre_env.family import GAMES, GameRules, game_named, game_of, plain_rules

FORMAT = 1
"""Number of the file format; raise it when the header or the tensors change their meaning."""

KEY = "bourre"
"""Of the JSON text in the metadata of a checkpoint, whatever the game."""

PPO, DMC = "ppo", "dmc"
NETWORKS: dict[str, type[Actor]] = {PPO: Actor, DMC: ActionValues}
"""What the tensors are, by the learner that made them: of a distribution, or of the values of actions."""


class CheckpointError(PolicyError):
    """A checkpoint that is missing, damaged, of another format or not made for what it is asked to do."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a checkpoint says about itself.

    Attributes:
        rules: the rule sets it may play by.
        seats_shown: seats its observations have room for.
        layout: hash of the observation layout it was trained on.
        network: the sizes of its networks.
        iteration: how often it had learned.
        deals: deals it had played in training.
        decisions: decisions it had learned from.
        commit: the source version that trained it, or "unknown".
        learner: which learner made it, `PPO` or `DMC`.
    """

    rules: tuple[GameRules, ...]
    seats_shown: int
    layout: str
    network: NetworkSpec
    iteration: int = 0
    deals: int = 0
    decisions: int = 0
    commit: str = "unknown"
    learner: str = PPO

    @property
    def game(self) -> str:
        """Name of the game it plays."""
        return self.rules[0].game


def save_checkpoint(path: Path, actor: Actor, header: Header, *, previous: Path | None = None) -> None:
    """Write a checkpoint in place of the one before, which stays whole until the new one is.

    Args:
        path: the file.
        actor: the network.
        header: what it says about itself.
        previous: keep the checkpoint that was there under this name.

    Raises:
        OSError: it could not be written; the file that was there is untouched.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in actor.state_dict().items()}
    plain = {
        "format": FORMAT,
        "game": header.game,
        "rules": [{**plain_rules(rules), "fingerprint": rules.fingerprint} for rules in header.rules],
        "seats_shown": header.seats_shown,
        "layout": header.layout,
        "learner": header.learner,
        "network": header.network.to_plain(),
        "iteration": header.iteration,
        "deals": header.deals,
        "decisions": header.decisions,
        "commit": header.commit,
        "weights": hash_of_tensors(tensors),
    }
    replace_file(path, to_bytes(tensors, {KEY: json.dumps(plain)}), previous=previous)


def load_checkpoint(path: Path) -> tuple[Header, Actor]:
    """The header and the network of a checkpoint, on the CPU.

    Raises:
        CheckpointError: the file is missing, damaged, of another game, format or observation layout, or its tensors
            do not fit its header.
    """
    plain, tensors = _read(path)
    if plain.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} has checkpoint format {plain.get('format')!r}; this version reads format {FORMAT}"
        )
    if hash_of_tensors(tensors) != plain.get("weights"):
        raise CheckpointError(f"{path} is damaged: its weights do not match their checksum; use another checkpoint")
    header = _header(path, plain)
    try:
        actor = NETWORKS[header.learner](header.network, torch.Generator())
        actor.load_state_dict(tensors)
    except (RuntimeError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{path}: the tensors do not fit the network of the header: {reason}") from None
    return header, actor.eval()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The JSON header and the tensors of a file."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            text = (file.metadata() or {}).get(KEY)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is no readable safetensors file, or a damaged one ({error})") from None
    try:
        plain = json.loads(text) if text is not None else None
    except json.JSONDecodeError:
        plain = None
    if not isinstance(plain, dict) or "game" not in plain:
        raise CheckpointError(f"{path} is a safetensors file but not a checkpoint of {KEY}; its header is missing")
    if plain["game"] not in GAMES:
        raise CheckpointError(f"{path} plays {plain['game']!r}; this version knows {', '.join(GAMES)}")
    return plain, tensors


def _header(path: Path, plain: dict[str, Any]) -> Header:
    """The header from its JSON form, checked against this version's rules and observation."""
    learner = plain.get("learner", PPO)  # checkpoints from before there were two do not say
    if learner not in NETWORKS:
        raise CheckpointError(
            f"{path} was made by the learner {learner!r}; this version plays what {' and '.join(NETWORKS)} make"
        )
    try:
        header = Header(
            rules=tuple(_rules(plain["game"], entry) for entry in plain["rules"]),
            seats_shown=plain["seats_shown"],
            layout=plain["layout"],
            network=NetworkSpec.from_plain(plain["network"]),
            learner=learner,
            **{name: plain[name] for name in ("iteration", "deals", "decisions", "commit")},
        )
        expected = game_of(header.rules[0]).layout(header.rules[0], header.seats_shown).hash
    except (RulesError, KeyError, IndexError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{path} has a header this version cannot read ({reason})") from None
    if header.layout != expected:
        raise CheckpointError(
            f"{path} was trained on observation layout {header.layout}; this version has {expected}: "
            "train it again, or use the version it was trained with"
        )
    return header


def _rules(game: str, entry: dict[str, Any]) -> GameRules:
    """Rules from their JSON form."""
    fields = dict(entry)
    return game_named(game).from_plain(fields, fields.pop("fingerprint"))


def hash_of_tensors(tensors: dict[str, Tensor]) -> str:
    """Hex digest over names, shapes and bytes; equal exactly when the tensors are."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        array = tensors[name].detach().cpu().contiguous().numpy()
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def parameter_hash(module: nn.Module) -> str:
    """Hex digest over the weights of a network."""
    return hash_of_tensors(dict(module.state_dict()))


def source_commit() -> str:
    """The commit of the source tree this runs from, or "unknown"."""
    root = Path(__file__).resolve().parent.parent
    command = ["git", "rev-parse", "--show-toplevel", "HEAD"]
    try:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=5, check=True)
        top, commit = found.stdout.split("\n")[:2]
    except (OSError, ValueError, subprocess.SubprocessError):
        return "unknown"
    # an installed package may lie inside some other project's repository
    return commit if Path(top).resolve() == root else "unknown"
