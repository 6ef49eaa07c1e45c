"""
Evaluations kept on disk, one a line: written while requests run, read by a person afterwards.
"""
