import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { pages } from "./documented-commands.ts";

// Samples that are parts of programs: TypeScript compiles as part of one, YAML and JSON are read. Whole programs are run by
// tests/e2e/documented-programs.slow.ts, tests/e2e/tutorial.test.ts and tests/portable-engine.test.ts.
const root = fileURLToPath(new URL("../..", import.meta.url));

interface Sample {
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

const SAMPLES: readonly Sample[] = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", , code = ""], index): Sample => ({
      place: `${page}#${index}`,
      language,
      code,
    }),
  );
});

/** What the text around a sample says that there is. */
const AROUND = `
declare const hydraMain: typeof import("hydraconf").hydraMain;
declare const compose: typeof import("hydraconf").compose;
declare const task: import("hydraconf").Task;
declare const config: import("hydraconf").Config;
declare const loss: number;
type StoreEntry = import("hydraconf").StoreEntry;
type PluginFiles = import("hydraconf").PluginFiles;
type LauncherDefinition = import("hydraconf").LauncherDefinition;
type SweeperDefinition = import("hydraconf").SweeperDefinition;
type Resolver = import("hydraconf").Resolver;
type SourceFactory = import("hydraconf").SourceFactory;
type ConfigLayer = import("hydraconf").ConfigLayer;
type Targets = import("hydraconf").Targets;
interface Settings { readonly lr: number }
declare class Net { readonly parameters: readonly number[] }
declare class Adam { constructor(options: { readonly parameters: readonly number[] }) }
declare function relu(x: number): number;
declare module "hydraconf-example" { export const plugin: import("hydraconf").Plugin }
`;

/** The program that the samples of tests are about. */
const TRAIN = `
import type { Config, HydraMainOptions } from "hydraconf";
export const options: HydraMainOptions = { configPath: "conf", configName: "config" };
export const schema = { type: "object" };
export const train = async (config: Config): Promise<number> => Number(config.get("lr"));
`;

describe("samples of pages", () => {
  it("in TypeScript compile", { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "samples-"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "around.d.ts"), AROUND);
    writeFileSync(join(folder, "train.ts"), TRAIN);
    const own = SAMPLES.filter(
      ({ language, place }) =>
        language === "ts" &&
        // Compiled and run by a test of its own; and code of this repository.
        !/^docs\/(anywhere|first-change)\.md/.test(place),
    );
    expect(own.length).toBeGreaterThan(15);
    const files = own.map(({ code, place }, index) => {
      const file = join(folder, `${index}.ts`);
      writeFileSync(file, `// ${place}\n${code}\nexport {};\n`);
      return file;
    });
    const program = ts.createProgram([...files, join(folder, "around.d.ts")], {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
      strict: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      paths: {
        hydraconf: [join(root, "src/index.ts")],
        "hydraconf/schema": [join(root, "src/engine/schema/index.ts")],
        "hydraconf/sources": [join(root, "src/sources.ts")],
        "deep-profile": [join(root, "src/profiler/index.ts")],
      },
    });
    const told = files.flatMap((file, index) => {
      const source = program.getSourceFile(file);
      return [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ].map(
        ({ messageText }) =>
          `${own[index]?.place}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
      );
    });
    expect(told).toEqual([]);
  });

  it.each(SAMPLES.filter(({ language }) => language === "yaml" || language === "json"))(
    "$place is $language",
    ({ code, language }) => {
      if (language === "json") expect(() => JSON.parse(code)).not.toThrow();
      else expect(parseAllDocuments(code).flatMap(({ errors }) => errors)).toEqual([]);
    },
  );
});
