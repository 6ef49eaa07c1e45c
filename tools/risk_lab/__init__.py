"""
How the weights of `hallucination_risk` are fitted and measured; for `tools/fit_risk.py`.
"""
