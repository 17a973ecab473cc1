// node scripts/code-cache.cjs LAUNCHER LISTS: runs a bundled command once with each of several lists of arguments (JSON),
// and keeps what V8 compiled of its bundles beside them, where the launcher looks for it. A function that was not called
// is not in it.
"use strict";

const { writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");

const [, , launcher, lists] = process.argv;
const { start, compile, cacheOf } = require(launcher);
const requireFromNode = createRequire(launcher);
const bundle = launcher.replace(/\.js$/, ".bundle.js");
const pending = JSON.parse(lists);

/** One script for all runs: it knows what any of them called. */
const scripts = new Map();
const compileOnce = (file) => {
  if (!scripts.has(file)) scripts.set(file, compile(file));
  return scripts.get(file);
};
compileOnce(bundle.replace(/\.bundle\.js$/, ".late.js"));
process.on("exit", () => {
  for (const [file, script] of scripts) writeFileSync(cacheOf(file), script.createCachedData());
});
const runNext = () => {
  const args = pending.shift();
  process.argv = [process.argv[0], launcher, ...args];
  start(bundle, requireFromNode, compileOnce);
};
// One command at a time: the next begins when nothing is left to do. A command that waits for nothing would end the process.
process.on("beforeExit", () => pending.length > 0 && setImmediate(runNext));
runNext();
