import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseCommandLine } from "../../src/app/command-line/parse.ts";
import { isConfigError } from "../../src/engine/values/errors.ts";
import {
  OPEN_LINE,
  playgroundFile,
  runOpen,
  treeToOpen,
} from "../../src/playground/open-command.ts";
import { capturedConsole } from "../captured-console.ts";
import { until } from "../wait.ts";

function project(files: Readonly<Record<string, string>>): string {
  const cwd = mkdtempSync(join(tmpdir(), "open-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return cwd;
}

const TRAIN = `import hydra
@hydra.main(version_base="1.2", config_path="configs", config_name="train")
def main(cfg): pass
`;

const open = (cwd: string, ...args: readonly string[]) =>
  treeToOpen(parseCommandLine(OPEN_LINE, args), { cwd, env: {} }, {});

test("the tree is that of the program", () => {
  const cwd = project({ "train.py": TRAIN, "configs/train.yaml": "", "configs/eval.yaml": "" });
  const ofProgram = {
    place: join(cwd, "configs"),
    title: "configs",
    directory: "configs",
    configName: "train",
    dialect: "1.2",
    program: { words: ["python", "train.py"], configName: "train", jobName: "train" },
  };
  expect(open(cwd)).toEqual(ofProgram);
  expect(open(cwd, "configs")).toEqual(ofProgram);
  expect(open(cwd, "--app", "train.py", "--config-name", "eval.yaml")).toEqual({
    ...ofProgram,
    configName: "eval",
  });
  expect(open(cwd, "--version-base", "1.4").dialect).toBe("1.4");
});

test("--app is no way around configs that cannot be read", () => {
  const cwd = project({
    "train.py": TRAIN.replace('"configs"', "where()"),
    "packaged.py": TRAIN.replace('"configs"', '"pkg://package.conf"'),
    "configs/train.yaml": "",
    "conf/config.yaml": "",
  });
  const unread = expect.objectContaining({
    code: "app.unsupported",
    message: expect.stringContaining("cannot be read without running Python: where()"),
  });
  expect(() => open(cwd, "--app", "train.py")).toThrow(unread);
  expect(open(cwd, "--app", "packaged.py")).toMatchObject({
    place: join(cwd, "conf"),
    program: { words: ["hydraconf"] },
  });
  // Where the directory is told, it is the program's.
  expect(open(cwd, "configs", "--app", "train.py")).toMatchObject({
    place: join(cwd, "configs"),
    program: { words: ["python", "train.py"] },
  });
});

test("a tree without a program is hydraconf's", () => {
  const cwd = project({ "conf/config.yaml": "", "conf/a.yaml": "", "other/a.yaml": "" });
  expect(open(cwd)).toEqual({
    place: join(cwd, "conf"),
    title: "conf",
    directory: "conf",
    configName: "config",
    dialect: "1.3",
    program: { words: ["hydraconf"], configName: "config", jobName: "config" },
  });
  expect(open(cwd, "other")).toMatchObject({
    configName: "a",
    program: { words: ["hydraconf", "-cp", "other"], configName: "config" },
  });
});

test("a primary config that is not there is refused with the nearest one", () => {
  const cwd = project({ "conf/config.yaml": "", "conf/train.yaml": "", "conf/exp/a.yaml": "" });
  const missing = (message: string, ...available: readonly string[]) =>
    expect.objectContaining({
      code: "compose.missing_config",
      details: expect.objectContaining({ message, available }),
    });
  expect(() => open(cwd, "--config-name", "trian")).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ nearest: "train", hint: "use --config-name train" }),
    }),
  );
  expect(() => open(cwd, "conf", "--config-name", "nope")).toThrow(
    missing("There is no config 'nope' in 'conf'", "config", "train"),
  );
  expect(() => open(cwd, "--config-name", "exp/b")).toThrow(
    missing("There is no config 'exp/b' in 'conf'", "exp/a"),
  );
  expect(open(cwd, "--config-name", "exp/a").configName).toBe("exp/a");
});

test("a file is opened as the primary config of its directory, with the program of that", () => {
  const cwd = project({ "train.py": TRAIN, "configs/train.yaml": "", "configs/eval.yaml": "" });
  const program = { words: ["python", "train.py"] };
  const tree = { place: join(cwd, "configs"), title: "configs", configName: "eval", program };
  expect(open(cwd, "configs/eval.yaml")).toMatchObject(tree);
  expect(open(cwd, join(cwd, "configs", "eval.yaml"))).toMatchObject(tree);
  expect(() => open(cwd, "configs/eval.yaml", "--config-name", "train")).toThrow(
    expect.objectContaining({ code: "app.usage" }),
  );
  const refused = (path: string) => {
    try {
      return open(cwd, path);
    } catch (error) {
      return isConfigError(error) && error.details;
    }
  };
  for (const path of ["configs/evil.yaml", join(cwd, "configs/evil.yaml")])
    expect(refused(path)).toMatchObject({
      code: "compose.missing_config",
      message: "There is no config 'evil' in 'configs'",
      available: ["eval", "train"],
      nearest: "eval",
      hint: `use hydraconf open ${path.replace("evil", "eval")}`,
    });
  expect(refused("config/eval.yaml")).toMatchObject({
    message: "There is no directory 'config/eval.yaml'",
  });
});

test("without a tree the error names the directories that may be one", () => {
  const cwd = project({ "settings/config.yaml": "", "src/x.txt": "", "empty/x.txt": "" });
  expect(() => open(cwd)).toThrow(
    expect.objectContaining({
      code: "compose.missing_config",
      details: expect.objectContaining({
        message: "There is no directory 'conf'",
        available: ["settings"],
        hint: "name the directory of the configs: hydraconf open settings",
      }),
    }),
  );
  expect(() => open(cwd, "empty")).toThrow("'empty' has no primary config");
});

test.each([
  ["conf/notes.txt", "use hydraconf open conf"],
  ["train.py", "use hydraconf open --app train.py"],
])("%s, a file that is no config, is answered with what to type", (file, hint) => {
  const cwd = project({ "conf/config.yaml": "x: 1\n", [file]: "" });
  const message = `'${file}' is a file, and the configs are in a directory`;
  expect(() => open(cwd, file)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ message, hint }) }),
  );
});

test("without its package the error says what to install, and the project's own is not taken", () => {
  const cwd = project({
    "package.json": '{ "name": "hydraconf" }',
    "node_modules/hydraconf-playground/package.json": JSON.stringify({
      name: "hydraconf-playground",
      version: "1.2.3",
      exports: { ".": "./index.js", "./package.json": "./package.json" },
    }),
    "node_modules/hydraconf-playground/index.js": "",
  });
  const elsewhere = project({ "package.json": "{}" });
  const version = "1.2.3";
  const file = join(cwd, "node_modules/hydraconf-playground/index.js");
  expect(playgroundFile({ root: cwd, version })).toBe(file);
  expect(() => playgroundFile({ root: cwd, version: "1.2.4" })).toThrow(
    expect.objectContaining({
      code: "app.unsupported",
      details: expect.objectContaining({
        message: "hydraconf-playground is of version 1.2.3, and hydraconf of 1.2.4",
        hint: expect.stringContaining("hydraconf@1.2.4 hydraconf-playground@1.2.4"),
      }),
    }),
  );
  for (const own of [{ root: elsewhere, version }, undefined])
    expect(() => playgroundFile(own)).toThrow(
      expect.objectContaining({
        code: "app.unsupported",
        details: expect.objectContaining({
          hint: expect.stringContaining("npm install hydraconf hydraconf-playground"),
        }),
      }),
    );
  // That of this clone.
  const root = fileURLToPath(new URL("../..", import.meta.url));
  expect(playgroundFile({ root, version })).toBe(join(root, "dist/playground/index.js"));
});

const statusOf = (address: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(address, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });

test("it serves until it is interrupted", async () => {
  const cwd = project({ "conf/config.yaml": "a: 1\n" });
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  const ended = runOpen([], invocation);
  await until(() => out.stderr !== "");
  expect(out.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\n$/);
  expect(out.stderr).toBe("conf in a browser of this machine; Ctrl-C ends it\n");
  expect(await statusOf(out.stdout.trim())).toBe(200);
  const port = new URL(out.stdout.trim()).port;
  await expect(runOpen(["--port", port], invocation)).rejects.toThrow(`--port: ${port} is in use`);
  process.emit("SIGINT", "SIGINT");
  expect(await ended).toBe(130);
  await expect(statusOf(out.stdout.trim())).rejects.toThrow();
});

test("wrong usage", async () => {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd: tmpdir(), now: new Date(), console };
  await expect(runOpen(["--port", "x"], invocation)).rejects.toThrow("--port: 'x' is not a port");
  // The arguments of a program are seen by all users of the machine, and the address is a secret.
  await expect(runOpen(["--browser"], invocation)).rejects.toThrow("--browser");
  await expect(runOpen(["a", "b"], invocation)).rejects.toThrow("at most one directory or file");
  expect(await runOpen(["--help"], invocation)).toBe(0);
  expect(out.stdout).toMatch(/^Usage: hydraconf open \[options\] \[DIR\|FILE\]\n/);
});
