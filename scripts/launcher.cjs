#!/usr/bin/env node
// Copied to dist/bin/COMMAND.js. Runs the command's bundle from the code that V8 compiled of it when the package was
// built. Another Node than that one finds no such code, or rejects it, and compiles the bundle itself; nothing is ever
// written here. CommonJS, because Node would have to set up its loader of ES modules first.
"use strict";

const { isAscii } = require("node:buffer");
const { readFileSync } = require("node:fs");
const { basename } = require("node:path");
const { Script } = require("node:vm");

/** Modules of Node's that take milliseconds to load. Most command lines that load code which imports one need nothing of it. */
const SLOW = new Set(
  [
    "child_process",
    "crypto",
    "fs/promises",
    "http",
    "net",
    "os",
    "readline",
    "stream/promises",
    "zlib",
  ].map((name) => `node:${name}`),
);

if (require.main === module) startHere();
else module.exports = { start, compile, cacheOf, nodeProblem, onFirstUse };

function startHere() {
  const problem = nodeProblem(process.version);
  if (problem === null) return start(__filename.replace(/\.js$/, ".bundle.js"), require, compile);
  console.error(problem);
  process.exitCode = 1;
}

/** Why a Node ("v18.20.8") cannot run this, `engines` of package.json in words; null where it can. */
function nodeProblem(version) {
  const [major, minor] = version.slice(1).split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return null;
  return `hydraconf needs Node 20.19 or newer; this is ${version}`;
}

/**
 * Runs a bundle. What its modules import on demand stands in a second one, which is read when the first of them is
 * asked for, and which takes the modules that both need from the first: there is one of each.
 */
function start(bundle, requireFromNode, compileBundle, importFile = (url) => import(url)) {
  const late = bundle.replace(/\.bundle\.js$/, ".late.js");
  let sharedModule;
  let lateModule;
  const requireAny = (name) => {
    if (name.startsWith("shared:")) return sharedModule(name);
    if (SLOW.has(name)) return onFirstUse(() => requireFromNode(name));
    if (!name.startsWith("late:")) return requireFromNode(name);
    if (lateModule === undefined)
      run(compileBundle(late), late, (find) => {
        lateModule = find;
      });
    return lateModule(name);
  };
  const run = (script, file, share) =>
    script.runInThisContext()(requireAny, file, importFile, share);
  run(compileBundle(bundle), bundle, (find) => {
    sharedModule = find;
  });
}

/** A module whose exports are those of another one, which is loaded when the first of them is asked for. */
function onFirstUse(load) {
  let loaded;
  const module = () => (loaded ??= load());
  return new Proxy(
    {},
    {
      get: (_, name) => module()[name],
      has: (_, name) => name in module(),
      ownKeys: () => Reflect.ownKeys(module()),
      getOwnPropertyDescriptor(_, name) {
        const found = Reflect.getOwnPropertyDescriptor(module(), name);
        return found && { ...found, configurable: true };
      },
    },
  );
}

/** A bundle is an expression: a function. */
function compile(bundle) {
  const bytes = readFileSync(bundle);
  // ASCII, as nearly all of it is, is several times quicker to read as what it is.
  return new Script(bytes.toString(isAscii(bytes) ? "latin1" : "utf8"), {
    // The name becomes part of the cache: without a directory it stays right wherever the package goes.
    filename: basename(bundle),
    cachedData: readIfPresent(cacheOf(bundle)),
  });
}

function cacheOf(bundle) {
  return `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;
}

function readIfPresent(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
