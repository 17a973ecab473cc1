import { isAbsolute, join } from "node:path";
import type { Job, Task } from "../../../src/app/job/job.ts";
import type { Invocation } from "../../../src/app/job/process/invocation.ts";
import { toPlain } from "../../../src/engine/compose/index.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import { pyStr } from "../../../src/engine/values/python-text.ts";
import type { ResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { selectNode } from "../../../src/engine/values/resolution/select.ts";

/** The tasks of the recorded programs, as the corpus describes them. */
export function taskNamed(name: string, { console, cwd }: Invocation): Task {
  const print = (text: string): void => console.stdout(`${text}\n`);
  const tasks: Readonly<Record<string, Task>> = {
    print: (config) => {
      print(config.toYaml());
    },
    print_resolved: (config) => {
      print(config.toYaml({ resolve: true }));
    },
    access: (config) => {
      const key = config.get("access");
      if (typeof key !== "string") throw new Error("the name of a key is a text");
      const node = config.get(key);
      print(pythonJson(node ?? null));
    },
    cwd: (_config, job) => {
      print(`cwd=${process.cwd()}\norig=${cwd}\nout=${job.outputDir}`);
      print(`abs=${isAbsolute("x/y") ? "x/y" : join(cwd, "x/y")}`);
    },
    fail: ({ context }, { root }) => {
      const text = (key: string): string =>
        pyStr(selectNode(root, key, context, { throwOnMissing: true }) ?? null);
      if (text("x") === text("bad")) throw new Error(`boom ${text("x")}`);
      print(`x=${text("x")}`);
    },
    env: () => {
      print(`A=${process.env["CASE_A"] ?? "None"}\nB=${process.env["CASE_B"] ?? "None"}`);
    },
    log: (_config, { log }) => {
      log.debug("debug msg");
      log.info("info msg");
      log.warning("warn msg");
      print("printed");
    },
    job: ({ context }, job) => {
      for (const line of describeJob(job, context)) print(line);
    },
  };
  const task = tasks[name];
  if (task === undefined) throw new Error(`no task ${name}`);
  return task;
}

function* describeJob({ root }: Job, context: ResolveContext): Generator<string> {
  const at = (key: string): ConfigNode | undefined =>
    selectNode(root, `hydra.${key}`, context, { deep: true });
  const text = (key: string): string => {
    const node = at(key);
    return node === undefined || pyStr(node) === "???" ? "None" : pyStr(node);
  };
  yield `name=${text("job.name")}`;
  yield `num=${text("job.num")}`;
  yield `id=${text("job.id")}`;
  yield `override_dirname=${text("job.override_dirname")}`;
  yield `config_name=${text("job.config_name")}`;
  yield `mode=${text("mode").replace("RunMode.", "")}`;
  const choices = Object.fromEntries(
    Object.entries(toPlain(at("runtime.choices") ?? root) as object).filter(
      ([key]) => !key.startsWith("hydra/"),
    ),
  );
  yield `choices=${pythonJson(choices)}`;
  yield `task=${pythonJson(toPlain(at("overrides.task") ?? root))}`;
  yield `hydra=${pythonJson(toPlain(at("overrides.hydra") ?? root))}`;
}

/** `json.dumps` of Python puts a blank after `,` and `:`, and knows ASCII only. */
function pythonJson(value: unknown): string {
  if (typeof value === "string") return asciiJson(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([k, v]) => `${asciiJson(k)}: ${pythonJson(v)}`);
  return `{${members.join(", ")}}`;
}

const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
