#!/usr/bin/env node
// Runs the binary of the package for this platform, which npm installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = `gitlab-mcp-${platform}`;

function locate() {
  try {
    return require.resolve(`${name}/bin/gitlab-mcp${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(`gitlab-mcp: the package ${name} is not installed.`);
    console.error("There are packages for linux-x64, linux-arm64, win32-x64, darwin-arm64, darwin-x64.");
    console.error("hint: install without --omit=optional, or build from source: https://gitlab.example.com/gitlab-mcp/gitlab-mcp");
    process.exit(1);
  }
}

const child = spawn(locate(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`gitlab-mcp: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Ends by the same signal, so that the parent sees it.
  signals.forEach((name) => process.removeAllListeners(name));
  process.kill(process.pid, signal);
});
