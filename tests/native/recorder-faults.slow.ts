import { describe, expect, test } from "vitest";
import { buildFaults, describedFaults, faultLoop } from "./faults.ts";
import { availableClients } from "./fixtures.ts";

const clients =
  process.platform === "linux" ? availableClients("faults in what the recorder calls") : [];
if (process.platform !== "linux")
  console.warn("SKIPPED faults in what the recorder calls: LD_PRELOAD is Linux's");

describe.each(clients)("with the %s", (client) => {
  test.each(describedFaults())(
    "no program notices a call that %s",
    async (name, fault, writing) => {
      const { runs, problems } = await faultLoop(await buildFaults(client), fault, { writing });
      console.log(`${client}: ${runs} runs in which one call ${name}`);
      expect(problems).toEqual([]);
      expect(runs).toBeGreaterThan(100);
    },
  );
});
