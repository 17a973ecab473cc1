import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingDirectoryHint } from "../../src/compose/missing-directory.ts";
import { createEngine } from "../../src/engine.ts";
import { refusal } from "./in-memory.ts";

function folder(...files: readonly string[]): string {
  const path = mkdtempSync(join(tmpdir(), "hydraconf-missing-"));
  for (const file of files) {
    mkdirSync(join(path, file, ".."), { recursive: true });
    writeFileSync(join(path, file), "a: 1\n");
  }
  return path;
}

test("a file is taken apart into the directory and the name", () => {
  const cwd = folder("conf/train.yaml");
  expect(missingDirectoryHint(join(cwd, "conf/train.yaml"))).toContain(
    `(-cp ${join(cwd, "conf")} -cn train)`,
  );
});

test("directories with YAML files beside it are named", () => {
  const cwd = folder("cfg/a.yaml", "configs/b.yaml", "src/main.py", ".git/c.yaml", "d.yaml");
  expect(missingDirectoryHint(join(cwd, "conf"))).toMatch(/; YAML files are in: cfg, configs$/);
  expect(missingDirectoryHint(join(folder("conf.d/a.yaml"), "conf"))).toMatch(/: conf\.d$/);
  const many = folder(...Array.from({ length: 7 }, (_, at) => `conf${at}/a.yaml`));
  expect(missingDirectoryHint(join(many, "conf"))).toMatch(/: conf0, conf1, conf2, conf3, conf4$/);
  expect(missingDirectoryHint(join(cwd, "none/conf"))).toMatch(/gives the config directory$/);
});

const refusalIn = (cwd: string, configDir: string, configName: string) =>
  refusal(() => createEngine().compose({ configDir: join(cwd, configDir), configName })).details
    .hint;

test("a package that is not installed is told as one: there is no directory to look beside", () => {
  const cwd = folder("conf/train.yaml");
  const error = refusal(() =>
    createEngine({ cwd }).compose({ configDir: "pkg://not-installed/conf", configName: "train" }),
  );
  expect(error.code).toBe("compose.missing_config");
  expect(error.message.split("\n")[0]).toBe(
    "Primary config module 'not-installed.conf' not found.",
  );
  expect(error.details).toMatchObject({ key: "not-installed.conf" });
  expect(error.details).not.toHaveProperty("hint");
});

test("a program without its directory, or with a path for a name, is told so", () => {
  const cwd = folder("configs/sub/train.yaml");
  expect(refusalIn(cwd, "conf", "train")).toContain("--config-path DIR");
  expect(refusalIn(cwd, "configs", "configs/sub/train.yaml")).toBe(
    "config names are relative to the config directory: use --config-name sub/train",
  );
  expect(refusalIn(cwd, "configs", "sub/trian")).toBe("choose it with --config-name sub/train");
  expect(refusalIn(cwd, "configs", "zzz")).toContain(
    "--config-name NAME (-cn) gives the name of the config",
  );
});
