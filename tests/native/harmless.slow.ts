import { beforeAll, describe, expect, test } from "vitest";
import { availableClients, buildSanitizedRecorder, type Client } from "./fixtures.ts";
import { buildCorpus, expectHarmless, type Setup } from "./harmless.ts";
import { CASES, type HarmlessCase } from "./harmless-cases.ts";
import { nativeProgram } from "./programs.ts";

/** The long form of harmless.test.ts: more of everything, with every client, and under the compiler's sanitizers. */

const isLinux = process.platform === "linux";
const clients = isLinux ? availableClients("programs under the recorder, the long form") : [];
const HOUR_MS = 60 * 60 * 1000;
/** How many times as much as in the short form. */
const SCALE = Number(process.env["HYDRACONF_HARMLESS_SCALE"] ?? 10);
const ROUNDS = 20 * SCALE;

const titled = (cases: readonly HarmlessCase[]) =>
  cases.map((one) => [`${one.program} ${one.name}`, one] as const);

async function expectHarmlessOrSkip(title: string, one: HarmlessCase, setup: Setup): Promise<void> {
  const reason = await expectHarmless(one, setup);
  if (reason !== null) console.warn(`SKIPPED ${title}: ${reason}`);
}

describe.each(clients)("with the %s, several times as much", (client: Client) => {
  let recorder = "";
  beforeAll(async () => {
    recorder = await nativeProgram("region_recorder.so");
    await buildCorpus(() => client);
  });

  test.each(titled(CASES))(
    "%s",
    (title, one) =>
      expectHarmlessOrSkip(title, one, {
        client,
        recorder,
        scale: Math.min(one.longScale ?? SCALE, SCALE),
      }),
    HOUR_MS,
  );
});

/** As a launcher of parallel programs sets them; the recorder notes which rank it is in. */
const RANK = {
  OMPI_COMM_WORLD_RANK: "3",
  OMPI_COMM_WORLD_SIZE: "4",
  OMPI_COMM_WORLD_LOCAL_RANK: "1",
  PMIX_RANK: "3",
  SLURM_PROCID: "3",
};

const ENVIRONMENTS = [
  ["as a rank of a parallel program", RANK],
  ["recorded through the kernel", { HYDRACONF_RECORDER_WRITING: "staged" }],
] as const;

describe.runIf(clients.length > 0).each(ENVIRONMENTS)("%s", (_, environment) => {
  let recorder = "";
  beforeAll(async () => {
    recorder = await nativeProgram("region_recorder.so");
    await buildCorpus(() => "own client");
  });

  test.each(titled(CASES))(
    "%s",
    (title, one) =>
      expectHarmlessOrSkip(title, one, { client: "own client", recorder, environment }),
    HOUR_MS,
  );
});

describe.runIf(clients.length > 0)("a rare fault", () => {
  const storms = CASES.filter(
    ({ program, name }) =>
      program === "signals" && ["storm-on-short-threads", "at-thread-end"].includes(name),
  );

  test.each(titled(storms))(
    `does not come in ${ROUNDS} rounds of %s`,
    async (title, one) => {
      const recorder = await nativeProgram("region_recorder.so");
      for (let round = 0; round < ROUNDS; round++)
        await expectHarmlessOrSkip(`${title}, round ${round}`, one, {
          client: "own client",
          recorder,
        });
    },
    HOUR_MS,
  );

  test(
    "does not come when 20,000 threads have ended: the next ones cost no more",
    async () => {
      const recorder = await nativeProgram("region_recorder.so");
      const one = CASES.find(
        ({ program, name }) => program === "threads" && name === "in-sequence",
      );
      expect(one).toBeDefined();
      if (one === undefined) return;
      await expectHarmlessOrSkip("20,000 threads", one, {
        client: "own client",
        recorder,
        scale: 10,
      });
    },
    HOUR_MS,
  );
});

interface Instrumented {
  readonly sanitizer: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the sanitizer itself lets the case run, without a recorder. */
  readonly allows: (one: HarmlessCase) => boolean;
}

const INSTRUMENTED: readonly Instrumented[] = [
  {
    sanitizer: "address,undefined",
    // Recordings of processes that end early are mapped still, and a nodelete library is never freed.
    environment: { ASAN_OPTIONS: "detect_leaks=0" },
    // Crashes are its own to handle. Limits of memory, small stacks and allocators of a program's own leave it no room; forks of processes with
    // threads may hang in its own allocator, and it keeps a value of its own in a thread key that keys-only overtakes.
    allows: ({ program, name }) =>
      ["calls", "signals", "threads", "ends", "libraries", "amounts"].includes(program) &&
      !name.startsWith("crashes") &&
      !["keys-only", "exit-among-threads", "on-threads", "fork-in-handler"].includes(name),
  },
  {
    sanitizer: "thread",
    environment: { TSAN_OPTIONS: "report_signal_unsafe=0" },
    // Crashes are told with addresses and process ids.
    allows: ({ program, name }) =>
      program === "calls" ||
      program === "libraries" ||
      (program === "ends" && !name.startsWith("crashes")) ||
      ["in-sequence", "thread-locals", "detached"].includes(name),
  },
];

describe.runIf(clients.length > 0).each(INSTRUMENTED)(
  "programs built with -fsanitize=$sanitizer",
  ({ sanitizer, environment, allows }) => {
    let recorder = "";
    beforeAll(async () => {
      recorder = await buildSanitizedRecorder(sanitizer);
    }, HOUR_MS);

    test.each(titled(CASES.filter(allows)))(
      "%s",
      (title, one) =>
        expectHarmlessOrSkip(title, one, {
          client: "own client",
          flags: [`-fsanitize=${sanitizer}`, "-fno-sanitize-recover=all", "-g", "-O1"],
          recorder,
          environment,
          compareMemory: false,
        }),
      HOUR_MS,
    );
  },
);
