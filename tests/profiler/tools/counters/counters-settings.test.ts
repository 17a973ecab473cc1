import { expect, test } from "vitest";
import { counterSettings } from "../../../../src/profiler/tools/counters/counters-settings.ts";
import { REQUEST_LIMITS } from "../../../../src/profiler/tools/counters/request.ts";
import type { ProfileConfig } from "../../../../src/profiler/tools/profiler-config.ts";

interface Settings {
  readonly metrics?: readonly string[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly domains?: readonly string[];
}

const refused = ({ metrics = ["a.sum"], include = [], exclude = [], domains = [] }: Settings) => {
  const pipeline = {
    recorder: { operation_domains: domains },
    counters: { metrics, include, exclude },
  };
  const config = { pipeline } as unknown as ProfileConfig;
  const found = counterSettings.refusals?.find(({ applies }) => applies(config));
  return found && `${found.key}: ${found.message}`;
};

const texts = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `text ${at}`);

test("more metrics, patterns or domains than the recorder has room for are refused", () => {
  const { metrics, patterns } = REQUEST_LIMITS;
  const most = { metrics: texts(metrics), include: texts(patterns), exclude: texts(patterns) };
  expect(refused({ ...most, domains: texts(patterns) })).toBeUndefined();
  expect(refused({ metrics: texts(metrics + 1) })).toBe(
    "pipeline.counters.metrics: counters take at most 512 metrics",
  );
  expect(refused({ include: texts(patterns + 1) })).toBe(
    "pipeline.counters.include: counters take at most 256 patterns",
  );
  expect(refused({ exclude: texts(patterns + 1) })).toBe(
    "pipeline.counters.exclude: counters take at most 256 patterns",
  );
  expect(refused({ domains: texts(patterns + 1) })).toBe(
    "pipeline.recorder.operation_domains: counters take at most 256 domains",
  );
});

test("more text than the recorder reads is refused once, at the key with the longest texts", () => {
  const room = "pipeline.counters.include: counters take at most 1000000 bytes";
  const { bytes } = REQUEST_LIMITS;
  const fits = ["a.sum"];
  expect(refused({ include: ["x".repeat(bytes - 100)], metrics: fits })).toBeUndefined();
  expect(refused({ include: ["x".repeat(bytes)], metrics: fits })).toContain(room);
  // In UTF-8.
  expect(refused({ include: ["é".repeat(bytes / 2)], metrics: fits })).toContain(room);
  expect(
    refused({ include: ["x".repeat(bytes / 2)], exclude: ["x".repeat(bytes / 2 - 9)] }),
  ).toContain(room);
  expect(refused({ domains: ["x".repeat(bytes)], metrics: fits })).toMatch(
    /^pipeline\.recorder\.operation_domains: /,
  );
});

test("a config without metrics is refused", () => {
  expect(refused({ metrics: [] })).toBe("pipeline.counters.metrics: no metric is to be measured");
});
