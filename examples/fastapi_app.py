"""
A FastAPI service that scores its answers: `uvicorn fastapi_app:app`, then `curl "localhost:8000/ask?question=ferry"`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse

from rageval_trace import Monitor

DOCUMENTS = ["The ferry leaves at 8:15 and at 17:40.", "Bicycles travel free on every ferry."]
monitor = Monitor(pipeline="ferry-desk", thresholds={"groundedness": 0.8})


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    monitor.close()


app = FastAPI(lifespan=lifespan)


def search(question: str) -> list[str]:
    if question == "broken":
        raise HTTPException(502, "the index is down")
    return DOCUMENTS


@app.get("/ask")
async def ask(question: str) -> dict[str, str]:
    async with monitor.run(question) as run:
        run.contexts(search(question))
        run.answer("The ferry leaves at 8:15 and at 17:40.")
        return {"answer": "The ferry leaves at 8:15 and at 17:40.", "run_id": run.id}


@monitor.watch
async def pieces(question: str) -> AsyncIterator[str]:
    monitor.current.contexts(search(question))
    for word in "Bicycles travel free on every ferry .".split():
        yield f"{word} "


@app.get("/stream")
async def stream(question: str) -> StreamingResponse:
    return StreamingResponse(pieces(question), media_type="text/plain")


@app.post("/feedback/{run_id}")
async def feedback(run_id: str, helpful: bool) -> bool:
    return monitor.feedback(run_id, "helpful", helpful)


@app.get("/stats")
async def stats() -> dict[str, int]:
    return dict(monitor.stats)
