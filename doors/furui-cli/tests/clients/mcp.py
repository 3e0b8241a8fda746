"""Uses the tools of `furui mcp` as programs for language models do, and prints what they give as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main(command, arguments, calls):
    async with stdio_client(StdioServerParameters(command=command, args=arguments)) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            hello = await session.initialize()
            tools = await session.list_tools()
            # The client checks structured content against the schema of the tool.
            answers = [await session.call_tool(name, given) for name, given in calls]
    whole = [hello, tools, *answers]
    print(json.dumps([value.model_dump(mode="json", by_alias=True) for value in whole]))


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])))
