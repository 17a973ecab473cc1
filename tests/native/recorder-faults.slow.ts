import { describe, expect, test } from "vitest";
import { buildFaults, describedFaults, faultLoop } from "./faults.ts";
import { availableClients } from "./fixtures.ts";

const clients =
  process.platform === "linux" ? availableClients("faults in what the recorder calls") : [];
if (process.platform !== "linux")
  console.warn("SKIPPED faults in what the recorder calls: LD_PRELOAD is Linux's");

/** Each so-many-th call where records go through the kernel, which are more. */
const STEP = Number(process.env["HYDRACONF_FAULT_STEP"] ?? 1);

describe.each(clients)("with the %s", (client) => {
  test.each(describedFaults())(
    "no program notices a call that %s",
    async (name, fault, writing) => {
      const { runs, problems } = await faultLoop(await buildFaults(client), fault, {
        writing,
        step: writing === "mapped" ? 1 : STEP,
      });
      console.log(`${client}: ${runs} runs in which one call ${name}`);
      expect(problems).toEqual([]);
      expect(runs).toBeGreaterThan(writing === "mapped" ? 100 : 100 / STEP);
    },
  );
});
