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
  /** @throws Error for an error of this program */
  ask<Name extends RequestName>(name: Name, request: RequestOf<Name>): Promise<AnswerOf<Name>>;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** @param script of the worker */
export function startComposer(script: string): Composer {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address);
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let sent: ReadonlyMap<string, string> = new Map();
  let update: FilesUpdate | undefined;
  /** Why it could not be started. */
  let broken: Error | undefined;
  let hasAnswered = false;
  worker.addEventListener("message", ({ data }: { readonly data: Reply }) => {
    hasAnswered = true;
    const known = waiting.get(data.id);
    waiting.delete(data.id);
    if ("failure" in data) known?.reject(new Error(data.failure));
    else known?.resolve(data.answer);
  });
  worker.addEventListener("error", ({ message }) => {
    const error = new Error(message || "the browser refused to start a worker");
    if (!hasAnswered) broken = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  return {
    setFiles(tree, texts) {
      update = {
        tree,
        changed: [...texts].filter(([path, text]) => sent.get(path) !== text),
        removed: [...sent.keys()].filter((path) => !texts.has(path)),
      };
    },
    ask<Name extends RequestName>(name: Name, request: RequestOf<Name>) {
      if (broken !== undefined) return Promise.reject(broken);
      last += 1;
      const message: Message<Name> = { id: last, name, request, files: update };
      if (update !== undefined) {
        const { changed, removed } = update;
        sent = new Map([...sent, ...changed].filter(([path]) => !removed.includes(path)));
        update = undefined;
      }
      return new Promise<AnswerOf<Name>>((resolve, reject) => {
        waiting.set(last, { resolve: resolve as (answer: unknown) => void, reject });
        worker.postMessage(message);
      });
    },
  };
}
