"""Whose turn it is: publishing in order of time within a house, whatever ends first and whatever fails."""

import random
from pathlib import Path

import pytest

from flows.job_order import Job, JobOrder
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week


def _places(**weeks: int) -> list[WeekPaths]:
    return [
        WeekPaths(Path("data"), house, Week(2015, n), Path("outputs"))
        for house, last in weeks.items()
        for n in range(1, last + 1)
    ]


def _work_off(turns: JobOrder, *, slots: int, rng: random.Random, fails: float, lost: float) -> list[Job]:
    """The jobs in the order in which they ended well, with `slots` running at a time and ending at random."""
    running: list[Job] = []
    ended = []
    while True:
        while len(running) < slots and (job := turns.take()) is not None:
            running.append(job)
        if not running:
            return ended
        job = running.pop(rng.randrange(len(running)))
        chance = rng.random()
        if chance < lost:
            turns.lost(job, "its process is gone")
        elif chance < lost + fails:
            turns.done(job, "no")
        else:
            turns.done(job)
            ended.append(job)


@pytest.mark.parametrize("seed", range(40))
def test_every_week_ends_published_in_order_or_failed(seed: int) -> None:
    rng = random.Random(seed)
    places = _places(house_1=5, house_2=3, house_3=1)
    turns = JobOrder(places)
    fails, lost = rng.choice([(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.2, 0.3)])
    ended = _work_off(turns, slots=rng.randint(1, 4), rng=rng, fails=fails, lost=lost)

    published = [job.place for job in ended if job.step == "publish"]
    assert sorted(map(str, [*published, *turns.failures])) == sorted(map(str, places))  # each exactly once
    for house in ("house_1", "house_2", "house_3"):
        of_house = [place.week for place in published if place.house == house]
        assert of_house == sorted(of_house)
    for job in ended:
        if job.step == "publish":
            assert ended.index(Job("solve", job.place)) < ended.index(job)
    if fails == lost == 0:
        assert not turns.failures


def test_a_week_is_published_before_another_is_solved() -> None:
    one, two, three = _places(house_1=3)
    turns = JobOrder([one, two, three])
    assert (turns.take(), turns.take()) == (Job("solve", one), Job("solve", two))
    turns.done(Job("solve", two))
    assert turns.take() == Job("solve", three)  # the second waits for the first
    turns.done(Job("solve", one))
    assert turns.take() == Job("publish", one)
    assert turns.take() is None  # one at a time in a house
    turns.done(Job("publish", one))
    assert turns.take() == Job("publish", two)


def test_houses_are_worked_off_side_by_side() -> None:
    turns = JobOrder(_places(house_1=2, house_2=2))
    taken = [turns.take() for _ in range(4)]
    assert [str(job.place) for job in taken if job] == [
        "house_1 2015-wk01",
        "house_2 2015-wk01",
        "house_1 2015-wk02",
        "house_2 2015-wk02",
    ]
    for job in taken:
        assert job is not None
        turns.done(job)
    both = [turns.take(), turns.take()]
    assert [job.place.house for job in both if job] == ["house_1", "house_2"]


def test_a_failed_week_does_not_hold_up_the_next() -> None:
    one, two = _places(house_1=2)
    turns = JobOrder([one, two])
    for place in (one, two):
        assert turns.take() == Job("solve", place)
    turns.done(Job("solve", two))
    turns.done(Job("solve", one), "not one usable row")
    assert turns.take() == Job("publish", two)
    assert turns.failures == {one: "not one usable row"}


def test_a_week_that_loses_its_process_twice_has_failed() -> None:
    (one,) = _places(house_1=1)
    turns = JobOrder([one])
    job = turns.take()
    assert job is not None
    turns.lost(job, "killed")
    assert turns.take() == job
    assert turns.failures == {}
    turns.lost(job, "killed")
    assert turns.take() is None
    assert turns.failures == {one: "killed"}


def _takes(turns: JobOrder, *, slots: int, seconds: dict[str, float]) -> float:
    """How long a backfill takes on workers that never wait for anything but their turn."""
    now = 0.0
    running: list[tuple[float, Job]] = []
    while True:
        while len(running) < slots and (job := turns.take()) is not None:
            running.append((now + seconds[job.step], job))
        if not running:
            return now
        running.sort(key=lambda entry: entry[0])
        now, job = running.pop(0)
        turns.done(job)


@pytest.mark.parametrize(("solve", "publish"), [(5.0, 3.0), (5.0, 5.0), (3.0, 5.0), (8.0, 1.0)])
@pytest.mark.parametrize("weeks", [4, 20])
def test_the_order_lets_two_workers_be_faster_than_one(weeks: int, solve: float, publish: float) -> None:
    seconds = {"solve": solve, "publish": publish}
    one = _takes(JobOrder(_places(house_1=weeks)), slots=1, seconds=seconds)
    two = _takes(JobOrder(_places(house_1=weeks)), slots=2, seconds=seconds)
    assert one == weeks * (solve + publish)
    # A second worker does not shorten the line of publications, which begins with the first week solved.
    best = max(one / 2, solve + weeks * publish)
    assert two <= best + max(solve, publish)
    if publish <= solve:
        assert one / two > 1.5
