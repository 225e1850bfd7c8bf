import type { IncomingMessage } from "node:http";
import type { Json } from "@colloquy/machine";

/** A request that came to a loopback server. */
export interface RecordedRequest {
  /** From 1, in the order in which they were complete. */
  readonly number: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By their names in small letters; credentials have been replaced by "[withheld]". */
  readonly headers: { readonly [name: string]: string };
  /** The body as JSON; undefined when it is none. */
  readonly body: Json | undefined;
  /** The body as it came. */
  readonly text: string;
}

/** A request whose body has come, and is `text`. */
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

/** All of the body. Rejects when the client goes away before that. */
export const textOfRequest = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    // Without an encoding set, a request gives Buffers.
    const buffer = piece as Buffer;
    bytes += buffer.length;
    if (bytes > bodyBytesMax) throw new RangeError(`the body of the request is larger than ${bodyBytesMax} bytes`);
    pieces.push(buffer);
  }
  return Buffer.concat(pieces).toString("utf8");
};

/** Far more than any conversation. */
const bodyBytesMax = 2 ** 28;

const parsed = (text: string): Json | undefined => {
  try {
    // What JSON.parse gives is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
