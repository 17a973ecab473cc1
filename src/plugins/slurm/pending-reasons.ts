import { taskName, taskRanges } from "./submissions.ts";
import { phaseOf, type TaskReport } from "./task-state.ts";

/** Why tasks wait that no turn of theirs will start. */
interface Kind {
  /** Of Slurm's reason, in small letters, without spaces and underscores. */
  readonly reason: RegExp;
  readonly what: string;
  /** @param tasks as Slurm's commands take them */
  readonly remedy: (tasks: string, reason: string) => string;
  /** As long as others of the sweep can begin or run, it is those that are waited for. */
  readonly waitsForOthers?: true;
}

const release = (tasks: string) => `'scontrol release ${tasks}' releases it`;
const settings = (...keys: readonly string[]) =>
  `cancel it with 'hydraconf sweep cancel DIR', then continue with --resume DIR and another ${keys.map((key) => `hydra.launcher.${key}`).join(" or ")}`;

/** The settings that ask for what a limit is of, by the word for it in Slurm's reason. */
const LIMITED: readonly (readonly [word: RegExp, key: string])[] = [
  [/wall/, "timeout_min"],
  [/mem/, "mem_gb"],
  [/gres/, "gres"],
  [/cpu/, "cpus_per_task"],
  [/node/, "nodes"],
];

const changed = (reason: string): string | undefined => {
  const key = LIMITED.find(([word]) => word.test(plain(reason)))?.[1];
  return key === undefined ? undefined : settings(key);
};

/** Limits of what a user, an account or a group has at a time. That of jobs is no matter of what one asks for. */
const LIMIT_OF_MANY =
  /^(qos|assoc)(max|grp)(cpu|mem|memory|node|gres)(per(user|account))?(limit)?$/;

/**
 * Slurm's reasons that need an action of the user; all others pass: a job waits for nodes, or for its turn.
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
    what: "it was requeued, and Slurm holds it",
    remedy: release,
  },
  {
    reason: /^dependencyneversatisfied$/,
    what: "it waits for a dependency that can never be satisfied",
    remedy: () => settings("additional_parameters"),
  },
  {
    reason: /^dependency$/,
    what: "it waits for other jobs",
    waitsForOthers: true,
    remedy: (tasks) => `'squeue --jobs=${tasks} --format="%i %E"' names them`,
  },
  {
    reason: /^badconstraints$/,
    what: "no node has the requested resources",
    remedy: () => settings("constraint", "gres", "mem_gb"),
  },
  {
    reason: /^partitiontimelimit$/,
    what: "it requests more time than its partition allows",
    remedy: () => settings("timeout_min"),
  },
  {
    reason: /^partitionnodelimit$/,
    what: "it requests more nodes than its partition allows",
    remedy: () => settings("nodes"),
  },
  {
    reason: /^partitionconfig$/,
    what: "its partition does not have the requested resources",
    remedy: () => settings("partition", "nodes", "cpus_per_task"),
  },
  {
    reason: /^partition(down|inactive)$/,
    what: "its partition starts no jobs",
    remedy: () => "'sinfo --summarize' shows the partitions",
  },
  {
    // Of a drained node Slurm has the one or the other, from look to look.
    reason: /^reqnodenotavail|^nodesrequiredforjobaredown/,
    what: "a node that it needs is not available",
    remedy: () => "'sinfo --list-reasons' lists such nodes with the reasons",
  },
  {
    reason: /^(invalidaccount|accountnotallowed)$/,
    what: "its account is not allowed to run it",
    remedy: () => settings("account"),
  },
  {
    reason: /^(invalidqos|qosnotallowed)$/,
    what: "its quality of service is not allowed to run it",
    remedy: () => settings("qos"),
  },
  {
    reason: /^(qos|assoc).*(perjob|perjoblimit|pernode|notsatisfied|min(cpu|gres|memory))$/,
    what: "it requests more or less than a job may have",
    remedy: (_, reason) =>
      `${changed(reason) ?? "'scontrol show job' shows what it requests"}; 'sacctmgr show qos' shows the limits`,
  },
  {
    reason: /^(qos|assoc)grp.*minutes(limit)?$/,
    what: "the budget of its account is used up",
    remedy: () => settings("account"),
  },
  {
    reason: LIMIT_OF_MANY,
    what: "other jobs use up the limit, or it requests more than the limit",
    remedy: (_, reason) =>
      `'squeue --me' shows your other jobs, 'sacctmgr show qos' the limits; if the job alone exceeds them, ${changed(reason) ?? settings("qos")}`,
    waitsForOthers: true,
  },
];

/** What keeps a task from beginning: the same text for all that it holds for. */
export interface PendingReason {
  /** Tells it from others, however many tasks it is about, and whichever of several reasons for it Slurm has just now. */
  readonly what: string;
  readonly text: string;
}

/**
 * The tasks that wait for an action of the user.
 *
 * @param reports of one sweep: as long as others of it can begin or run, arrays that wait for those are as they should be
 * @returns by name of the task
 */
export function pendingReasons(reports: readonly TaskReport[]): ReadonlyMap<string, PendingReason> {
  const waiting = new Map<string, Waiting>();
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
  const found = new Map<string, PendingReason>();
  for (const [reason, { kind, tasks }] of waiting) {
    if (isGoingOn && kind.waitsForOthers) continue;
    const remedy = kind.remedy(taskRanges(tasks).join(","), reason);
    const pendingReason = { what: kind.what, text: `${kind.what} (${reason}): ${remedy}` };
    for (const task of tasks) found.set(taskName(task), pendingReason);
  }
  return found;
}

/** The tasks that wait for one reason. */
interface Waiting {
  readonly kind: Kind;
  readonly tasks: TaskReport[];
}

/** A state that says it all has no reason beside it. */
const reasonOf = ({ reason, state }: TaskReport): string | undefined =>
  state === "PENDING" ? (reason ?? undefined) : (reason ?? state);

const plain = (reason: string): string => reason.replaceAll(/[ _]/g, "").toLowerCase();
