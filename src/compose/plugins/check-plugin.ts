import type { OptionCheck } from "../../values/check-options.ts";
import { listOf, optional, recordOf, shape, text } from "../../values/option-kinds.ts";
import { storeEntry } from "../sources/check-entry.ts";
import type { LaunchRefusal, Plugin, PluginFiles } from "./plugin.ts";

/** What adds config groups. */
export const plugins: OptionCheck = listOf(
  "plugins",
  shape<Plugin>({
    name: text,
    files: optional(shape<PluginFiles>({ provider: text, path: text, texts: recordOf(text) })),
    store: optional(recordOf(storeEntry)),
    refusals: optional(listOf("refusals", shape<LaunchRefusal>({ className: text, reason: text }))),
  }),
  "[...STANDARD_PLUGINS, mine]",
);
