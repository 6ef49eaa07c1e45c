"""
The metrics, one idea a file, and their registry.
"""
