"""The smallest loop of the same kind: `peer.py URL WORKDIR TASK`. No walls, no hook, no bounds.

What `cargo xtask bench agent` measures carson-agent beside.
"""

import json, os, subprocess, sys, urllib.request

url, workdir, task = sys.argv[1:]
NAMES = {"write_file": ["path", "content"], "run": ["command"]}


def spec(name):
    properties = {argument: {"type": "string"} for argument in NAMES[name]}
    parameters = {"type": "object", "properties": properties, "required": NAMES[name]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def ask(messages):
    body = {"model": "m", "messages": messages, "tools": [spec(name) for name in NAMES], "stream": True}
    request = urllib.request.Request(
        url + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    text, calls = "", {}
    with urllib.request.urlopen(request) as answer:
        for line in answer:
            if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":
                continue
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
                for piece in choice["delta"].get("tool_calls") or []:
                    call = calls.setdefault(piece["index"], {"id": "", "name": "", "arguments": ""})
                    call["id"] += piece.get("id") or ""
                    call["name"] += piece["function"].get("name") or ""
                    call["arguments"] += piece["function"].get("arguments") or ""
    return text, list(calls.values())


def carry_out(name, arguments):
    if name == "run":
        ran = subprocess.run(arguments["command"], shell=True, cwd=workdir, capture_output=True, text=True)
        return "[exit code %d]\n%s%s" % (ran.returncode, ran.stdout, ran.stderr)
    with open(os.path.join(workdir, arguments["path"]), "w") as file:
        file.write(arguments["content"])
    return "wrote"


messages = [{"role": "user", "content": task}]
while True:
    text, calls = ask(messages)
    wanted = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in calls
    ]
    messages.append({"role": "assistant", "content": text, **({"tool_calls": wanted} if wanted else {})})
    if not calls:
        break
    for call in calls:
        had = carry_out(call["name"], json.loads(call["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": had})
print(text)
