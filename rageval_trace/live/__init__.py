"""
From a request that ended to a scored one: settings, runs, sampling, monitor.
"""
