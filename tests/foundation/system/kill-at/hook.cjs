/**
 * `node --require` this: kills the process at its Nth change of a file in KILL_WITHIN, a part of its path. KILL_AT=ROLE:N says of which process of a
 * sweep (launcher, driver, worker); KILL_AT=ROLE:N:half lets it write half of what it wants to write first. Each
 * process that ends by itself adds a line `ROLE CHANGES` to the file in KILL_COUNTS. STALL_MS: as long does it stop
 * after it has started another process. STALL_AT=ROLE: that one stops before its first change until it is killed.
 * LOOKS: a file to which a worker adds a line whenever it finds that there is no record of its job.
 */
const fs = require("node:fs");
const processes = require("node:child_process");

const role =
  process.env.HYDRACONF_WORKER !== undefined
    ? "worker"
    : process.env.HYDRACONF_DRIVER !== undefined
      ? "driver"
      : "launcher";
const [victim, at, half] = (process.env.KILL_AT ?? "nobody:0").split(":");
const counts = process.env.KILL_COUNTS;
const real = { ...fs };
let changes = 0;

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const CHANGES = [
  "writeFileSync",
  "renameSync",
  "linkSync",
  "rmSync",
  "mkdirSync",
  "fsyncSync",
  "ftruncateSync",
];

const within = process.env.KILL_WITHIN ?? "";

/** A number is a file that was opened to be written durably: a record. */
const isOurs = (target) => typeof target === "number" || String(target).includes(within);

for (const name of CHANGES)
  fs[name] = (target, ...rest) => {
    if (isOurs(target)) changes++;
    if (changes === 1 && process.env.STALL_AT === role) pause(Number.POSITIVE_INFINITY);
    if (role === victim && isOurs(target) && changes === Number(at)) {
      if (half !== undefined && name === "writeFileSync")
        real.writeFileSync(target, String(rest[0]).slice(0, String(rest[0]).length / 2), rest[1]);
      process.kill(process.pid, "SIGKILL");
    }
    return real[name](target, ...rest);
  };

const looks = process.env.LOOKS;
if (looks !== undefined && role === "worker")
  fs.statSync = (target, ...rest) => {
    const found = real.statSync(target, ...rest);
    if (found === undefined && /jobs\/\d+\.json$/.test(String(target)))
      real.appendFileSync(looks, "none\n");
    return found;
  };

const { spawn } = processes;
const stall = Number(process.env.STALL_MS ?? 0);
if (stall > 0)
  processes.spawn = (...args) => {
    const child = spawn(...args);
    pause(stall);
    return child;
  };

if (counts !== undefined)
  process.on("exit", () => real.appendFileSync(counts, `${role} ${changes}\n`));
