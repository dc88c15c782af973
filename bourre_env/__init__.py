"""Bourré, Euchre, Pinochle and Bureau for reinforcement learning: rules, thousands of tables at once, environments."""

from bourre_env import gym
from bourre_env.bourre.deals import DealQueue
from bourre_env.bourre.rules import PRESETS, Rules
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.bourre.stepping import Buffers
from bourre_env.bourre.tables import Tables
from bourre_env.bureau import env as _bureau_environment
from bourre_env.bureau.rules import PRESETS as BUREAU_PRESETS
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.snapshot import BureauSnapshot
from bourre_env.bureau.tables import BureauTables
from bourre_env.decision import Decision
from bourre_env.deck import shuffled_decks
from bourre_env.env import env, raw_env, register
from bourre_env.errors import (
    BourreError,
    ChipsError,
    DeckError,
    IllegalActionError,
    MissingPackageError,
    NotationError,
    OpponentError,
    ResetNeededError,
    RulesError,
    UnknownAgentError,
)
from bourre_env.euchre import env as _euchre_environment
from bourre_env.euchre.env import euchre_env, raw_euchre_env
from bourre_env.euchre.rules import PRESETS as EUCHRE_PRESETS
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.snapshot import EuchreSnapshot
from bourre_env.euchre.tables import EuchreTables
from bourre_env.pinochle import env as _pinochle_environment
from bourre_env.pinochle.env import pinochle_env, raw_pinochle_env
from bourre_env.pinochle.rules import PRESETS as PINOCHLE_PRESETS
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.pinochle.snapshot import PinochleSnapshot
from bourre_env.pinochle.tables import PinochleTables

__all__ = [
    "BUREAU_PRESETS",
    "EUCHRE_PRESETS",
    "PINOCHLE_PRESETS",
    "PRESETS",
    "BourreError",
    "Buffers",
    "BureauRules",
    "BureauSnapshot",
    "BureauTables",
    "ChipsError",
    "DealQueue",
    "Decision",
    "DeckError",
    "EuchreRules",
    "EuchreSnapshot",
    "EuchreTables",
    "IllegalActionError",
    "MissingPackageError",
    "NotationError",
    "OpponentError",
    "PinochleRules",
    "PinochleSnapshot",
    "PinochleTables",
    "ResetNeededError",
    "Rules",
    "RulesError",
    "Snapshot",
    "Tables",
    "UnknownAgentError",
    "env",
    "euchre_env",
    "pinochle_env",
    "raw_env",
    "raw_euchre_env",
    "raw_pinochle_env",
    "shuffled_decks",
]

register()
_euchre_environment.register()
_bureau_environment.register()
_pinochle_environment.register()
gym.register()
