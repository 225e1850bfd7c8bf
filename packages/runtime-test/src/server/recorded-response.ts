import type { ServerResponse } from "node:http";
import type { Json } from "@colloquy/machine";

/**
 * A response that is sent exactly as recorded, byte for byte; made by `recordedJson`, `recordedStream`, …, or by hand.
 */
export interface RecordedResponse {
  readonly status: number;
  /** Sent unchanged, except for those that describe the recorded transfer (length, encoding, connection). */
  readonly headers: { readonly [name: string]: string | null | undefined };
  /** A text is sent as UTF-8. */
  readonly body: string | Uint8Array;
  /** Sends the body in separate pieces of this many bytes, wherever that cuts it. Default: in one piece. */
  readonly pieceBytes?: number;
  readonly fault?: Fault;
}

/**
 * A fault of a transfer. `reset` closes the socket instead of answering. The others act after `afterBytes` bytes of the
 * body. `cut` closes the socket. `stall` sends nothing more and leaves it open. `end` ends the response as if it were
 * complete: half a line, half an object.
 */
export type Fault =
  | { readonly type: "reset" }
  | { readonly type: "cut" | "stall" | "end"; readonly afterBytes: number };

type Options = Partial<Omit<RecordedResponse, "body">>;

/** Makes a response with a JSON body, from a value or its exact text. */
export const recordedJson = (body: Json, options: Options = {}): RecordedResponse =>
  recorded(typeof body === "string" ? body : JSON.stringify(body), "application/json", options);

/** Makes a response with server-sent events, from their exact text. */
export const recordedStream = (events: string, options: Options = {}): RecordedResponse =>
  recorded(events, "text/event-stream; charset=utf-8", options);

/** Makes an HTML page, as gateways send in place of an answer. Default status 502. */
export const recordedHtml = (
  html: string = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>\n",
  options: Options = {},
): RecordedResponse => recorded(html, "text/html", { status: 502, ...options });

/** Makes a response without a body. */
export const recordedNothing = (options: Options = {}): RecordedResponse => recorded("", "application/json", options);

/**
 * Sends a recorded response. Rejects with a RangeError if it cannot be sent: pieces of zero bytes, or a fault outside
 * the body. Resolves when nothing more will be sent; after a stall, the response has not ended by then.
 */
export const sendRecorded = async (recording: RecordedResponse, response: ServerResponse): Promise<void> => {
  const body = typeof recording.body === "string" ? Buffer.from(recording.body) : recording.body;
  const { fault, pieceBytes = Math.max(body.length, 1) } = recording;
  check(pieceBytes, fault, body);
  if (fault?.type === "reset") {
    response.destroy();
    return;
  }
  const sent = fault === undefined ? body : body.subarray(0, fault.afterBytes);
  response.writeHead(recording.status, {
    ...kept(recording.headers),
    ...(isStream(recording) ? {} : { "content-length": fault?.type === "end" ? sent.length : body.length }),
  });
  response.flushHeaders();
  for (let offset = 0; offset < sent.length && !response.destroyed; offset += pieceBytes) {
    await written(response, sent.subarray(offset, offset + pieceBytes));
  }
  if (fault?.type === "cut") response.destroy();
  else if (fault?.type !== "stall") response.end();
};

const recorded = (body: string, contentType: string, { headers, ...options }: Options): RecordedResponse => ({
  status: 200,
  body,
  ...options,
  headers: { "content-type": contentType, ...headers },
});

const check = (pieceBytes: number, fault: Fault | undefined, body: Uint8Array): void => {
  if (!(Number.isInteger(pieceBytes) && pieceBytes > 0)) {
    throw new RangeError(`can't send pieces of ${pieceBytes} bytes: give a whole number of 1 or more`);
  }
  if (fault === undefined || fault.type === "reset") return;
  const { afterBytes } = fault;
  if (!(Number.isInteger(afterBytes) && afterBytes >= 0 && afterBytes <= body.length)) {
    throw new RangeError(`can't ${fault.type} after ${afterBytes} bytes: the body has ${body.length}`);
  }
};

/** Returns whether a response is a stream, whose length is unknown beforehand. */
const isStream = ({ headers }: RecordedResponse): boolean =>
  Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === "content-type" && value?.startsWith("text/event-stream") === true,
  );

const kept = (headers: RecordedResponse["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value !== "string" || transferHeaders.has(name.toLowerCase()) ? [] : [[name, value]],
    ),
  );

const transferHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "transfer-encoding",
]);

/** Resolves when the piece was sent, so that no two pieces are sent together, or when the client has disconnected. */
const written = (response: ServerResponse, piece: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    response.write(piece, () => resolve());
  });
