// What the command line of a script says: --help prints the comment that the script begins with, and what it does not know is refused
// with exit code 2, before anything is done.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * @param url `import.meta.url` of the script
 * @param options as for `parseArgs`
 * @param most how many other words there may be
 * @returns the values of the options, and the other words
 */
export function scriptArguments(url, { options = {}, most = 0 } = {}) {
  try {
    const { positionals, values } = parseArgs({
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: most > 0,
    });
    if (values.help !== true) {
      const further = positionals[most];
      if (further === undefined) return { values, words: positionals };
      throw Object.assign(new Error(`'${further}' is one argument too many`), { code: USAGE });
    }
  } catch (error) {
    if (typeof error?.code !== "string" || !error.code.startsWith(USAGE)) throw error;
    // Of what Node says: without how a word that begins with a dash could be passed.
    console.error(`${error.message.split(". ")[0]}\n--help shows what the script takes`);
    process.exit(2);
  }
  console.log(headComment(readFileSync(fileURLToPath(url), "utf8")));
  process.exit(0);
}

const USAGE = "ERR_PARSE_ARGS";

function headComment(text) {
  const [line] = /^(?:\/\/.*\n)+/.exec(text) ?? [];
  const [, block] = /^\/\*\*\n((?: \*.*\n)+?) \*\//.exec(text) ?? [];
  return (line ?? block ?? "").trimEnd().replaceAll(/^(?:\/\/| \*) ?/gm, "");
}
