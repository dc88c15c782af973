"""A long run of the engine of Pinochle beside the oracle, part of `make fuzz`.

Every preset, then random house rules, until the decisions asked for are reached. Any disagreement stops the run. At the
end stands how often each kind of hand occurred.
"""

import sys

from fuzzing import main
from pinochle_play import Comparison, preset_rules, random_rules

if __name__ == "__main__":
    sys.exit(main(__doc__, Comparison, preset_rules(), random_rules, num_tables=12, decisions_by_rules=4000))
