// `npm run dist [-- DIR]`: hydraconf for machines without Node.js (Linux on x86-64), in DIR (default: tmp/dist). Build first: npm run build:ts.
//
//   hydraconf                                    one executable: Node.js, the command's bundles and their compiled code
//   hydraconf-VERSION-py3-none-manylinux_*.whl   the same for pip, with a plugin for Python's Hydra
//
// The executable is a copy of the Node.js that runs this script, without its symbols where `strip` is there. docs/installation.md has sizes.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { licencesOf, OF_HYDRACONF } from "./licences.mjs";
import { scriptArguments } from "./script-arguments.mjs";
import { root, tool } from "./setup.mjs";
import { TEXT_LOADERS } from "./text-files.mjs";
import { writeWheel } from "./wheel.mjs";

const [named = join(root, "tmp", "dist")] = scriptArguments(import.meta.url, { most: 1 }).words;
const place = resolve(named);
const bin = join(root, "dist", "bin");
const { version, license, description } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error("npm run dist makes executables for Linux on x86-64, on such a machine");
  process.exit(1);
}
rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
const executable = await makeExecutable();
const wheel = writeWheel(place, {
  name: "hydraconf",
  version,
  summary: `${description.split(",")[0]}: composes, checks, runs and sweeps any Hydra project`,
  license,
  readme: readFileSync(join(root, "docs", "hydraconf.md"), "utf8"),
  tag: `py3-none-manylinux_${oldestGlibc(executable).join("_")}_x86_64`,
  scripts: { hydraconf: readFileSync(executable) },
  modules: await pluginOfHydra(),
  licences: {
    LICENSE: readFileSync(join(root, "LICENSE")),
    "LICENSES-OF-DEPENDENCIES.txt": Buffer.from(`${await licencesOf(OF_HYDRACONF)}\n${ofNode()}`),
  },
});
for (const file of [executable, wheel])
  console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`);

async function makeExecutable() {
  const main = join(place, "main.cjs");
  await build({
    entryPoints: [join(root, "scripts", "sea-main.cjs")],
    outfile: main,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20.19",
    // The launcher is no program here.
    define: { "require.main": "undefined" },
    logLevel: "warning",
  });
  const versionFile = join(place, "version");
  writeFileSync(versionFile, version);
  const bundles = ["hydraconf.bundle.js", "hydraconf.late.js"];
  const vendored = ["ajv.cjs", "fast-glob.cjs", "json-schema-to-typescript.cjs"];
  const pages = ["sweep.js", "page.css"];
  const cacheOf = (bundle) =>
    join(bin, `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`);
  const blob = join(place, "hydraconf.blob");
  const config = join(place, "sea-config.json");
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output: blob,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      assets: {
        version: versionFile,
        ...Object.fromEntries(bundles.map((name) => [name, join(bin, name)])),
        ...Object.fromEntries(bundles.map((name) => [`${name}.cache`, cacheOf(name)])),
        ...Object.fromEntries(pages.map((name) => [name, join(root, "dist", "client", name)])),
        ...Object.fromEntries(vendored.map((name) => [name, join(root, "dist", "vendor", name)])),
      },
    }),
  );
  execFileSync(process.execPath, ["--experimental-sea-config", config], { stdio: "pipe" });
  const file = join(place, "hydraconf");
  copyFileSync(process.execPath, file);
  chmodSync(file, 0o755);
  strip(file);
  // It warns of sections that it knows nothing of.
  const fuse = ["--sentinel-fuse", "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"];
  const [node, ...postject] = tool("postject");
  execFileSync(node, [...postject, file, "NODE_SEA_BLOB", blob, ...fuse], { stdio: "pipe" });
  for (const made of [main, versionFile, blob, config]) rmSync(made);
  return file;
}

/** The files of the plugin for Python's Hydra, as the sources make them. */
async function pluginOfHydra() {
  const made = await build({
    stdin: {
      contents: `
        import { hydraPluginFiles, optionsOfWheel } from "./src/python/hydra-plugin.ts";
        import { STANDARD_PLUGINS } from "./src/app/plugins/standard-plugins.ts";
        import { DEFAULT_DIALECT } from "./src/engine/values/dialect.ts";
        process.stdout.write(JSON.stringify(hydraPluginFiles(optionsOfWheel(STANDARD_PLUGINS, DEFAULT_DIALECT))));`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    packages: "external",
    loader: TEXT_LOADERS,
    logLevel: "error",
  });
  const input = made.outputFiles[0].contents;
  return JSON.parse(execFileSync(process.execPath, ["-"], { input, cwd: root, encoding: "utf8" }));
}

/** Symbols are a fifth of Node.js, and nothing at run time needs them. */
function strip(file) {
  try {
    execFileSync("strip", [file], { stdio: "pipe" });
  } catch (error) {
    console.error(`the executable keeps its symbols: ${error.message.split("\n")[0]}`);
  }
}

/** The version of glibc that the executable needs, as pip's tags name it. */
function oldestGlibc(file) {
  const text = readFileSync(file).toString("latin1");
  const versions = [...text.matchAll(/GLIBC_2\.(\d+)\0/g)].map(([, minor]) => Number(minor));
  return [2, Math.max(17, ...versions)];
}

function ofNode() {
  const files = [
    join(process.execPath, "..", "..", "LICENSE"),
    "/usr/share/doc/nodejs/copyright",
    "/usr/share/doc/nodejs/LICENSE",
  ];
  const file = files.find((one) => existsSync(one));
  const text =
    file === undefined
      ? "Its licence: LICENSE in Node.js' sources of this version.\n"
      : readFileSync(file, "utf8");
  return `${"-".repeat(80)}\n\nNode.js ${process.version}, whole\n\n${text}`;
}
