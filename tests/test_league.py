"""The league: who is in the pool, who is met, and that a run with one goes on as if it had never stopped."""

from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.checkpoint import load_checkpoint, parameter_hash
from agents.config import Config, ConfigError, check_config
from agents.league import EXPLOITER, SELF, League, Member, superfluous
from agents.policy import PolicyError
from agents.starts import Opponents
from agents.states import checksum, to_cpu
from agents.trainer import Trainer

TINY = {
    "run": {"deals": 512, "threads": 1, "checkpoint_every": 2, "keep": 0, "pictures_every": 0},
    "network": {"actor_width": 16, "actor_layers": 1},
    "rollout": {"deals": 32, "random_share": 0.2},
    "learn": {"minibatch": 32},
    "evaluation": {"times": 1, "blocks": 4, "final_blocks": 0},
    "league": {"share": 0.5, "size": 3, "every": 2, "at_once": 2, "exploiter_every": 2, "exploiter_life": 3},
}


def settings(**sections: dict[str, object]) -> Config:
    """The tiny run with some keys set anew."""
    plain = {name: {**values, **sections.get(name, {})} for name, values in TINY.items()}
    return check_config(plain)


def trainer(folder: Path, config: Config | None = None, *, resume: bool = False) -> Trainer:
    """A run in a folder."""
    folder.mkdir(exist_ok=True)
    return Trainer(config or settings(), folder, warn=pytest.fail, resume=resume)


def iterated(run: Trainer, times: int) -> list[dict[str, float]]:
    """The values of some iterations."""
    return [run.iterate() for _ in range(times)]


@pytest.fixture
def pool(tmp_path: Path) -> League:
    """A pool of three former selves of a network that learned nothing between them."""
    run = trainer(tmp_path / "run")
    found = League(tmp_path / "other", settings().league, seed=1)
    (tmp_path / "other").mkdir()
    for deals in (32, 64, 96):
        found.add(SELF, deals, run._save_network)
    run.close()
    return found


def test_former_selves_join_and_are_met_and_their_results_are_kept(tmp_path: Path) -> None:
    run = trainer(tmp_path / "run")
    values = iterated(run, 8)
    assert run.league is not None
    assert values[0]["league/members"] == 0
    assert values[-1]["league/members"] == 3
    assert len(list((tmp_path / "run" / "pool").glob("*.safetensors"))) >= 3
    assert sum(member.met for member in run.league.members) > 0
    assert "league/self_mean" in values[-1]
    assert "opponents/random" in values[-1]
    values[-1] |= run.evaluate()
    run.record(values[-1])  # refuses tags that nobody could look up
    run.close()
    events = EventAccumulator(str(tmp_path / "run"))
    events.Reload()
    assert "league/text_summary" in events.Tags()["tensors"]


def test_a_share_of_the_deals_is_played_among_members_each_alike(tmp_path: Path) -> None:
    run = trainer(tmp_path / "run", settings(rollout={"deals": 2000, "random_share": 0.25}, run={"deals": 10**6}))
    assert run.league is not None
    for deals in (0, 1):
        run._let_join(run.league, SELF, run.learner.actor) if not deals else run.league.add(SELF, 1, run._save_network)
    opponents, met = run.league.opponents(run._deals.opponents, iteration=3)
    assert {member.deals for member in met} == {0, 1}
    line_ups = opponents.line_ups(run.games[0], 1, np.arange(20_000))
    whose = line_ups.max(axis=1)
    shares = [float((whose == index).mean()) for index in range(-1, len(opponents.policies))]
    assert shares == pytest.approx([0.25, 0.25, 0.0, 0.25, 0.25], abs=0.02)  # itself, random, rule bots, members
    run.close()


def test_the_exploiter_learns_against_the_bot_joins_the_pool_and_starts_again(tmp_path: Path) -> None:
    run = trainer(tmp_path / "run", settings(league={"size": 10, "every": 1}))
    assert run.exploiter is not None
    assert run.league is not None
    before = parameter_hash(run.exploiter.learner.actor)
    values = iterated(run, 4)
    assert parameter_hash(run.exploiter.learner.actor) != before
    assert "league/exploiter_gain" in values[1]
    assert "league/exploiter_gain" not in values[0]
    iterated(run, 2)
    exploiters = [member for member in run.league.members if member.kind == EXPLOITER]
    assert len(exploiters) == 1  # three iterations of two are a life
    # it starts again from the newest former self there was
    newest = [member for member in run.league.members if member.kind == SELF][-2]
    _, former = load_checkpoint(tmp_path / "run" / "pool" / newest.name)
    assert parameter_hash(run.exploiter.learner.actor) == parameter_hash(former)
    run.close()


@pytest.mark.parametrize("learn", [{"advantages": "pairs"}, {"advantages": "critic"}, {"method": "dmc"}])
def test_a_run_with_a_league_is_resumed_as_if_it_had_never_stopped(tmp_path: Path, learn: dict[str, object]) -> None:
    config = settings(learn=learn)
    whole = trainer(tmp_path / "whole", config)
    iterated(whole, 10)
    first = trainer(tmp_path / "parts", config)
    iterated(first, 5)
    first.save()
    iterated(first, 2)  # lost, with the member that joined in them
    first.close()
    second = trainer(tmp_path / "parts", config, resume=True)
    assert second.counters.iteration == 5
    iterated(second, 5)
    assert parameter_hash(second.learner.actor) == parameter_hash(whole.learner.actor)
    states = [to_cpu(run._state()) for run in (whole, second)]
    assert states[0]["league"] == states[1]["league"]
    assert checksum(states[0]["exploiter"]) == checksum(states[1]["exploiter"])
    for run in (whole, second):
        run.close()


def test_a_member_that_went_is_kept_on_the_disk_while_a_state_still_needs_it(pool: League) -> None:
    saved = pool.state()
    pool.state_saved()
    for deals in (128, 160, 192):
        pool.add(SELF, deals, lambda path: path.write_bytes(b"another"))
    pool.load_state(saved)  # nobody saved the state after them
    assert [member.deals for member in pool.members] == [32, 64, 96]
    assert len(pool._files()) == 3


def test_a_member_that_cannot_be_read_is_left_out_and_the_run_goes_on(tmp_path: Path) -> None:
    first = trainer(tmp_path / "run")
    iterated(first, 6)
    first.save()
    first.close()
    missing, damaged, _ = sorted((tmp_path / "run" / "pool").iterdir())[:3]
    missing.unlink()
    damaged.write_bytes(b"junk")
    warnings: list[str] = []
    second = Trainer(settings(), tmp_path / "run", warn=warnings.append, resume=True)
    assert len(warnings) == 2
    assert missing.name in warnings[0]
    assert damaged.name in warnings[1]
    assert second.league is not None
    assert [member.name for member in second.league.members] == [
        member.name for member in first.league.members if member.name not in (missing.name, damaged.name)
    ]
    iterated(second, 4)
    second.close()


def test_a_full_disk_leaves_the_pool_as_it_was(pool: League) -> None:
    def fail(path: Path) -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        pool.add(SELF, 128, fail)
    assert [member.deals for member in pool.members] == [32, 64, 96]


def test_a_full_pool_stays_spread_over_the_run() -> None:
    members = [Member("", SELF, 0)]
    for deals in range(1, 33):
        members.append(Member("", SELF, deals))
        if len(members) > 5:
            members.pop(superfluous(members))
    deals = [member.deals for member in members]
    assert (deals[0], deals[-1]) == (0, 32)
    assert max(np.diff(deals)) <= 4 * min(np.diff(deals)[:-1])


def test_harder_members_are_met_more_often(pool: League) -> None:
    easy, hard, other = pool.members
    easy.mean, hard.mean, other.mean = 0.3, -0.1, 0.3
    uniform = League(pool._folder.parent, settings(league={"at_once": 1}).league, seed=1)
    hardest = League(pool._folder.parent, settings(league={"at_once": 1, "sampling": "hardest"}).league, seed=1)
    met = {}
    for league in (uniform, hardest):
        league.members = pool.members
        met[league] = [league._drawn(iteration)[0].name for iteration in range(300)]
    assert met[uniform].count(hard.name) == pytest.approx(100, abs=40)
    assert met[hardest].count(hard.name) > 270
    assert met[hardest] == [hardest._drawn(iteration)[0].name for iteration in range(300)]


def test_without_members_only_the_others_are_met(tmp_path: Path) -> None:
    base = Opponents((), ())
    assert League(tmp_path, settings().league, seed=1).opponents(base, 1) == (base, [])


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"league": {"share": 0.9}}, "league.share"),
        ({"league": {"share": 0.0}}, "league.exploiter_every"),
        ({"league": {"at_once": 5}}, "league.cache"),
        ({"rollout": {"target": "heuristic", "random_share": 0.0}}, "league.share"),
    ],
)
def test_a_league_that_could_not_work_is_refused(sections: dict[str, dict[str, object]], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        settings(**sections)


# --- starting from a checkpoint


OFF = {"share": 0.0, "exploiter_every": 0}


def test_a_run_may_start_from_the_network_of_a_checkpoint(tmp_path: Path) -> None:
    first = trainer(tmp_path / "first", settings(league=OFF))
    iterated(first, 2)
    first.save()
    second = trainer(tmp_path / "second", settings(run={"start": str(tmp_path / "first")}, league=OFF))
    assert parameter_hash(second.learner.actor) == parameter_hash(first.learner.actor)
    assert second.counters.deals == 0
    for run in (first, second):
        run.close()


@pytest.mark.parametrize(
    ("start", "sections", "complaint"),
    [
        ("heuristic", {}, "no checkpoint"),
        ("bourre:4", {}, "other sizes"),
        ("bourre:4", {"rules": {"num_players": 7}}, "not trained for 7 seats"),
        ("bourre:4", {"learn": {"method": "dmc"}}, "ppo made it"),
    ],
)
def test_a_network_that_does_not_fit_is_no_start(
    tmp_path: Path, start: str, sections: dict[str, dict[str, object]], complaint: str
) -> None:
    plain = {**TINY, **sections, "run": {**TINY["run"], "start": start}, "league": {}}
    with pytest.raises(PolicyError, match=complaint):
        trainer(tmp_path / "run", check_config(plain))
