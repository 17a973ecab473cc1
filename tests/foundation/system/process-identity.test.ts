import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { holderOf } from "../../../src/foundation/system/process-claim.ts";
import { containerOf } from "../../../src/foundation/system/process-identity.ts";
import { bundled } from "../../bundled.ts";

const POD =
  "/var/lib/kubelet/pods/0a1b2c3d-0000-4000-8000-000000000001/containers/trainer/5f0c9b1e";
const layer = (name: string) =>
  `700 650 0:60 / / rw,relatime - overlay overlay rw,lowerdir=/a:/b,upperdir=/var/lib/docker/overlay2/${name}/diff,workdir=/w`;

describe("a container's name", () => {
  const mount = (root: string, at: string) => `701 700 259:1 ${root} ${at} rw - ext4 /dev/sda rw`;
  test("is the layer that it writes to", () => {
    const mounts = [layer("abc"), mount("/docker/containers/1/hosts", "/etc/hosts")].join("\n");
    expect(containerOf(mounts)).toBe("/var/lib/docker/overlay2/abc/diff");
  });
  test("is its pod's and its own where there is one: a restart has another layer", () => {
    for (const again of ["abc", "def"])
      expect(containerOf([layer(again), mount(POD, "/dev/termination-log")].join("\n"))).toBe(
        POD.slice(POD.indexOf("/pods/"), POD.lastIndexOf("/")),
      );
  });
  test("is not there outside of one", () => {
    expect(containerOf(mount("/", "/"))).toBeNull();
    expect(containerOf("")).toBeNull();
  });
});

/** What starts a process in a pid namespace of its own; says what is skipped where nobody may. */
function unshared(what: string): readonly string[] | undefined {
  try {
    execFileSync("unshare", ["--pid", "--fork", "--mount-proc", "true"], { stdio: "pipe" });
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
  } catch (error) {
    console.warn(`SKIPPED ${what}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

const inNamespace = unshared("claims in other pid namespaces");

describe.skipIf(inNamespace === undefined)("a claim of another pid namespace", () => {
  const run = (command: readonly string[], ...args: readonly string[]) => {
    const [file = "", ...first] = [...command, process.execPath, claimant(), ...args];
    const child = spawn(file, [...first], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((done) => child.once("exit", done));
    return {
      said: new Promise<string>((done) =>
        child.stdout.once("data", (data) => done(String(data).trim())),
      ),
      end: () => {
        child.stdin.end();
        return ended;
      },
    };
  };
  const file = () => join(mkdtempSync(join(tmpdir(), "hydraconf-claim-")), "claim.json");

  test("is free once its process is gone, as seen from where all processes are visible", async () => {
    const claim = file();
    const holder = run(inNamespace ?? [], claim, "hold");
    expect(await holder.said).toBe("taken");
    expect(holderOf(claim)).toMatchObject({ pid: 1 });
    await holder.end();
    const seesAll = readlinkSync("/proc/self/ns/pid") === "pid:[4026531836]";
    expect(holderOf(claim) === undefined).toBe(seesAll);
  });

  // Once it has ended, its number may be that of the next namespace, which then knows that it is gone.
  test("stays for a namespace beside it", async () => {
    const claim = file();
    const holder = run(inNamespace ?? [], claim, "hold");
    expect(await holder.said).toBe("taken");
    expect(await run(inNamespace ?? [], claim).said).toBe("held elsewhere");
    await holder.end();
  });

  test("is free for its container that was started again, and for no other", async () => {
    const container = overlay();
    if (container === undefined) return;
    const claim = file();
    const first = run(container("one"), claim, "hold");
    expect(await first.said).toBe("taken");
    expect(await run(container("two"), claim).said).toBe("held elsewhere");
    await first.end();
    expect(await run(container("one"), claim).said).toBe("taken");
  });
});

/** Containers as a runtime makes them: a layer of their own, a namespace, a first process that leads its session. */
function overlay(): ((name: string) => readonly string[]) | undefined {
  // On a disk of its own: a layer cannot lie in the one below.
  const folder = mkdtempSync("/dev/shm/hydraconf-container-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const container = (name: string): readonly string[] => {
    const own = join(folder, name);
    for (const part of ["up", "work", "root"]) mkdirSync(join(own, part), { recursive: true });
    const script = `set -e
      mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
      for shared in /dev "$2"; do mount --rbind "$shared" "$1/root$shared"; done
      mount -t proc proc "$1/root/proc"
      root="$1/root"; shift 2; exec setsid chroot "$root" "$@"`;
    const namespaces = ["--pid", "--fork", "--kill-child", "--mount"];
    return ["unshare", ...namespaces, "sh", "-c", script, "sh", own, tmpdir()];
  };
  try {
    const [first = "", ...args] = [...container("try"), "true"];
    execFileSync(first, args, { stdio: "pipe" });
    return container;
  } catch (error) {
    console.warn(
      `SKIPPED claims of containers: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

const claimant = () => bundled(new URL("claimant/once.ts", import.meta.url), "once");
