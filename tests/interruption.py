"""Work that is interrupted while it runs, and how soon it stops."""

import contextlib
import os
import signal
import threading
import time

import numpy as np

WITHIN = 0.5  # seconds of processor time, of all threads: a busy machine takes nothing from it


@contextlib.contextmanager
def only_while_armed():
    """SIGINT raises KeyboardInterrupt, but not when the work was done before it came."""
    armed = threading.Event()

    def handle(signum, frame):
        if armed.is_set():
            armed.clear()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield armed
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(work, after):
    """Processor seconds from a signal sent `after` such seconds of work to the KeyboardInterrupt; None if none came."""
    sent = []

    def send():
        while time.process_time() - start < after and armed.is_set():
            time.sleep(0.005)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    with only_while_armed() as armed:
        armed.set()
        start = time.process_time()
        sender = threading.Thread(target=send)
        sender.start()
        try:
            work()
            return None
        except KeyboardInterrupt:
            return time.process_time() - sent[0]
        finally:
            armed.clear()
            sender.join()


def slowest(work, moments):
    """The slowest of interruptions spread over the work, and how many there were."""
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
