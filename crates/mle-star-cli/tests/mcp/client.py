"""Solves a task over MCP with the official client, and prints what it saw.

Usage: client.py MODE SERVER ARGUMENTS, where ARGUMENTS are those of the tool `run`. """

import asyncio
import json
import sys
from typing import Any

from mcp import Client, StdioServerParameters


async def solve(mode: str, server: str, wish: dict[str, Any]) -> dict[str, Any]:
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with Client(StdioServerParameters(command=server, args=["mcp"]), mode=mode) as client:
        tools = await client.list_tools()
        assert {"run", "watch", "result"} <= {tool.name for tool in tools.tools}

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(name, arguments, progress_callback=hear)
            assert not answer.is_error, answer
            assert answer.structured_content is not None
            return answer.structured_content

        for name in ["preview", "run"]:
            await call(name, **wish)
        run = wish["run_id"]
        seen = await call("watch", run=run, until="end", since=0, wait=60)
        worth = await call("result", run=run)
        await call("show", run=run)
        await call("list")
        await call("doctor")
        await call("check", source="print(1)\n")
        wrong = await client.call_tool("watch", {"run": "none"})
        assert wrong.is_error
        return {
            "version": client.protocol_version,
            "state": seen["state"],
            "score": worth["score"]["validation_score"],
            "progress": len(heard),
            "error": wrong.content[0].text,
        }


def main() -> None:
    mode, server, wish = sys.argv[1:]
    print(json.dumps(asyncio.run(solve(mode, server, json.loads(wish)))))


main()
