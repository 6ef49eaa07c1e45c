"""
From an evaluation to OpenTelemetry: names, instruments, anchor, emitter.
"""
