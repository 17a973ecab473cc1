import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Everything that is loaded with a module, whatever the command line: its static imports. */
function loadedWith(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(relative(ROOT, file))) return;
    seen.add(relative(ROOT, file));
    const text = readFileSync(file, "utf8");
    for (const [, types, specifier = ""] of text.matchAll(
      /^(?:import|export)(\s+type)?\s[^;]*?from\s+"([^"]+)";/gm,
    )) {
      if (types !== undefined) continue;
      if (specifier.startsWith(".")) visit(resolve(dirname(file), specifier));
      else seen.add(specifier);
    }
  };
  visit(join(ROOT, entry));
  return seen;
}

/** Modules of Node's that take milliseconds to load. */
const SLOW_IN_NODE =
  /^node:(child_process|crypto|fs\/promises|http|net|readline|stream|stream\/promises|worker_threads|zlib)$/;

test("the library loads none of Node's modules that are slow to load", () => {
  const loaded = [...loadedWith("src/index.ts")];
  expect(loaded).toContain("node:fs");
  expect(loaded.filter((name) => SLOW_IN_NODE.test(name))).toEqual([]);
});

test.each(["src/bin/hydraconf.ts", "src/app/cli/main.ts", "src/bin/deep-profile.ts"])(
  "%s loads no heavy module for --cfg job",
  (entry) => {
    if (!existsSync(join(ROOT, entry))) {
      console.warn(`SKIPPED start-up of ${entry}: there is no such file yet`);
      return;
    }
    const loaded = [...loadedWith(entry)];
    expect(loaded).toContain("src/app/cli/main.ts");
    expect(loaded.filter((name) => /^(ajv|ajv-formats|execa|yargs|node-gyp)\b/.test(name))).toEqual(
      [],
    );
    expect(loaded.filter((name) => SLOW_IN_NODE.test(name))).toEqual([]);
    // What `--` stands for belongs to the command line, and so do the names of the tools, whose folders show that a
    // directory holds results; what the tools do comes with a run.
    const light = [
      "src/profiler/tools/tool-table.ts",
      "src/profiler/machine/tool-error.ts",
      "src/profiler/tools/counters/counters-tool.ts",
      "src/profiler/tools/ncu/ncu-tool.ts",
      "src/profiler/tools/nsys/nsys-tool.ts",
      "src/profiler/tools/pytorch/pytorch-tool.ts",
      "src/profiler/tools/recorder/recorder-tool.ts",
      "src/profiler/tools/recorder/format.ts",
      "src/profiler/run/command-override.ts",
      "src/profiler/cli/subcommands.ts",
    ];
    expect(
      loaded.filter((name) => /^src\/(profiler|report)\//.test(name) && !light.includes(name)),
    ).toEqual([]);
    expect(loaded).not.toContain("src/engine/schema/index.ts");
    // What runs a task comes with a run; declarations of settings are parts of config groups.
    const declarations = /\/(?!load-)\w+-settings\.ts$|^src\/app\/launch\/local\/cpus\.ts$/;
    const ofRuns =
      /^src\/(engine\/instantiate|app\/(job\/(logging|callbacks|run-job)|record|launch|sweep|plugins\/(load-|slurm\/(?!slurm\.ts)|optuna\/optuna-)))/;
    expect(loaded.filter((name) => ofRuns.test(name) && !declarations.test(name))).toEqual([]);
  },
);

test("completion adds no heavy module to what every command line loads", () => {
  const usual = loadedWith("src/bin/deep-profile.ts");
  const added = [...loadedWith("src/app/cli/completion/shell-completion.ts")].filter(
    (name) => !usual.has(name),
  );
  expect(added).toContain("src/app/cli/completion/complete.ts");
  expect(
    added.filter(
      (name) =>
        !/^src\/(app\/(cli|job)|foundation\/text)\/|^src\/engine\/schema\/(describe|applicable-schemas)/.test(
          name,
        ),
    ),
  ).toEqual([]);
});

test("the help of a subcommand of deep-profile needs neither the profiler nor the reports", () => {
  const usual = loadedWith("src/bin/deep-profile.ts");
  const added = [...loadedWith("src/profiler/cli/subcommand-lines.ts")].filter(
    (module) => !usual.has(module),
  );
  // The commands load node:crypto when it is used (scripts/launcher.cjs).
  const light =
    /^(yargs|string-width|node:crypto)$|^src\/(app\/command-line\/|engine\/values\/user-pattern\.ts$|profiler\/(cli\/(subcommand-lines|option-values|subcommand|label-options)|analysis\/labels|tools\/(collection|importer|recorder\/format)|machine\/stop-signals)\.ts$|report\/(selection\/range-pattern|model\/(compared-numbers|families|region-path|report-files))\.ts$|foundation\/(system\/|text\/text-width\.ts$))/;
  expect(added.filter((module) => !light.test(module))).toEqual([]);
});

test("the help of hydraconf schema and sweep loads yargs and what measures text, and no other package that the command does not", () => {
  const usual = loadedWith("src/bin/hydraconf.ts");
  const packagesOf = (entry: string) =>
    [...loadedWith(`src/app/cli/${entry}`)]
      .filter((module) => !/^(src\/|node:)/.test(module) && !usual.has(module))
      .sort();
  expect(packagesOf("tree-schema/schema-command.ts")).toEqual(["yargs"]);
  expect(packagesOf("sweep-command.ts")).toEqual(["string-width", "yargs"]);
});
