import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";

// Pages whose samples are whole programs. Below a heading `##`, a block whose first line names a file is that file, and
// blocks of the console are run in their folder, one after the other. HYDRACONF_UPDATE_DOCS=1 writes what they print into the page.
const { root } = packageInfo();
const PAGES = ["environment", "services", "testing", "from-others"].map(
  (name) => `docs/${name}.md`,
);
const BLOCK = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

/** A folder in which `hydraconf` is installed, and what the page compares it with. */
function folder(): string {
  const cwd = mkdtempSync(join(tmpdir(), "documented-"));
  const modules = join(cwd, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  symlinkSync(root, join(modules, "hydraconf"));
  for (const name of ["zod", "convict", "dotenv", "config", "smol-toml"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  symlinkSync(join(root, "dist/bin/hydraconf.js"), join(modules, ".bin", "hydraconf"));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }\n');
  return cwd;
}

const { NODE_ENV: _, ...env } = process.env;

async function printed(command: string, cwd: string): Promise<string> {
  const { all } = await execa("bash", ["-c", command.replace(/\bnpx /, "node_modules/.bin/")], {
    cwd,
    all: true,
    reject: false,
    extendEnv: false,
    env: { ...env, LC_ALL: "C.UTF-8", NO_COLOR: "1" },
  });
  // Errors of Node's test runner and others tell times and paths.
  return all === "" ? "" : `${all.replaceAll(cwd, "/home/me/project")}\n`;
}

/** What a console block becomes when its commands are run. */
async function rerun(block: string, cwd: string): Promise<string> {
  let text = "";
  for (const part of block.split(/^(?=\$ )/m)) {
    const command = part.slice(2, part.indexOf("\n"));
    text += `$ ${command}\n${await printed(command, cwd)}`;
  }
  return text;
}

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const sections = text.split(/^(?=## )/m);

  it.each(
    sections
      .filter((section) => section.includes("```console"))
      .map((section) => ({
        title: section.slice(0, section.indexOf("\n")),
        section,
      })),
  )("$title", { timeout: 120_000 }, async ({ section }) => {
    const cwd = folder();
    let actual = section;
    for (const [, language, file, content = ""] of section.matchAll(BLOCK)) {
      if (file !== undefined) {
        mkdirSync(dirname(join(cwd, file)), { recursive: true });
        writeFileSync(join(cwd, file), content);
      }
      if (file === undefined && language === "console") {
        const now = await rerun(content, cwd);
        actual = actual.replace(content, () => now);
      }
    }
    if (process.env["HYDRACONF_UPDATE_DOCS"] === "1" && actual !== section) {
      const whole = readFileSync(join(root, page), "utf8");
      writeFileSync(
        join(root, page),
        whole.replace(section, () => actual),
      );
    } else expect(actual).toBe(section);
  });

  it("has no sample of a program that is not run", () => {
    const loose = [...text.matchAll(BLOCK)].filter(
      ([, language = "", file]) => file === undefined && !["console", "text"].includes(language),
    );
    expect(loose.map(([block]) => block)).toEqual([]);
  });
});
