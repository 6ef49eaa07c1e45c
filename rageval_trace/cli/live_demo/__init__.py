"""
`rageval demo --live`: a pipeline over a small help centre, scored while it runs.

The way of the data: `script` says what is asked and what the scripted model answers; a framework's module
(`langchain_app`) runs that through a real pipeline over the `corpus`, with the handler; `wiring` holds the
OpenTelemetry SDK; `command` brings them together; `view` and `spans` show what came of it. A further framework is
one more module with a function `run(requests, session) -> None`, and its line in `command.FRAMEWORKS`.
"""
