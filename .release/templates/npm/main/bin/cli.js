#!/usr/bin/env node
// Runs the binary of the package for this platform, which npm installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = `{{ names.npm }}-${platform}`;

function locate() {
  try {
    return require.resolve(`${name}/bin/{{ crate.name }}${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(`{{ crate.name }}: the package ${name} is not installed.`);
    console.error("There are packages for {{ platforms | map(attribute="name") | join(", ") }}.");
    console.error("hint: install without --omit=optional, or build from source: {{ crate.repository }}");
    process.exit(1);
  }
}

const child = spawn(locate(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`{{ crate.name }}: ${error.message}`);
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
