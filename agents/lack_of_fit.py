"""What strengths leave unexplained: residuals, and a test whether they are more than chance.

Entrants may beat each other in a circle, or do well against one field and badly against another; then no strengths
explain the cross table, and it has to be read itself.

Shapes: K equations (the distinct entrants of all line-ups), D blocks, U deals of all line-ups together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import fdtrc as probability_of_larger_f

from agents.lineups import LineUp

COLUMNS = ("observed", "fitted", "error")
"""Numbers of a row of the fit, in JSON."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Observed and fitted means, one row for each entrant of each line-up.

    Attributes:
        line_ups: [K] the line-up of each row.
        names: [K] the entrant.
        observed: [K] float64, units a deal of one of its seats.
        fitted: [K] float64, the same by the strengths.
        errors: [K] float64, standard error of observed minus fitted if the strengths explained everything.
        share_explained: of the weighted sum of squares of the means, 0 to 1; 1 where all means are 0.
        chi_square: Wald's statistic of all residuals; nan where there are too few deals for it.
        degrees: its degrees of freedom; 0 where strengths fit any result.
        p: probability of so large a statistic if the strengths explained everything, by Hotelling's F, which allows
            for the covariances being estimated (exact for normal blocks on shared deals); nan like `chi_square`.
    """

    line_ups: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    observed: NDArray[np.float64]
    fitted: NDArray[np.float64]
    errors: NDArray[np.float64]
    share_explained: float
    chi_square: float
    degrees: int
    p: float

    @property
    def residuals(self) -> NDArray[np.float64]:
        """[K] float64, observed minus fitted units a deal."""
        return self.observed - self.fitted

    def plain(self) -> dict[str, Any]:
        """The fit as JSON writes it; what is not known is null."""
        rows = zip(self.line_ups, self.names, self.observed, self.fitted, self.errors, strict=True)
        return {
            "share_explained": self.share_explained,
            "chi_square": None if np.isnan(self.chi_square) else self.chi_square,
            "degrees": self.degrees,
            "p": None if np.isnan(self.p) else self.p,
            "rows": [
                {"line_up": list(places), "name": name, **dict(zip(COLUMNS, map(float, numbers), strict=True))}
                for places, name, *numbers in rows
            ],
        }

    def cross_table(self, entrants: Sequence[str]) -> NDArray[np.float64]:
        """[E, E] residual of one seat of the row's entrant against a table of the column's; nan where not played."""
        table = np.full((len(entrants), len(entrants)), np.nan)
        for places, name, residual in zip(self.line_ups, self.names, self.residuals, strict=True):
            field = set(places) - {name}
            if places.count(name) == 1 and len(field) == 1:
                table[entrants.index(name), entrants.index(field.pop())] = residual
        return table


def fit_of(
    line_ups: Sequence[LineUp],
    means: NDArray[np.float64],
    projection: NDArray[np.float64],
    weights: NDArray[np.float64],
    num_entrants: int,
) -> Fit:
    """How well strengths explain the means.

    Args:
        line_ups: as the strengths were fitted to them.
        means: [K] their means.
        projection: [K, K] fitted means as a linear function of the observed ones.
        weights: [K] of the least squares.
        num_entrants: E.
    """
    fitted = projection @ means
    residuals = means - fitted
    left_over = np.eye(len(means)) - projection
    covariance = left_over @ _covariance(line_ups) @ left_over.T
    # The last entrant of a line-up has what the others leave.
    independent = np.concatenate([np.arange(len(line_up.names)) < len(line_up.names) - 1 for line_up in line_ups])
    degrees = int(independent.sum()) - (num_entrants - 1)
    fewest = min(len(line_up.units) for line_up in line_ups)
    chi_square = (
        _wald(residuals[independent], covariance[np.ix_(independent, independent)], degrees)
        if fewest > degrees
        else np.nan
    )
    explained = _share_explained(means, residuals, weights)
    return Fit(
        line_ups=tuple(line_up.places for line_up in line_ups for _ in line_up.names),
        names=tuple(name for line_up in line_ups for name in line_up.names),
        observed=means,
        fitted=fitted,
        errors=np.sqrt(np.maximum(np.diag(covariance), 0)),
        share_explained=explained,
        chi_square=chi_square,
        degrees=degrees,
        p=_probability(chi_square, degrees, fewest),
    )


def _covariance(line_ups: Sequence[LineUp]) -> NDArray[np.float64]:
    """[K, K] covariance of the means: line-ups that played the same deal vary together."""
    units, places = np.unique(np.concatenate([line_up.units for line_up in line_ups]), return_inverse=True)
    values, rows, columns = [], [], []
    first_row = first_column = 0
    for line_up in line_ups:
        num_blocks, width = line_up.earned.shape
        values.append(((line_up.earned - line_up.means) / np.sqrt(num_blocks * max(num_blocks - 1, 1))).ravel())
        rows.append(np.repeat(places[first_row : first_row + num_blocks], width))
        columns.append(np.tile(np.arange(first_column, first_column + width), num_blocks))
        first_row, first_column = first_row + num_blocks, first_column + width
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    deviations = csr_array(entries, shape=(len(units), first_column))
    covariance: NDArray[np.float64] = (deviations.T @ deviations).toarray()
    return covariance


def _wald(residuals: NDArray[np.float64], covariance: NDArray[np.float64], degrees: int) -> float:
    """Squared residuals in units of their covariance, in the `degrees` directions in which they can vary at all."""
    if degrees == 0 or not residuals.any():
        return 0.0
    variances, directions = np.linalg.eigh(covariance)
    along = directions.T[-degrees:] @ residuals
    free = variances[-degrees:] > 1e-12 * variances[-1]  # some of them may not have varied
    return float((along[free] ** 2 / variances[-degrees:][free]).sum())


def _share_explained(means: NDArray[np.float64], residuals: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Share of the weighted sum of squares; differences from 0 count, since 0 is what equals would earn."""
    total = float(weights @ means**2)
    return 1.0 - float(weights @ residuals**2) / total if total > 0 else 1.0


def _probability(chi_square: float, degrees: int, fewest: int) -> float:
    """Probability of a larger statistic under Hotelling's distribution with covariances from `fewest` blocks."""
    if degrees == 0:
        return 1.0
    if np.isnan(chi_square):
        return float("nan")
    scale = (fewest - degrees) / (degrees * max(fewest - 1, 1))
    return float(probability_of_larger_f(degrees, fewest - degrees, scale * chi_square))
