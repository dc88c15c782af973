"""What is measured of Bureau alone in training: tags with their meaning, as in `agents.metrics`."""

from agents.games import Panel

TAGS: dict[str, str] = {
    "bureau/won_rate": "Share of training deals won. Scores begin at the rule bot's points, so about one in five at "
    "first; healthy: rises.",
    "bureau/cards_up": "Mean number of cards up at the end of a deal, of 104. About 93 at first, then rises.",
    "bureau/stopped_rate": "Share of deals stopped by the limit of decisions. Healthy: below 0.05.",
}
"""Numbers."""

HISTOGRAMS: dict[str, str] = {}
"""Histograms."""

PANELS = (
    Panel("Won", "% of deals", {"bureau/won_rate": "won", "bureau/stopped_rate": "stopped by the limit"}, 100),
    Panel("Cards up", "cards", {"bureau/cards_up": "at the end of a deal"}),
)
"""Charts of how it plays."""
