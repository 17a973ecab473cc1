/** What is known when a collector's files are read once more, and what they give. */

import type { Collection, Measured, WriteRegionFiles } from "../collection/collector.ts";
import type { LabelRules } from "../labels/label-rules.ts";
import type { WithTool } from "../machine/interrupt.ts";
import type { SavedRun } from "./document.ts";

export interface Reread {
  readonly measured: Measured;
  readonly writeRegionFiles?: WriteRegionFiles;
  /** What is not as it was in the run. */
  readonly notes?: readonly string[];
  /** What the run says of its files and is no longer so: notes, and messages of problems. */
  readonly outdated?: readonly string[];
}

export interface RereadContext {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  readonly config: SavedRun["config"];
  /** What reports call the regions, whatever the config says. */
  readonly labels?: LabelRules;
  readonly earlier: readonly Collection[];
  readonly withTool: WithTool;
  readonly say: (line: string) => void;
}
