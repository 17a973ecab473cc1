#!/usr/bin/env node
// Copied to dist/bin/COMMAND.js. Runs the command's bundle from the code that V8 compiled of it when the package was
// built. Another Node than that one finds no such code, or rejects it, and compiles the bundle itself; nothing is ever
// written here. CommonJS, because Node would have to set up its loader of ES modules first.
"use strict";

const { readFileSync } = require("node:fs");
const { basename } = require("node:path");
const { Script } = require("node:vm");

const bundle = __filename.replace(/\.js$/, ".bundle.js");
const cache = `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;

const script = new Script(readFileSync(bundle, "utf8"), {
  filename: basename(bundle),
  cachedData: readIfPresent(cache),
});
script.runInThisContext()(require, bundle, (url) => import(url));

function readIfPresent(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
