"""
The scorecard and its renderings, one a file.
"""
