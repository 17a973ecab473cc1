/** Entry point of the worker of the page: it composes, so that typing never waits. */
import { createReplier, type Message, type Reply } from "../model/requests.ts";

/** The types of a page have no worker's own scope. */
interface WorkerScope {
  onmessage: ((event: { readonly data: Message }) => void) | null;
  postMessage(reply: Reply): void;
}

const scope = globalThis as unknown as WorkerScope;
const replyTo = createReplier();
scope.onmessage = ({ data }) => scope.postMessage(replyTo(data));
