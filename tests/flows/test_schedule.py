"""The schedule of prefect.yaml makes runs, on Mondays at six in London, and somebody hears of failures."""

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterDeploymentId
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.schemas.automations import AutomationCore, CompoundTrigger, EventTrigger, Posture

from flows.weekly import weekly

ROOT = Path(__file__).parents[2]
PREFECT_YAML = ROOT / "prefect.yaml"


@pytest.mark.usefixtures("prefect_server")
def test_the_schedule_makes_runs() -> None:
    entry = next(e for e in yaml.safe_load(PREFECT_YAML.read_text())["deployments"] if e["name"] == "house_1")
    schedules = [
        DeploymentScheduleCreate(schedule=CronSchedule(**schedule), active=True)
        for schedule in entry["schedules"]
    ]
    with get_client(sync_client=True) as client:
        deployment = client.create_deployment(
            client.create_flow(weekly),
            name="scheduled",
            parameters=entry["parameters"],
            schedules=schedules,
        )
        # What the server's scheduler does by itself every minute.
        client.request("POST", "/deployments/{id}/schedule", path_params={"id": deployment}, json={})
        of_it = FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(any_=[deployment]))
        runs = client.read_flow_runs(flow_run_filter=of_it)
    assert runs
    for run in runs:
        assert run.expected_start_time is not None
        start = run.expected_start_time.astimezone(ZoneInfo("Europe/London"))
        assert (start.weekday(), start.hour, start.minute) == (0, 6, 0)
        assert run.parameters == {"house": "house_1", "week": "new"}


def test_the_automation_in_the_readme_hears_of_failures_and_of_silence() -> None:
    printed = re.search(r"```yaml\n(# notify\.yaml.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert printed
    automation = AutomationCore.model_validate(yaml.safe_load(printed[1]))
    assert isinstance(automation.trigger, CompoundTrigger)
    heard = {t.posture: t for t in automation.trigger.triggers if isinstance(t, EventTrigger)}
    assert "prefect.flow-run.Failed" in heard[Posture.Reactive].expect
    assert heard[Posture.Proactive].within.days == 8
