"""An application with data, `tests/apps/pet_clinic`, tested without a mock."""

from __future__ import annotations

import shutil
from pathlib import Path

from command import Application

CLINIC = Path(__file__).parents[2] / "apps/pet_clinic"


def test_an_application_with_data_is_tested_without_a_mock(tmp_path: Path) -> None:
    """Handlers that save and read, a tool that writes another model, a delegate, the clock, a sandbox, two languages: as
    scripts and as cases."""
    shutil.copytree(CLINIC, tmp_path / "app")
    (tmp_path / "home").mkdir()
    app = Application(tmp_path / "app", tmp_path / "home")
    for arguments, count in (
        (("-i", "scripts.clinic.index"), 4),
        (("-i", "assistants/clinic/tests/visits.jsonl", "--parallel", "4"), 4),
        (("-i", "scripts.leaflet.index"), 2),
        (("-i", "assistants/leaflet/tests/leaflets.jsonl"), 1),
    ):
        run = app.run(*arguments)
        assert (run.code, run.stderr, "Warning" in run.stdout) == (0, "", False), run
        report = app.report(*arguments, code=0)
        assert [record["status"] for record in report["results"]] == ["passed"] * count
