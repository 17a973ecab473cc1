import { mkdtempSync, rmSync } from "node:fs";
import { execa } from "execa";
import { buildFixture, recorderEnvironment } from "/work/w-A/tests/native/fixtures.ts";
const program = await buildFixture("range_cost.cc", "own client");
const counter = await buildFixture("fake_counter.cc", "own client", ["-shared", "-fPIC"]);
for (let i = 0; i < 2; i++)
  for (const [name, more] of Object.entries({ off: { HYDRACONF_RECORDER_CPU: "off" }, time: {}, counts: { HYDRACONF_RECORDER_CPU: "counts" }, instr: { HYDRACONF_RECORDER_INSTRUCTIONS: "on", LD_PRELOAD: counter, FAKE_COUNTER_TAKEN: "1" } })) {
    const d = mkdtempSync("/dev/shm/costA-");
    const env = await recorderEnvironment(d);
    const { stdout } = await execa(program, { env: { ...env, ...more } });
    console.log(name, stdout);
    rmSync(d, { recursive: true });
  }
