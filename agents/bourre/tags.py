"""What is measured of Bourré alone in training: tags with their meaning, as in `agents.metrics`."""

from agents.games import Panel
from bourre_env.bourre.rules import MAX_HAND, MAX_PLAYERS

MOST_TRUMPS = 5

TAGS: dict[str, str] = {
    **{
        f"pass_rate/trumps_{trumps}": f"Share of hands with {trumps} trumps that pass, where they may. Starts "
        "near 0.5; healthy: falls from weak to strong hands, and stays far above 0 without trumps (else it died out)."
        for trumps in range(MOST_TRUMPS + 1)
    },
    **{
        f"pass_rate/position_{position}": f"Share of the hands that pass, where they may, of the seat that is number "
        f"{position} after the dealer; the last is the dealer. Healthy: seats differ, for the later ones know more."
        for position in range(1, MAX_PLAYERS + 1)
    },
    "pass_rate/all": "Share of all declarations with a choice that pass. Healthy at four seats: 0.3 to 0.5.",
    "game/discards": "Cards thrown away by a seat that stays. Starts at 2.5; healthy: about 2.5 to 3.5.",
    **{
        f"game/draws_{cards}": f"Share of the hands that stay which draw {cards} cards. Healthy: most draw 2 to 4."
        for cards in range(MAX_HAND + 1)
    },
    "game/seats_in": "Seats that stay in a deal. Healthy at four seats: about 2.5.",
    "game/bourre_rate": "Share of the seats that stay and take no trick. At first 0.15 to 0.2; healthy: about 0.1.",
    "game/carry_rate": "Share of deals that leave chips in the pot. Healthy at four seats: about 0.4.",
    "game/carry_ratio": "Carry over the pot played for, mean. Healthy: about 0.4; above 1 pots grow without bound.",
    "policy/entropy_declare": "Entropy of declarations, in nats. Starts at about 3; falls as discards get clear.",
    "policy/entropy_stay_or_pass": "Entropy of staying or passing alone. Starts at 0.69; near 0 early: died out.",
    **{
        f"policy/entropy_trick_{trick}": f"Entropy of card plays with a choice in trick {trick}, in nats; measured "
        "with the pictures, on a sample. Falls slowly."
        for trick in range(1, MAX_HAND)
    },
    **{
        f"credit/{size}_seats_{distance}_from_dealer": f"Share of a carried pot credited to the seat {distance} places "
        f"after the next dealer, tables of {size} (rollout.carry_credit). Starts equal; the dealer's grows."
        for size in range(2, MAX_PLAYERS + 1)
        for distance in range(size)
    },
}
"""Numbers."""

HISTOGRAMS: dict[str, str] = {
    "hands/trumps_of_stays": "Trumps in the hands that stay, before they draw.",
    "hands/trumps_of_passes": "Trumps in the hands that pass. Healthy: clearly fewer than in those that stay.",
}
"""Histograms."""

PANELS = (
    Panel(
        "Passes by trumps in the hand",
        "% that pass",
        {f"pass_rate/trumps_{count}": f"{count}" for count in range(MOST_TRUMPS + 1)},
        100,
    ),
    Panel("All passes", "% of declarations", {"pass_rate/all": "passes"}, 100),
    Panel("Cards exchanged", "cards", {"game/discards": "by a seat that stays"}),
    Panel("Seats that stay", "seats a deal", {"game/seats_in": "seats in"}),
    Panel(
        "Bourrés and carries",
        "%",
        {"game/bourre_rate": "bourrés, of seats in", "game/carry_rate": "deals with a carry"},
        100,
    ),
)
"""Charts of how it plays."""
