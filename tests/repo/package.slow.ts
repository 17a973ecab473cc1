import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = ["hydraconf", "deep-profile"] as const;
/** It has no command, no types and no pages of its own. */
const PLAYGROUND = "hydraconf-playground";
const INSTALLED = [...PACKAGES, PLAYGROUND] as const;
type Package = (typeof INSTALLED)[number];

/** A project that depends on the packed tarballs, as a user's would. */
let consumer: string;
const installed = (name: Package) => join(consumer, "node_modules", name);

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), "hydraconf-consumer-"));
  const modules = join(consumer, "node_modules");
  const packed = join(consumer, "packed");
  execFileSync(process.execPath, [join(root, "scripts", "pack.mjs"), packed]);
  for (const name of INSTALLED) {
    mkdirSync(installed(name), { recursive: true });
    const tarball =
      readdirSync(packed).find((file) => new RegExp(`^${name}-\\d`).test(file)) ?? "none";
    const words = ["-xzf", join(packed, tarball), "-C", installed(name), "--strip-components=1"];
    execFileSync("tar", words);
  }
  // Their dependencies, as npm would have put them beside them, with what those need; and Node's types.
  const wanted = new Set(["@types/node", ...PACKAGES.flatMap((name) => dependenciesOf(name))]);
  for (const name of PACKAGES) wanted.delete(name);
  for (const name of wanted) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rmSync(consumer, { recursive: true, force: true }));

const manifest = (name: Package) =>
  JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"));

const dependenciesOf = (name: Package) => Object.keys(manifest(name).dependencies ?? {});

const filesOf = (name: Package) =>
  readdirSync(installed(name), { recursive: true, encoding: "utf8" });

function node(...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: consumer, encoding: "utf8" });
}

describe.each(PACKAGES)("the package %s", (name) => {
  it("contains what it declares and nothing private", () => {
    const { bin, exports } = manifest(name);
    const declared = JSON.stringify([bin, exports]).match(/(?<=")(?:\.\/)?dist\/[^"]+/g) ?? [];
    expect(declared.length).toBeGreaterThan(2);
    for (const file of [...declared, "LICENSE", "README.md", "LICENSES-OF-DEPENDENCIES.txt"])
      expect(existsSync(join(installed(name), file)), file).toBe(true);
    for (const other of ["tests", "src", "build", ".ci", "tmp", "native/fixtures"])
      expect(existsSync(join(installed(name), other)), other).toBe(false);
  });

  it("depends on what its code imports, and on nothing else", async () => {
    const imported = await importsOf(name);
    // A program that the build of the native part starts.
    const started = name === "deep-profile" ? ["node-gyp"] : [];
    expect([...imported, ...started].sort()).toEqual(dependenciesOf(name).sort());
  });

  it("has types that need no others", () => {
    const types = filesOf(name).filter((file) => file.endsWith(".d.ts"));
    const needed = types.flatMap((file) =>
      [
        ...readFileSync(join(installed(name), file), "utf8").matchAll(
          /(?:from |import\(|reference types=)"([^."][^"]*)"/g,
        ),
      ].map(([, module = ""]) => `${file}: ${module}`),
    );
    expect(needed).toEqual([]);
  });

  it("has every page that its texts name", () => {
    const texts = filesOf(name).filter((file) => /\.(?:c?js|md|json|ya?ml)$/.test(file));
    const named = texts.flatMap((file) => [
      ...(readFileSync(join(installed(name), file), "utf8").match(/\bdocs\/[\w-]+\.md\b/g) ?? []),
    ]);
    expect(named).toContain("docs/plugins.md");
    for (const page of new Set(named))
      expect(existsSync(join(installed(name), page)), page).toBe(true);
  });

  it("never compiles on installation", () => {
    const { gypfile, scripts } = manifest(name);
    expect(gypfile).toBe(false);
    // `npm ci` does not know of that, and would compile what it is beside.
    expect(existsSync(join(installed(name), "binding.gyp"))).toBe(false);
    expect(scripts).toBeUndefined();
  });

  it("has all that its documents refer to", () => {
    const documents = filesOf(name).filter((file) => file.endsWith(".md"));
    expect(documents).toContain("README.md");
    for (const document of documents) {
      const text = readFileSync(join(installed(name), document), "utf8");
      const links = [...text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"]+)"/g)]
        .map(([, link, picture]) => (link ?? picture ?? "").replace(/#.*/, ""))
        .filter((link) => link !== "" && !link.includes("://"));
      for (const link of links)
        expect(
          existsSync(join(installed(name), dirname(document), link)),
          `${document}: ${link}`,
        ).toBe(true);
    }
  });

  it("says where the pages are that it lacks", () => {
    const documents = filesOf(name).filter((file) => file.endsWith(".md"));
    const texts = documents.map((file) => readFileSync(join(installed(name), file), "utf8"));
    const named = new Set(
      texts.flatMap((text) =>
        [
          ...text.matchAll(/\(([\w-]+\.md) of the repository\)|\/blob\/HEAD\/docs\/([\w-]+\.md)/g),
        ].map(([, unlinked, linked]) => unlinked ?? linked ?? ""),
      ),
    );
    for (const page of named) {
      expect(existsSync(join(root, "docs", page)), page).toBe(true);
      expect(existsSync(join(installed(name), "docs", page)), page).toBe(false);
    }
    const wanted = ["environment.md", "services.md", "testing.md", "from-others.md", "anywhere.md"];
    const lacking = wanted.filter((page) => !existsSync(join(installed(name), "docs", page)));
    expect([...named]).toEqual(expect.arrayContaining(lacking));
  });

  it("is importable by each of its names", () => {
    const names = Object.keys(manifest(name).exports).filter((one) => !one.endsWith(".json"));
    const code = names.map((one) => `await import(${JSON.stringify(one.replace(".", name))});`);
    const result = node("--input-type=module", "-e", code.join("\n"));
    expect(result.stderr).toBe("");
    expect(result.status).toBe(0);
  });

  it("has commands that run", () => {
    for (const file of Object.values(manifest(name).bin) as string[]) {
      const result = node(join(installed(name), file), "--version");
      expect(result.stderr).toBe("");
      expect(result.stdout).toContain(manifest(name).version);
    }
  });
});

/** The packages that the code of a package imports. */
async function importsOf(name: Package): Promise<readonly string[]> {
  const scripts = filesOf(name).filter((file) => /\.(?:m|c)?js$/.test(file));
  const library = scripts.filter((file) => !/^dist\/(?:bin|client)|^docs\//.test(file));
  const { metafile } = await build({
    entryPoints: library.map((file) => join(installed(name), file)),
    outdir: join(consumer, "unused"),
    write: false,
    metafile: true,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const ofLibrary = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  // The commands' bundles are given their `require`, so that esbuild takes no note of it.
  const ofCommands = scripts
    .filter((file) => file.startsWith("dist/bin/"))
    .flatMap((file) =>
      [
        ...readFileSync(join(installed(name), file), "utf8").matchAll(
          /= (?:__toESM\()?require\("([^."]+)"\)/g,
        ),
      ].map(([, module = ""]) => module),
    );
  const packages = [...ofLibrary, ...ofCommands]
    .filter((path) => !/^(?:node|late|shared):/.test(path) && !builtinModules.includes(path))
    .map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  return [...new Set(packages)];
}

describe("the package of the playground", () => {
  it("depends on hydraconf of its version, and has the licences of what its page contains", () => {
    const { dependencies, exports, version } = manifest(PLAYGROUND);
    expect(dependencies).toEqual({ hydraconf: version });
    expect(existsSync(join(installed(PLAYGROUND), exports["."]))).toBe(true);
    const licences = readFileSync(
      join(installed(PLAYGROUND), "LICENSES-OF-DEPENDENCIES.txt"),
      "utf8",
    );
    for (const name of ["@codemirror/view", "@codemirror/lang-yaml", "@lezer/lr", "style-mod"])
      expect(licences).toContain(name);
  });

  it("is what hydraconf open serves, and is told of where it is not installed", async () => {
    const command = join(installed("hydraconf"), "dist/bin/hydraconf.js");
    const tree = join(installed("hydraconf"), "docs/examples/train/conf");
    const serving = spawn(process.execPath, [command, "open", tree], { cwd: consumer });
    try {
      const [line] = await once(serving.stdout, "data");
      const page = await (await fetch(String(line).trim())).text();
      expect(page).toContain("optimizer/decaying.yaml");
      expect(page.length).toBeGreaterThan(500_000);
      serving.kill("SIGINT");
      expect(await once(serving, "exit")).toEqual([130, null]);
    } finally {
      serving.kill("SIGKILL");
    }
    const aside = `${installed(PLAYGROUND)}.aside`;
    renameSync(installed(PLAYGROUND), aside);
    try {
      const { status, stderr } = node(command, "open", tree);
      expect(status).toBe(1);
      expect(stderr).toContain("npm install hydraconf hydraconf-playground");
    } finally {
      renameSync(aside, installed(PLAYGROUND));
    }
  });
});

describe("npm run release", () => {
  const release = (env: NodeJS.ProcessEnv, ...words: readonly string[]) =>
    spawnSync(process.execPath, [join(root, "scripts/release.mjs"), ...words], {
      cwd: root,
      encoding: "utf8",
      // Nothing listens there: what is only shown needs no registry, and npm would ask for a minute.
      env: {
        ...process.env,
        ...env,
        npm_config_registry: "http://127.0.0.1:9",
        npm_config_fetch_retries: "0",
      },
    });

  it("shows what would be published of the packages, with where they come from", () => {
    const shown = release({ GITHUB_REPOSITORY: "someone/hydraconf" });
    expect(shown.status, shown.stderr).toBe(0);
    for (const name of INSTALLED) {
      const { version } = manifest(name);
      expect(shown.stdout).toContain(`+ ${name}@${version}\n`);
      expect(shown.stderr).toMatch(
        /Publishing to .* with tag latest and public access \(dry-run\)/,
      );
      const file = join(root, "tmp/packages", name, "package.json");
      const {
        private: isPrivate,
        publishConfig,
        repository,
      } = JSON.parse(readFileSync(file, "utf8"));
      expect(isPrivate).toBeUndefined();
      expect(publishConfig).toEqual({ access: "public", provenance: true });
      const url = "git+https://github.com/someone/hydraconf.git";
      expect(repository).toEqual({ type: "git", url });
    }
    // Neither is ever published with the whole repository in it.
    expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).private).toBe(true);
  });

  it("publishes nothing outside of CI, for another tag, or without a section of the changelog", () => {
    const refused = release({ GITHUB_REPOSITORY: "", GITHUB_REF_NAME: "main" }, "--publish");
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("the tag is main, not v");
    expect(refused.stderr).toContain("only CI can sign");
    expect(refused.stdout).toBe("");
  });
});

describe("hydraconf", () => {
  it("is one package of at most 6 MB", () => {
    expect(dependenciesOf("hydraconf")).toEqual([]);
    const sizes = filesOf("hydraconf").map((file) => statSync(join(installed("hydraconf"), file)));
    const bytes = sizes.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeLessThan(6_000_000);
  });

  it("is loaded as one file", () => {
    writeFileSync(
      join(consumer, "loads.mjs"),
      `import { register } from "node:module";
       register("data:text/javascript," + encodeURIComponent(\`
         import { writeSync } from "node:fs";
         export const load = (url, context, next) => {
           if (url.includes("node_modules")) writeSync(1, url + "\\\\n");
           return next(url, context);
         };\`));
       await import("hydraconf");`,
    );
    const { stdout, stderr } = node("loads.mjs");
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([expect.stringMatching(/\/dist\/index\.js$/)]);
  });

  // TypeScript 6 takes no types in that nobody asks for: Node's come with what needs them.
  it.each(["--module node16", "--module nodenext", "--module esnext --moduleResolution bundler"])(
    "type-checks in strict projects without our settings, of ES modules and CommonJS (%s)",
    (resolution) => {
      writeFileSync(
        join(consumer, "use.ts"),
        `import { compose } from "hydraconf";
       import { validateTree } from "hydraconf/schema";
       import type { RegionReportBundle } from "deep-profile/report";
       import type { Timeline } from "deep-profile";
       const config = compose({ configDir: "conf", configName: "config" });
       const text: string = config.toYaml();
       export const issues: number = validateTree(config.root, {}).length;
       export type Both = [RegionReportBundle, Timeline, typeof text];`,
      );
      writeFileSync(
        join(consumer, "use.cts"),
        resolution.includes("bundler")
          ? ""
          : `import { compose } from "hydraconf";
       export const text: string = compose({ configDir: "conf", configName: "config" }).toYaml();`,
      );
      const tsc = join(root, "node_modules", "@typescript", "native", "bin", "tsc");
      const words = ["--noEmit", "--strict", ...resolution.split(" ")];
      const result = node(tsc, ...words, "use.ts", "use.cts");
      expect(result.stdout).toBe("");
      expect(result.status).toBe(0);
    },
  );

  it("is there for CommonJS, by import(), by require(), and as a file of CommonJS", () => {
    const uses = [
      'import("hydraconf").then(({ toYaml }) => console.log(toYaml({ a: 1 })));',
      'console.log(require("hydraconf").toYaml({ a: 1 }));',
      'console.log(require("./node_modules/hydraconf/dist/cjs/index.js").toYaml({ a: 1 }));',
    ];
    for (const use of uses) {
      writeFileSync(join(consumer, "use.cjs"), use);
      const result = node("use.cjs");
      expect(result.stderr).toBe("");
      expect(result.stdout).toBe("a: 1\n\n");
    }
  });

  it("checks JSON Schemas, as an ES module and as CommonJS, with errors of one class", () => {
    const use = (schema: string, engine: string) =>
      `const { validateTree } = ${schema};
       const { loadYaml, isConfigError } = ${engine};
       const tree = loadYaml("a: 1");
       console.log(validateTree(tree, { properties: { a: { type: "string" } } }).length);
       try { validateTree(tree, { type: "nothing" }); } catch (error) { console.log(isConfigError(error)); }`;
    const dist = join(installed("hydraconf"), "dist");
    writeFileSync(
      join(consumer, "check.mjs"),
      use('await import("hydraconf/schema")', 'await import("hydraconf")'),
    );
    writeFileSync(
      join(consumer, "check.cjs"),
      use(`require("${dist}/cjs/engine/schema/index.js")`, `require("${dist}/cjs/index.js")`),
    );
    // What one of them throws is an error of the other, which stands beside it.
    const useOfSources = (sources: string, engine: string) =>
      `const { environment } = ${sources};
       const { isConfigError } = ${engine};
       console.log(environment({ prefix: "APP_" }).values({ variables: new Map() }).length + 1);
       try { environment({ mispelt: true }); } catch (error) { console.log(isConfigError(error)); }`;
    writeFileSync(
      join(consumer, "sources.mjs"),
      useOfSources('await import("hydraconf/sources")', 'await import("hydraconf")'),
    );
    writeFileSync(
      join(consumer, "sources.cjs"),
      useOfSources(`require("${dist}/cjs/sources.js")`, `require("${dist}/cjs/index.js")`),
    );
    for (const file of ["check.mjs", "check.cjs", "sources.mjs", "sources.cjs"]) {
      const { stdout, stderr } = node(file);
      expect(stderr).toBe("");
      expect(stdout).toBe("1\ntrue\n");
    }
  });

  it("works in a bundle by esbuild", async () => {
    writeFileSync(
      join(consumer, "bundle-me.ts"),
      'import { toYaml } from "hydraconf"; console.log(toYaml({ a: 1 }));',
    );
    for (const format of ["esm", "cjs"] as const) {
      const outfile = join(consumer, `bundled.${format === "esm" ? "mjs" : "cjs"}`);
      const entryPoints = [join(consumer, "bundle-me.ts")];
      await build({ entryPoints, outfile, bundle: true, platform: "node", format });
      expect(node(outfile).stdout).toBe("a: 1\n\n");
    }
  });

  it("makes types of a schema", () => {
    writeFileSync(
      join(consumer, "my.json"),
      '{ "properties": { "mode": { "enum": ["x", "y"] } } }',
    );
    const command = join(installed("hydraconf"), "dist/bin/hydraconf.js");
    const { stdout, stderr } = node(command, "schema", "--types", "--from", "my.json");
    expect(stderr).toBe("");
    expect(stdout).toContain('  mode?: "x" | "y";\n');
  });
});

describe("deep-profile", () => {
  it("throws errors of hydraconf", () => {
    const code = `import { buildRegionModel } from "deep-profile";
      import { isConfigError } from "hydraconf";
      try { buildRegionModel({}, { nothing: 3 }); } catch (error) { console.log(isConfigError(error), error.message); }`;
    const { stdout, stderr } = node("--input-type=module", "-e", code);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^true /);
  });

  it("composes its own tree", () => {
    const command = join(installed("deep-profile"), "dist/bin/deep-profile.js");
    const composed = node(command, "--cfg", "job", "runners=stage1.no-static");
    expect(composed.stderr).toBe("");
    expect(composed.stdout).toMatch(/runners:\n {2}analysis:\n {4}static:\n {6}enabled: false/);
  });

  it("builds the native part on first use, says so, and profiles", () => {
    const command = join(installed("deep-profile"), "dist/bin/deep-profile.js");
    const run = () => node(command, "infer.iterations=1");
    const first = run();
    expect(first.status, first.stderr).toBe(0);
    expect(first.stderr).toMatch(/^building the native part \(.*; this happens once$/m);
    expect(first.stdout).not.toContain("building");
    expect(first.stdout).toMatch(/^stem +1 /m);
    const second = run();
    expect(second.status).toBe(0);
    expect(second.stderr).not.toContain("building");
  }, 900_000);
});
