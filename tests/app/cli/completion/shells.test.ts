import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { execa } from "execa";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { quoteForBash, readShellLine } from "../../../../src/app/cli/completion/shells.ts";
import { packageInfo } from "../../../../src/engine/values/package-info.ts";
import { commandPath } from "../../../e2e/command.ts";
import { runs } from "../../../runs.ts";

const TERMINAL = fileURLToPath(new URL("terminal.py", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "hydraconf-shells-"));
afterAll(() => rmSync(home, { recursive: true }));

const isThere = (program: string): boolean =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;

/** The lines that stand in a shell after keys were typed into it, each into an empty one. */
async function typed(shell: string, setup: string, keys: readonly string[]) {
  const { stdout } = await execa(
    "python3",
    [TERMINAL, shell, setup, ...keys.map((k) => JSON.stringify(k))],
    {
      cwd: home,
      env: {
        PATH: `${join(home, "bin")}${delimiter}${process.env["PATH"]}`,
        HOME: home,
        TERM: "xterm",
        LC_ALL: "C.UTF-8",
      },
    },
  );
  return (JSON.parse(stdout) as { readonly lines: readonly string[] }).lines;
}

beforeAll(() => {
  mkdirSync(join(home, "bin"));
  symlinkSync(commandPath("hydraconf"), join(home, "bin", "hydraconf"));
  mkdirSync(join(home, "conf", "db"), { recursive: true });
  writeFileSync(
    join(home, "conf", "config.yaml"),
    "defaults:\n- db: mysql\nname: two words\nport: 80\n",
  );
  writeFileSync(join(home, "conf", "db", "mysql.yaml"), "host: a:b\n");
  writeFileSync(join(home, "conf", "db", "postgres.yaml"), "host: b\n");
  const library = pathToFileURL(join(packageInfo().root, "dist", "index.js")).href;
  writeFileSync(
    join(home, "train.mjs"),
    `import { hydraMain } from "${library}";\nawait hydraMain({ configPath: "conf", configName: "config" }, () => {});\n`,
  );
  mkdirSync(join(home, "py"));
  mkdirSync(join(home, "py", "conf"));
  writeFileSync(join(home, "py", "conf", "other.yaml"), "only_here: 1\n");
  writeFileSync(
    join(home, "py", "other.py"),
    'import hydra\n\n@hydra.main(version_base="1.3", config_path="conf", config_name="other")\ndef main(cfg):\n    pass\n',
  );
  // A package that is installed here alone, as npm links it.
  mkdirSync(join(home, "node_modules", ".bin"), { recursive: true });
  symlinkSync(commandPath("hydraconf"), join(home, "node_modules", ".bin", "hydraconf"));
  writeFileSync(
    join(home, "py", "learn.py"),
    'import hydra\n\n@hydra.main(version_base="1.3", config_path="../conf", config_name="config")\ndef main(cfg):\n    pass\n',
  );
});

describe.concurrent.each([
  [
    "bash",
    'eval "$(hydraconf -sc install=bash)"',
    'eval "$(node train.mjs -sc install=bash)"; eval "$(node_modules/.bin/hydraconf -sc install=bash)"; eval "$(hydraconf completion bash)"',
  ],
  [
    "zsh",
    'eval "$(hydraconf -sc install=zsh)"',
    'eval "$(node train.mjs -sc install=zsh)"; eval "$(node_modules/.bin/hydraconf -sc install=zsh)"; eval "$(hydraconf completion zsh)"',
  ],
  [
    "fish",
    "hydraconf -sc install=fish | source",
    "node train.mjs -sc install=fish | source; node_modules/.bin/hydraconf -sc install=fish | source; hydraconf completion fish | source",
  ],
])("%s", (shell, install, installScript) => {
  test("completes commands and scripts, in quotes and behind colons", async ({ expect, skip }) => {
    const missing = [shell, "python3"].find((program) => !isThere(program));
    if (missing !== undefined) {
      console.warn(`SKIPPED completion in ${shell}: ${missing} is not installed here`);
      return skip();
    }
    const lines = await typed(shell, `${install}; ${installScript}`, [
      "hydraconf db=my\t",
      "hydraconf d\tmy\t",
      "hydraconf --cfg j\t",
      "hydraconf db=postgres db.host=\t",
      "hydraconf db.host=a:\t",
      "hydraconf name=two\t",
      "hydraconf 'name=two w\t",
      "hydraconf ++po\t",
      "hydraconf port=1 -- con\t",
      "node train.mjs db=p\t",
      "node tra\t",
      "hydraconf run -m db=mysql,\t",
      "hydraconf run hydra/launcher=lo\t",
      "hydraconf run hydra/launcher=local hydra.launcher.n\t",
      "hydraconf run po\t",
      "hydraconf run --pas\targ\t",
      "hydraconf run port=1 -- con\t",
      "npx hydraconf run -m db=mysql,\t",
      "npx other db=my\t",
      "python py/learn.py db=my\t",
      "python py/learn.py hydra/launcher=lo\t",
      // Nothing of these is known to Hydra: `run`, `mcp`, `--pass`.
      "python py/learn.py ru\t",
      "python py/learn.py mc\t",
      "python py/learn.py --pas\t",
      // The last one, since the next would keep what is behind the cursor.
      `hydraconf run only -- python py/other.py${"\u001b[D".repeat(" -- python py/other.py".length)}\t`,
    ]);
    expect(lines).toEqual([
      "hydraconf db=mysql ",
      // Two groups of names begin so: `db=` and `db.`.
      "hydraconf dbmy",
      "hydraconf --cfg job ",
      "hydraconf db=postgres db.host=b ",
      "hydraconf db.host=a:b ",
      "hydraconf name=two\\ words ",
      // bash closes the quote, and leaves the blank to the user.
      shell === "bash" ? "hydraconf 'name=two words'" : "hydraconf 'name=two words' ",
      "hydraconf ++port=",
      "hydraconf port=1 -- conf/",
      "node train.mjs db=postgres ",
      "node train.mjs ",
      "hydraconf run -m db=mysql,postgres ",
      "hydraconf run hydra/launcher=local ",
      "hydraconf run hydra/launcher=local hydra.launcher.n_jobs=",
      "hydraconf run port=",
      "hydraconf run --pass args ",
      "hydraconf run port=1 -- conf/",
      "npx hydraconf run -m db=mysql,postgres ",
      "npx other db=my",
      "python py/learn.py db=mysql ",
      "python py/learn.py hydra/launcher=lo",
      "python py/learn.py ru",
      "python py/learn.py mc",
      "python py/learn.py --pas",
      "hydraconf run only_here= -- python py/other.py",
    ]);
  });
});

test("what installs completion, uninstalls it too", async () => {
  const run = (...args: string[]) =>
    execa("hydraconf", args, {
      cwd: home,
      env: { PATH: `${join(home, "bin")}${delimiter}${process.env["PATH"]}` },
    });
  const { stdout: install } = await run("-sc", "install=bash");
  const { stdout: uninstall } = await run("-sc", "uninstall=bash");
  const shown = await execa("bash", [
    "-c",
    `${install}\ncomplete -p hydraconf\n${uninstall}\ncomplete -p hydraconf || true`,
  ]);
  expect(shown.stdout.split("\n")).toEqual([
    "complete -o bashdefault -o default -F __hydraconf_program hydraconf",
  ]);
  expect(shown.stderr).toMatch(/no completion specification/);
});

const BREAKS = " \t\n\"'@><=;|&(:";

describe("a line of bash", () => {
  it.each([
    ["", [], "", 0, ""],
    ["a b", ["a"], "b", 0, ""],
    ["a b ", ["a", "b"], "", 0, ""],
    ["a db=my", ["a"], "db=my", 3, ""],
    ["a db@x=my", ["a"], "db@x=my", 5, ""],
    ["a 'db=m y", ["a"], "db=m y", 0, "'"],
    ["a db='m y", ["a"], "db=m y", 3, "'"],
    ['a db="m \\" y', ["a"], 'db=m " y', 3, '"'],
    ['a "x\\y\\', ["a"], "x\\y\\", 0, '"'],
    ["a 'x\\y", ["a"], "x\\y", 0, "'"],
    ["a x\\", ["a"], "x\\", 0, ""],
    ["a  b", ["a"], "b", 0, ""],
    ["a x'm y", ["a"], "xm y", 1, "'"],
    ["a db=m\\ y", ["a"], "db=m y", 3, ""],
    ["a 'x y'=1 z", ["a", "x y=1"], "z", 0, ""],
    ["a x:y", ["a"], "x:y", 2, ""],
  ])("%j", (line, words, word, kept, quote) => {
    expect(readShellLine(line, BREAKS)).toEqual({ words, word, kept, quote });
  });

  it("needs no breaks where the shell has none", () => {
    expect(readShellLine("a db=my", " ").kept).toBe(0);
  });
});

test("what is quoted is read back", () => {
  const text = fc.string({ unit: "grapheme-ascii", minLength: 1 });
  fc.assert(
    fc.property(text, fc.constantFrom("", "'", '"'), (value, quote) => {
      const line = `program ${quote}${quoteForBash(value, quote)}${quote === "" ? "" : quote}`;
      expect(readShellLine(line, BREAKS).word).toBe(value);
    }),
    { numRuns: runs(200) },
  );
});
