import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { buildFaults, describedFaults, faultLoop } from "./faults.ts";
import { availableClients } from "./fixtures.ts";
import { nativeProgram } from "./programs.ts";

const [client] = availableClients("faults in what the recorder calls");
if (process.platform !== "linux")
  console.warn("SKIPPED faults in what the recorder calls: LD_PRELOAD is Linux's");

/** What the recorder calls beside the functions that native/fixtures/faults.cc stands for, and why not these. */
const NOT_MEDDLED_WITH = {
  "only compute": [
    ...[
      "memcmp",
      "memcpy",
      "memmove",
      "memset",
      "strcmp",
      "strcspn",
      "strlen",
      "strncmp",
      "strnlen",
      "strstr",
      "strtol",
      "strtoul",
    ],
    ...[
      "snprintf",
      "strchr",
      "strerror",
      "strrchr",
      "sigfillset",
      "sigdelset",
      "sigemptyset",
      "sigaddset",
      "sigismember",
    ],
    ...["pthread_self", "pthread_getspecific", "__errno_location", "getpid", "getppid", "sysconf"],
    ...["clock_gettime", "getenv", "pthread_setcancelstate", "pthread_setcanceltype", "dlerror"],
    ...["sigpending", "sigwait", "sched_yield"],
  ],
  "belong to the compiler and the loader": [
    ...["__cxa_atexit", "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"],
    ...["_ITM_registerTMCloneTable"],
  ],
  "register and run what a cancelled thread leaves behind": [
    ...["__sigsetjmp", "__pthread_register_cancel", "__pthread_unregister_cancel"],
    ...["__pthread_unwind_next"],
  ],
  "serve where the kernel clears no page on a fork": ["__register_atfork"],
  "only leave a number or a name out where they fail": ["getrusage", "gethostname"],
  "only asks for a thread's right to read the time stamp counter": ["prctl"],
  "wait for another thread at the program's end": ["usleep"],
  "are for GPUs (tests/native/recorder-gpu.test.ts)": [
    ...[
      "access",
      "dl_iterate_phdr",
      "dladdr",
      "dlclose",
      "dlopen",
      "dlsym",
      "free",
      "mprotect",
      "glob64",
      "globfree64",
    ],
    ...["pthread_attr_destroy", "pthread_attr_init", "pthread_attr_setdetachstate"],
    ...["pthread_cond_broadcast", "pthread_cond_init", "pthread_cond_timedwait", "pthread_create"],
    ...["pthread_condattr_destroy", "pthread_condattr_init", "pthread_condattr_setclock"],
  ],
};

describe.runIf(client !== undefined && process.platform === "linux")("faults", () => {
  test("can happen in every call of the recorder that can fail", async () => {
    const recorder = await nativeProgram("region_recorder.so");
    const symbols = execFileSync("nm", ["-D", "--undefined-only", recorder], { encoding: "utf8" });
    const called = [...symbols.matchAll(/ [UwW] ([^@\s]+)/g)].map(([, name]) => name ?? "");
    const source = fileURLToPath(new URL("../../native/fixtures/faults.cc", import.meta.url));
    const meddled = readFileSync(source, "utf8");
    const known = new Set(Object.values(NOT_MEDDLED_WITH).flat());
    const others = called.filter((name) => !known.has(name));
    expect(others.length).toBeGreaterThan(15);
    expect(others.filter((name) => !new RegExp(`\\b${name}\\b`).test(meddled))).toEqual([]);
  });

  // Each call in `npm run test:slow`.
  test.each(describedFaults())(
    "no program notices a call that %s",
    async (name, fault, writing) => {
      const { runs, problems } = await faultLoop(await buildFaults(client ?? "own client"), fault, {
        step: writing === "buffered" ? 199 : 47,
        writing,
      });
      expect(problems, name).toEqual([]);
      expect(runs).toBeGreaterThan(2);
    },
  );
});
