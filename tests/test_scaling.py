"""The model of many ranks against numbers worked out by hand, and the document against the model."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from agents.executors import Workers
from benchmarks.scaling import (
    FIGURES,
    Figures,
    Network,
    foretell,
    last_efficient,
    main,
    measure_executor,
    read_figures,
    shuffle_seconds,
    table,
)

DOCUMENT = Path(__file__).parent.parent / "docs" / "scaling.md"
FREE = Network(float("inf"), 0.0)
BY_HAND = Figures(
    samples=10_000.0,
    shuffle_seconds=0.0,
    engine_samples=400_000.0,
    decisions_a_deal=8.0,
    rows_a_deal=8.0,
    bytes_a_step=4_000_000,
    epochs=2,
    deals=1000,
    minibatch=1000,
)


def test_an_all_reduce_by_hand() -> None:
    network = Network(bytes_a_second=1e9, latency=1e-4)
    assert network.all_reduce(1, 4e6) == 0
    assert network.all_reduce(2, 4e6) == pytest.approx(4e6 / 1e9 + 2e-4)
    assert network.all_reduce(8, 4e6) == pytest.approx(2 * 7 / 8 * 4e6 / 1e9 + 6e-4)


def test_ranks_that_need_not_wait_add_up() -> None:
    told = foretell(BY_HAND, FREE, 100)
    assert told.samples == pytest.approx(1_000_000)
    assert told.deals == pytest.approx(125_000)
    assert told.efficiency == pytest.approx(1)
    assert told.minibatch == 100_000


def test_waiting_by_hand() -> None:
    """An iteration of 8,000 decisions takes 0.8 s and 16 steps, each of which waits 4.2 ms for the other rank."""
    told = foretell(BY_HAND, Network(1e9, 1e-4), 2)
    assert told.efficiency == pytest.approx(0.8 / (0.8 + 16 * 0.0042))
    assert told.samples == pytest.approx(16_000 / (0.8 + 16 * 0.0042))
    assert told.sent == pytest.approx(16 * 4e6 / (0.8 + 16 * 0.0042))


def test_shuffling_grows_with_all_decisions() -> None:
    """Two epochs of 99 times 8,000 more decisions to put in order, a microsecond each."""
    told = foretell(replace(BY_HAND, shuffle_seconds=1e-6), FREE, 100)
    assert told.shuffling == pytest.approx(1.584 / (0.8 + 1.584))
    assert last_efficient(replace(BY_HAND, shuffle_seconds=1e-6), FREE) == 32  # 51 by hand
    assert last_efficient(BY_HAND, FREE) == 2**20


def test_pairs_make_fewer_steps_and_less_to_put_in_order() -> None:
    """Two pairs a deal instead of eight decisions: 4 steps instead of 16, a quarter of the rows."""
    pairs = replace(BY_HAND, rows_a_deal=2.0, shuffle_seconds=1e-6)
    assert foretell(pairs, Network(1e9, 1e-4), 2).samples == pytest.approx(16_000 / (0.8 + 4 * 0.0042 + 0.004))


def test_the_shuffle_is_measured() -> None:
    assert 0 < shuffle_seconds(10_000) < 1e-3


def test_an_executor_is_measured() -> None:
    rate, seconds = measure_executor(Workers(1), 4, 2)
    assert rate > 0
    assert seconds > 0


def test_the_model_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(asdict(BY_HAND)))
    assert read_figures(file) == BY_HAND
    words = ["model", str(file), "--gigabit", "8", "--latency", "100", "--ranks", "1", "2", "--samples", "20000"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    efficiency = 0.4 / (0.4 + 16 * 0.0042)
    assert lines[2].startswith("| 1 | 20,000 | 2,500 | 1.00 | 0.0 | 1,000 |")
    assert f"| {efficiency:.2f} |" in lines[3]
    assert lines[-1].startswith("half the efficiency is left at ")


def test_the_documents_tables_are_the_models() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    figures = read_figures(FIGURES)
    for line in table(figures, Network(1.25e9, 50e-6), [1, 2, 8, 64, 200, 800]):
        assert line in text
    assert f"{last_efficient(figures, Network(1.25e9, 50e-6)):,} ranks" in text
    assert np.isclose(figures.bytes_a_step, 2_552_256)
