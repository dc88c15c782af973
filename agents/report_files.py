"""Names of the files of reports, known without loading what draws them."""

SUMMARY = "summary.json"
HTML, MARKDOWN = "report.html", "report.md"
COSTLIEST = 10  # deals shown for each entrant, unless it is said otherwise
