import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readSubmissions } from "../src/app/plugins/slurm/submissions.ts";
import { readManifest } from "../src/app/record/manifest.ts";

/** A Slurm of its own on this machine: one node that claims several processors. */
export interface SlurmCluster {
  /** For Slurm's commands, and programs that call them. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs one of Slurm's commands. */
  readonly command: (name: string, ...args: readonly string[]) => string;
  /** How many jobs of a sweep, given its `.sweep` folder, are still to be submitted or started. */
  readonly waiting: (folder: string) => number;
  /** Ends all jobs and the daemons. */
  readonly stop: () => Promise<void>;
}

const PROGRAMS = ["slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "setpriv"];

/** Debian puts daemons where users do not look. */
const PATH = [process.env["PATH"] ?? "", "/usr/sbin", "/sbin"].join(delimiter);

/** What keeps Slurm from being tested here; undefined where nothing does. */
function hindrance(): string | undefined {
  const missing = PROGRAMS.filter(
    (name) => !PATH.split(delimiter).some((dir) => existsSync(join(dir, name))),
  );
  return missing.length === 0 ? undefined : `${missing.join(", ")} not found (Debian: slurm-wlm)`;
}

/**
 * Whether a real Slurm can be started here; says which tests are skipped where it cannot.
 * `HYDRACONF_REQUIRE_SLURM=1` (CI) makes that an error.
 */
export function hasSlurm(what: string): boolean {
  const reason = hindrance();
  if (reason === undefined) return true;
  if (process.env["HYDRACONF_REQUIRE_SLURM"] === "1")
    throw new Error(`Slurm is required here: ${reason}`);
  console.warn(`SKIPPED ${what}: ${reason}`);
  return false;
}

/**
 * Starts slurmctld and slurmd as this user, with files, ports and processes of their own. They end
 * with this process, whatever happens to it.
 */
export async function startSlurm(extra: readonly string[] = []): Promise<SlurmCluster> {
  for (let tries = 1; ; tries++) {
    const slurm = await tryToStart(extra);
    if (typeof slurm !== "string") return slurm;
    // Somebody may have taken a port after it was found free.
    if (tries === STARTS) throw new Error(`Slurm does not start:\n${slurm}`);
  }
}

const STARTS = 4;

/** What the daemons logged where one of them ended. */
async function tryToStart(extra: readonly string[]): Promise<SlurmCluster | string> {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-slurm-"));
  for (const name of ["state", "spool"]) mkdirSync(join(dir, name));
  const conf = join(dir, "slurm.conf");
  const [controller, node] = await freePorts(2);
  writeFileSync(conf, slurmConf(dir, Number(controller), Number(node), extra));
  const env = { PATH, SLURM_CONF: conf, HOME: process.env["HOME"] ?? dir };
  const daemons = ["slurmctld", "slurmd"].map((name) => daemon(name, conf, env));
  const command = (name: string, ...args: readonly string[]): string =>
    execFileSync(name, [...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const waiting = (folder: string): number => {
    const arrays = readSubmissions(folder).filter(({ array }) => array !== null);
    const submitted = arrays.reduce((sum, { jobs }) => sum + jobs.length, 0);
    const pending = command("squeue", "--array", "--noheader", "--states=PENDING", "--format=%F")
      .split("\n")
      .filter((line) => arrays.some(({ array }) => array === line));
    return readManifest(folder).jobs.length - submitted + pending.length;
  };
  const stop = async () => {
    attempt(() => command("scancel", "--full", "--signal=KILL", `--user=${userInfo().username}`));
    attempt(() => command("scancel", `--user=${userInfo().username}`));
    // A node has gone quiet once its steps have: what is left in them would outlive the daemons.
    for (
      let tries = 0;
      tries < 300 && attempt(() => command("squeue", "--noheader")) !== "";
      tries++
    )
      await sleep(200);
    await Promise.all(daemons.map(ended));
    killKnowing(conf);
    rmSync(dir, { recursive: true, force: true });
  };
  while (attempt(() => command("sinfo", "--noheader", "--format=%T")) !== "idle\n") {
    if (daemons.some(hasEnded)) {
      const logs = ["slurmctld", "slurmd"].map((name) =>
        attempt(() => readFileSync(join(dir, `${name}.log`), "utf8")),
      );
      await Promise.all(daemons.map(ended));
      rmSync(dir, { recursive: true, force: true });
      return logs.join("\n");
    }
    await sleep(100);
  }
  return { env, command, waiting, stop };
}

function slurmConf(
  dir: string,
  controller: number,
  node: number,
  extra: readonly string[],
): string {
  const user = userInfo().username;
  const settings = {
    ClusterName: "hydraconf",
    SlurmctldHost: `${hostname()}(127.0.0.1)`,
    SlurmctldPort: controller,
    SlurmdPort: node,
    SlurmUser: user,
    SlurmdUser: user,
    // Nobody else is on this cluster; without munge it needs no key and no daemon more.
    AuthType: "auth/none",
    CredType: "cred/none",
    // Requeued jobs wait until their credential has expired; a node that is late by as much may not begin.
    AuthInfo: "cred_expire=20",
    // Of a busy machine nothing may be given up.
    MessageTimeout: 100,
    TCPTimeout: 100,
    BatchStartTimeout: 300,
    MpiDefault: "none",
    ProctrackType: "proctrack/pgid",
    TaskPlugin: "task/none",
    JobAcctGatherType: "jobacct_gather/none",
    AccountingStorageType: "accounting_storage/none",
    SelectType: "select/cons_tres",
    SelectTypeParameters: "CR_CPU",
    StateSaveLocation: join(dir, "state"),
    SlurmdSpoolDir: join(dir, "spool"),
    SlurmctldPidFile: join(dir, "slurmctld.pid"),
    SlurmdPidFile: join(dir, "slurmd.pid"),
    SlurmctldLogFile: join(dir, "slurmctld.log"),
    SlurmdLogFile: join(dir, "slurmd.log"),
    SchedulerParameters: "sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1",
    SlurmdParameters: "config_overrides",
    ReturnToService: 2,
    JobRequeue: 1,
    MaxArraySize: 4,
    // A job has time to say that it was stopped. One that does not listen costs it.
    KillWait: 30,
  };
  return [
    ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
    ...extra,
    `NodeName=${hostname()} NodeAddr=127.0.0.1 CPUs=64 RealMemory=2000 State=UNKNOWN`,
    "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
    "",
  ].join("\n");
}

/** In the foreground, and told to end when this process does. */
function daemon(name: string, conf: string, env: Readonly<Record<string, string>>): ChildProcess {
  return spawn("setpriv", ["--pdeathsig", "TERM", name, "-D", "-f", conf], {
    env,
    stdio: "ignore",
  });
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await exited;
  clearTimeout(late);
}

/**
 * Kills what knows a cluster that is gone: the keeper of a task tries for hours to tell it of the task's end.
 */
function killKnowing(conf: string): void {
  const isOf = (pid: string) =>
    attempt(() => readFileSync(`/proc/${pid}/environ`, "latin1"))
      ?.split("\0")
      .includes(`SLURM_CONF=${conf}`);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOf(name)))
    attempt(() => String(process.kill(Number(pid), "SIGKILL")));
}

function attempt(run: () => string): string | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
