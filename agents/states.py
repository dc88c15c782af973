"""The state of a run on the disk: `trainer.pt`, the one before it, and `status.json` for people and `--resume auto`.

A state is complete in itself, holds tensors (on the CPU) and plain values only, is read with `weights_only=True`, and
carries a checksum over all of it. The one before stays as `trainer.previous.pt`, so that a damaged file costs a few
iterations and not the run.
"""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agents.checkpoint import CheckpointError
from agents.files import replace_file
from agents.runs import PREVIOUS_STATE_FILE, STATE_FILE, STATUS

_DAMAGED = ".damaged"
_CHECKSUM = "checksum"


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write a state in place of the one before, which stays as the previous one.

    Args:
        folder: the run folder.
        state: dictionaries, lists, tensors, numbers, texts and None.

    Raises:
        OSError: it could not be written; what was there is untouched.
    """
    replace_file(folder / STATE_FILE, to_bytes(state), previous=folder / PREVIOUS_STATE_FILE)


def to_bytes(state: dict[str, Any]) -> bytes:
    """A state with its checksum."""
    on_cpu = to_cpu(state)
    buffer = io.BytesIO()
    torch.save({**on_cpu, _CHECKSUM: checksum(on_cpu)}, buffer)
    return buffer.getvalue()


def load_state(folder: Path, take: Callable[[dict[str, Any]], None], *, warn: Callable[[str], None]) -> None:
    """Hand over the newest state that is whole.

    A damaged file is named, set aside and never looked at again.

    Args:
        folder: the run folder.
        take: is given the state; raises when it does not fit.
        warn: told which file was damaged, and why.

    Raises:
        CheckpointError: there is no state, or none that is whole and fits.
    """
    newest, before = folder / STATE_FILE, folder / PREVIOUS_STATE_FILE
    if not newest.exists() and not before.exists():
        raise CheckpointError(f"{folder} has no {STATE_FILE}: there is nothing to resume")
    complaint = _try(newest, take)
    if complaint is None:
        return
    worse = _try(before, take) if before.exists() else f"there is no {before.name}"
    if worse is not None:
        raise CheckpointError(f"{complaint}; {worse}")
    warn(f"{complaint}; going on from {before.name}")
    set_aside(newest)


def _try(path: Path, take: Callable[[dict[str, Any]], None]) -> str | None:
    """Hand over the state of a file; what is wrong with it, None when nothing is."""
    try:
        take(_read(path))
    except FileNotFoundError:
        return f"{path} is missing"
    except Exception as error:  # a damaged file makes torch raise nearly anything
        reason = " ".join(str(error).split())[:200]
        return f"{path} is damaged, or of another network: {reason}"
    return None


def _read(path: Path) -> dict[str, Any]:
    """A state whose checksum is right.

    Raises:
        Exception: it is not.
    """
    return from_bytes(path.read_bytes())


def from_bytes(content: bytes) -> dict[str, Any]:
    """The inverse of `to_bytes`.

    Raises:
        Exception: it is damaged.
    """
    state: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    if state.pop(_CHECKSUM, None) != checksum(state):
        raise ValueError("it does not match its checksum")
    return state


def set_aside(path: Path) -> None:
    """Rename a damaged file so that nothing takes it for a good one."""
    with contextlib.suppress(OSError):
        os.replace(path, path.with_name(f"{path.stem}{_DAMAGED}{path.suffix}"))


def to_cpu(value: Any) -> Any:
    """The same nested value with every tensor on the CPU."""
    if isinstance(value, Tensor):
        return value.detach().cpu()
    if isinstance(value, dict):
        return {key: to_cpu(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to_cpu(inner) for inner in value)
    return value


def checksum(value: Any) -> str:
    """Hex digest over nested dictionaries, lists, tensors and plain values; equal exactly when they are."""
    digest = hashlib.sha256()
    _feed(digest.update, value)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    """Feed a nested value to a digest."""
    if isinstance(value, Tensor):
        update(f"tensor {value.dtype} {tuple(value.shape)} ".encode())
        update(value.detach().cpu().contiguous().numpy().tobytes())
    elif isinstance(value, dict):
        update(f"dict {len(value)} ".encode())
        for key in value:
            _feed(update, key)
            _feed(update, value[key])
    elif isinstance(value, (list, tuple)):
        update(f"{type(value).__name__} {len(value)} ".encode())
        for inner in value:
            _feed(update, inner)
    else:
        update(f"{type(value).__name__} {value!r} ".encode())


def save_status(folder: Path, *, ended: str | None, deals: int, minutes: float, best: float | None) -> None:
    """Leave a note on how far a run is; `ended` says in words why it is over, and is None before.

    Raises:
        OSError: it could not be written.
    """
    status = {"ended": ended, "deals": deals, "minutes": round(minutes, 4), "best": best}
    replace_file(folder / STATUS, (json.dumps(status) + "\n").encode())
