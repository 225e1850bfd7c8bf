import type { IncomingMessage } from "node:http";
import type { Json } from "@colloquy/machine";

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

/** Records a complete request with the body `text`. */
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
  body: parsed(text),
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

const parsed = (text: string): Json | undefined => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
