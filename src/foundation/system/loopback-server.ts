/** A server of pages for the browser of this user on this machine. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A request below the address of the page. */
export interface AskedPage {
  readonly method: "GET" | "PUT";
  /** Its path below the address; empty for the page itself. */
  readonly name: string;
  /** What a `PUT` sent; empty for a `GET`. */
  readonly body: string;
}

/** What is answered. */
export interface PageAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly type: string;
  readonly text: string;
  /** Called when all of it was sent. */
  readonly onSent?: () => void;
}

export interface LoopbackRequest {
  /** Zero for any that is free. */
  readonly port: number;
  /** Undefined for what there is not. An error is answered by 500, and told to `onError`. */
  readonly answer: (asked: AskedPage) => Promise<PageAnswer | undefined>;
  readonly onError: (error: unknown) => void;
  /** The largest body of a `PUT`, in bytes. Default: 0, which refuses every `PUT`. */
  readonly mostBytes?: number;
}

export interface LoopbackServer {
  /** The address of the page; it ends with a slash. */
  readonly address: string;
  readonly close: () => void;
}

/**
 * Serves until it is closed. It listens on the loopback interface, and its address has a secret part: other users of the machine can
 * reach the port, too. Requests by another name of this machine, and those that change something from a page of another origin, are
 * answered as if there were nothing.
 *
 * @throws the error of the system for a port that cannot be had
 */
export async function openLoopbackServer(request: LoopbackRequest): Promise<LoopbackServer> {
  const { answer, mostBytes = 0, onError, port } = request;
  const path = `/${randomBytes(16).toString("hex")}/`;
  const respond = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(asked, path, mostBytes);
    const answered = request === undefined ? undefined : await answer(request);
    if (answered === undefined) {
      response.writeHead(404, HEADERS).end();
      return;
    }
    const { onSent, status = 200, text, type } = answered;
    response.writeHead(status, { ...HEADERS, "content-type": type }).end(text, onSent);
  };
  const server = createServer((asked, response) => {
    respond(asked, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, HEADERS).end();
      onError(error);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const used = typeof address === "object" && address !== null ? address.port : port;
  return {
    address: `http://127.0.0.1:${used}${path}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readRequest(
  asked: IncomingMessage,
  path: string,
  mostBytes: number,
): Promise<AskedPage | undefined> {
  const { headers, method, url = "" } = asked;
  // A name that leads here, in another page, would let that page read this one.
  const host = headers.host?.replace(/:\d+$/, "");
  if ((host !== "127.0.0.1" && host !== "localhost") || !url.startsWith(path)) return undefined;
  const name = url.slice(path.length);
  if (method === "GET") return { method, name, body: "" };
  const isOurs = headers.origin === `http://${headers.host}`;
  if (method !== "PUT" || !isOurs || headers["content-type"] !== "application/json")
    return undefined;
  // Also one without a body.
  if (mostBytes === 0 || Number(headers["content-length"]) > mostBytes) return undefined;
  const body = await bodyOf(asked, mostBytes);
  return body === undefined ? undefined : { method, name, body };
}

/** Undefined for one that is larger than it may be, or is broken off. */
async function bodyOf(asked: IncomingMessage, mostBytes: number): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of asked) {
      const piece: Buffer = part;
      bytes += piece.length;
      if (bytes > mostBytes) return undefined;
      parts.push(piece);
    }
  } catch (error) {
    if (asked.complete) throw error;
    return undefined;
  }
  return Buffer.concat(parts).toString("utf8");
}

const HEADERS = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;
