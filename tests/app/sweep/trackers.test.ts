/** The samples of `docs/trackers.md`, with real sweeps and stand-ins for the trackers. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandPath } from "../../e2e/command.ts";

const page = readFileSync(new URL("../../../docs/trackers.md", import.meta.url), "utf8");

/** Writes the samples of the page into a directory of its own. */
function samples(): string {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-trackers-"));
  const found = [...page.matchAll(/<!-- (\w+\.py) -->\s+```python\n([\s\S]*?)```/g)];
  expect(found.map(([, name]) => name)).toEqual([
    "tracker_lines.py",
    "to_wandb.py",
    "to_mlflow.py",
  ]);
  for (const [, name = "", text = ""] of found) writeFileSync(join(cwd, name), text);
  return cwd;
}

/** Prints each call, however it is nested. */
const STAND_IN = `import json

class Calls:
    def __init__(self, name): self.name = name
    def __getattr__(self, part): return Calls(f"{self.name}.{part}".strip("."))
    def __enter__(self): return self
    def __exit__(self, *_): print(json.dumps(["exit"]))
    def __call__(self, *args, **named):
        print(json.dumps([self.name, *args, named]))
        return Calls("run")

def __getattr__(name): return Calls(name)
`;

const python = (cwd: string, args: readonly string[], input = "") =>
  execFileSync("python3", args, { cwd, input, encoding: "utf8" });

const parsed = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a sweep becomes lines, and those the calls of W&B and MLflow", () => {
  const cwd = samples();
  const job = `echo '{"step": 1, "loss": 0.9}' > $HYDRACONF_METRICS
test $0 = 3 && exit 1
echo "{\\"val\\": {\\"loss\\": $0}, \\"ok\\": true, \\"note\\": \\"fine\\"}" > $HYDRACONF_RESULT`;
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), "x: 1\nname: a\n");
  const run = ["run", "-m", "x=1,3", "name='b c'", "hydra.sweep.dir=s", "--", "sh", "-c", job];
  expect(() =>
    execFileSync(process.execPath, [commandPath("hydraconf"), ...run, "${x}"], {
      cwd,
      stdio: "ignore",
    }),
  ).toThrow();
  const text = python(cwd, ["tracker_lines.py", "s"]);
  expect(parsed(text)).toEqual([
    {
      group: "s",
      name: "s-0",
      params: { x: 1, name: "b c" },
      curve: [{ step: 1, loss: 0.9 }],
      metrics: { "val.loss": 1 },
    },
  ]);
  for (const name of ["wandb", "mlflow"]) writeFileSync(join(cwd, `${name}.py`), STAND_IN);
  expect(parsed(python(cwd, ["to_wandb.py", "p"], text))).toEqual([
    ["init", { project: "p", group: "s", name: "s-0", config: { x: 1, name: "b c" } }],
    ["run.log", { step: 1, loss: 0.9 }, { step: 1 }],
    ["run.summary.update", { "val.loss": 1 }, {}],
    ["run.finish", {}],
  ]);
  expect(parsed(python(cwd, ["to_mlflow.py", "e"], text))).toEqual([
    ["set_experiment", "e", {}],
    ["start_run", { run_name: "s-0" }],
    ["set_tag", "sweep", "s", {}],
    ["log_params", { x: 1, name: "b c" }, {}],
    ["log_metrics", { loss: 0.9 }, { step: 1 }],
    ["log_metrics", { "val.loss": 1 }, {}],
    ["exit"],
  ]);
});

test("a result that is a number is named result, and what is no number is left out", () => {
  const cwd = samples();
  const jobs = [0.5, "NaN", null, [1]].map((result, number) => ({
    number,
    swept: {},
    status: "completed",
    result,
    output_dir: join(cwd, "none"),
  }));
  writeFileSync(join(cwd, "sweep.json"), JSON.stringify({ version: 1, jobs }));
  const lines = parsed(python(cwd, ["tracker_lines.py", "."]));
  expect(lines.map((line) => (line as { readonly metrics: unknown }).metrics)).toEqual([
    { result: 0.5 },
    {},
    {},
    {},
  ]);
});
