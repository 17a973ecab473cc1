import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const script = pathToFileURL(
  fileURLToPath(new URL("../../scripts/installed.mjs", import.meta.url)),
);
const root = mkdtempSync(join(tmpdir(), "hydraconf-installed-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Packages = Readonly<Record<string, object>>;

const A = { version: "1.0.0", integrity: "sha512-a" };
const B = { version: "2.0.0", integrity: "sha512-b", dev: true };
const ELSEWHERE = { version: "1.0.0", optional: true, os: ["aix"], cpu: ["ppc64"] };
const HERE = { version: "1.0.0", optional: true, os: [process.platform], cpu: ["!none"] };
const LOCK: Packages = { "": {}, "node_modules/a": A, "node_modules/b": B };
const FOUND: Packages = { "node_modules/a": A, "node_modules/b": B };

/** As `npm start` asks it, after an installation of `there` that left the folders in `folders`. */
function isInstalled(
  wanted: Packages,
  there: Packages | null,
  folders = Object.keys(there ?? {}),
): boolean {
  rmSync(join(root, "node_modules"), { recursive: true, force: true });
  mkdirSync(join(root, "node_modules"));
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: wanted }));
  if (there !== null)
    writeFileSync(
      join(root, "node_modules/.package-lock.json"),
      JSON.stringify({ packages: there }),
    );
  for (const folder of folders) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "package.json"), "{}");
  }
  const program = `import { isInstalled } from ${JSON.stringify(script.href)};
    process.stdout.write(String(isInstalled(${JSON.stringify(root)})));`;
  return (
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
    }) === "true"
  );
}

describe("whether dependencies are installed", () => {
  it("is seen from what npm says it has put there, whichever command did", () => {
    expect(isInstalled(LOCK, FOUND)).toBe(true);
    const dependency = { version: "1.0.0", optional: true };
    const wanted = { ...LOCK, "node_modules/x": ELSEWHERE, "node_modules/y": dependency };
    expect(isInstalled(wanted, FOUND)).toBe(true);
  });

  it.each<readonly [string, Packages, Packages | null]>([
    ["nothing is there", LOCK, null],
    ["development packages were left out", LOCK, { "node_modules/a": A }],
    ["a version is another", LOCK, { ...FOUND, "node_modules/a": { ...A, version: "1.0.1" } }],
    ["a content is another", LOCK, { ...FOUND, "node_modules/b": { ...B, integrity: "sha512-c" } }],
    ["a package is too many", LOCK, { ...FOUND, "node_modules/old": A }],
    ["this machine's binaries are not there", { ...LOCK, "node_modules/x": HERE }, FOUND],
  ])("is not where %s", (_, wanted, there) => {
    expect(isInstalled(wanted, there)).toBe(false);
  });

  it("is not where a folder is gone", () => {
    expect(isInstalled(LOCK, FOUND, ["node_modules/a"])).toBe(false);
  });
});
