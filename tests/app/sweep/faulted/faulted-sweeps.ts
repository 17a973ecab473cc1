/** Tries faults of sweeps in processes of their own, side by side, and adds up what came of it. */
import { execa } from "execa";
import { bundled } from "../../../bundled.ts";
import { underPlan } from "../../../foundation/system/fault-at/plan.ts";
import type { FaultedSweeps } from "./runner.ts";
import type { How } from "./trial.ts";

/**
 * @param step tries every one of so many faults
 * @param sideBySide processes at a time
 * @throws where one hangs, or ends by an error that nobody catches
 */
export async function faultedSweeps(
  how: How,
  { sideBySide, step }: { readonly sideBySide: number; readonly step: number },
): Promise<FaultedSweeps> {
  const program = bundled(new URL("main.ts", import.meta.url), "prog");
  const runner = bundled(new URL("runner.ts", import.meta.url), "runner");
  const parts = await Promise.all(
    Array.from({ length: sideBySide }, async (_, part): Promise<FaultedSweeps> => {
      const argv = [runner, how, program, part, sideBySide, step].map(String);
      const { stdout } = await execa(process.execPath, argv, { env: underPlan("/faulty/") });
      return JSON.parse(stdout) as FaultedSweeps;
    }),
  );
  return parts.reduce((all, part) => ({
    operations: all.operations,
    faults: all.faults + part.faults,
    outcomes: {
      ...all.outcomes,
      ...Object.fromEntries(
        Object.entries(part.outcomes).map(([name, count]) => [
          name,
          count + all.outcomes[name as keyof typeof all.outcomes],
        ]),
      ),
    },
    problems: [...all.problems, ...part.problems],
  }));
}
