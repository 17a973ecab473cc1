"""Several things at once, while the main thread hears signals."""

import concurrent.futures

HEAR_SECONDS = 0.5


def together(actions, workers):
    """The results, in order. The first failure is raised when all have ended."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(action) for action in actions]
        left = set(futures)
        try:
            # Python runs handlers of signals in the main thread, between two of its steps: a signal that comes just
            # before a wait without an end, or to another thread, is heard only when that wait ends.
            while left:
                left = concurrent.futures.wait(left, timeout=HEAR_SECONDS).not_done
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]
