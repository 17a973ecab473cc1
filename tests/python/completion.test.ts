import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { runCompletionCode } from "../../src/python/completion.ts";
import { capturedConsole } from "../captured-console.ts";
import { commandPath } from "../e2e/command.ts";

async function codeFor(shell: string, cwd = mkdtempSync(join(tmpdir(), "hydraconf-sc-"))) {
  const { console, out } = capturedConsole();
  const call = { argv: [], env: {}, cwd, console, now: new Date() };
  return { code: await runCompletionCode([shell], call), text: () => out.stdout };
}

test.each(["bash", "zsh", "fish"])("%s takes the code", async (shell) => {
  const { code, text } = await codeFor(shell);
  expect(code).toBe(0);
  const known = spawnSync(shell, ["-c", "true"]).status === 0;
  if (!known) {
    console.warn(`SKIPPED: there is no ${shell}`);
    return;
  }
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-sc-")), "code");
  writeFileSync(file, text());
  const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

test("bash asks for the program in the line, from any starter, and leaves other lines alone", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sc-"));
  writeFileSync(join(cwd, "train.py"), "");
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/hydraconf"), '#!/bin/sh\necho "$COMP_LINE|$COMP_POINT|$*"\n', {
    mode: 0o755,
  });
  const { text } = await codeFor("bash");
  const ask = (line: string) => `COMP_LINE='${line}'; COMP_POINT=${line.length}
COMP_WORDS=($COMP_LINE ''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(none)
__hydraconf_python python; echo "\${COMPREPLY[0]}"
`;
  const { stdout } = spawnSync(
    "bash",
    ["-c", `${text()}${ask("torchrun -n 2 train.py db=a ")}${ask("python other.py x ")}`],
    { cwd, encoding: "utf8", env: { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` } },
  );
  expect(stdout).toBe("prog db=a |10|--app train.py -sc query=bash\nnone\n");
});

test("another shell is refused with the nearest name", async () => {
  await expect(codeFor("fisch")).rejects.toThrow("'fisch' is not a shell");
});

const main = (configPath: string, configName: string): string =>
  `import hydra\n\n@hydra.main(version_base="1.3", config_path="${configPath}", config_name="${configName}")\ndef main(cfg):\n    pass\n`;

const TREE = {
  "configs/train.yaml": "defaults:\n- model: a\n- _self_\nport: 80\n",
  "configs/other.yaml": "only_other: 1\n",
  "configs/model/a.yaml": "x: 1\n",
  "configs/model/b.yaml": "x: 2\nonly_b: 1\n",
  "configs/slots/many.yaml": "# @package _global_\ndefaults:\n- override /hydra/launcher: local\n",
};
const TRAIN = { ...TREE, "train.py": main("configs", "train") };

/** The words that fish gets for the last of the words, in a project with these files. */
function asker(files: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sc-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const ask = (before: readonly string[], words: readonly string[], env = {}) => {
    const { stderr, stdout } = spawnSync(
      process.execPath,
      [commandPath("hydraconf"), ...before, "-sc", "query=fish", "--", ...words],
      { cwd, encoding: "utf8", env: { PATH: process.env["PATH"], HOME: cwd, ...env } },
    );
    expect(stderr).toBe("");
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split("\t")[0]);
  };
  return {
    cwd,
    python: (...words: string[]) => ask(["--app", "train.py"], words),
    run: (...words: string[]) => ask([], ["run", ...words]),
    /** With text behind the cursor. */
    runBefore: (after: string, ...words: string[]) =>
      ask([], ["run", ...words], { HYDRACONF_COMP_AFTER: after }),
    hydraconf: (...words: string[]) => ask([], words),
  };
}

describe("a Python program", () => {
  const { python } = asker(TRAIN);
  it.each<[readonly string[], readonly string[]]>([
    [[""], ["hydra", "hydra.", "model.", "model=", "port=", "slots="]],
    [["m"], ["model.", "model="]],
    [["run"], []],
    [["sweep", "c"], []],
    [["sweep"], []],
    [["model=b", "model.o"], ["model.only_b="]],
    [["-m", "model=a,"], ["model=a,b"]],
    [["--config-name", "other", "o"], ["only_other="]],
    [["--config-path", "configs/model", "-cn", "b", "o"], ["only_b="]],
    [["hydra/launcher=l"], []],
    [["hydra/launcher=s"], ["hydra/launcher=submitit_local", "hydra/launcher=submitit_slurm"]],
    [["hydra/sweeper="], ["ax", "basic", "nevergrad", "optuna"].map((n) => `hydra/sweeper=${n}`)],
    [["-m", "hydra/launcher=basic,l"], []],
    // What files name composes, as it does with the wheel.
    [["+slots=many", "po"], ["port="]],
    [["--dry"], []],
    [["--c"], ["--cfg", "--config-path", "--config-name", "--config-dir"]],
  ])("is offered for %j what Hydra offers: %j", (words, expected) => {
    expect(python(...words)).toEqual(expected);
  });
});

describe("the line of hydraconf run", () => {
  const { hydraconf, run } = asker(TRAIN);
  it.each<[readonly string[], readonly string[]]>([
    [[""], ["hydra", "hydra.", "model.", "model=", "port=", "slots="]],
    [["-m", "model=a,"], ["model=a,b"]],
    [["model=b", "model.o"], ["model.only_b="]],
    [["-cn", "other", "o"], ["only_other="]],
    [["hydra/launcher=l"], ["hydra/launcher=local"]],
    [["hydra/sweeper=s"], ["hydra/sweeper=successive_halving"]],
    [["hydra/launcher=local", "hydra.launcher.n"], ["hydra.launcher.n_jobs="]],
    [["-m", "+slots=many", "hydra.launcher.max"], ["hydra.launcher.max_retries="]],
    [["--dry"], ["--dry-run"]],
    [["--pass", "a"], ["args"]],
    [["--app", "tr"], ["train.py"]],
    // The program's part is the shell's.
    [["model=a", "--", ""], []],
    [["model=a", "--", "python", "train.py", "mo"], []],
  ])("completes %j with %j", (words, expected) => {
    expect(run(...words)).toEqual(expected);
  });

  it("completes the configs of a program that it or its settings name", () => {
    const two = {
      ...TREE,
      "train.py": main("configs", "train"),
      "eval.py": main("configs", "other"),
    };
    const named = asker(two);
    expect(named.run("--app", "eval.py", "o")).toEqual(["only_other="]);
    expect(named.hydraconf("--app", "eval.py", "o")).toEqual(["only_other="]);
    expect(asker({ ...two, "hydraconf.yaml": "app: train.py\n" }).run("po")).toEqual(["port="]);
    const set = asker({ ...two, "mine.yaml": "app: eval.py\n" });
    expect(set.run("--settings", "mine.yaml", "o")).toEqual(["only_other="]);
    expect(set.run("--settings", "mine.yaml", "po")).toEqual([]);
  });

  it("completes what any of several programs has, where nothing names one", () => {
    const several = asker({
      ...TREE,
      "train.py": main("configs", "train"),
      "eval.py": main("configs", "other"),
    });
    expect(several.run("-m", "model=a,")).toEqual(["model=a,b"]);
    expect(several.run("only")).toEqual(["only_other="]);
    // These words compose with one of them.
    expect(several.run("port=1", "po")).toEqual(["port="]);
    expect(several.run("port=[1", "po")).toEqual([]);
    expect(several.run("--pa")).toEqual(["--package", "--pass"]);
  });

  it("completes the configs of the program behind the cursor", () => {
    const { runBefore } = asker({
      ...TREE,
      "train.py": main("configs", "train"),
      "eval.py": main("configs", "other"),
    });
    expect(runBefore(" -- python eval.py x=1", "o")).toEqual(["only_other="]);
    expect(runBefore(" -- python train.py", "o")).toEqual([]);
    expect(runBefore("rt=1 a=2 -- python train.py", "po")).toEqual(["port="]);
    expect(runBefore(" -- python eval.py", "--app", "train.py", "po")).toEqual(["port="]);
    // What no program is, and a line that goes on otherwise.
    expect(runBefore(" --", "o")).toEqual(["only_other="]);
    expect(runBefore(" -- python gone.py", "o")).toEqual(["only_other="]);
    expect(runBefore(" 'a", "o")).toEqual(["only_other="]);
  });

  it("completes what is free of any tree where there is none", () => {
    expect(asker({}).run("hydra/launcher=l")).toEqual(["hydra/launcher=local"]);
  });

  it("does not complete after another subcommand", () => {
    expect(hydraconf("sweep", "ca")).toEqual(["cancel"]);
  });
});

test("a project that is not trusted completes, silently, and runs nothing", () => {
  const { cwd, python, run } = asker({
    ...TRAIN,
    "hydraconf.yaml": "plugins: [./plugin.mjs]\nresolvers: {twice: 'helpers:twice'}\n",
    "plugin.mjs":
      'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\nexport default {};\n',
    "helpers.py": "open('ran', 'w')\n",
  });
  expect(run("-m", "model=a,")).toEqual(["model=a,b"]);
  expect(run("hydra/launcher=l")).toEqual(["hydra/launcher=local"]);
  expect(python("po")).toEqual(["port="]);
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});
