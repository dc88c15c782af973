"""A long run of the engine of Bureau beside the oracle, part of `make fuzz`.

Every preset, then random house rules, until the decisions asked for are reached. Any disagreement stops the run. At the
end stands how often each kind of move and of ending occurred.
"""

import sys

from bureau_play import Comparison, preset_rules, random_rules
from fuzzing import main

if __name__ == "__main__":
    sys.exit(main(__doc__, Comparison, preset_rules(), random_rules, num_tables=12, decisions_by_rules=5000))
