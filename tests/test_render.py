"""The table as text, as a picture and in a window: what it shows, what it hides, and that it changes nothing."""

import copy
import hashlib
import pickle
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from conftest import EVERY_TABLE, TABLE_SIZES, dealt, random_actions
from pettingzoo.test import api_test, render_test
from test_env import some_action, state_of, trace, warned

import bourre_env
from bourre_env import MissingPackageError, Rules, raw_env
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.drawing.canvas import ellipse, lay, paint, polygon, rounded, strokes
from bourre_env.drawing.lettering import GLYPHS, lettering
from bourre_env.drawing.picture import (
    BLOCK_HEIGHT,
    HEIGHT,
    PLATE_WIDTH,
    WIDTH,
    picture,
    places,
    status,
)
from bourre_env.drawing.playing_cards import CARD_HEIGHT, CARD_WIDTH, card_back, card_face, suit_sign
from bourre_env.drawing.window import Window
from bourre_env.render import HIDDEN, ansi, seen_by

CARDS = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]


def digest(image: np.ndarray[Any, Any]) -> str:
    """The first digits of a hash over an image's bytes and shape."""
    return hashlib.sha256(repr(image.shape).encode() + image.tobytes()).hexdigest()[:16]


def positions(num_players: int, seed: int = 4, **arguments: Any) -> Iterator[Snapshot]:
    """Every table of an episode played at random, from the antes to the settlement."""
    env, rng = raw_env(num_players, "pagat_limit", **arguments), np.random.default_rng(seed)
    env.reset(seed=seed)
    yield env.snapshot()
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        yield env.snapshot()


# --- pictures by hash

PICTURES = {  # by number of seats: the deal just begun, open; in play, from seat 1; settled, open
    2: ["df98acb435b268f5", "2c707d5e3aa40621", "35a62a5568676284"],
    3: ["d8b85d59fb8dacfd", "51506546de61d95c", "0a6acc5fbd01a02c"],
    4: ["db2447b3bf366c9f", "fad09251a8c9e642", "fa9ba5eed7234619"],
    5: ["3d95f6eb946d886a", "9b545b3afb5e7256", "da8d7de1ef9d3bd6"],
    6: ["e513d8e83561815c", "1dc6f3f6808f5540", "07aa0869dca2dba6"],
    7: ["61d75e194264b743", "fdb4586091d20dd2", "bfa1fcddaffb34b6"],
    8: ["391b250d4ce68bac", "e5f535a19051cc3e", "4a927cff23ae5a60"],
}
CARDS_DRAWN = "c455f7257a4eac43"


def three_pictures(num_players: int) -> list[str]:
    """Digests of three moments of a session."""
    tables = list(positions(num_players, num_deals=3))
    in_play = next(now for now in tables if now.phase == "play" and now.trick and any(now.tricks_won))
    views = [(tables[0], None), (in_play, 1), (tables[-1], None)]
    return [digest(picture(seen_by(now, seat), seat or 0)) for now, seat in views]


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_golden_pictures(num_players: int) -> None:
    """Looked at by eye when they were taken; drawn in whole numbers, they are the same bytes everywhere."""
    assert three_pictures(num_players) == PICTURES[num_players]


def test_golden_cards() -> None:
    assert digest(np.stack([*map(card_face, CARDS), card_back()])) == CARDS_DRAWN


# --- what a picture shows


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_every_position_can_be_drawn_and_each_one_looks_different(num_players: int) -> None:
    tables = list(positions(num_players, num_deals=2))
    images = [picture(now) for now in tables]
    assert {(image.shape, image.dtype.str) for image in images} == {((HEIGHT, WIDTH, 3), "|u1")}
    assert len({digest(image) for image in images}) == len(set(tables))


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_every_preset_can_be_drawn(name: str) -> None:
    tables = dealt(EVERY_TABLE[name], 2, seed=1)
    rng = np.random.default_rng(1)
    while not tables.settled.all():
        assert picture(seen_by(tables.snapshot(0), 0)).any()
        tables.step(random_actions(tables.legal_action_mask(), rng))
    assert picture(tables.snapshot(0)).any()


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_places_of_seats_lie_in_the_picture_clockwise_and_never_overlap(num_players: int) -> None:
    at = places(num_players)
    assert at[0].block[0] == WIDTH // 2
    assert at[0].block[1] == max(place.block[1] for place in at)
    if num_players > 2:
        assert at[1].block[0] < WIDTH // 2 < at[-1].block[0]  # seen from above, clockwise from the bottom is leftwards
    boxes = [(place.block, (PLATE_WIDTH, BLOCK_HEIGHT)) for place in at]
    boxes += [(place.played, (CARD_WIDTH, CARD_HEIGHT)) for place in at]
    boxes += [((WIDTH // 2, HEIGHT // 2 + 4), (160, 80))]  # pot and turn-up
    for number, ((x, y), (width, height)) in enumerate(boxes):
        assert width // 2 <= x <= WIDTH - width // 2
        assert height // 2 <= y <= HEIGHT - height // 2
        for (other_x, other_y), (other_width, other_height) in boxes[:number]:
            apart = 2 * abs(x - other_x) >= width + other_width or 2 * abs(y - other_y) >= height + other_height
            assert apart, (number, (x, y), (other_x, other_y))


def test_every_card_every_back_and_every_sign_is_drawn_differently() -> None:
    assert len({digest(card_face(card)) for card in CARDS} | {digest(card_back())}) == 53
    assert len({digest(suit_sign(suit, 14)) for suit in "CDHS"}) == 4
    signs = [lettering(sign, 44, 7) for sign in GLYPHS if sign != " "]
    assert len({digest(sign) for sign in signs}) == len(GLYPHS) - 1


def test_word_with_a_sign_the_alphabet_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="the alphabet has no 'ß'"):
        lettering("ß", 44, 7)


@pytest.mark.parametrize("num_players", [2, 5])
def test_each_fact_of_the_table_changes_the_picture(num_players: int) -> None:
    tables = list(positions(num_players, num_deals=3))
    now = next(table for table in tables if table.phase == "play" and len(table.trick) == 1 and any(table.tricks_won))
    seats = range(num_players)
    changes: dict[str, Any] = {
        "phase": "draw",
        "dealer": (now.dealer + 1) % num_players,
        "seat": (now.seat + 1) % num_players,
        "hands": now.hands[::-1],
        "trump_suit": "CDHS".replace(now.trump_suit, "")[0],
        "turn_up": "2C" if now.turn_up != "2C" else "3C",
        "trick": (),
        "tricks_won": tuple(won + 1 for won in now.tricks_won),
        "passed": tuple(not now.passed[seat] for seat in seats),
        "num_discards": tuple(number + 1 for number in now.num_discards),
        "pot": now.pot + 1,
        "chips": tuple(chips + 1 for chips in now.chips),
        "deal_index": now.deal_index + 1,
    }
    drawn = {digest(picture(replace(now, **{name: value}))) for name, value in changes.items()}
    assert len(drawn | {digest(picture(now))}) == len(changes) + 1


def test_status_says_what_each_seat_is_about() -> None:
    said = {status(now, seat) for size in TABLE_SIZES for now in positions(size, num_deals=4) for seat in range(size)}
    assert said >= {"PASSED", "STAYS", "STAYS, 5 NEW", "BOURRÉ", "TO SPEAK", "NO ANTE", ""}
    assert all(set(words) <= set(GLYPHS) for words in said)


# --- what is hidden


@pytest.mark.parametrize(
    "rules",
    [
        Rules(num_players=4),
        Rules(num_players=3, declare_mode="two_rounds"),
        Rules(num_players=8),
        Rules(num_players=5, declare_mode="two_rounds", blind_declaring=True),
    ],
    ids=repr,
)
def test_b071_view_of_a_seat_does_not_depend_on_what_it_has_not_seen(rules: Rules) -> None:
    """In every phase: other worlds in which the seat has seen the same give the same text and the same picture."""
    tables, rng = dealt(rules, 30, seed=6), np.random.default_rng(6)
    different = 0
    while not tables.settled.all():
        seat = int(rng.integers(rules.num_players))
        worlds = tables.reshuffle_unseen(seat, int(rng.integers(99)))
        for row in range(30):
            here, there = (
                seen_by(one.snapshot(row), seat, blind_declaring=rules.blind_declaring) for one in (tables, worlds)
            )
            assert here == there
            different += tables.snapshot(row) != worlds.snapshot(row)
        assert ansi(here) == ansi(there)
        assert (picture(here, seat) == picture(there, seat)).all()
        tables.step(random_actions(tables.legal_action_mask(), rng))
    assert different > 100


def test_hidden_cards_are_backs_and_keep_their_number() -> None:
    now = next(iter(positions(4)))
    shown = seen_by(now, 2)
    assert shown.hands[2] == now.hands[2]
    assert [hand for seat, hand in enumerate(shown.hands) if seat != 2] == [(HIDDEN,) * 5] * 3
    assert seen_by(now, None) is now
    block = places(4)[1].block  # seat 3, on the left of the observer
    right_most = block[0] - (CARD_WIDTH + 4 * 32) // 2 + 4 * 32, block[1] - BLOCK_HEIGHT // 2
    card = picture(shown, 2)[right_most[1] :, right_most[0] :][2 : CARD_HEIGHT - 2, 2 : CARD_WIDTH - 2]
    assert (card == card_back()[2:-2, 2:-2]).all()


def test_3_12_blind_seat_does_not_see_its_own_hand_before_all_have_declared() -> None:
    rules = Rules(declare_mode="two_rounds", blind_declaring=True)
    for mode in ("ansi", "rgb_array"):
        views = []
        for seed in (1, 2):
            env = raw_env(rules=rules, render_mode=mode, render_seat=0)
            deck = CARDS[:19:2] + CARDS[1:19:2] if seed == 1 else CARDS[1:19:2] + CARDS[:19:2]
            rest = [card for card in CARDS if card not in deck]
            env.reset(seed=seed, options={"deck": [*deck, *rest], "dealer": 3})
            views.append(env.render())
        assert np.array_equal(views[0], views[1])


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_render_seat_hides_what_that_seat_cannot_see(mode: str) -> None:
    env = raw_env(render_mode=mode, render_seat=1)
    env.reset(seed=3)
    now = env.snapshot()
    seen = env.render()
    if mode == "ansi":
        assert all((card in str(seen)) == (card in (*now.hands[1], now.turn_up)) for hand in now.hands for card in hand)
    assert np.array_equal(seen, ansi(now, 1) if mode == "ansi" else picture(seen_by(now, 1), 1))
    open_env = raw_env(render_mode=mode)
    open_env.reset(seed=3)
    assert not np.array_equal(seen, open_env.render())


@pytest.mark.parametrize("seat", [-1, 4, "0", "player_1", True, 1.0, [0]], ids=repr)
def test_bad_seat_to_render_is_refused_in_words(seat: Any) -> None:
    for make in (bourre_env.raw_env, bourre_env.env):
        with pytest.raises(ValueError, match=r"render_seat is .*; it must be None or a seat from 0 to 3"):
            make(render_seat=seat)
    assert raw_env(render_seat=np.int64(3)).render_seat == 3


# --- looking changes nothing


def test_pictures_are_fresh_arrays_and_change_nothing() -> None:
    env = raw_env(5, num_deals=2, render_mode="rgb_array")
    plain = raw_env(5, num_deals=2)
    env.reset(seed=4)
    plain.reset(seed=4)
    rng, kept = np.random.default_rng(1), []
    while not plain.truncations[plain.agent_selection]:
        image = env.render()
        assert isinstance(image, np.ndarray)
        kept.append((image, image.copy()))
        again = env.render()
        again[:] = 0  # type: ignore[index]
        assert np.array_equal(env.render(), image)
        assert state_of(env) == state_of(plain)
        action = some_action(plain.observe(plain.agent_selection)["action_mask"], rng)
        env.step(action)
        plain.step(action)
    assert all((image == copied).all() for image, copied in kept)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_b081_environment_can_be_pickled_after_rendering(mode: str) -> None:
    env = raw_env(render_mode=mode)
    env.reset(seed=1)
    env.render()
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert np.array_equal(other.render(), env.render())


@warned
def test_pettingzoo_api_test_passes_with_pictures() -> None:
    api_test(bourre_env.env(render_mode="rgb_array"), num_cycles=40)


def test_no_mode_renders_nothing() -> None:
    env = raw_env()
    env.reset(seed=1)
    assert env.render() is None
    env.close()


def test_modes_are_those_of_the_metadata() -> None:
    assert raw_env.metadata["render_modes"] == ["ansi", "rgb_array", "human"]
    with pytest.raises(ValueError, match=r"choose None or one of \['ansi', 'rgb_array', 'human'\]"):
        raw_env(render_mode="svg")


class Film:
    """Stands in for the film writer of moviepy, which the wrapper that films asks for."""

    made: list[tuple[int, int, str]] = []  # noqa: RUF012

    def __init__(self, frames: list[np.ndarray[Any, Any]], fps: int) -> None:
        """Keep the frames."""
        self.frames, self.fps = frames, fps

    def write_videofile(self, path: str, logger: Any) -> None:
        """Note what would have been written."""
        self.made.append((len(self.frames), self.fps, Path(path).name))


def test_b038_wrapper_that_films_plays_the_same_deal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("moviepy", "moviepy.video", "moviepy.video.io", "moviepy.video.io.ImageSequenceClip")
    for name in names:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules[names[-1]].ImageSequenceClip = Film  # type: ignore[attr-defined]
    filmed = pettingzoo.utils.wrappers.RecordVideo(
        raw_env(3, render_mode="rgb_array"), str(tmp_path / "films"), episode_trigger=lambda _: True
    )
    bare = raw_env(3)
    filmed.reset(seed=5)
    bare.reset(seed=5)
    steps = trace(bare, np.random.default_rng(1))
    assert trace(filmed, np.random.default_rng(1)) == steps
    filmed.close()
    assert [number for number, _, _ in Film.made] == [len(steps) + 1]


# --- the window


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pygame without a screen, and without waiting between two pictures."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(raw_env.metadata, "render_fps", 10_000)
    pygame = pytest.importorskip("pygame")
    yield pygame
    pygame.display.quit()


def on_screen(pygame: Any) -> np.ndarray[Any, Any]:
    """[H, W, 3] uint8: what the window shows."""
    surface = pygame.display.get_surface()
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(HEIGHT, WIDTH, 3)


def test_window_follows_the_play_and_closes(window: Any) -> None:
    env = raw_env(3, render_mode="human", render_seat=1)
    shown = raw_env(3, render_mode="rgb_array", render_seat=1)
    rng = np.random.default_rng(1)
    for _ in range(2):
        env.reset(seed=2)
        shown.reset(seed=2)
        for _ in range(5):
            assert (on_screen(window) == shown.render()).all()
            action = some_action(env.observe(env.agent_selection)["action_mask"], rng)
            env.step(action)
            shown.step(action)
        assert env.render() is None
        env.close()
        assert not window.display.get_init()
        env.close()
    assert state_of(env) == state_of(shown)


def test_window_that_its_user_closes_stays_closed_and_the_play_goes_on(window: Any) -> None:
    env = raw_env(render_mode="human")
    env.reset(seed=2)
    window.event.post(window.event.Event(window.QUIT))
    env.render()
    assert not window.display.get_init()
    env.reset(seed=3)
    trace(env, np.random.default_rng(1))
    assert not window.display.get_init()
    env.close()
    env.reset(seed=4)
    assert window.display.get_init()
    env.close()


def test_b081_copies_of_an_environment_have_no_window_of_their_own(window: Any) -> None:
    env = raw_env(render_mode="human")
    env.reset(seed=1)
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env.clone()):
        assert other._window is None
        assert state_of(other) == state_of(env)
    env.close()


def test_pettingzoo_render_test_passes(window: Any) -> None:
    for make in (bourre_env.raw_env, bourre_env.env):
        render_test(make, custom_tests={"ansi": lambda text: "trumps" in text})
    render_test(lambda render_mode: bourre_env.env(8, "pagat", 2, render_mode, "forfeit", 3))


def test_b155_window_without_pygame_costs_one_line_and_other_modes_need_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("pygame", "PIL", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    for make in (bourre_env.raw_env, bourre_env.env):
        with pytest.raises(MissingPackageError, match=r"needs pygame: pip install 'bourre-env\[render\]'") as refusal:
            make(render_mode="human")
    assert isinstance(refusal.value, ImportError)
    assert len(str(refusal.value).splitlines()) == 1
    with pytest.raises(MissingPackageError):
        Window("table").show(np.zeros((HEIGHT, WIDTH, 3), np.uint8), fps=1)
    env = raw_env(render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render() is not None


# --- shapes


def test_shapes_cover_what_they_should() -> None:
    square = polygon(4, 4, [(4, 4), (12, 4), (12, 12), (4, 12)])
    assert square.tolist() == [[0, 0, 0, 0], [0, 16, 16, 0], [0, 16, 16, 0], [0, 0, 0, 0]]
    assert (polygon(4, 4, [(4, 4), (4, 12), (12, 12), (12, 4)]) == square).all()  # whichever way round
    half = polygon(2, 2, [(0, 0), (8, 0), (0, 8)])
    assert half[0, 0] == 16
    assert half[1, 1] == 0
    assert (half == half.T).all()
    disc = ellipse(20, 20, (40, 40), (32, 32))
    assert disc.sum() == pytest.approx(np.pi * 32 * 32, rel=0.01)
    assert (disc == disc.T).all()
    assert rounded(10, 12, 0).min() == 16
    assert rounded(10, 12, 0, inset=4)[1:-1, 1:-1].min() == 16
    assert rounded(10, 12, 0, inset=4)[0].max() == 0
    assert rounded(10, 10, 20)[0, 0] == 0
    line = strokes(3, 8, [[(6, 6), (26, 6)]], 4)
    assert line[1, 2:6].tolist() == [16] * 4
    assert line[1, 0] == 0


def test_colours_are_laid_on_within_the_picture_and_mixed() -> None:
    image = np.zeros((4, 4, 3), np.uint8)
    full = np.full((2, 2), 16, np.uint8)
    for place in ((-1, -1), (3, 3), (9, 9), (-9, 0)):
        paint(image, place, full, (255, 100, 0))
    assert image[0, 0].tolist() == image[3, 3].tolist() == [255, 100, 0]
    assert image.sum() == 2 * 355
    paint(image, (1, 1), full // 2, (200, 0, 0))
    assert image[1, 1].tolist() == [100, 0, 0]
    paint(image, (1, 1), full, (200, 0, 0), 0)
    assert image[1, 1].tolist() == [100, 0, 0]
    lay(image, (2, 1), np.full((2, 2, 3), 9, np.uint8), full)
    assert image[1, 2].tolist() == [9, 9, 9]
