/**
 * Stryker's test runner for vitest in a thread that stays: what modules of the repository do as they load is done once, not for each of
 * thousands of changes. A failing test is tried again in the same thread without the change, so that what an earlier change left there counts for nothing.
 */
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  commonTokens,
  declareFactoryPlugin,
  PluginKind,
  tokens,
} from "@stryker-mutator/api/plugin";
import { MutantRunStatus } from "@stryker-mutator/api/test-runner";
import {
  strykerValidationSchema as schema,
  strykerPlugins as vitestPlugins,
} from "@stryker-mutator/vitest-runner";

export const strykerValidationSchema = schema;

const vitestDist = join(
  createRequire(join(process.cwd(), "package.json")).resolve("vitest/package.json"),
  "..",
  "dist",
);

/** How long, in milliseconds, a test may take; undefined: as its configuration says. A change that makes it wait forever costs no more. */
let testTimeout;

/** The thread in which vitest runs tests, and whether it has been told of its environment. */
let thread;
let isStarted = false;

/**
 * What vitest takes for a worker of its own. Its messages `start` and `stop` reach the thread once, at the first run; which tests are
 * wanted is in the configuration of `start`, and goes with each run.
 */
function keptWorker({ env, execArgv }) {
  let config;
  const events = new EventEmitter();
  const forward = ["message", "error", "exit"].map((event) => [
    event,
    (value) => events.emit(event, value),
  ]);
  const answer = (type) =>
    setImmediate(() => events.emit("message", { __vitest_worker_response__: true, type }));
  return {
    name: "kept",
    on: (event, listener) => events.on(event, listener),
    off: (event, listener) => events.off(event, listener),
    start() {
      if (thread === undefined) {
        isStarted = false;
        thread = new Worker(join(vitestDist, "workers", "threads.js"), { env, execArgv });
      }
      for (const [event, listener] of forward) thread.on(event, listener);
    },
    send(message) {
      if (message?.__vitest_worker_request__ === true) {
        if (message.type === "stop") return answer("stopped");
        if (message.type === "run") {
          const limited = testTimeout === undefined ? config : { ...config, testTimeout };
          thread?.postMessage({ ...message, context: { ...message.context, config: limited } });
          return undefined;
        }
        if (message.type === "start") {
          config = message.context.config;
          if (isStarted) return answer("started");
          isStarted = true;
        }
      }
      thread?.postMessage(message);
    },
    stop() {
      for (const [event, listener] of forward) thread?.off(event, listener);
      events.removeAllListeners();
    },
    deserialize: (data) => data,
  };
}

async function endThread() {
  const ended = thread;
  thread = undefined;
  await ended?.terminate();
}

/** Milliseconds up to which a test is tried before those that take longer, in whichever file they are. */
const SHORT = 50;
/** Tests that take longer, beside what counts which change each reaches, are not tried: the score is a lower bound. */
const LONG = 10_000;
/** A test may take that long and so many times what it took without a change. */
const LEEWAY = 5;

/** How much the last change weighs in how often tests notice one: changes come in the order of the code. */
const LATEST = 0.1;

/**
 * The tests of each file apart, and in each those that take long: what costs the least processor time for each change that it notices,
 * as far as they are known, is first.
 */
function groupsOf(testIds, durations, costs, hits) {
  const groups = new Map();
  for (const id of testIds) {
    const duration = durations.get(id) ?? 0;
    if (duration > LONG) continue;
    const key = `${id.split("#")[0]} ${duration > SHORT}`;
    const group = groups.get(key) ?? { key, ids: [], duration: 0 };
    group.ids.push(id);
    group.duration += duration;
    groups.set(key, group);
  }
  const cost = ({ key, duration }) => (costs.get(key) ?? duration) / (hits.get(key) ?? 0.5);
  return [...groups.values()].sort((a, b) => cost(a) - cost(b));
}

function create(injector) {
  const runner = vitestPlugins[0].factory(injector);
  const init = runner.init.bind(runner);
  const dryRun = runner.dryRun.bind(runner);
  const mutantRun = runner.mutantRun.bind(runner);
  const dispose = runner.dispose.bind(runner);
  const durations = new Map();
  const costs = new Map();
  const hits = new Map();

  async function tried(options) {
    for (const { key, ids } of groupsOf(options.testFilter ?? [], durations, costs, hits)) {
      const start = process.cpuUsage();
      testTimeout = LONG + LEEWAY * Math.max(...ids.map((id) => durations.get(id) ?? 0));
      const result = await mutantRun({ ...options, testFilter: ids });
      const { user, system } = process.cpuUsage(start);
      costs.set(key, (user + system) / 1000);
      const isNoticed = result.status !== MutantRunStatus.Survived;
      const before = hits.get(key) ?? 0.5;
      hits.set(key, Math.max(0.01, before + LATEST * (Number(isNoticed) - before)));
      if (isNoticed) return result;
    }
    return { status: MutantRunStatus.Survived, nrOfTests: options.testFilter?.length ?? 0 };
  }

  return Object.assign(runner, {
    async init() {
      await init();
      for (const project of runner.ctx.projects) {
        project.config.pool = "kept";
        project.config.poolRunner = { name: "kept", createPoolWorker: keptWorker };
      }
      const specifications = await runner.ctx.globTestSpecifications();
      // As vitest does it, without looking for the files and the results of earlier runs again.
      runner.ctx.start = (files) =>
        runner.ctx.runFiles(
          files === undefined
            ? specifications
            : specifications.filter(({ moduleId }) =>
                files.some((file) => moduleId.endsWith(file)),
              ),
          true,
        );
    },
    async dryRun(options) {
      const result = await dryRun(options);
      for (const { id, timeSpentMs } of result.tests ?? []) durations.set(id, timeSpentMs);
      return result;
    },
    async mutantRun(options) {
      const result = await tried(options);
      if (result.status !== MutantRunStatus.Killed) return result;
      const unchanged = {
        ...options,
        activeMutant: { ...options.activeMutant, id: "none" },
        testFilter: result.killedBy,
      };
      if ((await mutantRun(unchanged)).status === MutantRunStatus.Survived) return result;
      await endThread();
      return tried(options);
    },
    async dispose() {
      await dispose();
      await endThread();
    },
  });
}
create.inject = tokens(commonTokens.injector);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "kept-vitest", create)];
