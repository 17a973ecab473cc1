// The main script of the executable that has Node.js and `hydraconf` in one file (scripts/dist.mjs): the launcher of the command, whose
// bundles, compiled code and dependencies are parts of the executable.
"use strict";

const { getAsset, getRawAsset } = require("node:sea");
const { isAscii } = require("node:buffer");
const { Script, constants, runInThisContext } = require("node:vm");
const { start } = require("./launcher.cjs");

const PAGE_PARTS = ["sweep.js", "page.css"];

// Node.js puts what was typed here; workers are started by it.
process.argv[1] = process.execPath;
start("hydraconf.bundle.js", require, compile, importer());

function compile(bundle) {
  return new Script(textOf(bundle), {
    filename: bundle,
    cachedData: Buffer.from(getRawAsset(`${bundle}.cache`)),
  });
}

/** ASCII is several times quicker to read as what it is. */
function textOf(name) {
  const bytes = Buffer.from(getRawAsset(name));
  return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
}

/** Plugins are modules outside; what is inside itself is asked for by name. */
function importer() {
  let load;
  const importFile = (url) =>
    quietly(() => {
      // An embedded script has no import() of its own.
      load ??= new Script("(url) => import(url)", {
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      }).runInThisContext();
      return load(url);
    });
  importFile.embedded = (name) => {
    // Scripts and the style of pages are texts.
    if (PAGE_PARTS.includes(name)) return textOf(name);
    if (name !== "package") return dependency(name);
    return { root: process.execPath, version: getAsset("version", "utf8") };
  };
  return importFile;
}

/** Node.js 20 calls experimental what its later versions have. */
function quietly(work) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A file of dist/vendor, which needs modules of Node.js alone. */
function dependency(name) {
  const module = { exports: {} };
  const text = `(function (module, exports, require) {${textOf(name)}\n})`;
  runInThisContext(text, { filename: name })(module, module.exports, require);
  return module.exports;
}
