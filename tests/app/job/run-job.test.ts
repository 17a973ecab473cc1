import { expect, test } from "vitest";
import { program } from "../cli/program.ts";

const CONFIG = `level: VERBOSE
hydra:
  run: {dir: o}
  job_logging:
    loggers:
      db.pool:
        level: DEBUG
`;

const refusal = async (...argv: readonly string[]) => {
  const { exitCode, stderr } = await program({ "conf/config.yaml": CONFIG }).run(argv, () =>
    expect.unreachable(),
  );
  expect(exitCode).toBe(1);
  return stderr;
};

const LOG = "hydra.job_logging";

test.each([
  [`${LOG}.root.level=VERBOSE`, "root.level", "Unknown level: 'VERBOSE'", undefined],
  [`${LOG}.root.level=info`, "root.level", "Unknown level: 'info'", "INFO"],
  [`${LOG}.loggers={db.pool:{level:DEBG}}`, "loggers.db.pool.level", "Unknown level", "DEBUG"],
  [
    `${LOG}.handlers.file.class=logging.FileHandlr`,
    "handlers.file.class",
    "Log handler class 'logging.FileHandlr' is not supported",
    "logging.FileHandler",
  ],
  [`+${LOG}.handlers.file.fliename=x`, "handlers.file.fliename", "takes no 'fliename'", "filename"],
  [
    `${LOG}.handlers.file.formatter=simpl`,
    "handlers.file.formatter",
    "Unable to set formatter 'simpl'",
    "simple",
  ],
  [`${LOG}.root.handlers=[fil]`, "root.handlers", "there is no handler 'fil'", "file"],
  [
    `+${LOG}.formatters.simple.class=logging.Formater`,
    "formatters.simple.class",
    "Log formatter class 'logging.Formater' is not supported",
    "logging.Formatter",
  ],
  [`+${LOG}.formatters.simple.style=x`, "formatters.simple.style", "Style must be", undefined],
  [`${LOG}.formatters.simple.format=x`, "formatters.simple.format", "Invalid format", undefined],
  [`${LOG}.version=2`, "version", "Unsupported version: 2", undefined],
  [`+${LOG}.incremental=true`, "incremental", "incremental", undefined],
])(
  "what %s says wrong is shown with its key, the override and the nearest name",
  async (override, key, message, nearest) => {
    const stderr = await refusal(override);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`--> override '${override}'\n`);
    expect(stderr).toMatch(new RegExp(`^ {2}key: hydra\\.job_logging\\.${key}$`, "m"));
    if (nearest === undefined) expect(stderr).not.toContain("Did you mean");
    else expect(stderr).toContain(`Did you mean '${nearest}'?`);
  },
);

test("what a file says wrong is shown with its line, also through an interpolation", async () => {
  const stderr = await refusal(`${LOG}.root.level=\${level}`);
  expect(stderr).toContain("--> conf/config.yaml:1:8\n");
  expect(stderr).toContain("key: hydra.job_logging.root.level\n");
});

test("of what is not there, what lacks it is shown", async () => {
  const stderr = await refusal(`~${LOG}.handlers.console.class`);
  expect(stderr).toContain("Unable to configure handler 'console': it has no class\n");
  expect(stderr).toContain("hydra/job_logging/default.yaml");
  expect(stderr).toMatch(/^ {2}key: hydra\.job_logging\.handlers\.console$/m);
  expect(await refusal(`~${LOG}.root`)).toMatch(/^ {2}key: hydra\.job_logging$/m);
});

test("Hydra's own log has its own keys", async () => {
  const stderr = await refusal("hydra.hydra_logging.root.level=DEBG");
  expect(stderr).toMatch(/^ {2}key: hydra\.hydra_logging\.root\.level$/m);
  expect(stderr).toContain("--> override");
});

test("a log file that cannot be opened is the system's error: no line of a config is to blame", async () => {
  const stderr = await refusal("hydra.job.name=a/b");
  expect(stderr).toContain("Unable to configure handler 'file': ENOENT");
  expect(stderr).not.toMatch(/-->|key:/);
});
