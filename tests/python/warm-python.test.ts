// Programs of Python's Hydra whose jobs share one import; Hydra is the stand-in.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test, vi } from "vitest";
import { statOf } from "../../src/foundation/system/process-identity.ts";
import { interpreterWords } from "../../src/python/program-command-line.ts";
import { openWarmPython } from "../../src/python/warm-python.ts";
import { until } from "../wait.ts";
import { program, project, STAND_IN_ENV, sweep } from "./warm-sweep.ts";

const SOURCES = fileURLToPath(new URL("../../src/python/sources", import.meta.url));

/** Before a sweep the program is asked whether it composes the jobs, which imports it, too. */
const CHECK = 1;

const NOTE = "note: each job imports the program anew: the program";

describe("one import for the jobs of a worker", () => {
  it("of which each sees what a program of its own would", () => {
    const { imports, jobs, stderr, stdout } = sweep(
      program(
        "seen = []\nhome = os.getcwd()\nprint('imported', flush=True)",
        `seen.append(cfg.x)
print("job", cfg.x, flush=True)
left = [os.environ.get("LEFT"), os.getcwd() == home]
os.environ["LEFT"] = "1"
os.chdir("/")
if cfg.x == 2:
    raise ValueError("diverged")
if cfg.x == 3:
    sys.exit(7)
if cfg.x == 4:
    os.kill(os.getpid(), 11)
return {
    "seen": seen, "left": left, "argv": sys.argv[:2], "name": __name__, "random": random.random(),
    "file": os.path.basename(__file__), "path": os.path.samefile(sys.path[0], home),
    "number": os.environ["HYDRACONF_JOB_NUMBER"], "dir": os.path.basename(os.environ["HYDRACONF_OUTPUT_DIR"]),
}`,
      ),
      ["x=1,2,3,4,5"],
    );
    const clean = (x: number) => ({
      ...{ seen: [x], left: [null, true], argv: ["train.py", `x=${x}`], name: "__main__" },
      ...{ file: "train.py", path: true, number: String(x - 1), dir: String(x - 1) },
      random: expect.any(Number),
    });
    expect(jobs.map(({ result }) => result)).toEqual([clean(1), null, null, null, clean(5)]);
    expect(jobs.map(({ error, status }) => [status, error])).toEqual([
      ["completed", null],
      ["failed", "ValueError: diverged (train.py:17)"],
      ["failed", expect.stringContaining("exit code 7")],
      ["failed", expect.stringContaining("SIGSEGV")],
      ["completed", null],
    ]);
    const [first, , , , last] = jobs.map(
      ({ result }) => (result as { random: number } | null)?.random,
    );
    expect(first).not.toBe(last);
    expect(imports).toBe(CHECK + 1);
    expect(stdout.match(/^(imported|job \d)$/gm)).toEqual([
      "imported",
      ...["job 1", "job 2", "job 3", "job 4", "job 5"],
    ]);
    expect(stderr).not.toContain(NOTE);
  });

  it("that seeds random numbers, which are then the same in all of them", () => {
    const { imports, jobs } = sweep(program("random.seed(3)", "return random.random()"), ["x=1,2"]);
    expect(jobs[0]?.result).toBe(jobs[1]?.result);
    expect(imports).toBe(CHECK + 1);
  });

  it("of a module, with options of Python, in several workers", () => {
    const { imports, jobs } = sweep(
      program("", "return [sys.flags.dev_mode, os.path.basename(sys.argv[0]), __spec__.name]"),
      ["x=range(6)", "hydra/launcher=local", "hydra.launcher.n_jobs=2"],
      ["python3", "-X", "dev", "-m", "train"],
    );
    expect(jobs.map(({ result }) => result)).toEqual(Array(6).fill([true, "train.py", "train"]));
    expect([CHECK + 1, CHECK + 2]).toContain(imports);
  });

  it("which fails is the failure of the job, told once", () => {
    const { imports, jobs, stderr } = sweep(
      program(
        "if 'HYDRACONF_CHECK' not in os.environ:\n    raise ValueError('no data')",
        "return 1",
      ),
      ["x=1"],
    );
    expect(jobs).toMatchObject([{ status: "failed", error: "ValueError: no data (train.py:6)" }]);
    expect(imports).toBe(CHECK + 1);
    expect(stderr).not.toContain("hydraconf_warm.py");
  });

  it("and the end of a job by a signal to it alone, and by its time limit", () => {
    const { jobs } = sweep(
      program(
        "",
        `import signal
if cfg.x == 1:
    os.kill(os.getpid(), signal.SIGTERM)
if cfg.x == 2:
    time.sleep(1000)
return signal.getsignal(signal.SIGTERM) == signal.SIG_DFL and signal.getsignal(signal.SIGINT) == signal.default_int_handler`,
      ),
      [
        "+p=zip(x=choice(3,2,1),minutes=choice(60,0.02,60))",
        ...["hydra/launcher=local", "hydra.launcher.n_jobs=1"],
        "hydra.launcher.timeout_min=${minutes}",
      ],
    );
    expect(jobs.map(({ result, status }) => [status, result])).toEqual([
      ["completed", true],
      ["timed_out", null],
      ["stopped", null],
    ]);
  });
});

describe.runIf(process.platform === "linux")(
  "an interpreter that is killed between two jobs",
  () => {
    it.each(["noticed", "not yet noticed"])("is replaced where its end is %s", async (when) => {
      const cwd = project(
        program("", "with open('parents', 'a') as file:\n    file.write('%d\\n' % os.getppid())"),
      );
      const argv = ["python3", "train.py"];
      const notes: string[] = [];
      vi.stubEnv("PYTHONPATH", STAND_IN_ENV.PYTHONPATH);
      const warm = openWarmPython(
        {
          ...{ argv, pass: "hydra", reason: "", app: undefined, ownFlags: [] },
          ...{ flagKeys: [], envPrefix: "", format: "yaml", resultOnStdout: false },
        },
        { choice: true, files: {}, note: (text) => notes.push(text) },
      );
      vi.unstubAllEnvs();
      const errors: Buffer[] = [];
      const run = (x: number) =>
        warm.start({
          argv: [...argv, `x=${x}`],
          cwd,
          env: { ...STAND_IN_ENV, PATH: STAND_IN_ENV.PATH ?? "" },
          readsStdin: false,
          hasMode: false,
          onErrors: (chunk) => errors.push(chunk),
          onOutput: () => {},
        }).ended;
      const parents = () =>
        readFileSync(join(cwd, "parents"), "utf8").trim().split("\n").map(Number);
      const clean = { code: 0, signal: null };
      expect([await run(1), await run(2)], String(Buffer.concat(errors))).toEqual([clean, clean]);
      const [interpreter = 0, same] = parents();
      expect(same).toBe(interpreter);
      process.kill(interpreter, "SIGKILL");
      if (when === "noticed") await until(() => !existsSync(join(warm.callback.folder, "jobs")));
      // Without a turn of the event loop, which would notice it.
      else while (statOf(String(interpreter))?.isDead === false);
      expect([await run(3), await run(4)]).toEqual([clean, clean]);
      const [, , third, last] = parents();
      expect(third).not.toBe(interpreter);
      expect(last).toBe(third);
      expect(notes).toEqual([]);
      process.kill(third ?? 0, "SIGKILL");
      warm.callback.remove();
    });
  },
);

test("the mode of a job is known, which Hydra would compose a config for", () => {
  const asked = "from hydra._internal.hydra import Hydra\nreturn str(Hydra().get_mode(None, []))";
  const modes = (...overrides: string[]) =>
    sweep(program("", asked), ["x=1,2", ...overrides]).jobs.map(({ result }) => result);
  expect(modes()).toEqual(["None", "None"]);
  expect(modes("hydra.launcher.warm=false")).toEqual(["composed", "composed"]);
});

describe("an import for each job", () => {
  it.each([
    ["print(len(sys.argv))", "reads the command line while it is imported"],
    [
      "print(os.environ.get('HYDRACONF_OUTPUT_DIR'))",
      "reads $HYDRACONF_OUTPUT_DIR while it is imported",
    ],
    [
      "import threading\nthreading.Thread(target=time.sleep, args=[1000], name='feed', daemon=True).start()",
      "has started the thread 'feed' while it is imported",
    ],
  ])("%s", (head, reason) => {
    const { imports, jobs, stderr, stdout } = sweep(
      program(
        `print("imported")\n${head}`,
        "return ['x=%d' % cfg.x in sys.argv, 'HYDRACONF_OUTPUT_DIR' in os.environ, type(sys.argv).__name__]",
      ),
      ["x=1,2"],
    );
    expect(jobs.map(({ result }) => result)).toEqual(Array(2).fill([true, true, "list"]));
    expect(stderr.split(NOTE)).toHaveLength(2);
    expect(stderr).toContain(`${NOTE} ${reason}\n`);
    expect(imports).toBe(CHECK + 2);
    expect(stdout.match(/^imported$/gm)).toHaveLength(2);
  });

  it("of a program that makes what is removed at its end", () => {
    const { cwd, imports, jobs, stderr } = sweep(
      program(
        "import tempfile\nfolder = tempfile.TemporaryDirectory(dir='.')",
        "return os.path.exists(os.path.join(os.path.dirname(__file__), folder.name))",
      ),
      ["x=1,2"],
    );
    expect(jobs.map(({ result }) => result)).toEqual([true, true]);
    expect(stderr).toContain(
      `${NOTE} registers TemporaryDirectory._cleanup() for its end while it is imported, which each job would call\n`,
    );
    expect(imports).toBe(CHECK + 2);
    expect(readdirSync(cwd).filter((name) => name.startsWith("tmp"))).toEqual([]);
  });

  it("of a program that changes its command line", () => {
    const { imports, jobs, stderr } = sweep(
      program(
        "if 'HYDRACONF_CHECK' not in os.environ:\n    sys.argv.append('y=1')",
        "return sys.argv[-1]",
      ),
      ["x=1,2"],
    );
    expect(jobs.map(({ result }) => result)).toEqual(["y=1", "y=1"]);
    expect(stderr).toContain(`${NOTE} changes the command line while it is imported\n`);
    expect(imports).toBe(CHECK + 2);
  });

  it("whose first job has the arguments and variables of its own, and ends as its own", () => {
    const { cwd, jobs, stdout } = sweep(
      program(
        `import atexit
words, folder = sys.argv[1:], os.environ.get("HYDRACONF_OUTPUT_DIR")
if "HYDRACONF_CHECK" not in os.environ:
    atexit.register(lambda: print("left", words[0], flush=True))`,
        `if cfg.x == 1:
    sys.exit(7)
return [words == sys.argv[1:], folder == os.environ["HYDRACONF_OUTPUT_DIR"]]`,
      ),
      ["x=1,2"],
    );
    expect(jobs).toMatchObject([
      { status: "failed", error: expect.stringContaining("exit code 7") },
      { status: "completed", result: [true, true] },
    ]);
    expect(stdout.match(/^left .*$/gm)).toEqual(["left x=1", "left x=2"]);
    expect(readdirSync(join(cwd, "s/0"))).toContain(".hydra");
  });

  it("not of one that copies its environment, in which it does not see the variables of a job", () => {
    const { imports, jobs } = sweep(
      program(
        "known = {**os.environ}",
        "return [name for name in known if name.startswith('HYDRACONF_')]",
      ),
      ["x=1,2"],
    );
    expect(jobs.map(({ result }) => result)).toEqual([[], []]);
    expect(imports).toBe(CHECK + 1);
  });

  it("whose import copied its environment is started anew, since the copy lacks what its first job has", () => {
    const { imports, jobs, stdout } = sweep(
      program(
        `print("imported")
known, words = dict(os.environ), sys.argv[1:]
if "HYDRACONF_CHECK" not in os.environ:
    os.environ["SEEN"] = os.environ.get("SEEN", "") + "once"
    os.chdir("/")`,
        "return ['HYDRACONF_OUTPUT_DIR' in known, words == sys.argv[1:], os.environ['SEEN'], os.getcwd()]",
      ),
      ["x=1,2"],
    );
    expect(jobs.map(({ result }) => result)).toEqual(Array(2).fill([true, true, "once", "/"]));
    expect(imports).toBe(CHECK + 3);
    expect(stdout.match(/^imported$/gm)).toHaveLength(2);
  });

  it("not where a fork is forced: then the import has nothing of a job, unless it cannot do without", () => {
    const forced = (head: string, body: string) =>
      sweep(program(head, body), ["x=1,2", "hydra.launcher.warm=true"]);
    const { imports, jobs } = forced(
      "words, folder = sys.argv[1:], os.environ.get('HYDRACONF_OUTPUT_DIR')",
      "return [words, folder]",
    );
    expect(jobs.map(({ result }) => result)).toEqual([
      [[], null],
      [[], null],
    ]);
    expect(imports).toBe(CHECK + 1);
    const needing = forced(
      "folder = 'HYDRACONF_CHECK' in os.environ or os.environ['HYDRACONF_OUTPUT_DIR']",
      "return folder == os.environ['HYDRACONF_OUTPUT_DIR']",
    );
    expect(needing.jobs.map(({ result }) => result)).toEqual([true, true]);
    expect(needing.stderr).toContain(`${NOTE} reads $HYDRACONF_OUTPUT_DIR`);
  });

  it("where hydra.launcher.warm is false; true forks whatever the import did", () => {
    const source = program("sys.argv[1:]", "return 1");
    const cold = sweep(source, ["x=1,2", "hydra.launcher.warm=false"]);
    expect([cold.imports, cold.stderr.includes(NOTE)]).toEqual([CHECK + 2, false]);
    const warm = sweep(source, ["x=1,2", "hydra.launcher.warm=true"]);
    expect([warm.imports, warm.stderr.includes(NOTE)]).toEqual([CHECK + 1, false]);
    expect(warm.jobs).toMatchObject(Array(2).fill({ status: "completed", result: 1 }));
  });
});

it("notes every use of the command line but that of the program's name", () => {
  const uses = {
    reads: [
      ...["sys.argv[1:]", "sys.argv[-1]", "len(sys.argv)", "list(sys.argv)", "'a' in sys.argv"],
      ...["sys.argv + []", "[] + sys.argv", "[*sys.argv]", "repr(sys.argv)", "str(sys.argv)"],
      ...["sys.argv == []", "[] == sys.argv", "sys.argv.copy()", "sys.argv.count('a')"],
      ...["sys.argv.index('train.py')", "sys.argv * 2", "2 * sys.argv", "' '.join(sys.argv)"],
      ...["list(reversed(sys.argv))", "sorted(sys.argv)", "copy.copy(sys.argv)", "tuple(sys.argv)"],
      ...["json.dumps(sys.argv)", "name, *words = sys.argv", "sys.argv != []", "'%s' % sys.argv"],
    ],
    changes: [
      ...["sys.argv.append('a')", "sys.argv += ['a']", "sys.argv[1:] = ['a']", "sys.argv *= 2"],
      ...["sys.argv.extend(['a'])", "sys.argv.insert(1, 'a')", "sys.argv.pop()", "del sys.argv[0]"],
      ...["sys.argv.remove('train.py')", "sys.argv.clear()", "sys.argv.reverse()"],
      ...["sys.argv.sort()", "sys.argv = ['train.py', 'a']", "sys.argv = ()"],
    ],
    undefined: ["sys.argv[0]", "sys.argv[0] = 'a'", "bool(sys.argv)", "sys.argv or []"],
  };
  const lines = Object.values(uses).flat();
  const { stderr, stdout } = spawnSync(
    "python3",
    [
      "-c",
      `import copy, json, sys
import hydraconf_warm as warm
for line in json.loads(sys.stdin.read()):
    warm.Arguments.asked.clear()
    sys.argv = warm.Arguments(["train.py"])
    exec(line)
    print(warm.asked())`,
    ],
    {
      encoding: "utf8",
      env: { ...STAND_IN_ENV, PYTHONPATH: SOURCES },
      input: JSON.stringify(lines),
    },
  );
  expect(stderr).toBe("");
  const answers = stdout.trim().split("\n");
  const expected = Object.entries(uses).flatMap(([verb, { length }]) =>
    Array(length).fill(
      verb === "undefined" ? "None" : `the program ${verb} the command line while it is imported`,
    ),
  );
  expect(lines.map((line, at) => [line, answers[at]])).toEqual(
    lines.map((line, at) => [line, expected[at]]),
  );
});

describe("what an import registers for its end", () => {
  const registers = (name: string): string =>
    `the program registers ${name}() for its end while it is imported, which each job would call`;
  const library = "import sys\nsys.path.insert(0, 'site-packages')\nimport library";
  const lines: readonly (readonly [string, string])[] = [
    ["folder = tempfile.TemporaryDirectory()", registers("TemporaryDirectory._cleanup")],
    ["with tempfile.TemporaryDirectory(): pass", "None"],
    ["folder = tempfile.TemporaryDirectory()\nfolder.cleanup()", "None"],
    [
      "file = tempfile.NamedTemporaryFile()",
      "the program opens a temporary file while it is imported, which its first job would remove",
    ],
    ["file = tempfile.NamedTemporaryFile()\nfile.close()", "None"],
    ["with tempfile.NamedTemporaryFile(): pass", "None"],
    ["atexit.register(shutil.rmtree, 'absent', True)", registers("rmtree")],
    ["@atexit.register\ndef leave(): pass", registers("leave")],
    ["atexit.register(functools.partial(os.listdir))", registers("partial")],
    ["atexit.register(os.listdir)\natexit.unregister(os.listdir)", "None"],
    ["class Net: pass\nnet = Net()\nweakref.finalize(net, print)", registers("print")],
    ["class Net: pass\nnet = Net()\nweakref.finalize(net, print).atexit = False", "None"],
    ["import logging, multiprocessing.util, concurrent.futures", "None"],
    [library, "None"],
    [`${library}\nlibrary.remove()`, registers("rmtree")],
    [`${library}\natexit.register(library.leave)`, registers("leave")],
  ];

  it.each(lines)("%s", (head, answer) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-exits-"));
    mkdirSync(join(cwd, "site-packages"));
    writeFileSync(
      join(cwd, "site-packages/library.py"),
      `import atexit, shutil, weakref
class Kernels: pass
kernels = Kernels()
def leave(): pass
weakref.finalize(kernels, leave)
atexit.register(leave)
def remove(): atexit.register(shutil.rmtree, "absent", True)
`,
    );
    writeFileSync(
      join(cwd, "train.py"),
      `import hydraconf_warm
exits = hydraconf_warm.Exits()
exits.open()
import atexit, functools, os, shutil, tempfile, weakref
${head}
print(exits.unsafe())
`,
    );
    const { stderr, stdout } = spawnSync("python3", ["train.py"], {
      cwd,
      encoding: "utf8",
      env: { ...STAND_IN_ENV, PYTHONPATH: SOURCES },
    });
    expect(stderr).toBe("");
    expect(stdout.split("\n")[0]).toBe(answer);
  });
});

it.each([
  ["python train.py", 1],
  ["/usr/bin/python3.11 -u -X dev train.py", 4],
  ["python3 -m pkg.train", 1],
  ["python -x train.py", undefined],
  ["python -c pass train.py", undefined],
  ["torchrun train.py", undefined],
  ["uv run train.py", undefined],
])("words of the interpreter in %s", (line, words) => {
  expect(interpreterWords(line.split(" "))).toBe(words);
});
