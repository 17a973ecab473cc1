import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completeInvocation } from "../../../src/app/job/process/invocation.ts";
import { createEngine } from "../../../src/engine.ts";
import { applyFixes } from "../../../src/language/migrate/apply-fixes.ts";
import {
  type Finding,
  type MigrateRequest,
  migrate,
} from "../../../src/language/migrate/migrate.ts";
import { foundIn, project, runIn } from "./project.ts";

const MAIN = (args: string): string =>
  `import hydra\n\n@hydra.main(${args})\ndef main(cfg):\n    pass\n`;
const PROGRAM = MAIN('version_base="1.3", config_path="conf", config_name="config"');

const SLASH = {
  "conf/config.yaml": "defaults:\n  - db: a/b\n  - _self_\n",
  "conf/db/a/b.yaml": "port: 1\n",
};

interface Shown {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly changes: readonly { readonly key?: string; readonly message?: string }[];
}

const requestIn = (folder: string): MigrateRequest => ({
  place: {
    invocation: completeInvocation({ cwd: folder, env: {} }),
    settings: {},
    plugins: [],
  },
  from: "1.3",
  to: "1.4",
  commandDirectory: folder,
  most: 100,
});

describe("hydraconf migrate", () => {
  it("says what changes, where and why, and writes nothing", async () => {
    const folder = project(SLASH);
    const before = readdirSync(folder, { recursive: true });
    const { code, stdout } = await runIn(folder);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `conf/config.yaml:2:5 change default-slash: \`- db: a/b\` is the option b of the group db/a
  hydraconf -cp conf -cn config
    removed db.port
      - 1  # conf/db/a/b.yaml:1:7
    added db.a.port
      + 1  # conf/db/a/b.yaml:1:7
  --fix mends it https://github.com/facebookresearch/hydra/issues/3222

From 1.3 to 1.4: 1 change, 0 warnings.
Composed 1 command line of 1 primary config (0 programs, 0 lines found in files) in both versions.
1 finding can be fixed: --fix
`,
    );
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
    expect(readFileSync(join(folder, "conf/config.yaml"), "utf8")).toBe(SLASH["conf/config.yaml"]);
  });

  it("--check fails if something changes, and not for warnings", async () => {
    expect((await runIn(project(SLASH), "--check")).code).toBe(1);
    expect((await runIn(project({ "conf/config.yaml": "x: 1\n" }), "--check")).code).toBe(0);
    const warned = {
      "conf/config.yaml": "hydra: {sweep: {subdir: '${hydra.job.override_dirname}'}}\n",
    };
    expect(await foundIn(project(warned))).toEqual(["conf/config.yaml:1 warning override-dirname"]);
    expect((await runIn(project(warned), "--check")).code).toBe(0);
    expect((await runIn(project(SLASH), "--check", "--fix")).code).toBe(0);
  });

  it("a program keeps the version that its source names", async () => {
    const tree = { "conf/config.yaml": "x: 1\n" };
    const of = (args: string) =>
      foundIn(
        project({ ...tree, "train.py": MAIN(`config_path="conf", config_name="config"${args}`) }),
      );
    expect(await of("")).toEqual(["conf/config.yaml:2 change job-chdir"]);
    expect(await of(", version_base=None")).toEqual([]);
    expect(await of(', version_base="1.3"')).toEqual([]);
    expect(await of(', version_base="1.2"')).toEqual(["train.py:3 error version-base"]);
  });

  it("composes each option, experiment and found line, and names the line that shows a change", async () => {
    const folder = project({
      "train.py": PROGRAM,
      "conf/config.yaml": "defaults:\n  - db: a\n  - _self_\n",
      "conf/db/a.yaml": "n: 1\n",
      "conf/db/b.yaml": "n: '\\???'\n",
      "conf/experiment/e.yaml": "# @package _global_\ndefaults:\n  - optional override /db: b\n",
      "scripts/run.sh": "#!/bin/sh\npython train.py db=b\npython train.py db=$1\n",
    });
    const { findings, counts, untold } = JSON.parse((await runIn(folder, "--json")).stdout);
    expect(
      findings.map(({ command_line, file, rule }: Record<string, string>) => [
        rule,
        file,
        command_line,
      ]),
    ).toEqual([
      ["missing-literal", "conf/db/b.yaml", "scripts/run.sh:2: train.py db=b"],
      ["default-keyword", "conf/experiment/e.yaml", "train.py +experiment=e"],
    ]);
    expect(counts).toEqual({
      programs: 1,
      primary_configs: 1,
      command_lines: 4,
      left_out: 0,
      found_in_files: 1,
    });
    expect(untold).toEqual([]);
  });

  it("stays within its budget, and says what it left out", async () => {
    const options = Array.from(
      { length: 30 },
      (_, n) => [`conf/db/o${n}.yaml`, `n: ${n}\n`] as const,
    );
    const folder = project({
      "conf/config.yaml": "x: 1\n",
      "train.py": PROGRAM,
      "run.sh": "python train.py x=2\npython train.py x=3\npython train.py +db=o1 x=4\n",
      ...Object.fromEntries(options),
    });
    const composed = async (...args: readonly string[]) => {
      const { counts } = JSON.parse((await runIn(folder, "--json", ...args)).stdout);
      return [counts.command_lines, counts.left_out];
    };
    expect(await composed()).toEqual([34, 0]);
    // Lines of files count as well.
    for (const most of [1, 3, 11, 33])
      expect(await composed("--limit", String(most))).toEqual([most, 34 - most]);
    const { stdout } = await runIn(folder, "--limit", "11");
    const [, all = ""] = /23 more were not composed: --limit (\d+) composes all/.exec(stdout) ?? [];
    expect(await composed("--limit", all)).toEqual([34, 0]);
  });

  it("composes lines of files before options, and tells how far it is", () => {
    const folder = project({
      "conf/config.yaml": "n: 1\n",
      "conf/db/a.yaml": "m: 1\n",
      "train.py": PROGRAM,
      "run.sh": "python train.py -m 'n=int(range(0,3,1.5))'\n",
    });
    const steps: string[] = [];
    const { findings } = migrate({
      ...requestIn(folder),
      most: 2,
      onProgress: (step, done, all) => steps.push(`${step} ${done}/${all}`),
    });
    expect(findings.map(({ rule }) => rule)).toEqual(["cast-range"]);
    expect(steps).toEqual(["reading 1/1", "composing 1/2", "composing 2/2"]);
  });

  it("tells what cannot be told", async () => {
    const folder = project({
      "train.py": MAIN('version_base="1.3", config_path="conf", config_name="config"'),
      "other.py": MAIN('version_base="1.3", config_path=sys.argv[1], config_name="config"'),
      "store.py":
        "from hydra.core.config_store import ConfigStore\nConfigStore.instance().store(name='a', node={})\n",
      "run.sh": "python train.py x=2 y=$Y\npython train.py nope=1\npython train.py -cd gone x=3\n",
      "conf/config.yaml": "x: 1\ny: 2\n",
    });
    const { stdout } = await runIn(folder);
    expect(stdout).toContain("The config of a program is not known:\n    other.py:3");
    expect(stdout).toContain("run.sh:1");
    expect(stdout).toContain("run.sh:2: Could not override 'nope'.");
    expect(stdout).toContain("run hydraconf python sync");
    expect(stdout).toMatch(/train\.py -cd gone: Additional config directory '.*gone' not found/);
  });

  it("gives code scanning a rule, a place and a fix", async () => {
    const { runs, version } = JSON.parse((await runIn(project(SLASH), "--sarif")).stdout);
    const [{ results, tool }] = runs;
    expect(version).toBe("2.1.0");
    expect(tool.driver.rules[0]).toMatchObject({ id: "default-slash" });
    expect(results[0]).toMatchObject({
      ruleId: "default-slash",
      ruleIndex: 0,
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "conf/config.yaml" },
            region: { startLine: 2, startColumn: 5 },
          },
        },
      ],
    });
    const [change] = results[0].fixes[0].artifactChanges;
    expect(change.replacements).toEqual([
      {
        deletedRegion: { startLine: 2, startColumn: 5, endLine: 2, endColumn: 7 },
        insertedContent: { text: "db/a@db" },
      },
      {
        deletedRegion: { startLine: 2, startColumn: 9, endLine: 2, endColumn: 12 },
        insertedContent: { text: "b" },
      },
    ]);
  });

  it("offers no fix that breaks another config of the tree", async () => {
    const folder = project({
      ...SLASH,
      "conf/db/pg.yaml": "port: 2\n",
      "conf/experiment/e.yaml": "# @package _global_\ndefaults:\n  - override /db: pg\n",
    });
    const { stderr, stdout } = await runIn(folder, "--fix");
    expect(stderr).toBe("");
    expect(stdout).toContain("conf/config.yaml:2:5");
    expect(stdout).not.toContain("--fix mends it");
    expect(readFileSync(join(folder, "conf/config.yaml"), "utf8")).toBe(SLASH["conf/config.yaml"]);
  });

  it("offers a fix that only command lines stand against, and lists those", async () => {
    const folder = project({
      ...SLASH,
      "conf/db/pg.yaml": "port: 2\n",
      "train.py": PROGRAM,
      "run.sh": "python train.py db=pg\n",
    });
    const { stdout } = await runIn(folder);
    expect(stdout).toContain("--fix mends it");
    expect(stdout).toContain("    run.sh:1: train.py db=pg\n");
  });

  it("of several places each shows what it changes itself", async () => {
    const folder = project({
      "conf/config.yaml":
        "defaults:\n  - _self_\n  - g: m\n  - override hydra/sweeper: optuna\n  - override hydra/sweeper/sampler: tpe\n  - override hydra/job_logging: colorlog\n  - override hydra/hydra_logging: colorlog\n",
      "conf/g/m.yaml": "defaults:\n  - ../db@db: a\n",
      "conf/g/n.yaml": "defaults:\n  - m\n  - ../db@other: a\n",
      "conf/db/a.yaml": "port: 1\n",
    });
    const { findings } = JSON.parse((await runIn(folder, "--json")).stdout);
    const shown = findings.map(({ changes, file, line, rule }: Shown) => [
      `${file}:${line} ${rule}`,
      [
        ...new Set(
          changes.map(
            ({ key, message }) => key?.split(".").slice(0, 3).join(".") ?? message?.slice(0, 6),
          ),
        ),
      ],
    ]);
    expect(shown).toEqual([
      ["conf/config.yaml:4 plugin-configs", ["hydra.sweeper.search_space"]],
      ["conf/config.yaml:5 plugin-configs", ["hydra.sweeper.sampler"]],
      ["conf/config.yaml:6 plugin-configs", ["hydra.job_logging.handlers"]],
      ["conf/g/m.yaml:2 default-path", ["In g/m"]],
      ["conf/g/n.yaml:3 default-path", ["In g/n"]],
    ]);
  });

  it("a renamed group keeps what its other options include", async () => {
    const folder = project({
      ...SLASH,
      "conf/db/a/c.yaml": "defaults:\n  - optional user: root\nport: 2\n",
      "conf/db/user/root.yaml": "name: root\n",
    });
    const composed = (dialect: "1.3" | "1.4", override: string) =>
      createEngine({ cwd: folder, env: {}, dialect })
        .compose({ configDir: "conf", configName: "config", overrides: [override] })
        .toObject();
    const before = composed("1.3", "db=a/c");
    await runIn(folder, "--fix");
    expect(composed("1.4", "db/a@db=c")).toEqual(before);
  });

  it("fixes an empty declaration whose config a command line names", async () => {
    const folder = project({
      "train.py": MAIN(""),
      "run.sh": "python train.py --config-name config x=2\n",
      "config.yaml": "x: 1\nhydra: {job: {chdir: false}}\n",
    });
    const args = ["--from", "1.1", "--to", "1.3"];
    const { stderr, stdout } = await runIn(folder, ...args, "--fix");
    expect(stderr).not.toContain("Left as they are");
    expect(stdout).toContain("0 changes");
    expect(readFileSync(join(folder, "train.py"), "utf8")).toBe(
      MAIN('version_base="1.3", config_path="."'),
    );
  });

  it("finds version_base where each way to initialize Hydra has it", async () => {
    const of = (call: string): string =>
      `from hydra import compose, ${/^\w+/.exec(call)?.[0]}\n\nwith ${call}:\n    compose("config")\n`;
    for (const [before, after] of [
      ['initialize("conf", "app", 1)', 'initialize("conf", "app", 1, version_base="1.3")'],
      ['initialize("conf", "app", 1, "1.1")', 'initialize("conf", "app", 1, "1.3")'],
      [
        'initialize_config_dir("conf", "app", "1.1")',
        'initialize_config_dir("conf", "app", "1.3")',
      ],
    ] as const) {
      const folder = project({ "run.py": of(before), "conf/config.yaml": "x: 1\n" });
      await runIn(folder, "--from", "1.1", "--to", "1.3", "--fix");
      expect(readFileSync(join(folder, "run.py"), "utf8")).toBe(of(after));
    }
  });

  it("edits no file that is not in UTF-8, and says so", async () => {
    const folder = project({ "conf/config.yaml": "x: 1\n" });
    const file = join(folder, "train.py");
    const source = MAIN('config_path="conf", config_name="config", version_base="1.1"');
    const bytes = Buffer.from(`# -*- coding: latin-1 -*-\n# \u00e9\n${source}`, "latin1");
    writeFileSync(file, bytes);
    const { stderr, stdout } = await runIn(folder, "--to", "1.3", "--from", "1.1", "--fix");
    expect(readFileSync(file)).toEqual(bytes);
    expect(stderr).not.toContain("train.py");
    expect(stdout).toContain("train.py:5:1 change version-base");
    expect(stdout).toMatch(/A file is not in UTF-8, so that it is not edited:\n +train\.py\n/);
  });

  it("a fix is made in all programs with the same config", async () => {
    const of = (version: string) =>
      MAIN(`config_path="conf", config_name="config.yml", version_base=${version}`);
    const folder = project({
      "a.py": of('"1.1"'),
      "b.py": of('"1.1"'),
      "c.py": of("None"),
      "conf/config.yml": "x: 1\nhydra: {job: {chdir: false}}\n",
    });
    const args = ["--from", "1.1", "--to", "1.2"];
    await runIn(folder, ...args, "--fix");
    const after = await runIn(folder, "--json", ...args);
    expect(JSON.parse(after.stdout)).toMatchObject({
      findings: [],
      untold: [],
      counts: { programs: 3, primary_configs: 2 },
    });
    for (const name of ["a.py", "b.py", "c.py"])
      expect(readFileSync(join(folder, name), "utf8")).toContain('config_name="config", ');
  });

  it("fixes of a source that spoil its program are taken back, and those of configs stay", () => {
    const folder = project({ ...SLASH, "train.py": PROGRAM });
    const compare = () => migrate(requestIn(folder));
    const before = compare();
    const [finding] = before.findings;
    const file = join(folder, "train.py");
    const spoiling = (start: number, text: string) => ({
      ...before,
      findings: [
        ...before.findings,
        ...(finding === undefined
          ? []
          : [{ ...finding, fix: { edits: [{ file, start, end: PROGRAM.length, text }] } }]),
      ],
    });
    for (const [start, text, reason] of [
      [0, "import hydra\n", "a program would not be found any more"],
      [PROGRAM.indexOf("version_base"), "config_path=X)\n", "a program could not be read any more"],
      [
        PROGRAM.indexOf("config_path"),
        'config_path="gone", config_name="config")\n',
        "a primary config would not compose any more",
      ],
    ] as const) {
      const applied = applyFixes(spoiling(start, text), compare, folder);
      expect(applied.takenBack).toEqual({ files: [file], reason });
      expect(readFileSync(file, "utf8")).toBe(PROGRAM);
      expect(applied.files).toEqual([join(folder, "conf/config.yaml")]);
      expect(applied.after.findings).toEqual([]);
      writeFileSync(join(folder, "conf/config.yaml"), SLASH["conf/config.yaml"]);
    }
  });

  it("fixes that leave no program are taken back, and so are those that cannot be compared", () => {
    const source = MAIN('config_path="configs", config_name="config", version_base="1.3"');
    const folder = project({ "train.py": source, "configs/config.yaml": "x: 1\n" });
    const compare = () => migrate(requestIn(folder));
    const before = compare();
    const file = join(folder, "train.py");
    const edit = { file, start: 0, end: source.length, text: "import hydra\n" };
    const finding: Finding = {
      ...{ rule: "config-path", level: "error", span: edit, detail: "", changes: [] },
      ...{ lines: 1, fix: { edits: [edit] } },
    };
    const spoiling = { ...before, findings: [finding] };
    expect(applyFixes(spoiling, compare, folder)).toMatchObject({
      made: [],
      takenBack: { files: [file], reason: "a program would not be found any more" },
    });
    expect(readFileSync(file, "utf8")).toBe(source);
    const refuse = () => {
      throw new Error("refused");
    };
    expect(() => applyFixes(spoiling, refuse, folder)).toThrow("refused");
    expect(readFileSync(file, "utf8")).toBe(source);
  });

  it("proposes commands for trees of no program, which compose them", async () => {
    const files = {
      "pkg/conf/app.yaml": "defaults:\n  - db: a/b\n  - _self_\n",
      "pkg/conf/db/a/b.yaml": "defaults:\n  - _self_\nport: 1\n",
      ".github/workflows/ci.yaml": "defaults:\n  run:\n    shell: bash\n",
    };
    const command = /hydraconf migrate (-cp \S+ -cn [^\s;]+)/;
    const words = (text: string) => command.exec(text)?.[1]?.split(" ") ?? [];
    // Without a program it is an error whose hint has the command.
    const none = await runIn(project(files)).catch((error) => error);
    expect(words(none.details.hint)).toEqual(["-cp", "pkg/conf", "-cn", "app"]);
    // With a program that cannot be read the report has it, and the reason.
    const unread = project({
      ...files,
      "run.py": MAIN("config_path=sys.argv[1], config_name='app', version_base=None"),
    });
    const { code, stdout } = await runIn(unread);
    expect(code).toBe(1);
    expect(stdout).toContain(
      "run.py:3: config_path of hydra.main cannot be read without running Python: sys.argv[1]",
    );
    expect(stdout).toContain("Nothing could be composed.");
    expect(await foundIn(unread, ...words(stdout))).toEqual([
      "pkg/conf/app.yaml:2 change default-slash",
    ]);
    // A tree of a program is none of them.
    const known = project({ ...files, "pkg/run.py": MAIN("None, 'app', None") });
    writeFileSync(join(known, "pkg/run.py"), MAIN("'conf', 'app', None"));
    expect((await runIn(known)).stdout).not.toMatch(command);
  });

  it("composes the configs of the directory of a program that names none", async () => {
    const folder = project({
      "train.py": MAIN("config_path='conf', version_base=None"),
      "conf/one.yaml": "defaults:\n  - db: a/b\n",
      "conf/two.yaml": "defaults:\n  - db: a/b\n",
      "conf/values.yaml": "x: 1\n",
      "conf/db/a/b.yaml": "port: 1\n",
    });
    expect(await foundIn(folder)).toEqual([
      "conf/one.yaml:2 change default-slash",
      "conf/two.yaml:2 change default-slash",
    ]);
    const { stdout } = await runIn(folder);
    expect(stdout).toContain("train.py -cn one");
    expect(stdout).not.toContain("names no primary config");
  });

  it.each(["1.0", "1.1", "1.3"])(
    "a config with the name of an entry of the store is found from %s on",
    async (from) => {
      const folder = project({
        "conf/config.yaml": "x: 1\n",
        "conf/hydra/launcher/joblib.yaml":
          "# @package hydra.launcher\n_target_: hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher\n",
      });
      const found = await foundIn(folder, "--from", from);
      expect(found).toContain("conf/hydra/launcher/joblib.yaml:2 error schema-match");
    },
  );

  it("a config of a group with a defaults list is none of 1.0", async () => {
    const folder = project({
      "conf/config.yaml": "defaults:\n  - _self_\n  - db: mysql\nhydra: {job: {chdir: false}}\n",
      "conf/db/mysql.yaml": "defaults: [base]\nport: 1\n",
      "conf/db/base.yaml": "host: h\n",
    });
    expect(await foundIn(folder, "--from", "1.0")).toEqual([
      "conf/db/base.yaml:1 change package-header",
    ]);
  });

  it("from 1.0 a config of a group keeps a header, which a second run leaves alone", async () => {
    const folder = project({
      "conf/config.yaml": "defaults:\n  - _self_\n  - db: mysql\nhydra: {job: {chdir: false}}\n",
      "conf/db/mysql.yaml": "# @package _group_\nport: 1\n",
      "conf/db/pg.yaml": "# @package _group_\nport: 2\n",
    });
    const headers = () =>
      ["mysql", "pg"].map((name) => readFileSync(join(folder, `conf/db/${name}.yaml`), "utf8"));
    const first = await runIn(folder, "--from", "1.0", "--fix");
    const expected = ["# @package db\nport: 1\n", "# @package db\nport: 2\n"];
    expect(headers()).toEqual(expected);
    expect(first.stdout).toContain("From 1.0 to 1.4: 0 changes");
    await runIn(folder, "--from", "1.0", "--fix");
    expect(headers()).toEqual(expected);
  });

  it("a config_path of 1.0 that names a file is mended from 1.0 on, and told else", async () => {
    const folder = project({
      "train.py": MAIN("config_path='conf/config.yaml', strict=True"),
      "conf/config.yaml": "x: 1\n",
    });
    const told = (await runIn(folder)).stdout;
    expect(told).toContain("names a file as its config_path");
    const [, ...args] = /run hydraconf migrate (--from) (\S+)/.exec(told) ?? [];
    expect((await foundIn(folder, ...args)).at(-1)).toBe("train.py:3 error main-arguments");
    await runIn(folder, ...args, "--fix");
    expect(readFileSync(join(folder, "train.py"), "utf8")).toContain(
      "config_path='conf', config_name='config')",
    );
    expect(await foundIn(folder)).not.toContain("train.py:3 error main-arguments");
  });

  it("fails where nothing could be compared", async () => {
    const folder = project(SLASH);
    for (const args of [
      ["-cp", "nowhere"],
      ["-cp", "conf", "-cn", "nope"],
    ])
      expect((await runIn(folder, ...args)).code).toBe(1);
  });

  it("gives code scanning paths as references", async () => {
    const folder = project({
      "hydraconf.yaml":
        "apps: {t: {file: t.py, config_path: 'c#1 ä?/conf', config_name: config}}\n",
      "t.py": "",
      "c#1 ä?/conf/config.yaml": "x: \\???\n",
    });
    const { runs } = JSON.parse((await runIn(folder, "--sarif")).stdout);
    const [{ results }] = runs;
    const uris = new Set(
      results.map(
        (result: {
          readonly locations: readonly [
            { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } },
          ];
        }) => result.locations[0].physicalLocation.artifactLocation.uri,
      ),
    );
    expect([...uris]).toEqual(["c%231%20%C3%A4%3F/conf/config.yaml"]);
  });

  it("offers no fix for what is not in the tree", async () => {
    const folder = project({
      "conf/config.yaml": "defaults:\n  - ../conf/db@db: m\n  - _self_\n",
      "conf/db/m.yaml": "port: 1\n",
    });
    await runIn(folder, "--fix");
    expect(readFileSync(join(folder, "conf/config.yaml"), "utf8")).toContain("../conf/db@db: m");
  });

  it("refuses what cannot be meant", async () => {
    const folder = project({ "a.txt": "" });
    await expect(runIn(folder)).rejects.toMatchObject({ code: "compose.missing_config" });
    for (const args of [
      ["--from", "1.3", "--to", "1.2"],
      ["--json", "--sarif"],
      ["nope"],
      ["-cn", "a"],
    ])
      await expect(runIn(folder, ...args)).rejects.toMatchObject({ code: "app.usage" });
  });

  it("after a fix, a line that chooses by the earlier key is no line that never composed", async () => {
    const folder = project({
      ...SLASH,
      "train.py": PROGRAM,
      "conf/db/a/c.yaml": "port: 2\n",
      "run.sh": "python train.py db=a/c\n",
    });
    await runIn(folder, "--fix");
    expect(readFileSync(join(folder, "conf/config.yaml"), "utf8")).toContain("- db/a@db: b");
    // The line was rewritten as well; one that was not, since it was in another repository, is told.
    writeFileSync(join(folder, "run.sh"), "python train.py db=a/c\n");
    const { untold } = JSON.parse((await runIn(folder, "--json")).stdout);
    expect(JSON.stringify(untold)).toContain("run.sh:1: db/a@db=c in place of db=a/c");
    expect(JSON.stringify(untold)).not.toContain("does not compose before");
  });

  it.each([
    {
      typed: "db=a/c model=m/n",
      told: "db/a@db=c in place of db=a/c, model/m@model=n in place of model=m/n",
    },
    { typed: "db=e/f", told: "~db/a@db +db/e@db=f in place of db=e/f" },
    {
      typed: "db=e/f model=m/n",
      told: "~db/a@db +db/e@db=f in place of db=e/f, model/m@model=n in place of model=m/n",
    },
  ])("after a fix, $typed is told with every group that has another key", async (one) => {
    const folder = project({
      "train.py": PROGRAM,
      "conf/config.yaml": "defaults:\n  - db/a@db: b\n  - model/m@model: o\n  - _self_\n",
      "conf/db/a/b.yaml": "port: 1\n",
      "conf/db/a/c.yaml": "port: 2\n",
      "conf/db/e/f.yaml": "port: 3\n",
      "conf/model/m/n.yaml": "width: 1\n",
      "conf/model/m/o.yaml": "width: 2\n",
      "run.sh": `python train.py ${one.typed}\n`,
    });
    const { untold } = JSON.parse((await runIn(folder, "--json")).stdout);
    expect(untold.map(({ places }: { readonly places: unknown }) => places)).toEqual([
      [`run.sh:1: ${one.told}`],
    ]);
    // The overrides that are named choose what the line chose.
    const written = one.told.replaceAll(/ in place of [^ ,]+,?/g, "").split(" ");
    const engine = createEngine({ cwd: folder, env: {}, dialect: "1.4" });
    const config = engine.compose({
      configDir: "conf",
      configName: "config",
      overrides: written,
    });
    expect(config.toObject()).toEqual({
      db: { port: one.typed.includes("e/f") ? 3 : 2 },
      model: { width: one.typed.includes("m/n") ? 1 : 2 },
    });
  });

  it("says how many jobs of a long sweep over groups are not composed", async () => {
    const files = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`conf/db/o${index}.yaml`, "port: 1\n"]),
      );
    const untoldOf = async (count: number) => {
      const folder = project({
        "train.py": PROGRAM,
        "conf/config.yaml": "defaults:\n  - db: o0\n  - _self_\n",
        ...files(count),
        "run.sh": "python train.py -m 'db=glob(*)'\n",
      });
      return JSON.parse((await runIn(folder, "--json")).stdout).untold;
    };
    expect(await untoldOf(24)).toEqual([]);
    expect(await untoldOf(26)).toMatchObject([
      {
        what: "Not all jobs of a sweep over groups are composed",
        places: ["run.sh:1: all but 2"],
      },
    ]);
  });

  it("a file's override that no longer finds its group is an error, whatever line shows it", async () => {
    const folder = project({
      "conf/config.yaml": "defaults:\n  - db: a/b\n  - optional exp: null\n  - _self_\n",
      "conf/db/a/b.yaml": "port: 1\n",
      "conf/db/d.yaml": "port: 2\n",
      "conf/exp/e.yaml": "# @package _global_\ndefaults:\n  - override /db: d\n",
    });
    expect(await foundIn(folder)).toEqual(["conf/config.yaml:2 error default-slash"]);
  });

  it("the working directory of jobs is nothing to a program that only composes", async () => {
    const found = (call: string) =>
      foundIn(
        project({
          "conf/config.yaml": "x: 1\n",
          "app.py": `from hydra import compose, initialize\nimport hydra\n\n${call}`,
        }),
      );
    const composing = 'initialize(config_path="conf")\ncfg = compose("config")\n';
    expect(await found(composing)).toEqual([]);
    const main =
      '@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):\n    pass\n';
    expect(await found(main)).toEqual(["conf/config.yaml:2 change job-chdir"]);
  });

  it("--from the newest version says what there is, and does not guess", async () => {
    const refused = await runIn(project(SLASH), "--from", "1.4").catch((error) => error);
    expect(refused.message).toBe("--from: '1.4' is not one of 1.0, 1.1, 1.2, 1.3");
    expect(refused.details.nearest).toBeUndefined();
  });
});
