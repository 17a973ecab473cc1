/** The tests that `npm run mutation` runs: those nearest to what it mutates. */
import { relative } from "node:path";
import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification, type Vitest } from "vitest/node";
import common from "../../vitest.config.ts";
import { keptThread } from "./kept-thread.ts";

/**
 * First what noticed the change before, which is often near, then the shortest, so that most changes are noticed soon. A class,
 * because Vitest wants one.
 */
class NoticingFirst extends BaseSequencer {
  readonly #durations = new Map<string, number>();

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = files.map((file) => ({ file, place: this.#placeOf(file) }));
    return placed.sort((a, b) => a.place - b.place).map(({ file }) => file);
  }

  #placeOf({ project, moduleId }: TestSpecification): number {
    const key = `${project.name}:${relative(this.ctx.config.root, moduleId)}`;
    const latest = this.ctx.cache.getFileTestResults(key);
    // That of its first run: later ones end with the first failure.
    const duration = this.#durations.get(key) ?? latest?.duration ?? 0;
    if (latest !== undefined) this.#durations.set(key, duration);
    return latest?.failed === true ? -1 : duration;
  }
}

export default mergeConfig(
  { ...common, test: { ...common.test, include: [] } },
  {
    plugins: [
      {
        name: "kept-thread",
        // Stryker asks for threads.
        configureVitest({ vitest }: { readonly vitest: Vitest }) {
          for (const { config } of vitest.projects)
            Object.assign(config, { pool: "kept-thread", poolRunner: keptThread() });
        },
      },
    ],
    test: {
      include: [process.env["HYDRACONF_MUTATION_TESTS"] ?? ""],
      setupFiles: ["tests/mutation/setup.ts"],
      sequence: { sequencer: NoticingFirst },
      // What failed, and how, interests nobody.
      reporters: [{}],
      diff: { maxDepth: 1, truncateThreshold: 1 },
    },
  },
);
