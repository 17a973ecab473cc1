/** Serves the page of a tree to the browser of this user. */
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { errorJson } from "../../engine/values/render-error.ts";
import { fileRemedy, isFileProblem, namedFileProblem } from "../../foundation/system/files.ts";
import {
  type AskedPage,
  openLoopbackServer,
  type PageAnswer,
} from "../../foundation/system/loopback-server.ts";
import { fits, text } from "../../foundation/system/shape.ts";
import { readPageAssets } from "../../pages/html.ts";
import { type ChangedFile, FILE_NAME, TREE_NAME, type TreeDocument } from "../tree-document.ts";
import { renderPlayground } from "./render-playground.ts";
import { readTree, writeTreeFile } from "./tree-files.ts";

/** What is served. */
export interface PlaygroundRequest extends Omit<TreeDocument, "files" | "notes"> {
  /** The absolute path of the directory with the configs. */
  readonly place: string;
  /** Zero for any that is free. */
  readonly port: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Receives the address of the page. */
  readonly onAddress: (address: string) => void;
}

/** A file of a tree with its name and its version, as JSON, where each character may take six. */
const MOST_SENT = 8_000_000;

/**
 * Serves until the signal aborts. The files are read again with each page, and written only if `canWrite`. A directory that cannot be
 * read is answered by its error.
 *
 * @throws the error of the system for a port that cannot be had
 */
export async function servePlayground(request: PlaygroundRequest): Promise<void> {
  const { onAddress, place, port, signal, ...about } = request;
  const assets = readPageAssets("playground");
  const failed = new AbortController();
  const tree = (): TreeDocument => ({ ...about, ...readTree(place) });
  const answerOf = ({ body, method, name }: AskedPage): PageAnswer | undefined => {
    if (method === "PUT") return name === FILE_NAME ? save(request, body) : undefined;
    if (name === TREE_NAME) return { type: JSON_TYPE, text: JSON.stringify(tree()) };
    return name === ""
      ? {
          type: "text/html; charset=utf-8",
          text: renderPlayground(tree(), { assets, isServed: true }),
        }
      : undefined;
  };
  const answer = async (asked: AskedPage): Promise<PageAnswer | undefined> => {
    try {
      return answerOf(asked);
    } catch (cause) {
      return refusal(isFileProblem(cause) ? unreadable(about.title, cause) : cause);
    }
  };
  const onError = (error: unknown) => failed.abort(error);
  const server = await openLoopbackServer({ port, answer, onError, mostBytes: MOST_SENT });
  const ended = AbortSignal.any([signal, failed.signal]);
  try {
    onAddress(server.address);
    if (!ended.aborted)
      await new Promise<void>((resolve) => {
        ended.addEventListener("abort", () => resolve(), { once: true });
      });
    failed.signal.throwIfAborted();
  } finally {
    server.close();
  }
}

/** The page of a tree for a site, which no server answers: it has all that it needs. */
export const sitePage = ({
  place,
  ...about
}: Omit<PlaygroundRequest, "canWrite" | "onAddress" | "port" | "signal">): string =>
  renderPlayground(
    { ...about, ...readTree(place), canWrite: false },
    { assets: readPageAssets("playground"), isServed: false },
  );

const JSON_TYPE = "application/json";

function save({ canWrite, place }: PlaygroundRequest, body: string): PageAnswer {
  if (!canWrite)
    throw new ConfigError({
      code: "playground/read-only",
      message: "The files are served read-only",
      hint: "start it with --write to save changes",
    });
  const version = writeTreeFile(place, changedFile(body));
  return { type: JSON_TYPE, text: JSON.stringify({ version }) };
}

/** @throws any error that is not coded: it ends the server */
function refusal(error: unknown): PageAnswer {
  if (!isConfigError(error)) throw error;
  return { status: STATUS[error.code] ?? 500, type: JSON_TYPE, text: errorJson(error) };
}

/** It may be away for a moment only: a checkout, a network file system. */
const unreadable = (title: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "playground/read",
    message: `Cannot read the files of '${title}': ${namedFileProblem(cause)}`,
    hint: fileRemedy(cause) ?? "load the page again once the directory can be read",
    cause,
  });

const STATUS: Readonly<Record<string, number>> = {
  "playground/read-only": 403,
  "playground/changed": 409,
  "playground/path": 404,
  "playground/request": 400,
};

function changedFile(body: string): ChangedFile {
  const wrong = (cause?: unknown) =>
    new ConfigError({
      code: "playground/request",
      message: "A changed file has a path, a text and a version",
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw wrong(cause);
  }
  if (!fits<ChangedFile>(value, { path: text, text, version: text })) throw wrong();
  return value;
}
