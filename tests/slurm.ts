import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A Slurm of its own on this machine: one node that claims several processors. */
export interface SlurmCluster {
  /** For Slurm's commands, and programs that call them. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs one of Slurm's commands. */
  readonly command: (name: string, ...args: readonly string[]) => string;
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
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-slurm-"));
  for (const name of ["state", "spool"]) mkdirSync(join(dir, name));
  const conf = join(dir, "slurm.conf");
  const [controller, node] = await freePorts(2);
  writeFileSync(conf, slurmConf(dir, Number(controller), Number(node), extra));
  const env = { PATH, SLURM_CONF: conf, HOME: process.env["HOME"] ?? dir };
  const daemons = ["slurmctld", "slurmd"].map((name) => daemon(name, conf, env));
  const command = (name: string, ...args: readonly string[]): string =>
    execFileSync(name, [...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const stop = async () => {
    attempt(() => command("scancel", "--full", "--signal=KILL", `--user=${userInfo().username}`));
    attempt(() => command("scancel", `--user=${userInfo().username}`));
    // A node has gone quiet once its steps have: what is left in them would outlive the daemons.
    for (
      let tries = 0;
      tries < 50 && attempt(() => command("squeue", "--noheader")) !== "";
      tries++
    )
      await sleep(200);
    await Promise.all(daemons.map(ended));
    rmSync(dir, { recursive: true, force: true });
  };
  for (let tries = 0; ; tries++) {
    if (attempt(() => command("sinfo", "--noheader", "--format=%T")) === "idle\n") break;
    if (tries === 100) {
      const logs = ["slurmctld", "slurmd"].map((name) =>
        readFileSync(join(dir, `${name}.log`), "utf8"),
      );
      await stop();
      throw new Error(`Slurm does not start:\n${logs.join("\n")}`);
    }
    await sleep(100);
  }
  return { env, command, stop };
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
    // Requeued jobs wait until their credential has expired.
    AuthInfo: "cred_expire=5",
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
    KillWait: 2,
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await exited;
  clearTimeout(late);
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
