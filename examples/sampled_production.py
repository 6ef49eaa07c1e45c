"""
Production without a framework: a sample of the requests is scored, rare ones always, and breaches are kept on disk.
"""

import sys
import tempfile
from pathlib import Path

from rageval_trace import JsonlSink, Monitor, Settings
from rageval_trace.cli import main

DOCUMENTS = {
    "refund": {"id": "faq-7", "text": "Refunds take five working days.", "timestamp": "2026-11-18"},
    "opening": {"id": "faq-2", "text": "The shop opens at nine.", "timestamp": "2026-10-02"},
}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "captures"

monitor = Monitor(
    pipeline="support-bot",
    thresholds={"groundedness": 0.8},
    settings=Settings(sample_rate=0.2, always=("error", "empty_retrieval", "groundedness<0.8")),
    on_result=JsonlSink(folder),
)


def search(question: str) -> list[dict[str, str]]:
    return [document for word, document in DOCUMENTS.items() if word in question]


@monitor.watch
def ask(question: str) -> str:
    documents = search(question)
    monitor.current.contexts(documents)
    if "refund" in question and "how" in question:
        return "Refunds take five working days. They are paid in cash."  # the second sentence is made up
    return documents[0]["text"] if documents else "I do not know."


for number in range(200):
    ask(f"opening hours, please ({number})")
ask("how long does a refund take?")
ask("something else")
monitor.feedback(monitor.last.run_id, "helpful", False)
monitor.close()

counts = monitor.stats
print("every request has an outcome:", counts["scored"] + counts["not_sampled"] == 202)
(broken,) = [line.split('"run_id":"')[1][:36] for file in folder.iterdir() for line in file.open() if '"fail"' in line]
main(["show", broken, str(folder)])
