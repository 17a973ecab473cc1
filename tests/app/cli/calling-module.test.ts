import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const LIBRARY = fileURLToPath(new URL("../../../dist/index.js", import.meta.url));

test("name, config directory and schema are those of the module that calls hydraMain", () => {
  const home = mkdtempSync(join(tmpdir(), "hydraconf-module-"));
  mkdirSync(join(home, "app/conf"), { recursive: true });
  writeFileSync(join(home, "app/conf/config.yaml"), "x: 1\n");
  writeFileSync(
    join(home, "app/my.schema.json"),
    '{"properties": {"x": {"type": "integer", "maximum": 9}}}',
  );
  writeFileSync(
    join(home, "app/train.mjs"),
    `import { hydraMain } from ${JSON.stringify(LIBRARY)};
     process.exitCode = await hydraMain(
       { configPath: "conf", configName: "config", schema: "my.schema.json" },
       (config, job) => console.log(job.name, config.get("x")),
     );`,
  );
  const start = (file: string, ...args: readonly string[]) =>
    execFileSync(process.execPath, [`app/${file}`, ...args], {
      cwd: home,
      encoding: "utf8",
    });
  const run = (...args: readonly string[]) => start("train.mjs", ...args);
  expect(run("x=2", "hydra.run.dir=o")).toBe("train 2\n");
  expect(() => run("x=10", "hydra.run.dir=o")).toThrow(/x = 10\n {4}expected: +at most 9/);
  mkdirSync(join(home, "app/other"));
  writeFileSync(join(home, "app/other/config.yaml"), "x: 3\n");
  expect(run("-cp", "other", "--cfg", "job")).toBe("x: 3\n");
  // A module elsewhere, as in a bundle or a test, names its own file.
  mkdirSync(join(home, "app/lib"));
  const inLibrary = (extension: string, base: string): string => {
    writeFileSync(
      join(home, `app/lib/main.${extension}`),
      `import(${JSON.stringify(LIBRARY)}).then(({ hydraMain }) => hydraMain(
         { configPath: "../conf", configName: "config", base: ${base} },
         (config, job) => console.log(job.name, config.get("x")),
       ));`,
    );
    return start(`lib/main.${extension}`, "hydra.run.dir=o");
  };
  expect(inLibrary("mjs", "import.meta.url")).toBe("main 1\n");
  expect(inLibrary("cjs", "__filename")).toBe("main 1\n");
  expect(() => inLibrary("mjs", "'file://host/x'")).toThrow(
    /hydraMain: base must be a path or the URL of a file/,
  );
  expect(run("--version")).toMatch(/^hydraconf \d+\.\d+\.\d+ \(Hydra 1\.3\.5\)\n$/);
});
