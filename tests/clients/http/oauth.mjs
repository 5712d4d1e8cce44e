// The official TypeScript clients sign in with OAuth, from the 401 to a call, against a scripted GitLab:
// node oauth.mjs BINARY
//
// The scripted GitLab is an authorization server with one application that was registered by hand. It checks what a
// GitLab checks: client id, redirect URI, scope, code and PKCE. Its user agrees to everything.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import * as current from "@modelcontextprotocol/client";
import * as first from "@modelcontextprotocol/sdk/client/index.js";
import * as transportOfFirst from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [binary] = process.argv.slice(2);
const APPLICATION = "5f1c0e-application";
const REDIRECT = "http://127.0.0.1:9/callback";
const SCOPES = ["api", "read_api"];

// State of the scripted GitLab.
const codes = new Map();
const tokens = new Map();
const refreshes = new Map();
const seen = [];
let gitlabUrl;

function issue(scope) {
  const [token, refresh] = [randomUUID(), randomUUID()];
  tokens.set(token, { scope });
  refreshes.set(refresh, scope);
  return { access_token: token, token_type: "Bearer", expires_in: 7200, refresh_token: refresh, scope, created_at: 1 };
}

// The parameters of the authorization request that GitLab would refuse; null if there is none.
function refusedParameter(query) {
  if (query.get("client_id") !== APPLICATION) return "client_id";
  if (query.get("redirect_uri") !== REDIRECT) return "redirect_uri";
  if (query.get("response_type") !== "code") return "response_type";
  if (query.get("code_challenge_method") !== "S256" || !query.get("code_challenge")) return "code_challenge";
  const scopes = (query.get("scope") ?? "").split(" ");
  return scopes.every((scope) => SCOPES.includes(scope)) ? null : "scope";
}

function grant(form) {
  if (form.get("client_id") !== APPLICATION) return null;
  if (form.get("grant_type") === "refresh_token") {
    const scope = refreshes.get(form.get("refresh_token"));
    refreshes.delete(form.get("refresh_token"));
    return scope ? issue(scope) : null;
  }
  const code = codes.get(form.get("code"));
  codes.delete(form.get("code"));
  const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
  const isValid = code && code.challenge === challenge && form.get("redirect_uri") === REDIRECT;
  return isValid ? issue(code.scope) : null;
}

const gitlab = createServer(async (request, response) => {
  const url = new URL(request.url, gitlabUrl);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  const bearer = request.headers.authorization?.replace("Bearer ", "");
  seen.push({ path: url.pathname, method: request.method, bearer, resource: url.searchParams.get("resource") });
  const answer = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  switch (`${request.method} ${url.pathname}`) {
    case "GET /.well-known/oauth-authorization-server":
      return answer(200, {
        issuer: gitlabUrl,
        authorization_endpoint: `${gitlabUrl}/oauth/authorize`,
        token_endpoint: `${gitlabUrl}/oauth/token`,
        scopes_supported: SCOPES,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
      });
    case "GET /oauth/authorize": {
      const refused = refusedParameter(url.searchParams);
      if (refused) return answer(400, { error: "invalid_request", error_description: refused });
      const code = randomUUID();
      codes.set(code, { challenge: url.searchParams.get("code_challenge"), scope: url.searchParams.get("scope") });
      const location = new URL(REDIRECT);
      location.searchParams.set("code", code);
      location.searchParams.set("state", url.searchParams.get("state") ?? "");
      response.writeHead(302, { location: location.href });
      return response.end();
    }
    case "POST /oauth/token": {
      const granted = grant(form);
      return granted ? answer(200, granted) : answer(400, { error: "invalid_grant" });
    }
    case "GET /oauth/token/info": {
      const token = tokens.get(bearer);
      if (!token) return answer(401, { error: "invalid_token" });
      const application = { uid: APPLICATION };
      return answer(200, { resource_owner_id: 1, scope: token.scope.split(" "), expires_in: 7200, application });
    }
    case "GET /api/v4/user":
      return tokens.has(bearer) ? answer(200, { id: 1, username: "sandra" }) : answer(401, { message: "401" });
    case "POST /api/v4/projects/acme%2Fwidget/issues":
      return answer(201, { iid: 1, title: "x", web_url: `${gitlabUrl}/acme/widget/-/issues/1` });
    default:
      return answer(404, { message: "404 Not Found" });
  }
});
await new Promise((resolve) => gitlab.listen(0, "127.0.0.1", resolve));
gitlabUrl = `http://127.0.0.1:${gitlab.address().port}`;

const flags = ["--http", "127.0.0.1:0", "--auth", "oauth", "--oauth-applications", APPLICATION, "--url", gitlabUrl];
const server = spawn(binary, ["serve", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
const log = [];
const endpoint = await new Promise((resolve, reject) => {
  server.once("exit", (code) => reject(new Error(`gitlab-mcp ended with ${code}: ${log.join("\n")}`)));
  createInterface({ input: server.stderr }).on("line", (line) => {
    log.push(line);
    const address = line.match(/listening address=(\S+)/);
    if (address) resolve(new URL(`http://${address[1]}/mcp`));
  });
});

// A client that was registered in GitLab by hand, and its user, who agrees at once.
class Provider {
  constructor(scope) {
    this.scope = scope;
    this.authorizations = [];
  }
  get redirectUrl() {
    return REDIRECT;
  }
  get clientMetadata() {
    return { client_name: "check", redirect_uris: [REDIRECT], scope: this.scope, token_endpoint_auth_method: "none" };
  }
  clientInformation() {
    return { client_id: APPLICATION, issuer: gitlabUrl };
  }
  tokens() {
    return this.saved;
  }
  saveTokens(tokens) {
    this.saved = tokens;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  // State of the authorization: version 2 binds the code to it.
  saveDiscoveryState(state) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  async redirectToAuthorization(url) {
    this.authorizations.push(url);
    const answered = await fetch(url, { redirect: "manual" });
    assert.equal(answered.status, 302, await answered.text());
    this.code = new URL(answered.headers.get("location")).searchParams.get("code");
  }
}

const text = (result) => JSON.stringify(result.structuredContent);

async function check(name, makeClient, Transport) {
  const provider = new Provider("api");
  const connect = async () => {
    const client = makeClient();
    const transport = new Transport(endpoint, { authProvider: provider });
    return [client, transport, client.connect(transport)];
  };
  // The first attempt ends in the browser.
  const [, pending, refused] = await connect();
  await assert.rejects(refused, { name: /Unauthorized|Error/ });
  assert.equal(provider.authorizations.length, 1, "the 401 led to the authorization endpoint of GitLab");
  const authorization = provider.authorizations[0];
  assert.equal(authorization.origin, gitlabUrl);
  assert.equal(authorization.searchParams.get("resource"), endpoint.href);
  await pending.finishAuth(provider.code);
  assert.ok(provider.saved.access_token);

  const [client, , connected] = await connect();
  await connected;
  const whoAmI = () => client.callTool({ name: "gitlab_execute_action", arguments: { action: "current_user.get" } });
  assert.match(text(await whoAmI()), /sandra/);
  const call = seen.findLast(({ path }) => path === "/api/v4/user");
  assert.equal(call.bearer, provider.saved.access_token, "GitLab got the token of the user");

  // A token that was revoked is refreshed by the client, and the call repeated with the new one.
  const before = provider.saved.access_token;
  tokens.delete(before);
  provider.saved = { ...provider.saved, access_token: "revoked" };
  assert.match(text(await whoAmI()), /sandra/);
  assert.ok(!["revoked", before].includes(provider.saved.access_token));
  assert.equal(provider.authorizations.length, 1, "without another authorization");
  await client.close();
  assert.ok(!log.join("\n").includes(provider.saved.access_token), "no token is logged");
  console.log(`oauth, ${name}: 8 passed, 0 failed`);
}

// A token that only reads meets a write: 403 insufficient_scope, and the client asks GitLab for the scope `api`.
// Version 1 of the client refreshes the token where it can, which brings no other scope: it gets no refresh token.
async function checkStepUp(name, makeClient, Transport, refreshes) {
  const provider = new Provider("read_api");
  provider.saved = { ...issue("read_api"), issuer: gitlabUrl };
  if (!refreshes) delete provider.saved.refresh_token;
  const client = makeClient();
  const transport = new Transport(endpoint, { authProvider: provider });
  await client.connect(transport);
  const params = { fullPath: "acme/widget", title: "x" };
  const create = { name: "gitlab_execute_action", arguments: { action: "issue.create", params } };
  await assert.rejects(client.callTool(create));
  const writes = () => seen.filter(({ method, path }) => method === "POST" && path.startsWith("/api/")).length;
  const before = writes();
  assert.equal(provider.authorizations.length, 1, "the 403 led to the authorization endpoint");
  assert.match(provider.authorizations[0].searchParams.get("scope"), /(^| )api( |$)/);
  await transport.finishAuth(provider.code);
  const created = await client.callTool(create);
  assert.ok(!created.isError, JSON.stringify(created));
  assert.equal(writes(), before + 1);
  await client.close();
  console.log(`oauth with another scope, ${name}: 4 passed, 0 failed`);
}

const info = { name: "check", version: "1" };
const clients = [
  ["version 1", () => new first.Client(info), transportOfFirst.StreamableHTTPClientTransport, false],
  ["version 2, legacy", () => new current.Client(info), current.StreamableHTTPClientTransport, true],
  [
    "version 2, modern",
    () => new current.Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    current.StreamableHTTPClientTransport,
    true,
  ],
];
try {
  for (const client of clients) {
    await check(...client);
    await checkStepUp(...client);
  }
} finally {
  server.removeAllListeners("exit");
  server.kill();
  gitlab.close();
  gitlab.closeAllConnections();
}
