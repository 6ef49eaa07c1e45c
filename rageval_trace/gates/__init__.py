"""
Thresholds, and what they say: of one request (`verdict`), and of a set of records in CI (`check`).
"""

from rageval_trace.gates.check import check_gates
from rageval_trace.gates.files import GateFile, find_project_file, read_gate_file
from rageval_trace.gates.rules import Amount, GateRules, parse_amount
from rageval_trace.gates.thresholds import TOLERANCE, Threshold, parse_threshold, parse_thresholds, shortfall
from rageval_trace.gates.verdict import LiveVerdict, breached, judge_results

__all__ = [
    "TOLERANCE",
    "Amount",
    "GateFile",
    "GateRules",
    "LiveVerdict",
    "Threshold",
    "breached",
    "check_gates",
    "find_project_file",
    "judge_results",
    "parse_amount",
    "parse_threshold",
    "parse_thresholds",
    "read_gate_file",
    "shortfall",
]
