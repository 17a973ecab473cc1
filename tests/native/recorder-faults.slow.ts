import { describe, expect, test } from "vitest";
import type { Writing } from "../../src/profiler/tools/recorder/format.ts";
import { buildFaults, countedInstructions, describedFaults, faultLoop } from "./faults.ts";
import { availableClients } from "./fixtures.ts";

const clients =
  process.platform === "linux" ? availableClients("faults in what the recorder calls") : [];
if (process.platform !== "linux")
  console.warn("SKIPPED faults in what the recorder calls: LD_PRELOAD is Linux's");

/** Each so-many-th call: a third as many where records go through the kernel, with more calls, as where they do not. */
const STEP = Number(process.env["HYDRACONF_FAULT_STEP"] ?? 1);
const stepOf = (writing: Writing) => (writing === "mapped" ? Math.ceil(STEP / 3) : STEP);

describe.each(clients)("with the %s", (client) => {
  test.each(describedFaults())(
    "no program notices a call that %s",
    async (name, fault, writing) => {
      const { runs, problems } = await faultLoop(await buildFaults(client), fault, {
        writing,
        step: stepOf(writing),
      });
      console.log(`${client}: ${runs} runs in which one call ${name}`);
      expect(problems).toEqual([]);
      expect(runs).toBeGreaterThan(100 / stepOf(writing));
    },
  );
});

/** Each reading of a counter makes two calls. */
const COUNTED_STEP = 61;

describe.runIf(clients.length > 0 && process.arch === "x64")("with instructions", () => {
  test.each(describedFaults().filter(([, , writing]) => writing === "mapped"))(
    "no program notices a call that %s",
    async (_, fault) => {
      const built = await buildFaults("own client");
      const { runs, problems } = await faultLoop(built, fault, {
        step: STEP * COUNTED_STEP,
        variables: await countedInstructions(built),
      });
      expect(problems).toEqual([]);
      expect(runs).toBeGreaterThan(1);
    },
  );
});
