import { expect, test } from "vitest";
import { patiently } from "../../../../src/app/launchers/slurm/patience.ts";
import { busy } from "../../../../src/app/launchers/slurm/refusals.ts";

test("a process told to stop while it asks Slurm neither announces nor makes another try", async () => {
  const stop = new AbortController();
  const said: string[] = [];
  let tries = 0;
  const attempt = async () => {
    tries++;
    stop.abort();
    throw busy("Socket timed out on send/recv operation");
  };
  const patience = { say: (line: string) => void said.push(line), signal: stop.signal };
  await expect(patiently(attempt, patience)).rejects.toMatchObject({ code: "slurm.busy" });
  expect([tries, said]).toEqual([1, []]);
});
