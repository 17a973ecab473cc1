import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sharedDir } from "../shared.ts";
import { fileRow, sideBySide, summaryLines, tableHeader } from "./print.ts";
import type { FileResult, ReplayRequest } from "./replay.ts";
import { replay } from "./replay.ts";
import { SUITES } from "./suites/index.ts";
import { summarize, toJson } from "./summary.ts";

const HELP = `npm run conformance -- [options]

Replays the conformance corpus (what the real Hydra did, case by case) and prints a table.

  --corpus DIR   replay another folder of the same formats; what its cases need beside them is
                 looked up there first, then in the shared corpus
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
  readonly request: ReplayRequest;
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
  const { request, selective, json } = options;
  const files: FileResult[] = [];
  if (request.caseId === undefined) print(tableHeader());
  for await (const file of replay(request)) {
    files.push(file);
    print(request.caseId === undefined ? fileRow(file) : sideBySide(file, terminalWidth()));
  }
  const summary = summarize(files, selective);
  print(summaryLines(summary));
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify(toJson(request.corpus, files, summary), null, 1)}\n`);
  return summary.ok ? 0 : 1;
}

function readOptions(argv: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        corpus: { type: "string" },
        only: { type: "string" },
        case: { type: "string" },
        json: { type: "string" },
      },
    });
    const shared = sharedDir();
    const fallback = shared === null ? null : join(shared, "conformance");
    const corpus = values.corpus ?? fallback;
    if (corpus === null) return "the shared corpus is absent here: name one with --corpus DIR";
    if (!existsSync(corpus)) return `no such corpus: ${corpus}`;
    return {
      request: {
        corpus,
        fallback,
        suites: SUITES,
        ...(values.only === undefined ? {} : { only: new RegExp(values.only) }),
        ...(values.case === undefined ? {} : { caseId: values.case }),
      },
      selective: values.only !== undefined || values.case !== undefined,
      ...(values.json === undefined ? {} : { json: values.json }),
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
