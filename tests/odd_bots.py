"""Policies that tournaments of the tests load by `odd_bots:Name`."""

import os
import time

import numpy as np


class Bot:
    """The first legal action."""

    name = "a bot"

    def act(self, decision, rng):
        return decision.legal_action_mask.argmax(axis=1)


class Raises(Bot):
    def act(self, decision, rng):
        raise RuntimeError("out of ideas")


class Silent(Bot):
    def act(self, decision, rng):
        return None


class PassesInPlay(Bot):
    """Legal declarations, then an action that is never legal."""

    def act(self, decision, rng):
        actions = super().act(decision, rng)
        return np.where(decision.legal_action_mask[:, :52].any(axis=1), 84, actions)


class EndsTheProcess(Bot):
    """Takes its process with it, unless it is merely tried out."""

    def act(self, decision, rng):
        if len(decision) > 20:
            os._exit(9)
        return super().act(decision, rng)


class RaisesAboutClubs(Bot):
    """Raises whenever one of its decisions has an odd key, so that most batches fail as a whole."""

    def act(self, decision, rng):
        if (decision.key % np.uint64(2) == 1).any():
            raise ValueError("odd")
        return super().act(decision, rng)


class Sleeps(Bot):
    """Never answers."""

    def act(self, decision, rng):
        time.sleep(600)


class Stubborn(Bot):
    """Survives every exception and goes on thinking."""

    def act(self, decision, rng):
        while True:
            try:
                time.sleep(600)
            except Exception:
                continue


class SleepsLater(Bot):
    """Plays well until it meets a hand with three trumps."""

    def act(self, decision, rng):
        trumps = np.bitwise_count(decision.packed[:, 0] & np.uint64(0x1FFF))
        if (trumps >= 3).any():
            time.sleep(600)
        return super().act(decision, rng)


class Unreadable(Bot):
    """Answers with something that refuses to be an array, as a tensor with a gradient does."""

    def act(self, decision, rng):
        return Unreadable.Answer()

    class Answer:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("use detach() first")


class Panics(Bot):
    """Raises what is no `Exception`, as libraries written in Rust do."""

    def act(self, decision, rng):
        raise BaseException("panic")


class Unspeakable(Bot):
    """Raises an error that fails when it is to be told."""

    def act(self, decision, rng):
        raise Unspeakable.Error

    class Error(Exception):
        def __str__(self):
            raise ValueError("no words")
