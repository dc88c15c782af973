"""What is measured of Pinochle alone in training: tags with their meaning, as in `agents.metrics`."""

from agents.games import Panel

TAGS: dict[str, str] = {
    "pinochle/bid": "Mean of the bids that won the auction, in points of the modern scale; 25 is the lowest. Near 27 "
    "at first; healthy: a little above 25, for many hands stay with the dealer.",
    "pinochle/lowest_rate": "Share of hands declared at the lowest bid, the dealer's when it is stuck included. "
    "Healthy: below 1, else nobody bids any more.",
    "pinochle/made_rate": "Share of the bids that were made. Near 0.2 at first; healthy: above 0.4.",
    "pinochle/meld": "Points of the declaring side's melds, on the modern scale.",
    "pinochle/tricks": "Points in tricks of the declaring side, of 25. Healthy: above 14.",
}
"""Numbers."""

HISTOGRAMS: dict[str, str] = {}
"""Histograms."""

PANELS = (
    Panel(
        "What declarers bid and get",
        "points, on the modern scale",
        {"pinochle/bid": "bid", "pinochle/meld": "melds", "pinochle/tricks": "tricks"},
    ),
    Panel(
        "How bids go",
        "% of hands",
        {"pinochle/made_rate": "made", "pinochle/lowest_rate": "at the lowest bid"},
        100,
    ),
)
"""Charts of how it plays."""
