"""Python reads this at its start where `tests.support.clock` put its folder first: the tests' clock, in each process."""

import os

if seconds := os.environ.get("GOLDSET_TEST_CLOCK_OFFSET"):
    import time

    import time_machine

    time_machine.travel(time.time() + float(seconds), tick=True).start()
