// A client made with the official TypeScript SDK. It calls what it is told on standard input, and prints
// what came back, each as a line of JSON.
//   node client.mjs SDK stdio COMMAND ARG...      node client.mjs SDK http URL TOKEN

import { readFileSync } from "node:fs";

const [sdk, transport, ...rest] = process.argv.slice(2);
const load = (part) => import(`${sdk}/dist/esm/client/${part}.js`);
const { Client } = await load("index");

async function connection() {
  if (transport === "stdio") {
    const { StdioClientTransport } = await load("stdio");
    const [command, ...args] = rest;
    return new StdioClientTransport({ command, args, env: process.env });
  }
  const { StreamableHTTPClientTransport } = await load("streamableHttp");
  const [url, token] = rest;
  const headers = { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

const client = new Client({ name: "official-sdk", version: "1" });
await client.connect(await connection());
const print = (value) => console.log(JSON.stringify(value));
print({ server: client.getServerVersion(), instructions: client.getInstructions() });
print(await client.listTools());
for (const { name, arguments: given } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    print(await client.callTool({ name, arguments: given }));
  } catch (error) {
    print({ error: error.code ?? String(error) });
  }
}
await client.close();
