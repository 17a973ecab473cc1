import { expect, test } from "vitest";
import type { ProfileConfig } from "../../../../src/profiler/tools/config.ts";
import { REQUEST_LIMITS } from "../../../../src/profiler/tools/counters/request.ts";
import { counterSettings } from "../../../../src/profiler/tools/counters/settings.ts";

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

test("a config without metrics is refused", () => {
  expect(refused({ metrics: [] })).toBe("pipeline.counters.metrics: no metric is to be measured");
});
