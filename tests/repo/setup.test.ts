/** What `npm start` does before and around its command, in a clone whose compiler and command only say that they were called. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../wait.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Says that it was called, and ends when the file `go` is there. */
const COMPILER = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
appendFileSync("compiled", "once ");
const out = process.argv.at(-1);
mkdirSync(out + "/bin", { recursive: true });
while (!existsSync("go") && existsSync("package.json")) await sleep(10);
writeFileSync(out + "/bin/deep-profile.js", ${JSON.stringify(`
import { existsSync } from "node:fs";
const [what] = process.argv.slice(2);
if (what?.startsWith("SIG")) process.kill(process.pid, what);
if (what === "wait") {
  for (const name of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"])
    process.on(name, () => { console.log(name); process.exit(7); });
  setInterval(() => existsSync("package.json") || process.exit(), 1000);
}
console.log("ready");
`)});
`;

/** Takes every file of TypeScript for an empty one. */
const EMPTY_TYPESCRIPT = `
import { register } from "node:module";
const hook = "export const load = (url, context, next) => url.endsWith('.ts') ? { format: 'module', source: '', shortCircuit: true } : next(url, context);";
register("data:text/javascript," + encodeURIComponent(hook));
`;

const ownScripts = (): unknown =>
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts;

const PACKAGES = {
  "": {},
  "node_modules/@typescript/native": { version: "1.0.0", integrity: "sha512-a" },
};

let clone = "";
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "hydraconf-setup-"));
  const files = {
    "package.json": JSON.stringify({ type: "module", scripts: ownScripts() }),
    "package-lock.json": JSON.stringify({ packages: PACKAGES }),
    "node_modules/.package-lock.json": JSON.stringify({ packages: PACKAGES }),
    "node_modules/@typescript/native/package.json": '{"type": "module", "bin": {"tsc": "tsc.js"}}',
    "node_modules/@typescript/native/tsc.js": COMPILER,
    "scripts/bundle.mjs": "",
    "scripts/bundle-client.mjs": "",
    "scripts/bundle-library.mjs": "",
    "scripts/native.mjs": "",
    "scripts/compile-schemas.ts": "",
    "scripts/generate.ts": "",
    "scripts/typescript-loader.mjs": EMPTY_TYPESCRIPT,
    "schemas/config.schema.json": "{}",
    "binding.gyp": "{}",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
  for (const path of ["start.mjs", "setup.mjs", "installed.mjs", "launcher.cjs"])
    cpSync(join(ROOT, "scripts", path), join(clone, "scripts", path));
  cpSync(join(ROOT, "native/building"), join(clone, "native/building"), { recursive: true });
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

interface Start {
  readonly child: ChildProcess;
  /** What it has said so far, on both streams. */
  said(): string;
  readonly exitCode: Promise<number | null>;
}

const start = (...args: readonly string[]): Start =>
  follow(process.execPath, ["scripts/start.mjs", ...args]);

function follow(program: string, args: readonly string[]): Start {
  const child = spawn(program, args, { cwd: clone });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      text += chunk;
    });
  return { child, said: () => text, exitCode: once(child, "close").then(([code]) => code) };
}

const compiled = () =>
  existsSync(join(clone, "compiled")) ? readFileSync(join(clone, "compiled"), "utf8") : "";
const go = () => writeFileSync(join(clone, "go"), "");

it("sets a clone up once where it is started twice, and leaves no lock", async () => {
  const first = start();
  await until(() => compiled() !== "");
  const second = start();
  await until(() => second.said().includes("is already setting up") || compiled() !== "once ");
  go();
  expect([await first.exitCode, await second.exitCode]).toEqual([0, 0]);
  expect(compiled()).toBe("once ");
  expect(second.said()).toContain("ready");
  expect(readdirSync(join(clone, ".stamps"))).toEqual(["typescript"]);
});

it("goes on where a start was killed", async () => {
  const killed = start();
  await until(() => compiled() !== "");
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  // Its compiler goes on, and ends.
  go();
  await killed.exitCode;
  expect(await start().exitCode).toBe(0);
});

it("leaves no lock where the compiler fails, and gives its exit code", async () => {
  writeFileSync(join(clone, "node_modules/@typescript/native/tsc.js"), "process.exit(3)");
  expect(await start().exitCode).toBe(3);
  expect(readdirSync(join(clone, ".stamps"))).toEqual([]);
});

it.each(["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"] as const)(
  "passes %s on, and ends as the command does",
  async (signal) => {
    go();
    const { child, said, exitCode } = start("wait");
    await until(() => said().includes("ready"));
    child.kill(signal);
    expect(await exitCode).toBe(7);
    expect(said()).toContain(signal);
  },
);

it("is asked to end by who ends npm alone: no shell of npm's stands between", async () => {
  go();
  const { child, said, exitCode } = follow("npm", ["start", "--", "wait"]);
  await until(() => said().includes("ready"));
  child.kill("SIGTERM");
  expect(await exitCode).toBe(7);
  expect(said()).toContain("SIGTERM");
});

it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "tells as shells do that %s ended the command",
  async (signal) => {
    go();
    expect(await start(signal).exitCode).toBe(128 + constants.signals[signal]);
  },
);
