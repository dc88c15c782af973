"""The report of a tournament: one HTML page that needs nothing else, and a Markdown file with its tables.

Both are made of `summary.json` and the blocks; the deals shown are played again with the policies, where these can
still be loaded. The same input gives the same bytes.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents.files import replace_file
from agents.pages import page
from agents.report_deals import EXPLAINED, Judging, shown_deals
from agents.report_files import COSTLIEST, SUMMARY
from agents.report_markdown import tournament_markdown
from agents.report_views import Plain, sizes_of, table_view
from agents.results import Results, ResultsError
from bourre_env.bourre.rules import Rules


def read_tournament(folder: Path) -> tuple[dict[str, Any], list[Results]]:
    """The summary and the blocks in a results folder.

    Raises:
        ResultsError: it is none, or incomplete, or damaged; the message says which.
    """
    path = folder / SUMMARY
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        sizes = sizes_of(summary)
    except FileNotFoundError:
        raise ResultsError(f"{path} is missing: the tournament has not ended; its command goes on with it") from None
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} is no summary of a tournament ({type(error).__name__}: {error})") from None
    return summary, [Results.read(folder / f"blocks-{seats}.parquet") for seats in sizes]


def write_report(
    summary: Plain,
    tables: Sequence[Results],
    file: Path,
    *,
    costliest: int = COSTLIEST,
    judging: Judging | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Path, Path]:
    """Write the page, and the Markdown file beside it.

    Args:
        summary: what `summary.json` holds.
        tables: results of each table size.
        file: of the page.
        costliest: deals shown for each entrant.
        judging: which of them are looked over, decision by decision; None for no deal.
        report: told when a deal has been recorded, and when one has been looked over.

    Returns:
        Both files.

    Raises:
        OSError: one cannot be written.
        PolicyError: the policy to judge by cannot be loaded, or not play by the rules.
    """
    html = tournament_page(summary, tables, costliest=costliest, judging=judging, report=report)
    markdown = file.with_suffix(".md")
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, html.encode("utf-8", "replace"))
    replace_file(markdown, tournament_markdown(summary).encode("utf-8", "replace"))
    return file, markdown


def tournament_page(
    summary: Plain,
    tables: Sequence[Results],
    *,
    costliest: int = COSTLIEST,
    judging: Judging | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> str:
    """The page; arguments as in `write_report`."""
    names = [entrant["name"] for entrant in summary["entrants"]]
    players, frames = shown_deals(tables, names, costliest, judging=judging, report=report)
    return page(
        "tournament.html.j2",
        title=f"Bourré tournament: {', '.join(names)}",
        lead=_lead(summary),
        tables=[table_view(summary, results) for results in tables],
        faults=[_fault_row(entrant) for entrant in summary["entrants"]],
        costliest=[player for player in players if player.deals or player.problems],
        costliest_says=EXPLAINED,
        judged_says=None if judging is None else judging.explained,
        frames=frames,
        command=summary["command"],
        facts_told=facts_of(summary),
        entrants=[(entrant["name"], entrant["spec"], entrant["digest"]) for entrant in summary["entrants"]],
    )


def _lead(summary: Plain) -> str:
    """What was played, in a sentence."""
    sizes = ", ".join(map(str, sizes_of(summary)))
    session = summary["rules"]["session"]
    unit = "single deals" if session == 1 else f"sessions of {session} deals"
    return (
        f"{len(summary['entrants'])} entrants, tables of {sizes} seats, rules {summary['rules']['preset']}, {unit}. "
        "Antes a deal: chips won or lost, a pot left over shared equally, over the ante."
    )


def facts_of(summary: Plain) -> list[tuple[str, str]]:
    """Rules, seeds and versions, as names and values."""
    rules = summary["rules"]
    facts = [("rules", rules["preset"])]
    for table in rules["tables"]:
        facts.append((f"{table['seats']} seats", f"fingerprint {table['fingerprint']}; {_changes(table['fields'])}"))
    if rules["buy_in"] is not None:
        facts.append(("table stakes", f"{rules['buy_in']} antes at the start of each deal"))
    facts.append(("deals in a row", str(rules["session"])))
    facts.append(("seeds", ", ".join(map(str, summary["seeds"]))))
    facts.append(("versions", ", ".join(f"{name} {number}" for name, number in summary["versions"].items())))
    return facts


def _changes(fields: Plain) -> str:
    """House rules that differ from the preset `pagat`."""
    defaults = {field.name: field.default for field in dataclasses.fields(Rules)}
    changed = [f"{name} {value}" for name, value in fields.items() if _plain(defaults.get(name)) != _plain(value)]
    return ", ".join(changed)


def _plain(value: object) -> object:
    """A value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def _fault_row(entrant: Plain) -> tuple[str, ...]:
    """What went wrong with an entrant, as text."""
    numbers = (f"{entrant[key]:,}" for key in ("forfeits", "illegal_actions", "failed_answers"))
    return (entrant["name"], *numbers, "yes" if entrant["overtime"] else "no", entrant["fault"] or "")
