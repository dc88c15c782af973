"""What is measured of Euchre alone in training: tags with their meaning, as in `agents.metrics`."""

from agents.games import Panel

TAGS: dict[str, str] = {
    "euchre/made_rate": "Share of hands in which trumps were made; the others were thrown in.",
    "euchre/euchred_rate": "Share of those in which the makers lost. Near a half at first; healthy: below 0.2.",
    "euchre/alone_rate": "Share of those in which somebody played alone. Near 1 at first; healthy: below 0.15.",
    "euchre/march_rate": "Share of those in which the makers took all tricks.",
}
"""Numbers."""

HISTOGRAMS: dict[str, str] = {}
"""Histograms."""

PANELS = (
    Panel("Trumps made", "% of hands", {"euchre/made_rate": "made"}, 100),
    Panel(
        "How it went for the makers",
        "% of hands with trumps",
        {"euchre/euchred_rate": "euchred", "euchre/march_rate": "all tricks", "euchre/alone_rate": "somebody alone"},
        100,
    ),
)
"""Charts of how it plays."""
