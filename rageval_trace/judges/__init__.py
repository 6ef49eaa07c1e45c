"""
Who decides whether a claim stands: the protocol and its implementations.
"""
