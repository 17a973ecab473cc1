import { expect, it } from "vitest";
import { program } from "../program.ts";

const { run } = program({ "conf/config.yaml": "lr: 1\ndb: {port: 2}\n" }, {});
const FORM = "Hint: write KEY=VALUE or GROUP=OPTION, without spaces around the '='";

it.each([
  [["help"], "; the flag is --help"],
  [["cfg", "job"], "; the flag is --cfg"],
  [["lr", "0.3"], ": lr=0.3"],
  [["--cfg", "job", "db.port", "-5"], ": db.port=-5"],
  [["lr", "=", "a b"], ": 'lr=a b'"],
  [["lr", "=0.3"], ": lr=0.3"],
  [["lr", "--run"], ""],
  [["lr", "db.port=3"], ""],
  [["lr", "-m"], ""],
  [["lr"], ""],
])("%j without '=' is answered with what was meant", async (argv, meant) => {
  const { exitCode, stderr } = await run(argv);
  expect(exitCode).toBe(1);
  expect(stderr.split("\n")).toContain(`  ${FORM}${meant}`);
});

it("other wrong overrides keep their hints", async () => {
  expect((await run(["lr=[1", "2]"])).stderr).not.toContain(FORM);
});
