# An MCP server for tests: `mcp_server.py [newest|older|silent]`. It notes its number in the file `pid`,
# and the version that it speaks in `version`.
import json, os, sys, time

kind = sys.argv[1]
with open("pid", "w") as file:
    file.write(str(os.getpid()))


def speaks(version):
    with open("version", "w") as file:
        file.write(version)


def answer(id, result=None, error=None):
    said = {"jsonrpc": "2.0", "id": id}
    said.update({"error": error} if error else {"result": result})
    print(json.dumps(said), flush=True)


tools = [
    {"name": name, "description": name, "inputSchema": {"type": "object"}}
    for name in ["echo", "slow", "fails", "hidden"]
]
ready = kind == "newest"
print("noise before the protocol", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, id = asked["method"], asked.get("id")
    params = asked.get("params", {})
    if method == "server/discover":
        if kind == "newest":
            assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
            speaks("2026-07-28")
            answer(id, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}})
        elif kind == "older":
            answer(id, error={"code": -32601, "message": "not found"})
    elif method == "initialize":
        speaks("2025-06-18")
        answer(id, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}})
    elif method == "notifications/initialized":
        ready = True
    elif method == "tools/list":
        assert ready
        # Two pages.
        first = "cursor" not in params
        page = {"tools": tools[:2] if first else tools[2:]}
        if first:
            page["nextCursor"] = "2"
        answer(id, page)
    elif method == "tools/call":
        name = params["name"]
        if name == "slow":
            time.sleep(3)
        text = json.dumps(params["arguments"])
        answer(id, {"content": [{"type": "text", "text": text}], "isError": name == "fails"})
