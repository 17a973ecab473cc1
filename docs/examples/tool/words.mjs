// A command-line tool: counts the words of files.
//
//   node words.mjs README.md --top 5 --no-lower --format csv
import { readFileSync } from "node:fs";
import { exitCode, hydraMain } from "hydraconf";

await hydraMain(
  {
    configPath: "conf",
    configName: "config",
    about: "Counts the words of files.",
    plainFlags: true,
    tool: {
      positionals: [{ name: "FILE", help: "a text file", isRepeated: true }],
    },
    flags: [
      { id: "quiet", names: ["--quiet", "-q"], takes: "nothing", help: "Only the exit code" },
    ],
  },
  (config, job) => {
    const { format, lower, min_length, top } = config.toObject({ resolve: true });
    const counts = new Map();
    for (const file of job.positionals.FILE)
      for (const [word] of readFileSync(file, "utf8").matchAll(/\p{L}+/gu)) {
        const key = lower ? word.toLowerCase() : word;
        if (key.length >= min_length) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    if (counts.size === 0) return exitCode(3, { reason: "no words" });
    const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, top);
    const lines = [...(format.header ? [["word", "count"]] : []), ...rows];
    if (!job.flags.has("quiet"))
      console.log(lines.map((row) => row.join(format.separator)).join("\n"));
  },
);
