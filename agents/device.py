"""Where the networks live: on the processor, or on a CUDA GPU when there is one.

Rows travel packed and are unpacked where the network is: a packed row is 32 times smaller than its features.

Shapes: D rows, W words, A actions, L words of a legal set.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.config import ConfigError
from agents.packed_linear import as_signed
from agents.ranks import ALONE, Ranks
from bourre_env.bits import BITS, unpack_actions

CPU = torch.device("cpu")
CPU_ROWS = 256  # small enough for the cache, and for two threads to share the work evenly
GPU_ROWS = 65_536  # a GPU wants few and large pieces


def choose_device(wanted: str, ranks: Ranks = ALONE) -> torch.device:
    """The device that `run.device` means; ranks of one machine have a GPU each.

    Args:
        wanted: "auto", "cpu" or "cuda".
        ranks: which process this is.

    Raises:
        ConfigError: "cuda", and there is none; or more ranks than GPUs.
    """
    has_gpu = wanted != "cpu" and torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        raise ConfigError('run.device = "cuda": PyTorch finds no CUDA GPU here; write "auto" or "cpu"')
    if not has_gpu or ranks.count == 1:
        return torch.device("cuda") if has_gpu else CPU
    if (gpus := torch.cuda.device_count()) < ranks.local_count:
        raise ConfigError(
            f"there are {ranks.local_count} ranks on this machine and {gpus} CUDA GPUs; start one rank a GPU, or set "
            'run.device = "cpu"'
        )
    torch.cuda.set_device(ranks.local_index)
    return torch.device("cuda", ranks.local_index)


def device_of(network: nn.Module) -> torch.device:
    """Where a network lives."""
    return next(network.parameters()).device


def rows_at_a_time(device: torch.device) -> int:
    """How many rows to ask a network at a time."""
    return CPU_ROWS if device.type == "cpu" else GPU_ROWS


def sent(values: NDArray[Any], device: torch.device) -> Tensor:
    """An array as a tensor on a device; not copied where that is the processor.

    To a GPU it goes through pinned memory, which the GPU reads by itself while the processor works on; torch keeps that
    memory until it has been read.
    """
    tensor = torch.from_numpy(values)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)


def packed_rows(words: NDArray[np.uint64], device: torch.device) -> Tensor:
    """[D, W] int64 on a device: the bits of packed rows [D, W], as the networks take them."""
    return sent(as_signed(words), device)


def legal_mask(legal: NDArray[np.uint64], num_actions: int, device: torch.device) -> Tensor:
    """[D, A] bool on a device: the mask of packed legal sets [D, L]."""
    if device.type == "cpu":
        return torch.from_numpy(unpack_actions(legal, num_actions))
    return bits_of(legal, device)[:, :num_actions].bool()


def bits_of(words: NDArray[np.uint64], device: torch.device) -> Tensor:
    """[D, 64*W] int64 of zeros and ones on a device: the bits of words [D, W], the lowest first."""
    return (packed_rows(words, device).unsqueeze(2) >> torch.arange(BITS, device=device) & 1).flatten(1)
