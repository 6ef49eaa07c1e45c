"""
The Grafana dashboards as code: `python integrations/grafana/generate.py` writes them.
"""
