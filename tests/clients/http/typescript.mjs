// The official TypeScript client finds and executes over HTTP: node typescript.mjs URL TOKEN
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
const client = new Client({ name: "check", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["gitlab_find_action", "gitlab_execute_action"]);

const query = { query: "open merge requests of a project", limit: 1 };
const found = await client.callTool({ name: "gitlab_find_action", arguments: query });
assert.equal(found.structuredContent.results[0].action, "merge_request.list");

const params = { fullPath: "acme/widget", iid: 12 };
const got = await client.callTool({ name: "gitlab_execute_action", arguments: { action: "merge_request.get", params } });
assert.equal(got.structuredContent.data.title, "Turn both ways");

const refused = await client.callTool({ name: "gitlab_execute_action", arguments: { action: "merge_request.merge", params } });
assert.equal(refused.structuredContent.error.kind, "needs_confirmation");
await client.close();
console.log("typescript client: 4 passed, 0 failed");
