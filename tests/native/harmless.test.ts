import { beforeAll, describe, test } from "vitest";
import { availableClients, type Client } from "./fixtures.ts";
import { buildCorpus, expectHarmless } from "./harmless.ts";
import { CASES } from "./harmless-cases.ts";
import { nativeProgram } from "./programs.ts";

/** The short form: each case once, quickly. harmless.slow.ts has the long one. */

/** System calls, signal numbers and limits are those of Linux. */
const isLinux = process.platform === "linux";
const clients = isLinux ? availableClients("programs under the recorder") : [];
if (!isLinux) console.warn("SKIPPED programs under the recorder: they are written for Linux");

const programs = [...new Set(CASES.map(({ program }) => program))];
/** Programs take turns with the clients, so that each is compiled once only. NVIDIA's headers alone have extensions. */
const clientOf = (program: string): Client =>
  program === "extensions" && clients.includes("nvtx3 headers")
    ? "nvtx3 headers"
    : (clients[programs.indexOf(program) % clients.length] ?? "own client");

describe.runIf(clients.length > 0)("under the recorder a program behaves as it does alone", () => {
  let recorder = "";
  beforeAll(async () => {
    recorder = await nativeProgram("region_recorder.so");
    await buildCorpus(clientOf);
  });

  test.each(CASES.filter(({ program }) => program === "process"))(
    "$program $name, as a rank of a parallel program (harmless.slow.ts has the others)",
    async (one) => {
      const environment = { OMPI_COMM_WORLD_RANK: "3", OMPI_COMM_WORLD_SIZE: "4", RANK: "x" };
      await expectHarmless(one, { client: clientOf(one.program), recorder, environment });
    },
  );

  test.each(CASES.map((one) => [`${one.program} ${one.name}`, one] as const))(
    "%s",
    async (title, one) => {
      const reason = await expectHarmless(one, { client: clientOf(one.program), recorder });
      if (reason !== null) console.warn(`SKIPPED ${title}: ${reason}`);
    },
  );
});
