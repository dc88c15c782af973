"""Settings: presets, `--set`, and a table of forty ways to get them wrong."""

from pathlib import Path

import pytest

from agents.config import Config, ConfigError, LearnConfig, all_keys, changed_keys, check_config, read_config

CONFIGS = Path(__file__).parent.parent / "configs"
MINIMAL = "[run]\nminutes = 1\n"


def read(tmp_path: Path, text: str, *assignments: str) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return read_config(file, assignments)


BAD_FILES = {
    "b134_unknown_key": (
        "[learn]\nlerning_rate = 1e-3",
        "unknown key learn.lerning_rate; did you mean learn.learning_rate",
    ),
    "b134_right_key_wrong_section": ("[learn]\nseed = 1", "unknown key learn.seed; did you mean run.seed"),
    "b134_key_without_section": ("lerning_rate = 1e-3", "unknown key lerning_rate; did you mean learn.learning_rate"),
    "unknown_section": ("[runn]\nseed = 1", "unknown key runn; did you mean"),
    "section_like_nothing": ("[bogus]\nx = 1", "unknown key bogus; known are run, rules"),
    "key_like_nothing": ("[rules]\nz = 1", "unknown key rules.z; known are preset, num_players"),
    "b136_text_for_a_number": ("[learn]\nlearning_rate = '0.001'", "learn.learning_rate = '0.001'"),
    "b136_float_for_an_integer": (
        "[rules]\nnum_players = 4.0",
        "rules.num_players = 4.0: it must be a number of seats from 1 to 8",
    ),
    "boolean_for_an_integer": ("[run]\nseed = true", "run.seed = True"),
    "integer_for_a_boolean": ("[network]\nlayer_norm = 1", "network.layer_norm = 1"),
    "text_for_a_boolean": ("[network]\nlayer_norm = 'false'", "network.layer_norm = 'false'"),
    "number_for_a_text": ("[rules]\npreset = 4", "rules.preset = 4"),
    "b138_list_for_a_number": ("[learn]\nclip = [0.2]", "learn.clip ="),
    "b138_value_for_a_section": ("run = 3", "run = 3: it must be a section"),
    "b138_list_for_a_section": ("[[run]]\nminutes = 1", "run = .*it must be a section"),
    "b138_broken_toml": ("[run\nminutes = 1", "not TOML: .*line 1"),
    "duplicate_key": ("[run]\nseed = 1\nseed = 2", "not TOML: Cannot overwrite"),
    "duplicate_section": ("[run]\nseed = 1\n[run]\nminutes = 2", "not TOML"),
    "no_end": ("[run]\nseed = 1", "run.minutes, run.deals: set one of them"),
    "no_time": ("[run]\nminutes = 0", "run.minutes = 0.*greater than 0"),
    "negative_deals": ("[run]\ndeals = -5", "run.deals = -5"),
    "infinite": ("[run]\nminutes = inf", "run.minutes = inf.*finite"),
    "not_a_number": ("[learn]\nentropy = nan", "learn.entropy = nan.*finite"),
    "negative_seed": ("[run]\nseed = -1", "run.seed = -1"),
    "huge_seed": ("[run]\nseed = 9223372036854775808", "run.seed"),
    "no_threads": ("[run]\nthreads = 0", "run.threads = 0"),
    "empty_folder_name": ("[run]\ndir = ''", "run.dir = '': it must not be empty"),
    "unknown_stacks": (
        MINIMAL + "[rules]\nstacks = 'stakes'",
        "rules.stacks: Rules.stacks is 'stakes'.*'table_stakes'",
    ),
    "stacks_upside_down": (
        MINIMAL + "[rollout]\nsmallest_stack = 9\nlargest_stack = 8",
        "rollout.smallest_stack, roll",
    ),
    "no_chips": (MINIMAL + "[evaluation]\nbuy_in = 0", "evaluation.buy_in = 0"),
    "unknown_preset": (MINIMAL + "[rules]\npreset = 'pagatt'", "did you mean 'pagat'"),
    "nine_players": ("[rules]\nnum_players = 9", "rules.num_players = 9"),
    "a_size_twice": ("[rules]\nnum_players = [3, 3]", r"rules.num_players = \[3, 3\]: .* list of different ones"),
    "no_size": ("[rules]\nnum_players = []", r"rules.num_players = \[\]: it must be a number of seats"),
    "a_share_too_few": (
        MINIMAL + "[rules]\nnum_players = [3, 4]\n[rollout]\nsize_shares = [1.0]",
        r"rollout.size_shares = \[1.0\]: one share above 0 is needed for each of 2 table sizes",
    ),
    "an_empty_share": (
        MINIMAL + "[rules]\nnum_players = [3, 4]\n[rollout]\nsize_shares = [1.0, 0.0]",
        "one share above 0",
    ),
    "seats_shown_for_the_smaller": (
        MINIMAL + "[rules]\nnum_players = [3, 6]\n[network]\nseats_shown = 4",
        "network.seats_shown = 4: there are 6 seats",
    ),
    "too_few_seats_shown": (MINIMAL + "[network]\nseats_shown = 3", "network.seats_shown = 3: there are 4 seats"),
    "clip_of_one": ("[learn]\nclip = 1.0", "learn.clip = 1.0"),
    "no_learning_rate": ("[learn]\nlearning_rate = 0.0", "learn.learning_rate = 0.0"),
    "share_above_one": ("[rollout]\ncarry_share = 1.5", "rollout.carry_share = 1.5"),
    "shares_above_one": (MINIMAL + "[rollout]\nrandom_share = 0.6\nheuristic_share = 0.6", "together at most 1"),
    "target_and_others": (
        MINIMAL + "[rollout]\ntarget = 'heuristic'\nrandom_share = 0.1",
        "rollout.target takes every",
    ),
    "empty_target": ("[rollout]\ntarget = ''", "rollout.target = '': it must not be empty"),
    "b120_fewer_snapshots_than_none": ("[run]\nkeep = -1", "run.keep = -1"),
    "b120_text_for_snapshots": ("[run]\nkeep = '3'", "run.keep = '3'"),
    "no_patience": ("[run]\npatience = 0", "run.patience = 0"),
    "target_of_text": ("[run]\ntarget = 'high'", "run.target = 'high'"),
    "unknown_device": ("[run]\ndevice = 'gpu'", "run.device = 'gpu'.*'auto', 'cpu' or 'cuda'"),
    "one_block": ("[evaluation]\nblocks = 1", "evaluation.blocks = 1"),
    "one_final_block": (MINIMAL + "[evaluation]\nfinal_blocks = 1", "final_blocks = 1: an interval needs at least 2"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line_that_names_the_key(name: str, tmp_path: Path) -> None:
    text, message = BAD_FILES[name]
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


BAD_ASSIGNMENTS = {
    "b134_unknown": ("learn.lerning_rate=1", "did you mean learn.learning_rate"),
    "b134_no_section": ("lerning_rate=1", "did you mean learn.learning_rate"),
    "no_equals": ("run.seed", "write section.key=value"),
    "no_key": ("=3", "write section.key=value"),
    "a_section": ("run=3", "run is a section; write run.key"),
    "too_deep": ("run.seed.x=1", "unknown key run.seed.x"),
    "b136_float_for_an_integer": (
        "rules.num_players=4.0",
        "rules.num_players = '4.0': it must be a number, several such as 3,4,5, or a range",
    ),
    "text_for_an_integer": ("run.seed=one", "run.seed = 'one': it must be an integer"),
    "text_for_a_number": ("learn.clip=wide", "learn.clip = 'wide': it must be a number"),
    "nan": ("learn.clip=nan", "learn.clip = nan"),
    "yes": ("network.layer_norm=yes", "network.layer_norm = 'yes': write true or false"),
    "nothing": ("rules.num_players=", "rules.num_players = '': it must be a number, several"),
    "words_for_sizes": ("rules.num_players=3,four", "rules.num_players = '3,four': it must be a number, several"),
    "no_range": ("rules.num_players=5-3", r"rules.num_players = \[\]"),
    "words_for_shares": ("rollout.size_shares=half", "rollout.size_shares = 'half': it must be numbers"),
    "out_of_range": ("rules.num_players=1", "rules.num_players, .* for 2 to 8 players, not 1"),
    "nothing_for_a_text": ("run.dir=", "run.dir = '': it must not be empty"),
    "nothing_for_a_number": ("run.minutes=", "run.minutes = '': it must be a number"),
    "no_end": ("run.minutes=none", "run.minutes, run.deals"),
}


@pytest.mark.parametrize("name", BAD_ASSIGNMENTS)
def test_a_bad_assignment_is_refused_in_one_line_that_names_the_key(name: str, tmp_path: Path) -> None:
    assignment, message = BAD_ASSIGNMENTS[name]
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, MINIMAL, assignment)
    assert "\n" not in str(caught.value)


def test_an_assignment_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.seed: given twice"):
        read(tmp_path, MINIMAL, "run.seed=1", "run.seed=2")


def test_b138_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no config file .*nowhere\.toml"):
        read_config(tmp_path / "nowhere.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path)


def test_several_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run.seed = -1.*; .*learn.clip = 2.0"):
        read(tmp_path, "[run]\nminutes = 1\nseed = -1\n[learn]\nclip = 2.0")


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("True", True), ("TRUE", True), ("1", True), ("false", False), ("False", False), ("0", False)],
)
def test_booleans_are_read_in_any_case(text: str, value: bool, tmp_path: Path) -> None:
    assert read(tmp_path, MINIMAL, f"network.layer_norm={text}").network.layer_norm is value


def test_b136_numbers_are_numbers(tmp_path: Path) -> None:
    config = read(tmp_path, "[run]\nminutes = 1\n[learn]\nlearning_rate = 1e-4", "learn.clip=1e-1", "run.deals=7")
    assert config.learn.learning_rate == 1e-4
    assert config.learn.clip == 0.1
    assert config.run.deals == 7
    assert config.run.minutes == 1.0
    assert type(config.run.minutes) is float


def test_ends_and_devices_can_be_set(tmp_path: Path) -> None:
    run = read(tmp_path, MINIMAL, "run.target=-0.05", "run.patience=3", "run.device=cpu", "run.keep=0").run
    assert (run.target, run.patience, run.device, run.keep) == (-0.05, 3, "cpu", 0)
    assert read(tmp_path, MINIMAL, "run.target=0.1", "run.patience=none").run.patience is None


def test_a_key_can_be_unset(tmp_path: Path) -> None:
    assert read(tmp_path, MINIMAL, "run.minutes=None", "run.deals=10").run.minutes is None


def test_settings_are_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        read(tmp_path, MINIMAL).run.seed = 3  # type: ignore[misc]


def test_settings_survive_their_own_file(tmp_path: Path) -> None:
    config = read(tmp_path, MINIMAL, 'run.dir=a "quoted" ünïcode\\path', "learn.entropy=1e-07", "network.seats_shown=8")
    assert read(tmp_path, config.to_toml()) == config
    assert changed_keys(config, read(tmp_path, config.to_toml(), "run.seed=9", "learn.clip=0.3")) == [
        "run.seed",
        "learn.clip",
    ]


@pytest.mark.parametrize("text", ["3,4,5", "[3, 4, 5]", "3-5"])
def test_several_table_sizes_are_one_run_that_shows_the_largest(text: str, tmp_path: Path) -> None:
    config = read(tmp_path, MINIMAL, f"rules.num_players={text}", "rollout.size_shares=1,2,1")
    assert [rules.num_players for rules in config.games()] == config.sizes == [3, 4, 5]
    assert config.seats_shown == 5
    assert config.rollout.size_shares == [1.0, 2.0, 1.0]
    assert read(tmp_path, config.to_toml()) == config
    assert read(tmp_path, MINIMAL, "rules.num_players=6").sizes == [6]
    assert read(tmp_path, MINIMAL, f"rules.num_players={text}", "rollout.size_shares=none").rollout.size_shares is None


@pytest.mark.parametrize("name", ["smoke", "selfplay", "dmc", "best_response", "gpu"])
def test_the_presets_are_good(name: str) -> None:
    config = read_config(CONFIGS / f"{name}.toml")
    assert config.game().num_players == config.rules.num_players
    assert read_config(CONFIGS / f"{name}.toml", ["rules.preset=pagat_limit"]).game().limit == 20


def test_6_7_stakes_are_rules_and_the_buy_in_is_for_them_alone() -> None:
    config = read_config(CONFIGS / "smoke.toml", ["rules.stacks=table_stakes", "evaluation.buy_in=7"])
    assert (config.game().stacks, config.buy_in) == ("table_stakes", 7)
    assert read_config(CONFIGS / "smoke.toml").buy_in is None


def test_the_smoke_preset_is_reproducible_and_the_default_takes_five_minutes() -> None:
    smoke, default = read_config(CONFIGS / "smoke.toml"), read_config(CONFIGS / "selfplay.toml")
    assert smoke.run.deals is not None
    assert smoke.run.minutes is None
    assert (default.run.minutes, default.run.deals) == (5, None)


def test_every_key_is_documented_with_its_effect() -> None:
    source = (CONFIGS.parent / "agents" / "config.py").read_text()
    for key in all_keys():
        name = key.partition(".")[2]
        assert f"\n    {name}: " in source
        after = source.split(f"\n    {name}: ", 1)[1].split("\n", 1)[1]
        assert after.lstrip().startswith('"""'), key


def test_the_default_of_every_hyper_parameter_is_allowed() -> None:
    assert check_config({"run": {"minutes": 1}, "learn": LearnConfig().model_dump()}).learn == LearnConfig()
