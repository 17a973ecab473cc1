/** Why tasks wait in Slurm's queue, and what the user can do. */
import { taskName, taskRanges } from "./submissions.ts";
import { phaseOf, type TaskReport } from "./task-state.ts";

/** A reason for which tasks would wait forever. */
interface Kind {
  /** Matches Slurm's reason in small letters, without spaces and underscores. */
  readonly reason: RegExp;
  readonly what: string;
  /** @param tasks in the form that Slurm's commands take */
  readonly remedy: (tasks: string, reason: string) => string;
  /** Does not count while other tasks of the sweep can start or run: the task may wait for those. */
  readonly waitsForOthers?: true;
}

const release = (tasks: string) => `'scontrol release ${tasks}' releases it`;
const settings = (...keys: readonly string[]) =>
  `cancel it with 'hydraconf sweep cancel DIR', then continue with --resume DIR and another ${keys.map((key) => `hydra.launcher.${key}`).join(" or ")}`;

/** The settings that a limit applies to, by the word for it in Slurm's reason. */
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

/** Limits on concurrent use by a user, an account or a group. The limit on jobs does not depend on the request. */
const LIMIT_OF_MANY =
  /^(qos|assoc)(max|grp)(cpu|mem|memory|node|gres)(per(user|account))?(limit)?$/;

/**
 * Slurm's reasons that need an action of the user. All others pass: a job waits for nodes, or for its turn.
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
    // For a drained node Slurm reports one or the other, from query to query.
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

/** Why a task cannot start; tasks with the same reason have the same text. */
export interface PendingReason {
  /**
   * Identifies the reason, independently of the number of tasks and of the wording that Slurm reports at the moment.
   */
  readonly what: string;
  readonly text: string;
}

/**
 * The tasks that wait for an action of the user.
 *
 * @param reports reports of one sweep: while other tasks of it can start or run, it is normal that arrays wait for
 * those
 * @returns by name of the task
 */
export function pendingReasons(reports: readonly TaskReport[]): ReadonlyMap<string, PendingReason> {
  const waiting = new Map<string, Waiting>();
  let isGoingOn = false;
  for (const report of reports) {
    const phase = phaseOf(report);
    if (phase === "over") continue;
    const reason = phase === "waiting" ? reasonOf(report) : undefined;
    const kind = KINDS.find(
      (candidate) => reason !== undefined && candidate.reason.test(plain(reason)),
    );
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

/** Some states imply the reason, and Slurm then reports none. */
const reasonOf = ({ reason, state }: TaskReport): string | undefined =>
  state === "PENDING" ? (reason ?? undefined) : (reason ?? state);

const plain = (reason: string): string => reason.replaceAll(/[ _]/g, "").toLowerCase();
