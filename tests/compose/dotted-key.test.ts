import { expect, test } from "vitest";
import { composeFiles, refusal } from "./in-memory.ts";

const CONFIG = `
log:
  db.pool: {level: DEBUG, sizes: {max: 1}}
  db.pool.slow: {level: INFO}
  other: {level: INFO}
  odd$name.x: 1
top.level: 1
`;

const compose = (override: string) => composeFiles({ config: CONFIG }, [override]);

const hintOf = (override: string): string => refusal(() => compose(override)).details.hint ?? "";

test.each([
  ["log.db.pool.level=INFO", "log={db.pool:{level:INFO}}", "db.pool"],
  ["log.db.pool={level:INFO}", "log={db.pool:{level:INFO}}", "db.pool"],
  ["log.db.pool.sizes.max='a, b'", "log={db.pool:{sizes:{max:'a, b'}}}", "db.pool"],
  ["log.db.pool.slow.level=WARN", "log={db.pool.slow:{level:WARN}}", "db.pool.slow"],
])("%s is answered with the override that sets the key", (override, remedy, key) => {
  const { details, message } = refusal(() => compose(override));
  expect(details.hint).toBe(
    `'${key}' is a single key, but in an override its dot separates keys: use ${remedy}, or a config file`,
  );
  // Hydra's advice would add a key beside the one that is meant.
  expect(message).toMatch(/^Could not override '.*'\.\nKey 'db' is not in struct/);
  expect(message).not.toContain("To append");
  const before = composeFiles({ config: CONFIG }).get<object>("log") ?? {};
  const after = compose(remedy).get<object>("log") ?? {};
  expect(Object.keys(after)).toEqual(Object.keys(before));
  expect(after).not.toEqual(before);
});

test("where no override can be written, there is only the config file", () => {
  for (const override of ["top.level=2", "log.odd$name.x=2"])
    expect(hintOf(override)).toMatch(/its dot separates keys: set it in a config file$/);
});

test("a key that only begins alike, or is missing altogether, can be added", () => {
  for (const override of ["log.db.po.level=1", "log.db.pools=1", "log.dba.pool=1", "log.db=1"])
    expect(hintOf(override)).toContain(`+${override} to add the key`);
});
