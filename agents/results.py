"""The blocks of a tournament as a value that can be written down, read, extended and merged.

A Parquet file has one row for each deal (or session) at one table, or in games for one seat one for each deal: `seed`,
`focal` (the name in the first place), `line_up` (its number in the list of the file's metadata), `deal`, `rotation`,
`carry` (chips), and lists by place of the line-up, of which the first is the focal policy's: `returns` (chips, points,
or the unit of the game), then the counts of the game; in Bourré `passed`, `bourre`, `took_pot`, `forfeited` (deals),
`drawn`, `trumps` (cards). Rules, terms and entrants stand as JSON under the key `bourre` of the metadata, whatever the
game.
"""

import dataclasses
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.blocks import Blocks, by_place, concatenated, counts_of, places_of, rotations_of
from agents.games import part_of
from agents.outcomes import Outcomes
from agents.referee import Faults
from bourre_env.deck import stream_keys
from bourre_env.errors import BourreError, RulesError
from bourre_env.family import FIRST, GameRules, game_named, plain_rules, rules_difference

FORMAT = 1
METADATA_KEY = b"bourre"
UNIT_STREAM = "results: names of blocks"

LineUp = tuple[str, ...]
"""N names of entrants by place."""


class ResultsError(BourreError, ValueError):
    """Results that cannot be read, or not be put together with others."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all blocks of some results have in common.

    Attributes:
        rules: the rules played by.
        session: deals in a row; 1 for single deals.
        buy_in: antes each seat begins each deal with at table stakes; None on credit.
    """

    rules: GameRules
    session: int = 1
    buy_in: int | None = None


@dataclass(slots=True)
class Results:
    """Blocks by experiment and line-up.

    Attributes:
        terms: what they have in common.
        entrants: by name: the spec and the digest of what stood behind it.
        blocks: by (seed of the experiment, line-up), in the order of their deals.
        faults: by name of an entrant: what went wrong with it.
    """

    terms: Terms
    entrants: dict[str, tuple[str, str]] = field(default_factory=dict)
    blocks: dict[tuple[int, LineUp], Blocks] = field(default_factory=dict)
    faults: dict[str, Faults] = field(default_factory=dict)

    def enter(self, name: str, spec: str, identity: str) -> None:
        """Note who plays under a name.

        Raises:
            ResultsError: somebody else has played under it.
        """
        known = self.entrants.setdefault(name, (spec, identity))
        if known[1] != identity:
            raise ResultsError(
                f"entrant {name!r} is not the one of the results that are there ({known[0]}, digest {known[1]}, now "
                f"{identity}); name it anew with NAME=SPEC, or write elsewhere"
            )

    def add(self, seed: int, line_up: LineUp, new: Blocks) -> None:
        """Put blocks beside those that are there; a deal that is there already must have ended the same way.

        Raises:
            ResultsError: other terms, or two different results of one deal.
        """
        if (new.rules, new.session) != (self.terms.rules, self.terms.session):
            raise ResultsError(
                f"results of rules {new.rules.fingerprint} and {self.terms.rules.fingerprint} cannot be mixed"
            )
        known = self.blocks.get((seed, line_up))
        both = new if known is None else concatenated([known, new])
        deals, first = np.unique(both.deal_ids, return_index=True)
        if len(deals) < len(both):
            _check_repeats(both, first, line_up)
        in_order = len(deals) == len(both) and (np.diff(first) > 0).all()
        self.blocks[seed, line_up] = both if in_order else both.take(first)

    def of(self, line_up: LineUp) -> Blocks | None:
        """All blocks of a line-up, over all experiments; None when there are none."""
        parts = [blocks for _, blocks in self.by_seed(line_up)]
        return concatenated(parts) if parts else None

    def by_seed(self, line_up: LineUp) -> list[tuple[int, Blocks]]:
        """The blocks of a line-up in each experiment, in the order of `of`."""
        return [(seed, self.blocks[seed, names]) for seed, names in sorted(self.blocks) if names == line_up]

    @property
    def line_ups(self) -> list[LineUp]:
        """Every line-up that has blocks, each once, in the order they came."""
        return list(dict.fromkeys(line_up for _, line_up in self.blocks))

    def outcomes(self, line_ups: Iterable[LineUp] | None = None) -> list[Outcomes]:
        """The blocks as ratings need them, in the order of names.

        Args:
            line_ups: which; all there are when left out.
        """
        outcomes = []
        wanted = set(self.line_ups if line_ups is None else line_ups)
        for line_up in sorted(wanted & set(self.line_ups)):
            parts = self.by_seed(line_up)
            units = np.concatenate([_units(seed, blocks.deal_ids) for seed, blocks in parts])
            outcomes.append(Outcomes(line_up, units, np.concatenate([blocks.place_means for _, blocks in parts])))
        return outcomes

    def forfeits(self, name: str) -> int:
        """Deals that an entrant has forfeited (7.2)."""
        return sum(
            int(blocks.count("forfeited")[:, :, [place for place, other in enumerate(line_up) if other == name]].sum())
            for (_, line_up), blocks in self.blocks.items()
        )

    def drop(self, names: Iterable[str]) -> None:
        """Forget every block in which one of these entrants plays."""
        gone = set(names)
        self.blocks = {key: blocks for key, blocks in self.blocks.items() if not gone & set(key[1])}

    def merge(self, other: "Results") -> None:
        """Take in other results of the same terms.

        Raises:
            ResultsError: other terms, other policies under the same names, or two different results of one deal.
        """
        if other.terms != self.terms:
            raise ResultsError(_difference(self.terms, other.terms))
        for name, (spec, identity) in other.entrants.items():
            self.enter(name, spec, identity)
        grown = set()
        for (seed, line_up), blocks in other.blocks.items():
            known = self.blocks.get((seed, line_up), ())
            self.add(seed, line_up, blocks)
            grown |= set(line_up) if len(self.blocks[seed, line_up]) > len(known) else set()
        for name, faults in other.faults.items():
            if name in grown or name not in self.faults:  # nothing is counted twice when the blocks are there already
                _merge_faults(self.faults.setdefault(name, Faults()), faults)

    # --- files ---

    def to_bytes(self) -> bytes:
        """The Parquet file; equal results give equal bytes."""
        line_ups = sorted(self.line_ups)
        parts = [
            _columns(seed, line_ups.index(line_up), line_up, blocks)
            for (seed, line_up), blocks in sorted(self.blocks.items(), key=lambda item: (item[0][1], item[0][0]))
        ]
        schema = _schema(self.terms.rules, self._metadata(line_ups))
        tables = [pa.table(columns, schema=schema) for columns in parts]
        file = io.BytesIO()
        pq.write_table(pa.concat_tables(tables) if tables else schema.empty_table(), file, compression="zstd")
        return file.getvalue()

    def _metadata(self, line_ups: list[LineUp]) -> dict[str, Any]:
        """What the file says of itself."""
        rules = self.terms.rules
        return {
            "format": FORMAT,
            **({} if rules.game == FIRST else {"game": rules.game}),  # files of the first game are older than the name
            "fingerprint": rules.fingerprint,
            "rules": plain_rules(rules),
            "session": self.terms.session,
            "buy_in": self.terms.buy_in,
            "line_ups": line_ups,
            "entrants": {name: self.entrants[name] for name in sorted(self.entrants)},
            "faults": {name: dataclasses.asdict(self.faults[name]) for name in sorted(self.faults)},
        }

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Results from a file.

        Raises:
            ResultsError: the file is missing, damaged or of another kind.
        """
        try:
            table = pq.read_table(path)
            about = json.loads(table.schema.metadata[METADATA_KEY])
            if about["format"] != FORMAT:
                raise ResultsError(f"{path} has format {about['format']}; this program reads {FORMAT}")
            rules = game_named(about.get("game", FIRST)).from_plain(about["rules"], about["fingerprint"])
            results = cls(
                terms=Terms(rules, about["session"], about["buy_in"]),
                entrants={name: (spec, identity) for name, (spec, identity) in about["entrants"].items()},
                faults={name: Faults(**faults) for name, faults in about["faults"].items()},
            )
            results._fill(table, [tuple(names) for names in about["line_ups"]])
        except FileNotFoundError:
            raise ResultsError(f"there are no results {path}") from None
        except (pa.ArrowException, KeyError, TypeError, ValueError, RulesError, OSError) as error:
            raise ResultsError(f"{path} holds no results of a tournament: {' '.join(str(error).split())}") from None
        return results

    def _fill(self, table: "pa.Table", line_ups: list[LineUp]) -> None:
        """Take blocks from the rows of a file."""
        numbers, seeds = (table[name].to_numpy() for name in ("line_up", "seed"))
        rules = self.terms.rules
        places, rotations = places_of(rules), rotations_of(rules)
        values = {name: _matrix(table[name], places) for name in by_place(rules)}
        deals, carry = table["deal"].to_numpy(), table["carry"].to_numpy()
        for number, line_up in enumerate(line_ups):
            for seed in np.unique(seeds[numbers == number]):
                rows = np.flatnonzero((numbers == number) & (seeds == seed))
                results = {name: values[name][rows].reshape(-1, rotations, places) for name in values}
                self.blocks[int(seed), line_up] = part_of(rules).blocks(
                    rules=rules,
                    session=self.terms.session,
                    deal_ids=deals[rows][::rotations],
                    carry=carry[rows].reshape(-1, rotations),
                    **results,
                )


def means_by_name(place_means: NDArray[np.float64], line_up: LineUp) -> NDArray[np.float64]:
    """[D, E] float64: units a deal of each entrant of a line-up, in the order of their first places.

    Args:
        place_means: [D, N] units a deal of each place.
        line_up: names by place.
    """
    places = [[place for place, other in enumerate(line_up) if other == name] for name in dict.fromkeys(line_up)]
    return np.stack([place_means[:, own].mean(axis=1) for own in places], axis=1)


def _check_repeats(both: Blocks, first: NDArray[np.int64], line_up: LineUp) -> None:
    """Refuse two different results of the same deal."""
    once = both.take(first)
    places = np.searchsorted(once.deal_ids, both.deal_ids)
    for name, values in both.columns().items():
        different = np.flatnonzero((values != getattr(once, name)[places]).reshape(len(both), -1).any(1))
        if len(different):
            raise ResultsError(
                f"deal {both.deal_ids[different[0]]} of {', '.join(line_up)} has ended in two ways; a policy has "
                "changed, or does not draw its random numbers from decision.key"
            )


def _merge_faults(known: Faults, other: Faults) -> None:
    """Count the faults of other blocks; of the examples the first by alphabet stays, whichever results come first."""
    examples = [example for example in (known.example, other.example) if example]
    known.add(other)
    known.example = min(examples, default="")


def _units(seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """[D] uint64: a number for each deal of an experiment."""
    return stream_keys(stream_seed(seed, UNIT_STREAM), deal_ids)


def _difference(one: Terms, other: Terms) -> str:
    """Why results of different terms cannot be put together."""
    if one.rules.game != other.rules.game:
        return f"results of different games cannot be mixed: {one.rules.game} and {other.rules.game}"
    if one.rules != other.rules:
        return f"results of different rules cannot be mixed: {rules_difference(one.rules, other.rules)}"
    return (
        f"results cannot be mixed: sessions of {one.session} and {other.session} deals, buy-ins of {one.buy_in} and "
        f"{other.buy_in} antes"
    )


def _schema(rules: GameRules, about: Mapping[str, Any]) -> "pa.Schema":
    """Columns of a file and what it says of itself."""
    size = places_of(rules)
    columns = [
        pa.field("seed", pa.uint64()),
        pa.field("focal", pa.dictionary(pa.int16(), pa.string())),
        pa.field("line_up", pa.int16()),
        pa.field("deal", pa.int64()),
        pa.field("rotation", pa.int8()),
        pa.field("carry", pa.int64()),
        pa.field("returns", pa.list_(pa.int64(), size)),
        *(pa.field(name, pa.list_(pa.int32(), size)) for name in counts_of(rules)),
    ]
    return pa.schema(columns, metadata={METADATA_KEY: json.dumps(about).encode()})


def _columns(seed: int, number: int, line_up: LineUp, blocks: Blocks) -> dict[str, Any]:
    """The columns of the blocks of one line-up."""
    size, rotations = blocks.num_places, blocks.num_rotations
    rows = len(blocks) * rotations
    columns = {
        "seed": np.full(rows, seed, np.uint64),
        "focal": pa.DictionaryArray.from_arrays(np.zeros(rows, np.int16), [line_up[0]]),
        "line_up": np.full(rows, number, np.int16),
        "deal": np.repeat(blocks.deal_ids, rotations),
        "rotation": np.tile(np.arange(rotations, dtype=np.int8), len(blocks)),
        "carry": blocks.carry.ravel(),
    }
    by_name = {name: blocks.count(name) for name in by_place(blocks.rules)}
    lists = {name: pa.FixedSizeListArray.from_arrays(values.ravel(), size) for name, values in by_name.items()}
    return {**columns, **lists}


def _matrix(column: "pa.ChunkedArray", size: int) -> NDArray[Any]:
    """[R, N]: a column of lists."""
    flat: NDArray[Any] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, size)
