"""
The English words that carry no content: part of the scoring version, so a change here is a change of scores.

Tokens are compared after normalisation (`rageval_trace.text.tokenize`): lower case, straight apostrophes, no
final `'s`. Negations stay out of the list, for "not" changes what a claim says.
"""

from __future__ import annotations

__all__ = ["ENGLISH"]

ENGLISH: frozenset[str] = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each either else ever few for from further had has have having he
    her here hers herself him himself his how i i'd i'll i'm i've if in into is it it'll its itself just let may me
    might more most must my myself of off on once only or other our ours ourselves out over own per shall she
    should so some such than that that'll the their theirs them themselves then there these they they'd they'll
    they're they've this those through to too under until up upon us very was we we'd we'll we're we've were what
    when where whether which while who whom whose why will with within would you you'd you'll you're you've your
    yours yourself yourselves
    """.split()
)
