"""
What can be read off a claim and its contexts without a model: pure functions over text and tokens.

    wording      which sentences claim something, which words only point at the contexts
    evidence     the words and neighbourhoods of all contexts, on which the shares are counted
    numbers      numbers and clock times that no context gives
    names        capitalised words that no context mentions
    structured   JSON, `key: value` lines and tables read as facts
    flags        yes/no facts that a claim turns around, and unknown ones that it asserts
    hours        opening hours that a claim gets wrong
    claim        all signals of one claim, with their causes in words

`rageval_trace.metrics.risk` weighs them. Everything iterates in a fixed order, so that no value depends on the
hash seed.
"""
