import { expect, it } from "vitest";
import { checkJobs } from "../../../src/app/job/check-jobs.ts";
import type { JobPlace, PlannedJob } from "../../../src/app/job/plan-job.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { capturedConsole } from "../../captured-console.ts";

it("compiles the program's schema once for all jobs of a sweep", async () => {
  const reads = async (jobs: number): Promise<number> => {
    let count = 0;
    const properties = { lr: { type: "number" } };
    const schema = {
      type: "object",
      get properties() {
        count++;
        return properties;
      },
    };
    const resolved = () => readYaml("lr: 1", { name: "config.yaml" });
    const composition = { schemas: [] };
    const job = { number: 0, overrides: [], composition, resolved };
    const planned = Array.from({ length: jobs }, () => job as unknown as PlannedJob);
    const { console } = capturedConsole();
    const place = { context: {}, publish: () => {} } as unknown as JobPlace;
    expect(await checkJobs(planned, { schema }, console, place)).toBe(true);
    return count;
  };
  expect(await reads(20)).toBe(await reads(1));
});
