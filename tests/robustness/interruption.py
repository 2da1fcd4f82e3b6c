"""Interrupt work while it runs, and measure how soon it stops."""

import os
import signal
import threading
import time

import numpy as np

WITHIN = 0.5  # seconds of processor time of all threads, so that a busy machine makes no difference


def interrupt(work, after):
    """Return the processor seconds from a signal, sent `after` seconds of work, to KeyboardInterrupt, or None."""
    waiting, sent = [True], []  # a signal that arrives after the work raises nothing

    def handle(signum, frame):
        if waiting:
            waiting.clear()
            raise KeyboardInterrupt

    def send():
        while waiting and time.process_time() - start < after:
            time.sleep(0.005)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handle)
    start = time.process_time()
    sender = threading.Thread(target=send)
    sender.start()
    try:
        work()
        waiting.clear()
        return None
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    finally:
        waiting.clear()
        sender.join()
        signal.signal(signal.SIGINT, before)


def slowest(work, moments):
    """Return the slowest of interruptions spread over the work, and their number."""
    start = time.process_time()
    work()
    total = time.process_time() - start
    late = [interrupt(work, total * (m + 0.5) / moments) for m in range(moments)]
    stopped = [seconds for seconds in late if seconds is not None]
    return max(stopped, default=0.0), len(stopped)


def groups(n_rows, n_columns, n_groups=5):
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(n_groups, n_columns))
    return centers[rng.integers(0, n_groups, n_rows)] + rng.normal(size=(n_rows, n_columns))
