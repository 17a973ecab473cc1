/** The worker that composes, as the page asks it. */
import type {
  AnswerOf,
  FilesUpdate,
  Message,
  Reply,
  RequestName,
  RequestOf,
} from "../model/requests.ts";
import type { TreeDocument } from "../tree-document.ts";

/** Composes the files that it was given last. */
export interface Composer {
  /** @param texts of the files by path, as they are in the page */
  setFiles(tree: Omit<TreeDocument, "files">, texts: ReadonlyMap<string, string>): void;
  /** @throws Error for an error of this program, and for a worker that does not answer */
  ask<Name extends RequestName>(name: Name, request: RequestOf<Name>): Promise<AnswerOf<Name>>;
}

/** A worker that was started. */
export interface StartedWorker {
  send(message: Message): void;
  end(): void;
}

/** What a worker tells. */
export interface WorkerListener {
  onReply(reply: Reply): void;
  /** @param message of the browser, or an empty text */
  onError(message: string): void;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** In milliseconds. The largest trees take seconds. */
const PATIENCE = 60_000;

/**
 * Starts the worker, and another one in place of one that has not answered anything for a while: a browser ends a worker that needs too
 * much memory without a word. The new one is asked when something changes, since the same question could end it, too.
 */
export function startComposer(start: (listener: WorkerListener) => StartedWorker): Composer {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let tree: FilesUpdate["tree"] | undefined;
  let texts: ReadonlyMap<string, string> = new Map();
  let sent: ReadonlyMap<string, string> = new Map();
  /** Whether the worker has other files. */
  let isStale = false;
  /** Why it could not be started. */
  let broken: Error | undefined;
  let hasAnswered = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let worker = startWorker();

  function startWorker(): StartedWorker {
    return start({
      onReply(reply) {
        hasAnswered = true;
        const request = waiting.get(reply.id);
        waiting.delete(reply.id);
        watch();
        if ("failure" in reply) request?.reject(new Error(reply.failure));
        else request?.resolve(reply.answer);
      },
      onError(message) {
        const error = new Error(message || "the browser refused to start a worker");
        if (!hasAnswered) broken = error;
        refuse(error);
      },
    });
  }

  function refuse(error: Error): void {
    clearTimeout(timer);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  /** Begins to wait anew, if there is anything to wait for. */
  function watch(): void {
    clearTimeout(timer);
    if (waiting.size > 0) timer = setTimeout(restart, PATIENCE);
  }

  function restart(): void {
    worker.end();
    worker = startWorker();
    sent = new Map();
    isStale = true;
    const seconds = PATIENCE / 1_000;
    refuse(
      new Error(
        `the worker has not answered for ${seconds} seconds, perhaps for lack of memory. It was started again: change the overrides or a file to go on`,
      ),
    );
  }

  function filesUpdate(): FilesUpdate | undefined {
    if (tree === undefined || !isStale) return undefined;
    const update = {
      tree,
      changed: [...texts].filter(([path, text]) => sent.get(path) !== text),
      removed: [...sent.keys()].filter((path) => !texts.has(path)),
    };
    sent = texts;
    isStale = false;
    return update;
  }

  return {
    setFiles(about, fileTexts) {
      tree = about;
      texts = fileTexts;
      isStale = true;
    },
    ask<Name extends RequestName>(name: Name, request: RequestOf<Name>) {
      if (broken !== undefined) return Promise.reject(broken);
      last += 1;
      const message: Message<Name> = { id: last, name, request, files: filesUpdate() };
      return new Promise<AnswerOf<Name>>((resolve, reject) => {
        waiting.set(last, { resolve: resolve as (answer: unknown) => void, reject });
        if (waiting.size === 1) watch();
        worker.send(message);
      });
    },
  };
}
