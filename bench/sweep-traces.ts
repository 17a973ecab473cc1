import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";

/** What a sweep with the launcher `basic` leaves. */
export interface SweepTraces {
  readonly jobs: readonly JobTraces[];
  /** Files of the sweep as a whole, by their paths in its directory. */
  readonly shared: readonly WrittenFile[];
}

interface JobTraces {
  readonly number: number;
  /** What Hydra saves in the job's directory. */
  readonly saved: readonly SavedValue[];
  /** What its record says at its end; at its beginning it says about as much. */
  readonly state: string;
}

interface SavedValue {
  readonly path: string;
  readonly value: unknown;
}

interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

/** Hydra's, in the directory of each job. */
const SAVED = [".hydra/config.yaml", ".hydra/hydra.yaml", ".hydra/overrides.yaml"];

/** @param directory of a sweep whose jobs are numbered from 0 on */
export function readTraces(directory: string, jobs: number): SweepTraces {
  const read = (path: string): WrittenFile => ({
    path,
    content: readFileSync(join(directory, path), "utf8"),
  });
  const filesIn = (folder: string) =>
    readdirSync(join(directory, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(folder, entry.name)] : [],
    );
  return {
    jobs: Array.from({ length: jobs }, (_, number) => ({
      number,
      saved: SAVED.map((name) => {
        const { path, content } = read(join(String(number), name));
        return { path, value: parse(content) };
      }),
      state: read(`.sweep/jobs/${number}.json`).content,
    })),
    shared: [...filesIn("."), ...filesIn(".sweep")].map(read),
  };
}

/**
 * Leaves the same as a script would that has the values: prints them as YAML, and does the fewest calls of the file system that are
 * as safe. Every file is written beside itself and renamed, those of
 * the sweep are flushed with their names, a job's record is written twice, and its log is opened.
 */
export function leaveTraces(directory: string, { jobs, shared }: SweepTraces): void {
  mkdirSync(join(directory, ".sweep/jobs"), { recursive: true });
  for (const { content, path } of shared) {
    replace(join(directory, path), content, flush);
    const names = openSync(dirname(join(directory, path)), "r");
    flush(names);
    closeSync(names);
  }
  for (const { number, saved, state } of jobs) {
    const record = join(directory, `.sweep/jobs/${number}.json`);
    replace(record, state);
    mkdirSync(join(directory, String(number)));
    const log = openSync(join(directory, `${number}/bench.log`), "a");
    mkdirSync(join(directory, `${number}/.hydra`));
    for (const { value, path } of saved) replace(join(directory, path), stringify(value));
    replace(record, state);
    closeSync(log);
  }
}

const flush = (descriptor: number): void => fsyncSync(descriptor);

function replace(file: string, content: string, before: (descriptor: number) => void = () => {}) {
  const descriptor = openSync(`${file}.tmp`, "wx");
  writeFileSync(descriptor, content);
  before(descriptor);
  closeSync(descriptor);
  renameSync(`${file}.tmp`, file);
}
