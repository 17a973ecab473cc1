/** Start-up of the built command beside bare Node in the same run: `npm run bench process` */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { packageInfo } from "../src/package-root.ts";
import { commandPath } from "../tests/e2e/command.ts";
import { measure } from "./measure.ts";
import { createScore, ms } from "./score.ts";

export async function benchProcess(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const { root } = packageInfo();
  const start = (args: readonly string[]) => () => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`node ${args.join(" ")} failed:\n${stderr}`);
  };
  const times = measure(
    {
      bare: start(["-e", "0"]),
      hydraconf: start([commandPath("hydraconf"), "--cfg", "job"]),
      profile: start([commandPath("deep-profile"), "--cfg", "job"]),
    },
    20,
  );
  const detail = `${ms(times.hydraconf)}, node -e 0 ${ms(times.bare)}; goal 1.8`;
  score.atMost("hydraconf --cfg job", times.hydraconf / times.bare, 2, "x", detail);
  score.atMost("deep-profile --cfg job", times.profile / times.bare, 2, "x", ms(times.profile));
  return score.reached();
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchProcess(console.log)) ? 0 : 1;
