// The official TypeScript clients find and execute over HTTP, and confirm by elicitation where the protocol has no
// sessions: node typescript.mjs URL TOKEN
import assert from "node:assert/strict";
import * as current from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const requestInit = { headers: { Authorization: `Bearer ${token}` } };

// The client is of version 1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client, which speaks both eras).
async function check(name, client, transport, era) {
  await client.connect(transport);
  if (era) assert.equal(client.getProtocolEra(), era);

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["gitlab_find_action", "gitlab_execute_action"]);

  const query = { query: "open merge requests of a project", limit: 1 };
  const found = await client.callTool({ name: "gitlab_find_action", arguments: query });
  assert.equal(found.structuredContent.results[0].action, "merge_request.list");

  const params = { fullPath: "acme/widget", iid: 12 };
  const execute = (action) => client.callTool({ name: "gitlab_execute_action", arguments: { action, params } });
  assert.equal((await execute("merge_request.get")).structuredContent.data.title, "Turn both ways");

  const refused = await execute("merge_request.merge");
  assert.equal(refused.structuredContent.error.kind, "needs_confirmation");

  const templates = await client.listResourceTemplates();
  assert.ok(templates.resourceTemplates.length > 0);
  await client.close();
  console.log(`typescript client, ${name}: 5 passed, 0 failed`);
}

// A user who declines, then one who accepts: the client validates the form, and the answer outranks the model's consent.
async function checkElicitation() {
  const versionNegotiation = { mode: { pin: "2026-07-28" } };
  const options = { capabilities: { elicitation: {} }, versionNegotiation };
  const client = new current.Client({ name: "check", version: "1" }, options);
  const asked = [];
  let answer = { action: "decline" };
  client.setRequestHandler("elicitation/create", async (request) => {
    asked.push(request.params.message);
    return answer;
  });
  await client.connect(new current.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const execute = (action, iid, consent = {}) =>
    client.callTool({
      name: "gitlab_execute_action",
      arguments: { action, params: { fullPath: "acme/widget", iid }, ...consent },
    });
  for (const consent of [{}, { confirm: true }]) {
    const declined = await execute("merge_request.merge", 12, consent);
    assert.equal(declined.structuredContent.error.kind, "declined", JSON.stringify(declined));
    assert.equal(asked.length, 1, "a decline holds");
  }
  assert.match(asked[0], /^Merge merge request !12 "Turn both ways" of acme\/widget\?/);
  answer = { action: "accept", content: { confirm: true } };
  const accepted = await execute("issue.delete", 3);
  assert.notEqual(accepted.isError, true, JSON.stringify(accepted));
  assert.equal(asked.length, 2);
  await client.close();
  console.log("typescript client, elicitation: 3 passed, 0 failed");
}

const first = new Client({ name: "check", version: "1" });
await check("version 1", first, new StreamableHTTPClientTransport(new URL(url), { requestInit }));
for (const [mode, era] of [["legacy", "legacy"], [{ pin: "2026-07-28" }, "modern"], ["auto", "modern"]]) {
  const second = new current.Client({ name: "check", version: "1" }, { versionNegotiation: { mode } });
  const transport = new current.StreamableHTTPClientTransport(new URL(url), { requestInit });
  await check(`version 2, ${JSON.stringify(mode)}`, second, transport, era);
}
await checkElicitation();
