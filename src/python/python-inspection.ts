/**
 * Asks a program of Python's Hydra, before the first job of a sweep, whether it can compose the jobs: what it lacks is
 * then said once.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Inspection, JobFacts } from "../app/job/options.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { ConfigPlugin } from "../engine/compose/config-plugin.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { ConfigError } from "../engine/values/errors.ts";
import { limitsOf } from "../engine/values/limits.ts";
import { getAt } from "../engine/values/node.ts";
import { writeYaml } from "../engine/values/yaml/writer.ts";
import { plural } from "../foundation/text/plural.ts";
import { printable } from "../foundation/text/printable.ts";
import { hydraOverrides } from "./job-command.ts";
import { type Program, scriptIn, shownCommand } from "./program-command-line.ts";
import { errorIn, errorText } from "./program-failure.ts";
import { type PythonFiles, placeFiles } from "./python-callbacks.ts";
import { COMPOSITION_FILES } from "./warm-python.ts";

/** Whether a program is a source of Python itself: a script around one may do other things first. */
export function mayBeAsked({ app, argv, pass }: Program, cwd: string): boolean {
  const script = scriptIn(argv, cwd);
  return pass === "hydra" && app?.kind !== "script" && script !== undefined;
}

/** A job as the program is asked about it; keys are those of the file. */
interface AskedJob {
  readonly number: number | null;
  readonly overrides: readonly string[];
}

/** What a program cannot do: compose a job, or find a module that its config names. */
type Problem =
  | { readonly number: number | null; readonly message: string; readonly option: string | null }
  | { readonly number: number | null; readonly module: string; readonly key: string };

interface Answer {
  /** The interpreter. */
  readonly python: string;
  readonly problems: readonly Problem[];
}

interface InspectionRequest {
  readonly invocation: Pick<Invocation, "console" | "cwd" | "env">;
  readonly plugins: () => readonly ConfigPlugin[];
  readonly carried: (dialect: Dialect) => PythonFiles;
}

/**
 * How many jobs are asked about whatever they choose; composing one takes Python 0.05 to 0.1 seconds. Of more, only those
 * that choose other options, since those with the same ones compose nearly alike.
 */
const MOST_ASKED = 16;

export function openInspection(program: Program, request: InspectionRequest): Inspection {
  const seenChoices = new Set<string>();
  let asked = 0;
  let waiting: AskedJob[] = [];
  let dialect: Dialect | undefined;
  return {
    note(job) {
      const choices = choicesOf(job);
      if (asked >= MOST_ASKED && seenChoices.has(choices)) return;
      asked++;
      seenChoices.add(choices);
      dialect = job.context.dialect;
      waiting.push({ number: job.number ?? null, overrides: hydraOverrides(job) });
    },
    async finish({ isPlan }) {
      const jobs = waiting;
      waiting = [];
      if (dialect === undefined || jobs.length === 0) return;
      const told = await ask(program, jobs, request.carried(dialect), request.invocation);
      if ("problems" in told) refuse(told, jobs, program, request.plugins());
      else if (told.failure !== undefined) {
        const error = unstartable(told.failure, program);
        if (!isPlan) throw error;
        // Another machine may have what is lacking here.
        request.invocation.console.stderr(`note: ${printable(error.message)}\n`);
      }
    },
  };
}

const choicesOf = ({ root }: JobFacts): string => {
  const choices = getAt(root, ["hydra", "runtime", "choices"]);
  return choices === undefined ? "" : writeYaml(choices, { limits: limitsOf(process.env) });
};

/** @returns `failure` if the program ended before it composed anything, in its own words */
async function ask(
  { argv, ownFlags }: Program,
  jobs: readonly AskedJob[],
  carried: PythonFiles,
  { cwd, env }: InspectionRequest["invocation"],
): Promise<Answer | { readonly failure: string | undefined }> {
  const placed = placeFiles({ ...carried, ...COMPOSITION_FILES }, env);
  try {
    const report = join(placed.folder, "report.json");
    const question = join(placed.folder, "jobs.json");
    writeFileSync(question, JSON.stringify({ jobs, report }), { mode: 0o600 });
    const { askProgram } = await import("../foundation/system/ask-program.ts");
    const { exitCode, stderr, why } = await askProgram({
      argv: [...argv, "--cfg", "job", ...ownFlags, ...(jobs[0]?.overrides ?? [])],
      cwd,
      env: { ...env, PYTHONPATH: placed.path, HYDRACONF_CHECK: question },
      stdout: "nowhere",
      maxBytes: Number.POSITIVE_INFINITY,
    });
    const answer = readAnswer(report);
    if (answer !== undefined) return answer;
    if (exitCode === 0) return { failure: undefined };
    const error = errorIn(stderr);
    return { failure: error === undefined ? why : errorText(error) };
  } finally {
    placed.remove();
  }
}

function readAnswer(file: string): Answer | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** @throws ConfigError for the first problem */
function refuse(
  { problems, python }: Answer,
  jobs: readonly AskedJob[],
  program: Program,
  plugins: readonly ConfigPlugin[],
): void {
  const [problem] = problems;
  if (problem === undefined) return;
  if ("module" in problem)
    throw new ConfigError({
      code: "app.unsupported",
      message: `The program's Python has no module '${problem.module}', which ${problem.key} names`,
      key: problem.key,
      hint: `install it there (${python}), or choose another option of ${groupOf(problem.key)}`,
    });
  const { message, number, option } = problem;
  const lacking = option === null ? undefined : providerOf(option, plugins);
  if (option !== null && lacking !== undefined)
    throw new ConfigError({
      code: "app.unsupported",
      message: `The program's Python has no package ${lacking}, of which '${option}' is`,
      key: option,
      hint: `install it there: ${shownCommand([python, "-m", "pip", "install", lacking])}; or choose another option of ${option.replace(/\/[^/]*$/, "")}`,
    });
  const count = new Set(problems.map((problem) => problem.number)).size;
  const more = count > 1 ? ` (and those of ${plural(count - 1, "other job")})` : "";
  const name = number === null ? "the job" : `job #${number}`;
  const asked = jobs.find((job) => job.number === number)?.overrides ?? [];
  throw new ConfigError({
    code: "app.unsupported",
    message: `The program's Hydra refuses the config of ${name}${more}: ${message}`,
    hint: `see all of it with: ${shownCommand([...program.argv, "--cfg", "job", ...program.ownFlags, ...asked.filter((override) => !/^hydra[./]/.test(override))])}`,
  });
}

/** `hydra.job_logging` is filled by `hydra/job_logging`. */
const groupOf = (key: string): string => key.split(".").slice(0, 2).join("/");

/** The package of Python that has an option. */
const providerOf = (option: string, plugins: readonly ConfigPlugin[]): string | undefined =>
  plugins.flatMap(({ files, newer }) => {
    const all = [files, newer?.files];
    return all.filter((plugin) => plugin !== undefined && Object.hasOwn(plugin.texts, option));
  })[0]?.provider;

const unstartable = (failure: string, { argv }: Program): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message: `The program ends before it composes a config: ${failure}`,
    hint: /^ModuleNotFoundError: /.test(failure)
      ? `install ${/'hydra'/.test(failure) ? "hydra-core" : "it"} for the Python that ${shownCommand(argv)} starts, or start it with another one`
      : `try it alone: ${shownCommand([...argv, "--cfg", "job"])}`,
  });
