/** Config trees that are fetched, for `files` of an engine. */
import {
  checkOptions,
  checkText,
  checkTexts,
  fn,
  type OptionChecks,
  optional,
} from "./engine/values/check-options.ts";
import { ConfigError, isConfigError } from "./engine/values/errors.ts";
import { messageOf } from "./foundation/system/builtin-types.ts";

/** The part of a response that is used. */
export interface FetchedText {
  readonly ok: boolean;
  readonly status: number;
  /** The body. */
  text(): Promise<string>;
}

/** How files are fetched. */
export interface FetchOptions {
  /** Gives the response of a URL. Default: `fetch` of the platform. */
  readonly fetch?: (url: string) => Promise<FetchedText>;
}

const FETCH_OPTIONS: OptionChecks<FetchOptions> = { fetch: optional(fn) };

/**
 * Fetches the files of a config tree, all at once, for the option `files` of an engine.
 *
 * @param base the URL of the directory that the paths begin at; in a page it may be relative
 * @param paths of all files that a composition may need, since it is synchronous: `["config.yaml", "db/mysql.yaml"]`
 * @throws ConfigError `compose.missing_config` for a file that is not given, with the cause; `value.wrong_type`
 */
export async function fetchFiles(
  base: string,
  paths: readonly string[],
  options: FetchOptions = {},
): Promise<ReadonlyMap<string, string>> {
  checkText("fetchFiles", "the base", base, "new URL(...).href is a string");
  checkTexts("fetchFiles", "the paths", paths, '["config.yaml", "db/mysql.yaml"]');
  checkOptions("fetchFiles", options, FETCH_OPTIONS);
  const { fetch = (url: string) => globalThis.fetch(url) } = options;
  const fetched = paths.map(async (path): Promise<[string, string]> => {
    const url = `${base.replace(/\/$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
    try {
      const response = await fetch(url);
      if (response.ok) return [path, await response.text()];
      throw notFetched(path, `${url} answered ${response.status}`);
    } catch (cause) {
      throw isConfigError(cause) ? cause : notFetched(path, causesOf(cause), cause);
    }
  });
  return new Map(await Promise.all(fetched));
}

/** The messages of an error and of what caused it: `fetch` says no more than that it failed. */
function causesOf(error: unknown): string {
  const messages: string[] = [];
  // Longer chains are cycles.
  for (let cause = error; cause !== undefined && cause !== null && messages.length < 5; ) {
    const message = messageOf(cause);
    if (message !== "" && !messages.includes(message)) messages.push(message);
    cause = typeof cause === "object" && "cause" in cause ? cause.cause : undefined;
  }
  return messages.join(": ");
}

const notFetched = (path: string, why: string, cause?: unknown): ConfigError =>
  new ConfigError({
    code: "compose.missing_config",
    message: `Cannot fetch '${path}': ${why}`,
    key: path,
    hint: "the paths are those of files below the base: conf/ and db/mysql.yaml give conf/db/mysql.yaml",
    cause,
  });
