"""The tests' clock in a process that they start. Python imports this first: see `tests.support.clock`."""

import os

if seconds := os.environ.get("GOLDGRADE_TEST_CLOCK_OFFSET"):
    import time

    import time_machine

    time_machine.travel(time.time() + float(seconds), tick=True).start()
