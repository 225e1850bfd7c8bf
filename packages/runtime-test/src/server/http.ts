import type { Server, IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "@colloquy/machine";
import { parsedJson } from "./strict/rules/json.ts";
import { bodyOfError, type WireError } from "./wire-error.ts";

/** Starts a server on 127.0.0.1; port 0 means any free port. Rejects if the port is in use. */
export const listen = async (
  server: Server,
  port: number,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    // The address is null or a path only if the server does not listen on a port.
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** A request that a loopback server received. */
export interface RecordedRequest {
  /** From 1, in the order of their completion. */
  readonly number: number;
  readonly method: string;
  /** The path, with its query. */
  readonly path: string;
  /** The headers by their lower-case names; credentials are replaced by "[withheld]". */
  readonly headers: { readonly [name: string]: string };
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: Json | undefined;
  /** The unparsed body. */
  readonly text: string;
}

export const recordRequest = (number: number, request: IncomingMessage, text: string): RecordedRequest => ({
  number,
  method: request.method ?? "",
  path: request.url ?? "",
  headers: Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      secret.test(name) ? "[withheld]" : Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  ),
  // JSON.parse returns JSON.
  body: parsedJson(text) as Json | undefined,
  text,
});

const secret = /authorization|api-key|cookie|token/;

/** Reads the whole body. Rejects if the client disconnects before its end. */
export const textOfRequest = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    // Without an encoding, a request yields Buffers.
    const buffer = piece as Buffer;
    bytes += buffer.length;
    if (bytes > bodyBytesMax) throw new RangeError(`the body of the request is larger than ${bodyBytesMax} bytes`);
    pieces.push(buffer);
  }
  return Buffer.concat(pieces).toString("utf8");
};

/** Far larger than any conversation. */
const bodyBytesMax = 2 ** 28;

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: { readonly [name: string]: string } = {},
): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
};

export const sendError = (response: ServerResponse, error: WireError): void => {
  sendJson(response, error.status, bodyOfError(error), error.headers);
};
