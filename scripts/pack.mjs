// Makes the packages that are published from this repository, each a folder and its tarball, in the directory given:
//
//   node scripts/pack.mjs [DIR]       (default: tmp/packages)
//
//   hydraconf       the engine and its command. It has all its dependencies in its bundles.
//   hydraconf-playground  the page of `hydraconf open`, with its server. It depends on hydraconf.
//   deep-profile    the profiler, its reports and the sources of the native part. It depends on hydraconf.
//
// package.json of the repository says what they have in common, and the versions of dependencies. Build first:
// npm run build:ts.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, posix, resolve } from "node:path";
import { licencesOf, OF_HYDRACONF, OF_PLAYGROUND, PATTERNS } from "./licences.mjs";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";

const PROGRAM_PAGES = [
  ...["tutorial", "programs", "run", "sweeps", "schemas"],
  ...["instantiate", "completion", "compatibility", "plugins", "errors", "security"],
].map((name) => `docs/${name}.md`);

/** Node takes the ES module for `require`, too: `require` is for Jest, and for what else takes none. */
const entry = (name) => ({
  "module-sync": { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  require: { types: `./dist/cjs/${name}.d.ts`, default: `./dist/cjs/${name}.js` },
  default: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
});
const moduleOnly = (name) => ({
  types: `./dist/${name}.d.ts`,
  default: `./dist/${name}.js`,
});

const PACKAGES = [
  {
    name: "hydraconf",
    description: "Hydra and OmegaConf for TypeScript",
    keywords: ["hydra", "omegaconf", "config", "configuration", "yaml", "cli", "sweep"],
    exports: {
      ".": entry("index"),
      "./engine": moduleOnly("portable-engine"),
      "./schema": entry("engine/schema/index"),
      "./sources": entry("sources"),
      "./package.json": "./package.json",
    },
    bin: ["hydraconf"],
    dependencies: [],
    // Readers of config files that are no YAML: whoever has such files installs them.
    optionalPeers: ["smol-toml", "json5"],
    types: ["index", "portable-engine", "sources", "engine/schema/index"],
    readme: "docs/hydraconf.md",
    files: [
      "LICENSE",
      ...PROGRAM_PAGES,
      "docs/examples/train",
      "dist/index.js",
      "dist/portable-engine.js",
      "dist/sources.js",
      "dist/modules",
      "dist/engine/schema/index.js",
      "dist/cjs",
      ...["dist/client/sweep.js", "dist/client/page.css"],
      ...["ajv", "fast-glob", "json-schema-to-typescript", "mcp"].map(
        (name) => `dist/vendor/${name}.cjs`,
      ),
    ],
    ...OF_HYDRACONF,
  },
  {
    name: "hydraconf-playground",
    description: "The page of hydraconf open: a Hydra config tree in a browser",
    keywords: ["hydra", "config", "configuration", "playground", "yaml"],
    exports: {
      ".": "./dist/playground/index.js",
      "./package.json": "./package.json",
    },
    bin: [],
    dependencies: ["hydraconf"],
    types: [],
    readme: "docs/playground.md",
    files: ["LICENSE", "dist/playground/index.js", "dist/playground/client"],
    ...OF_PLAYGROUND,
  },
  {
    name: "deep-profile",
    description: "A GPU region profiler: NVTX regions, Nsight Systems and Nsight Compute",
    keywords: ["cuda", "gpu", "nsight", "nvtx", "performance", "profiler", "profiling"],
    exports: {
      ".": moduleOnly("profiler/index"),
      "./report": moduleOnly("report/index"),
      "./package.json": "./package.json",
    },
    bin: ["deep-profile", "validate-regions"],
    // node-gyp is a program that the native part is built by.
    dependencies: ["hydraconf", "node-gyp", "node-sqlite3-wasm"],
    types: ["profiler/index", "report/index"],
    readme: "README.md",
    files: [
      ...["LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs"],
      ...["conf", "schemas", "native", "dist/binding.gyp", "dist/profiler/index.js"],
      ...["dist/profiler/modules", "dist/report/index.js", "dist/client"],
      ...["dist/vendor/patterns.cjs", "dist/vendor/schemas.cjs"],
    ],
    sources: [
      ...["src/profiler/index.ts", "src/report/index.ts", "src/bin/deep-profile.ts"],
      ...[
        "src/bin/validate-regions.ts",
        "src/report/client/report-entry.ts",
        "src/app/sweep/client/jobs-entry.ts",
      ],
    ],
    // Compiled schemas have parts of ajv.
    vendored: [...PATTERNS, "ajv", "ajv-formats"],
  },
];

const [named = join(root, "tmp", "packages")] = scriptArguments(import.meta.url, { most: 1 }).words;
const place = resolve(named);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
for (const one of PACKAGES) {
  const folder = join(place, one.name);
  rmSync(folder, { recursive: true, force: true });
  for (const file of one.files) copy(file, folder);
  for (const name of readdirSync(join(root, "dist", "bin")))
    if (
      one.bin.length > 0 &&
      (name === "package.json" || one.bin.some((command) => name.startsWith(`${command}.`)))
    )
      copy(join("dist", "bin", name), folder);
  const isBoth = one.files.includes("dist/cjs");
  // In a folder whose package.json makes CommonJS of them: what imports CommonJS may be either, so one copy serves both.
  for (const file of declarationsOf(one.types))
    cpSync(join(root, "dist", file), join(folder, "dist", isBoth ? "cjs" : "", file));
  if (isBoth)
    for (const name of one.types)
      write(
        join(folder, "dist", dirname(name)),
        `${basename(name)}.d.ts`,
        `export * from "${relativeTo(name, `cjs/${name}.js`)}";\n`,
      );
  write(folder, "README.md", readmeOf(one));
  for (const page of readdirSync(folder, { recursive: true }))
    if (page.endsWith(".md")) dropDeadLinks(folder, page);
  write(folder, "package.json", `${JSON.stringify(manifestOf(one), null, 2)}\n`);
  write(folder, "LICENSES-OF-DEPENDENCIES.txt", await licencesOf(one));
  pack(folder);
}

function manifestOf({
  name,
  description,
  keywords,
  exports,
  bin,
  dependencies,
  optionalPeers = [],
}) {
  const { version, license, type, engines } = manifest;
  const versionOf = (dependency) =>
    dependency === manifest.name ? version : manifest.dependencies[dependency];
  return {
    ...{ name, version, description, keywords, license, type, engines },
    ...repository(),
    // Where they come from is signed: by the CI job that publishes them (CONTRIBUTING.md, Releasing).
    publishConfig: { access: "public", provenance: true },
    // npm would compile what it finds a binding.gyp beside.
    gypfile: false,
    sideEffects: false,
    exports,
    ...(bin.length > 0 && {
      bin: Object.fromEntries(bin.map((command) => [command, `dist/bin/${command}.js`])),
    }),
    ...(dependencies.length > 0 && {
      dependencies: Object.fromEntries(dependencies.map((one) => [one, versionOf(one)])),
    }),
    ...(optionalPeers.length > 0 && {
      peerDependencies: Object.fromEntries(
        optionalPeers.map((one) => [one, manifest.devDependencies[one]]),
      ),
      peerDependenciesMeta: Object.fromEntries(
        optionalPeers.map((one) => [one, { optional: true }]),
      ),
    }),
  };
}

/** The registry compares it with the repository whose CI publishes; a clone does not know where it is published from. */
function repository() {
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: name } = process.env;
  if (!name) return {};
  const page = `${server}/${name}`;
  return {
    homepage: `${page}#readme`,
    repository: { type: "git", url: `git+${page}.git` },
    bugs: { url: `${page}/issues` },
  };
}

/** How a module in `dist` names another one. */
function relativeTo(module, other) {
  const path = posix.relative(posix.dirname(module), other);
  return path.startsWith(".") ? path : `./${path}`;
}

function copy(file, folder) {
  cpSync(join(root, file), join(folder, file), {
    recursive: true,
    filter: (path) => !/\.(?:map|cache)$/.test(path) && path !== join(root, "native", "fixtures"),
  });
}

function readmeOf({ readme }) {
  const text = readFileSync(join(root, readme), "utf8");
  return readme === "README.md" ? text : text.replaceAll(/\]\((?=[\w-]+\.md)/g, "](docs/");
}

/** What a page says of files that the package lacks stays, without a link; of pages, with the place where they are. */
function dropDeadLinks(folder, page) {
  const text = readFileSync(join(folder, page), "utf8");
  const { homepage } = repository();
  const isThere = (link) => existsSync(join(folder, dirname(page), link.replace(/#.*/, "")));
  const kept = text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, words, link) => {
    if (link.includes("://") || isThere(link)) return whole;
    const [name, fragment] = posix.basename(link).split("#");
    if (!name.endsWith(".md") || !existsSync(join(root, "docs", name))) return words;
    if (homepage === undefined) return `${words} (${name} of the repository)`;
    const place = `${homepage.replace(/#.*/, "")}/blob/HEAD/docs/${name}`;
    return `[${words}](${place}${fragment === undefined ? "" : `#${fragment}`})`;
  });
  writeFileSync(join(folder, page), kept);
}

function write(folder, name, text) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** The declarations of entries, with all that they refer to: paths in dist. */
function declarationsOf(entries) {
  const found = new Set(entries.map((name) => `${name}.d.ts`));
  for (const file of found) {
    const text = readFileSync(join(root, "dist", file), "utf8");
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.[^"]*)\.(?:js|ts)"/g))
      found.add(join(dirname(file), `${path}.d.ts`));
  }
  return found;
}

function pack(folder) {
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", place];
  const npm = process.env.npm_execpath;
  if (npm !== undefined && existsSync(npm))
    execFileSync(process.execPath, [npm, ...words], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
  else execFileSync("npm", words, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
}
