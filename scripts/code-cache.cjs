// node scripts/code-cache.cjs BUNDLE ARG...: runs a bundled command with arguments, and keeps what V8 compiled of the
// bundle beside it, where scripts/launcher.cjs looks for it. A function that was not called is not in it.
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { basename } = require("node:path");
const { Script } = require("node:vm");

const [, , bundle] = process.argv;
const cache = `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;
process.argv.splice(1, 1);

// The name becomes part of the cache: without a directory it stays right wherever the package goes.
const script = new Script(readFileSync(bundle, "utf8"), { filename: basename(bundle) });
process.on("exit", () => writeFileSync(cache, script.createCachedData()));
script.runInThisContext()(createRequire(bundle), bundle, (url) => import(url));
