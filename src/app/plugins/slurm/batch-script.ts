/** The script of a Slurm array task, and the options of sbatch. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { shellQuote } from "../../../foundation/text/shell-words.ts";
import { TRUST_VARIABLE } from "../../job/process/invocation.ts";
import { SBATCH_KEYS, type SlurmSettings } from "./slurm-settings.ts";

export interface BatchScript {
  /** The numbers of the jobs, in the order of the array's indices. */
  readonly jobs: readonly number[];
  /** The command line of a worker. */
  readonly command: readonly string[];
  /** The variable that gives the worker its job: its name, and its value after the job's number. */
  readonly variable: { readonly name: string; readonly rest: string };
  /** The value of `HYDRACONF_TRUST` for the worker. */
  readonly trust?: string;
  /** The absolute path of the script: once it is removed, tasks of its array that have not begun run nothing. */
  readonly path: string;
  /** The folder where a job records each timeout: a file by job number. */
  readonly timeoutFolder: string;
  /** The file for Slurm's own messages, as a shell word that uses `id` and `SLURM_ARRAY_*`. */
  readonly slurmLog: string;
}

/**
 * The script of an array task. Its few lines of shell contain what must work even if the worker hangs: they log to
 * submitit's files, start the worker as a step, and, when Slurm signals that the end is near (USR2), let it save its
 * state and requeue it.
 *
 * The time limit and a preemption send the same signal; as submitit does, a signal long before the limit counts as
 * preemption. If Slurm gives preempted jobs a grace period, it sends TERM to the worker instead: a job that ends
 * because of it leaves the queue when its script ends, so the script requeues it before. A job that ignores the signal,
 * or cannot handle it yet, is requeued by Slurm after the grace period; so the script only has to stay alive until
 * then. Texts of the user appear only quoted, except for `setup`, which is shell.
 */
export function batchScript(settings: SlurmSettings, script: BatchScript): string {
  const { max_num_timeout, setup, srun_args, stderr_to_stdout, submitit_folder } = settings;
  const { command, jobs, path, slurmLog, timeoutFolder, trust, variable } = script;
  const delay = signalDelay(settings);
  const earliest = Math.max(0, settings.timeout_min * 60 - delay - 90);
  const grace = Math.max(1, delay - 15);
  const several = settings.nodes * settings.tasks_per_node > 1;
  return `#!/bin/bash
jobs=(${jobs.join(" ")})
job=\${jobs[$SLURM_ARRAY_TASK_ID]}
id=\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
# From the first moment on: without it, the signal would end this script.
near_end=
trap 'near_end=1' USR2
slurm_log=${slurmLog}
told=
tell_end() { # since Slurm forgets it
  [ "$1" = 0 ] || [ -n "$told" ] || echo "hydraconf: job #$job ($id) ended with code $1" >>"$slurm_log"
  told=1
}
# Of set-up lines that end this script, too.
trap 'tell_end $?' EXIT
[ -e ${shellQuote(path)} ] || { echo "hydraconf: no sweep waits for job #$job of this array any more"; exit 0; }
folder=${folderWord(submitit_folder)}
mkdir -p -- "$folder" || exit 1
note() { # behind what each log has, so that it is no word of the run that comes
  local log
  for log in "$slurm_log" "$folder/\${id}_"*_log.*; do
    [ ! -s "$log" ] || echo "hydraconf: job #$job ($id) $1" >>"$log"
  done
}
[ "\${SLURM_RESTART_COUNT:-0}" = 0 ] || note 'runs again'
exec >>"$folder/\${id}_0_log.out" ${stderr_to_stdout ? "2>&1" : `2>>"$folder/\${id}_0_log.err"`}
# srun does not take this over from sbatch by itself.
[ -z "\${SLURM_CPUS_PER_TASK:-}" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
${setup.map((line) => `${line}\n`).join("")}set +eu
export ${variable.name}="$job:"${shellQuote(variable.rest)}
${trust === undefined ? "" : `export ${TRUST_VARIABLE}=${shellQuote(trust)}\n`}${several ? `pattern=\${folder//%/%%}/\${id//%/%%}_%t_log\n` : ""}
how_it_stands() { # once Slurm says so: a controller that is busy, or is started again, may be silent for minutes
  local said
  for _ in {1..300}; do
    said=$(scontrol --oneliner show job "$id" 2>/dev/null)
    case "$said" in *JobState=*) printf '%s\\n' "$said"; return ;; esac
    sleep 2
  done
}
is_running() { # also while the node has not confirmed the signal that it was sent
  case "$1" in *JobState=RUNNING* | *JobState=SIGNALING*) ;; *) return 1 ;; esac
}
queue_again() {
  told=1 # it has not ended
  note 'is queued again'
  for _ in {1..300}; do
    # Slurm ends this script in its sleep.
    scontrol requeue "$id" && { sleep 600; return; }
    # It may have heard that and could not say so.
    is_running "$(how_it_stands)" || return
    sleep 2
  done
}
may_run_again() { # unless it is out of time, and has no try left
  [ "$SECONDS" -ge ${earliest} ] || return 0
  printf '%s\\n' "$id" >>${shellQuote(timeoutFolder)}/"$job"
  [ "$(wc -l <${shellQuote(timeoutFolder)}/"$job")" -le ${max_num_timeout} ]
}
await_step() { # ends with the step, or with a signal
  while [ -z "$near_end" ] && { wait "$step"; code=$?; kill -0 "$step" 2>/dev/null; }; do :; done
}
if [ -n "$near_end" ] && may_run_again; then
  # Told before it began.
  queue_again
  exit 1
fi
near_end=
srun --unbuffered ${several ? severalLogs(stderr_to_stdout) : ""}${words(srun_args)}${words(command)}&
step=$!
await_step
# Once told is enough.
trap '' USR2
if [ -z "$near_end" ] || ! kill -0 "$step" 2>/dev/null; then
  # The signal may have ended the waiting when the step ended.
  wait "$step"; code=$?
elif may_run_again; then
  # What listens to the signal may save its work; a worker that does not ends with code 140.
  kill -USR2 "$step"
  until=$((SECONDS + ${grace}))
  while kill -0 "$step" 2>/dev/null && [ "$SECONDS" -lt "$until" ]; do sleep 1; done
  if kill -0 "$step" 2>/dev/null; then code=140; else wait "$step"; code=$?; fi
  if [ "$code" = 140 ]; then
    queue_again
    code=1
  fi
else
  # It has its time to the last second; then Slurm ends it.
  near_end=
  await_step
fi
case "$code" in 143 | 140 | -1 | 127)
  # Of a signal, whichever Slurm has told it by; or lost by the shell, if the step ended as the signal came: what is
  # done does not run again. One that was cancelled does not run any more, and one that Slurm itself puts back completes.
  said=$(how_it_stands)
  case "$said" in *PreemptTime=[0-9]*) is_running "$said" && queue_again ;; esac
esac
[ -s "$slurm_log" ] || rm -f -- "$slurm_log"
# Set-up lines may have set a trap of their own.
tell_end "$code"
exit "$code"
`;
}

/** The folder as a shell word: `%j` and `%A_%a` are the task, `%A` and `%a` its parts. */
function folderWord(folder: string): string {
  const variables: Readonly<Record<string, string>> = {
    "%j": '"$id"',
    "%A": '"$SLURM_ARRAY_JOB_ID"',
    "%a": '"$SLURM_ARRAY_TASK_ID"',
  };
  return folder
    .split(/(%[jAa])/)
    .map((part) => (part === "" ? "" : (variables[part] ?? shellQuote(part))))
    .join("");
}

const severalLogs = (joined: boolean): string =>
  `--open-mode=append --output="$pattern.out" ${joined ? "" : '--error="$pattern.err" '}`;

const words = (texts: readonly string[]): string =>
  texts.map((text) => `${shellQuote(text)} `).join("");

export interface ArrayRequest {
  /** The number of tasks; their indices start at 0. */
  readonly size: number;
  /** How many of them run at a time. */
  readonly parallelism: number;
  readonly cwd: string;
  /** The file for Slurm's own messages about a task; Slurm expands `%A` and `%a` in its name. */
  readonly log: { readonly folder: string; readonly name: string };
  /** The array that must have ended before this one starts. */
  readonly after?: string;
}

/** An argument of sbatch. */
export interface SbatchOption {
  /** `mem` of `--mem=4G`. */
  readonly name: string;
  readonly text: string;
  /** The setting below `hydra.launcher` that it comes from; null for an option that the sweep itself sets. */
  readonly key: string | null;
}

/** Options for the memory of a job. */
export const MEMORY_OPTIONS: readonly string[] = ["mem", "mem-per-cpu", "mem-per-gpu"];

/** The key below `hydra.launcher` that one of these options comes from; undefined if none was given. */
export const keyGiven = (
  options: readonly SbatchOption[],
  names: readonly string[],
): string | undefined =>
  // The last of several equal options counts.
  options.findLast(({ key, name }) => key !== null && names.includes(name))?.key ?? undefined;

/** Options that the sweep itself sets. */
const OURS = ["array", "a", "wrap", "parsable", "wait", "W", "test-only"];

/**
 * The arguments of sbatch for a job array. They are passed without a shell; options of `additional_parameters` come
 * last, so that they win.
 *
 * @throws ConfigError `app.launcher` for additional parameters that the sweep itself sets
 */
export function sbatchOptions(
  settings: SlurmSettings,
  request: ArrayRequest,
): readonly SbatchOption[] {
  const { mem_gb, name, tasks_per_node, timeout_min } = settings;
  const { after, cwd, log, parallelism, size } = request;
  return [
    option("array", `0-${size - 1}%${parallelism}`),
    option("job-name", name, "name"),
    option("time", timeout_min, "timeout_min"),
    option("ntasks-per-node", tasks_per_node, "tasks_per_node"),
    ...SBATCH_KEYS.flatMap((key) =>
      settings[key] === null ? [] : [option(dashed(key), String(settings[key]), key)],
    ),
    ...(mem_gb === null ? [] : [option("mem", `${mem_gb}G`, "mem_gb")]),
    option("signal", `B:USR2@${signalDelay(settings)}`),
    option("requeue", true),
    option("open-mode", "append"),
    option("chdir", cwd),
    option("output", `${escaped(log.folder)}/${log.name}`),
    ...additional(settings.additional_parameters),
    ...(after === undefined ? [] : [option("dependency", `afterany:${after}`)]),
  ];
}

/** At most half of the time limit: Slurm signals a job at once if its limit is shorter than the delay. */
export const signalDelay = ({ signal_delay_s, timeout_min }: SlurmSettings): number =>
  Math.min(signal_delay_s, timeout_min * 30);

/** @param value true for an option without a value */
function option(name: string, value: string | number | true, key: string | null = null) {
  const [start, joint] = name.length === 1 ? [`-${name}`, ""] : [`--${name}`, "="];
  return { name, key, text: value === true ? start : `${start}${joint}${value}` };
}

/** In the name of a log, `%` begins one of Slurm's patterns. */
const escaped = (path: string): string => path.replaceAll("%", "%%");

const dashed = (key: string): string => key.replaceAll("_", "-");

function additional(parameters: SlurmSettings["additional_parameters"]): readonly SbatchOption[] {
  return Object.entries(parameters).flatMap(([key, value]) => {
    const name = dashed(key);
    if (OURS.includes(name)) throw wrong(key, `the sweep itself sets --${name}`);
    if (value === null || value === undefined || value === false) return [];
    if (typeof value === "object" && !Array.isArray(value))
      throw wrong(key, "expected a value or a list, not a map");
    const text = value === true || (Array.isArray(value) ? value.join(",") : String(value));
    return [option(name, text, `additional_parameters.${key}`)];
  });
}

const wrong = (key: string, what: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `hydra.launcher.additional_parameters.${key}: ${what}`,
    key: `hydra.launcher.additional_parameters.${key}`,
  });
