// node scripts/code-cache.cjs BUNDLE LISTS: runs a bundled command once with each of several lists of arguments (JSON),
// and keeps what V8 compiled of the bundle beside it, where scripts/launcher.cjs looks for it. A function that was not
// called is not in it.
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { basename } = require("node:path");
const { Script } = require("node:vm");

const [, , bundle, lists] = process.argv;
const cache = `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;
const pending = JSON.parse(lists);

// The name becomes part of the cache: without a directory it stays right wherever the package goes.
const script = new Script(readFileSync(bundle, "utf8"), { filename: basename(bundle) });
process.on("exit", () => writeFileSync(cache, script.createCachedData()));
const runBundle = script.runInThisContext();
const runNext = () => {
  const args = pending.shift();
  if (args === undefined) return;
  process.argv = [process.argv[0], bundle, ...args];
  runBundle(createRequire(bundle), bundle, (url) => import(url));
};
// One command at a time: the next begins when nothing is left to do.
process.on("beforeExit", runNext);
runNext();
