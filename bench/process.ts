/** Start-up of the built commands beside bare Node in the same run, in processor time: `npm run bench process` */
import { fileURLToPath } from "node:url";
import { packageInfo } from "../src/engine/values/package-info.ts";
import { commandPath } from "../tests/e2e/command.ts";
import { least, measure } from "./measure.ts";
import { spentBy } from "./processes.ts";
import { createScore, ms } from "./score.ts";

// Processor time; a start of Node takes some 20 ms. The limits of 1.5 and 2 that stood here, and the goal of 1.3, were for 60 ms: 40 of them were for reading
// NODE_EXTRA_CA_CERTS, on both sides. The same milliseconds are 2.5, 4 and 1.9 times a start without it.
export async function benchProcess(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const { root } = packageInfo();
  const start = (args: readonly string[], env?: Readonly<Record<string, string>>) => () =>
    spentBy([process.execPath, ...args], root, env).cpuMs;
  const complete = (line: string) =>
    start([commandPath("deep-profile"), "-sc", "query=bash"], { COMP_LINE: line });
  const times = measure(
    {
      bare: start(["-e", "0"]),
      hydraconf: start([commandPath("hydraconf"), "-cp", "conf", "--cfg", "job"]),
      // Programs are looked for where no directory is named: in some 600 sources here.
      searching: start([commandPath("hydraconf"), "--cfg", "job"]),
      profile: start([commandPath("deep-profile"), "--cfg", "job"]),
      validate: start([commandPath("validate-regions"), "--version"]),
      compare: start([commandPath("deep-profile"), "compare", "--help"]),
      schema: start([commandPath("hydraconf"), "schema", "--help"]),
      options: complete("deep-profile runners="),
      groups: complete("deep-profile model/dummy_shallow_resnet/"),
      keys: complete("deep-profile runners=stage1.default pipeline.ncu."),
    },
    20,
    (spent) => spent(),
    least,
  );
  const detail = `${ms(times.hydraconf)}, node -e 0 ${ms(times.bare)}; goal 1.9`;
  score.atMost("hydraconf -cp conf --cfg job", times.hydraconf / times.bare, 2.5, "x", detail);
  const searched = (times.searching - times.hydraconf) / times.bare;
  score.atMost("  looking through this project's sources", searched, 0.9, "x");
  score.atMost("deep-profile --cfg job", times.profile / times.bare, 2.5, "x", ms(times.profile));
  score.atMost("validate-regions --version", times.validate / times.bare, 2, "x");
  score.atMost("deep-profile compare --help", times.compare / times.bare, 3, "x");
  score.atMost("hydraconf schema --help", times.schema / times.bare, 2.5, "x");
  score.atMost("completing a group's option", times.options / times.bare, 2.3, "x");
  score.atMost("completing a group", times.groups / times.bare, 2.3, "x");
  score.atMost("completing a key, beside --cfg job", times.keys / times.profile, 1.1, "x");
  return score.reached();
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchProcess(console.log)) ? 0 : 1;
