"""The AEC environment of a game that two sides play in hands to a number of points, whichever game it is.

An episode is one hand, or a game. Shapes: N = 4 seats, C cards of the pack.
"""

import secrets
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.aec import TableEnv
from bourre_env.deck import shuffled_decks
from bourre_env.env_options import checked_seat, checked_seed, drawn_dealers, integer, named_options
from bourre_env.errors import DeckError

EPISODES = ("hand", "game")
OPTIONS = ("deck", "dealer", "score")


class HandsEnv(TableEnv):
    """One table of such a game: an illegal action raises `IllegalActionError` and changes nothing.

    Attributes:
        rules: the house rules.
        episode: "hand" or "game".
        deal_index: the number of the current hand in its episode.
        episode_seed: the seed of the stream of hands.
    """

    _tables: Any
    _lowest_score = 0  # of a game that goes on

    def __init__(self, tables: Any, episode: str, render_mode: str | None, render_seat: int | None) -> None:
        """Set up a table; `reset` deals.

        Args:
            tables: one table of the game.
            episode: one of `EPISODES`.
            render_mode: one of the metadata's, or None.
            render_seat: the seat from which the table is shown; None shows every hand.

        Raises:
            ValueError: an argument that is not among those listed.
        """
        if episode not in EPISODES:
            raise ValueError(f"episode is {episode!r}; choose one of {', '.join(map(repr, EPISODES))}")
        self.rules = tables.rules
        self.episode = episode
        super().__init__(tables, self.rules.num_players, render_mode=render_mode, render_seat=render_seat)

    # --- episodes ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: 0 to 2^64 - 1 starts a stream of hands; None goes on with the current one.
            options: for the first hand: `deck` (card texts in dealing order), `dealer` (else drawn from the seed) and
                `score` (points of the two sides).

        Raises:
            ValueError: a seed or an option that makes no hand; nothing is changed.
        """
        chosen = self._checked_options(options)
        new_seed = checked_seed(seed) if seed is not None else self.episode_seed
        if new_seed is None:
            new_seed = secrets.randbits(64)
        deal_id = 0 if new_seed != self.episode_seed or seed is not None else self._deals_since_seed
        deck = chosen.get("deck")
        self._tables.deal(
            self._deck(new_seed, deal_id) if deck is None else deck,
            chosen.get("dealer", drawn_dealers(new_seed, [deal_id], self.rules.num_players)),
            score=chosen.get("score"),
        )
        self.episode_seed, self._deals_since_seed = new_seed, deal_id + 1
        self.deal_index = 0
        self._begin_bookkeeping()
        self._follow()

    def _deck(self, seed: int, deal_id: int) -> NDArray[np.int8]:
        """[1, C]: the pack of a numbered hand."""
        return shuffled_decks(seed, [deal_id], pack=self.rules.pack)

    def _deal_next(self) -> None:
        """The seat on the left deals, unless the episode is over."""
        score = self._tables.score
        if self.episode == "hand" or score.max() >= self.rules.target:
            return
        seed = self.episode_seed if self.episode_seed is not None else 0
        dealer = (int(self._table["dealer"]) + 1) % self.rules.num_players
        self._tables.deal(self._deck(seed, self._deals_since_seed), dealer, score=score)

    def _pay(self, returns: NDArray[np.int32]) -> None:
        """Pay a settled hand; note the hand that has begun, or end the episode."""
        self._pay_rewards(returns.astype(np.float64))
        if self._table["phase"] == self._settled:
            self._end_episode(self.terminations)
            return
        self._deals_since_seed += 1
        self.deal_index += 1

    # --- looking ---

    def snapshot(self) -> Any:
        """The table in words, hidden cards included."""
        self._need_deal("snapshot")
        return replace(self._tables.snapshot(0), hand_index=self.deal_index)

    def action_text(self, action: int) -> str:
        """An action in words, for the agent to act."""
        self._need_deal("action_text")
        return str(self._tables.action_text(0, action))

    def action_id(self, text: str) -> int:
        """The action that words name, for the agent to act; the inverse of `action_text`."""
        self._need_deal("action_id")
        return int(self._tables.action_id(0, text))

    # --- options ---

    def _card_ids(self, texts: Any) -> list[int]:
        """Ids of cards written as texts.

        Raises:
            ValueError: a text is no card of the game.
            TypeError: not a list of texts.
        """
        raise NotImplementedError

    def _checked_options(self, options: dict[str, Any] | None) -> dict[str, Any]:
        """The options of `reset` with the deck as ids, as far as they can be checked before the table sees them."""
        chosen = {name: value for name, value in named_options(options, OPTIONS).items() if value is not None}
        if "deck" in chosen:
            chosen["deck"] = self._deck_of_texts(chosen["deck"])
        if "dealer" in chosen:
            chosen["dealer"] = checked_seat(chosen["dealer"], self.rules.num_players, "options['dealer']")
        if "score" in chosen:
            chosen["score"] = self._score_of_sides(chosen["score"])
        return chosen

    def _deck_of_texts(self, texts: Any) -> NDArray[np.int8]:
        """[1, C] ids of a deck written as card texts."""
        try:
            return np.array([self._card_ids(texts)], np.int8)
        except (ValueError, TypeError) as error:
            raise DeckError(f"options['deck']: {error}") from None

    def _score_of_sides(self, score: Any) -> NDArray[np.int64]:
        """[1, 2] points of the sides, each short of the target."""
        low, high = self._lowest_score, self.rules.target - 1
        points = [integer(number) for number in score] if isinstance(score, (list, tuple, np.ndarray)) else []
        if len(points) != 2 or any(number is None or not low <= number <= high for number in points):
            raise ValueError(
                f"options['score'] is {score!r}; it must be two integers from {low} to {high}, points of seats 0 and "
                "2, of 1 and 3"
            )
        return np.array([points], np.int64)
