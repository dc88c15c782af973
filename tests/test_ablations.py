"""The command line of `benchmarks.ablations`: what cannot be run is refused before anything is written."""

from pathlib import Path

import pytest

from benchmarks import ablations


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "no arm is called 'nobody'"),
        (["--seeds", "0"], "--seeds: 0 is too small"),
        (["--deals", "-5"], "--deals: -5 is too small"),
        (["--blocks", "0"], "--blocks: 0 is too small"),
        (["--workers", "0"], "--workers: 0 is too small"),
    ],
)
def test_arguments_that_make_no_sweep_are_refused(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2, and no folder."""
    folder = tmp_path / "sweep"
    with pytest.raises(SystemExit) as left:
        ablations.main(["--dir", str(folder), *arguments])
    complaint = capsys.readouterr().err
    assert left.value.code == 2
    assert says in complaint
    assert complaint.count("\n") == 1
    assert not folder.exists()


def test_a_file_is_no_folder_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused in a line that names it."""
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        ablations.main(["--dir", str(file), "default"])
    assert left.value.code == 2
    assert f"{file} is a file, not a folder" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "mine"
