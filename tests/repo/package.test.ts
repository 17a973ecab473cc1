import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const npm = process.env["npm_execpath"];

/** A project that depends on the packed tarball, as a user's would. */
let consumer: string;
let installed: string;

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), "hydraconf-consumer-"));
  const modules = join(consumer, "node_modules");
  installed = join(modules, "hydraconf");
  mkdirSync(installed, { recursive: true });
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", consumer];
  if (npm === undefined) execFileSync("npm", pack, { cwd: root });
  else execFileSync(process.execPath, [npm, ...pack], { cwd: root });
  const tarball = readdirSync(consumer).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  execFileSync("tar", ["-xzf", join(consumer, tarball), "-C", installed, "--strip-components=1"]);
  // Its dependencies, as npm would have put them beside it.
  for (const name of readdirSync(join(root, "node_modules")))
    if (!name.startsWith(".") && name !== "hydraconf")
      symlinkSync(join(root, "node_modules", name), join(modules, name));
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rmSync(consumer, { recursive: true, force: true }));

const manifest = () => JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));

function node(...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: consumer, encoding: "utf8" });
}

describe("the packed package", () => {
  it("contains what it declares and nothing private", () => {
    const { bin, exports } = manifest();
    for (const file of Object.values(bin) as string[])
      expect(existsSync(join(installed, file))).toBe(true);
    for (const entry of Object.values(exports))
      for (const file of typeof entry === "string" ? [entry] : Object.values(entry as object))
        expect(existsSync(join(installed, file)), file).toBe(true);
    for (const name of ["conf", "schemas", "native", "dist/binding.gyp", "LICENSE", "README.md"])
      expect(existsSync(join(installed, name)), name).toBe(true);
    for (const name of ["tests", "src", "build", ".ci", "tmp"])
      expect(existsSync(join(installed, name)), name).toBe(false);
  });

  it("never compiles on installation", () => {
    const { gypfile, scripts } = manifest();
    expect(gypfile).toBe(false);
    // `npm ci` does not know of that, and would compile what it is beside.
    expect(existsSync(join(installed, "binding.gyp"))).toBe(false);
    expect(Object.keys(scripts ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(pre|post)?install$|^prepare$/)]),
    );
  });

  it("has all that its documents refer to", () => {
    const documents = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".md"),
    );
    expect(documents).toContain("README.md");
    for (const document of documents) {
      const text = readFileSync(join(installed, document), "utf8");
      const links = [...text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"]+)"/g)]
        .map(([, link, picture]) => (link ?? picture ?? "").replace(/#.*/, ""))
        .filter((link) => link !== "" && !link.includes("://"));
      for (const link of links)
        expect(existsSync(join(installed, dirname(document), link)), `${document}: ${link}`).toBe(
          true,
        );
    }
  });

  it("is importable by each of its names", () => {
    const names = Object.keys(manifest().exports).filter((name) => !name.endsWith(".json"));
    const code = names.map(
      (name) => `await import(${JSON.stringify(name.replace(".", "hydraconf"))});`,
    );
    const result = node("--input-type=module", "-e", code.join("\n"));
    expect(result.stderr).toBe("");
    expect(result.status).toBe(0);
  });

  // TypeScript 6 takes no types in that nobody asks for: Node's come with what needs them.
  it.each(["--module node16", "--module nodenext", "--module esnext --moduleResolution bundler"])(
    "type-checks in a strict project without our settings (%s)",
    (resolution) => {
      writeFileSync(
        join(consumer, "use.ts"),
        `import { compose } from "hydraconf";
       import type { RegionReportBundle } from "hydraconf/report";
       import type { Timeline } from "hydraconf/profile";
       const text: string = compose({ configDir: "conf", configName: "config" }).toYaml();
       export type Both = [RegionReportBundle, Timeline, typeof text];`,
      );
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const result = node(tsc, "--noEmit", "--strict", ...resolution.split(" "), "use.ts");
      expect(result.stdout).toBe("");
      expect(result.status).toBe(0);
    },
  );

  it("is there for CommonJS, by import() and by require()", () => {
    const uses = [
      'import("hydraconf").then(({ toYaml }) => console.log(toYaml({ a: 1 })));',
      'console.log(require("hydraconf").toYaml({ a: 1 }));',
    ];
    for (const use of uses) {
      writeFileSync(join(consumer, "use.cjs"), use);
      const result = node("use.cjs");
      expect(result.stderr).toBe("");
      expect(result.stdout).toBe("a: 1\n\n");
    }
  });

  it("runs its commands", () => {
    const bin = join(installed, "dist", "bin");
    for (const command of ["hydraconf", "deep-profile", "validate-regions"]) {
      const result = node(join(bin, `${command}.js`), "--version");
      expect(result.stderr).toBe("");
      expect(result.stdout).toContain(manifest().version);
    }
    const composed = node(join(bin, "deep-profile.js"), "--cfg", "job", "runners=stage1.no-static");
    expect(composed.stderr).toBe("");
    expect(composed.stdout).toMatch(/runners:\n {2}analysis:\n {4}static:\n {6}enabled: false/);
  });

  it("builds the native part on first use, says so, and profiles", () => {
    const run = () => node(join(installed, "dist/bin/deep-profile.js"), "infer.iterations=1");
    const first = run();
    expect(first.status, first.stderr).toBe(0);
    expect(first.stdout).toContain("building the native part");
    expect(first.stdout).toMatch(/^stem +1 /m);
    const second = run();
    expect(second.status).toBe(0);
    expect(second.stdout).not.toContain("building");
  }, 900_000);
});
