import { taskName } from "./submissions.ts";
import { taskRanges } from "./task-ranges.ts";
import { phaseOf, type TaskReport } from "./task-state.ts";

/** Why tasks wait that no turn of theirs will start. */
interface Kind {
  /** Of Slurm's reason, in small letters, without spaces and underscores. */
  readonly reason: RegExp;
  readonly what: string;
  /** @param tasks as Slurm's commands take them */
  readonly remedy: (tasks: string) => string;
}

const release = (tasks: string) => `'scontrol release ${tasks}' lets it go`;
const settings = (...keys: readonly string[]) =>
  `end it with 'hydraconf sweep cancel DIR', then go on with --resume DIR and another ${keys.map((key) => `hydra.launcher.${key}`).join(" or ")}`;

/**
 * Slurm's reasons for what somebody has to do something about; all others pass: a job waits for nodes, or for its turn.
 *
 * @see https://slurm.schedmd.com/job_reason_codes.html
 */
const KINDS: readonly Kind[] = [
  { reason: /^jobhelduser$/, what: "it is held", remedy: release },
  {
    reason: /^jobheldadmin$/,
    what: "an administrator holds it",
    remedy: () => "ask them to release it",
  },
  {
    reason: /^launchfailedrequeuedheld$/,
    what: "a node failed to start it, and Slurm holds it",
    remedy: release,
  },
  {
    reason: /^jobholdmaxrequeue$|requeuedinheldstate|^requeuehold$|^specialexit$/,
    what: "it was queued again, and Slurm holds it",
    remedy: release,
  },
  {
    reason: /^dependencyneversatisfied$/,
    what: "what it waits for will never be",
    remedy: () => settings("additional_parameters"),
  },
  {
    reason: /^dependency$/,
    what: "it waits for other jobs",
    remedy: (tasks) => `'squeue --jobs=${tasks} --format="%i %E"' names them`,
  },
  {
    reason: /^badconstraints$/,
    what: "no node has what it asks for",
    remedy: () => settings("constraint", "gres", "mem_gb"),
  },
  {
    reason: /^partitiontimelimit$/,
    what: "it asks for more time than its partition gives",
    remedy: () => settings("timeout_min"),
  },
  {
    reason: /^partitionnodelimit$/,
    what: "it asks for more nodes than its partition gives",
    remedy: () => settings("nodes"),
  },
  {
    reason: /^partitionconfig$/,
    what: "its partition does not have what it asks for",
    remedy: () => settings("partition", "nodes", "cpus_per_task"),
  },
  {
    reason: /^partition(down|inactive)$/,
    what: "its partition starts no jobs",
    remedy: () => "'sinfo --summarize' shows the partitions",
  },
  {
    reason: /^reqnodenotavail/,
    what: "a node that it needs is not available",
    remedy: () => "'sinfo --list-reasons' says why, and which",
  },
  {
    reason: /^(invalidaccount|accountnotallowed)$/,
    what: "its account may not run it",
    remedy: () => settings("account"),
  },
  {
    reason: /^(invalidqos|qosnotallowed)$/,
    what: "its quality of service may not run it",
    remedy: () => settings("qos"),
  },
  {
    reason: /^(qos|assoc).*(perjob|perjoblimit|notsatisfied)$/,
    what: "it asks for more, or less, than one job may have",
    remedy: () => "'scontrol show job' shows what it asks for, 'sacctmgr show qos' the limits",
  },
  {
    reason: /^(qos|assoc)grp.*minutes(limit)?$/,
    what: "the budget of its account is used up",
    remedy: () => settings("account"),
  },
];

/** What keeps a task from beginning: the same text for all that it holds for. */
export interface Obstacle {
  /** Tells it from others, however many tasks it is about. */
  readonly reason: string;
  readonly text: string;
}

/**
 * The tasks that wait for somebody to do something about it.
 *
 * @param reports of one sweep: as long as others of it can begin or run, arrays that wait for those are as they should be
 * @returns by name of the task
 */
export function obstacles(reports: readonly TaskReport[]): ReadonlyMap<string, Obstacle> {
  const waiting = new Map<string, { readonly kind: Kind; readonly tasks: TaskReport[] }>();
  let isGoingOn = false;
  for (const report of reports) {
    const phase = phaseOf(report);
    if (phase === "over") continue;
    const reason = phase === "waiting" ? reasonOf(report) : undefined;
    const kind = KINDS.find((one) => reason !== undefined && one.reason.test(plain(reason)));
    if (kind === undefined || reason === undefined) {
      isGoingOn = true;
      continue;
    }
    const group = waiting.get(reason) ?? { kind, tasks: [] };
    group.tasks.push(report);
    waiting.set(reason, group);
  }
  if (isGoingOn) waiting.delete("Dependency");
  const found = new Map<string, Obstacle>();
  for (const [reason, { kind, tasks }] of waiting) {
    const remedy = kind.remedy(taskRanges(tasks).join(","));
    const obstacle = { reason, text: `${kind.what} (${reason}): ${remedy}` };
    for (const task of tasks) found.set(taskName(task), obstacle);
  }
  return found;
}

/** A state that says it all has no reason beside it. */
const reasonOf = ({ reason, state }: TaskReport): string | undefined =>
  state === "PENDING" ? (reason ?? undefined) : (reason ?? state);

const plain = (reason: string): string => reason.replaceAll(/[ _]/g, "").toLowerCase();
