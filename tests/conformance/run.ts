import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { DEFAULT_DIALECT, dialectNamed } from "../../src/engine/values/dialect.ts";
import { allCorpora, baseCorpus, corporaOf } from "./corpora.ts";
import { fileRow, sideBySide, summaryLines, tableHeader } from "./print.ts";
import { type FileResult, type ReplayRequest, replay } from "./replay.ts";
import { SUITES } from "./suites/index.ts";
import { summarize, toJson } from "./summary.ts";

const HELP = `npm run conformance -- [options]

Replays the conformance corpus (what the real Hydra did, case by case) and prints a table for each dialect.

  --dialect D    only this version of Hydra: 1.1, 1.2, 1.3 or 1.4
  --corpus DIR   replay another folder of the same formats; what its cases need beside them is
                 looked up there first, then in that of Hydra 1.3
  --base DIR     with --corpus: the folder whose cases are replayed; a line of --corpus takes the
                 place of the same case there. The folder new/ of --corpus is replayed by itself
  --only REGEX   only files whose path in the corpus matches
  --case ID      only the case of this id, expected and actual side by side
  --json FILE    write all results, every failure included, as JSON
  --help         this text

Exit code 0: every case passed or is an accepted difference (tests/conformance/accepted.json).
Exit code 1: a case failed or could not be run, a file or a pattern yielded no case, or (unless
--only or --case chose the files) a file is of a kind that no suite replays yet.
Exit code 2: the command line itself is wrong.
`;

interface Options {
  readonly requests: readonly ReplayRequest[];
  readonly selective: boolean;
  readonly json?: string;
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes("--help")) {
    process.stdout.write(HELP);
    return 0;
  }
  const options = readOptions(argv);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n\n${HELP}`);
    return 2;
  }
  const results: unknown[] = [];
  let ok = true;
  for (const request of options.requests) {
    const result = await replayOne(request, options);
    results.push(result.json);
    ok &&= result.ok;
  }
  const { json } = options;
  if (json !== undefined)
    writeFileSync(
      json,
      `${JSON.stringify(results.length === 1 ? results[0] : results, null, 1)}\n`,
    );
  return ok ? 0 : 1;
}

/** Replays and prints one table. */
async function replayOne(
  request: ReplayRequest,
  { selective, requests }: Options,
): Promise<{ readonly ok: boolean; readonly json: unknown }> {
  const { caseId, corpus, delta, dialect = DEFAULT_DIALECT } = request;
  const files: FileResult[] = [];
  if (requests.length > 1) print(`\nHydra ${dialect.name}: ${delta ?? corpus}`);
  if (caseId === undefined) print(tableHeader());
  for await (const file of replay(request)) {
    files.push(file);
    print(caseId === undefined ? fileRow(file) : sideBySide(file, terminalWidth()));
  }
  // What was chosen may stand in one of several corpora.
  const nothing = selective && requests.length > 1 && files.length === 0;
  const summary = summarize(files, selective);
  if (!nothing) print(summaryLines(summary));
  const json = { dialect: dialect.name, ...toJson(delta ?? corpus, files, summary) };
  return { ok: nothing || summary.ok, json };
}

function readOptions(argv: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        dialect: { type: "string" },
        corpus: { type: "string" },
        base: { type: "string" },
        only: { type: "string" },
        case: { type: "string" },
        json: { type: "string" },
      },
    });
    const { base, corpus, json } = values;
    const chosen = values.dialect === undefined ? undefined : dialectNamed(values.dialect);
    for (const dir of [corpus, base])
      if (dir !== undefined && !existsSync(dir)) return `no such corpus: ${dir}`;
    if (base !== undefined && corpus === undefined) return "--base needs --corpus DIR";
    const common = {
      fallback: baseCorpus(),
      suites: SUITES,
      ...(values.only !== undefined && { only: new RegExp(values.only) }),
      ...(values.case !== undefined && { caseId: values.case }),
    };
    const corpora =
      corpus === undefined
        ? allCorpora().filter(({ dialect }) => chosen === undefined || dialect === chosen)
        : corporaOf(corpus, base, chosen ?? DEFAULT_DIALECT);
    return {
      requests: corpora.map((one) => ({ ...one, ...common })),
      selective: values.only !== undefined || values.case !== undefined,
      ...(json !== undefined && { json }),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function terminalWidth(): number {
  return process.stdout.columns ?? 160;
}
