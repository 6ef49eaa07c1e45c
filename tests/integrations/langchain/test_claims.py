"""
Who follows a request when two handlers see it.
"""

from __future__ import annotations

import os
import threading

import pytest

pytest.importorskip("langchain_core")

from rageval_trace_langchain.claims import Claims


def test_without_an_automatic_handler_nothing_is_kept() -> None:
    """
    Claims cost nothing where nobody asks for them.
    """
    claims = Claims()
    claims.claim("run", None)

    assert (False, False) == (claims.watched, claims.holds("run"))


def test_a_claim_lasts_until_its_request_ends() -> None:
    """
    The surrounding request is left at once; stopping forgets all.
    """
    claims, left = Claims(), []
    claims.watch(left.append)
    claims.claim("run", None)
    claims.claim("inner", "outer")

    assert (["outer"], True, True) == (left, claims.holds("run"), claims.holds("inner"))
    claims.release("run")
    claims.watch(None)
    assert (False, False, False) == (claims.holds("run"), claims.holds("inner"), claims.watched)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_no_claims() -> None:
    """
    The parent's requests are the parent's, and a lock held at the fork holds nobody up.
    """
    claims = Claims()
    claims.watch(lambda run_id: None)
    claims.claim("run", None)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with claims._lock:
            held.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    child = os.fork()
    if child == 0:
        claims.claim("of the child", None)
        os._exit(0 if claims.holds("of the child") and not claims.holds("run") else 1)
    release.set()
    holder.join()

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert claims.holds("run")
