import { errorTextOf } from "@colloquy/host/runtime";
import type OpenAI from "openai";
import type { AnswerReader } from "../reply/answer-reader.ts";

/** A body as it is read, piece by piece. */
export interface BodyReading {
  /** What takes the pieces; null keeps the whole body. */
  readonly stream: AnswerReader | null;
  /** Reading ends when it is aborted. */
  readonly signal: AbortSignal;
  /** Called when something of an answer came. Comments, empty events and white space do not count: a server may send them for ever. */
  readonly touch: () => void;
}

/**
 * Reads a body: into the stream, or whole where there is none. Returns the text of what no stream has understood,
 * so that a page or an error in place of the stream can be reported.
 */
export const readBody = async (response: Response, { stream, signal, touch }: BodyReading): Promise<string> => {
  if (response.body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = response.body.getReader();
  const kept: Uint8Array<ArrayBuffer>[] = [];
  let keptBytes = 0;
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      const before = stream?.state.heard;
      stream?.feed(value);
      if (stream === null ? value.some((byte) => byte > space) : stream.state.heard !== before) touch();
      if (stream?.state.done === true) {
        letGo(reader);
        return "";
      }
      if (stream === null || (!stream.state.begun && keptBytes < keptBytesMax)) {
        kept.push(value);
        keptBytes += value.length;
        if (keptBytes > bodyBytesMax) throw new RangeError(`the server's answer is larger than ${bodyBytesMax} bytes`);
      }
    }
    stream?.end();
  } catch (thrown) {
    // Nobody reads on: the connection must not be left open.
    void reader.cancel().catch(() => {});
    throw thrown;
  }
  return new Blob(kept).text();
};

/** White space of JSON has no byte beyond. */
const space = 0x20;

const keptBytesMax = 65_536;

/** Far more than any reply; an answer without an end must come to one. */
const bodyBytesMax = 2 ** 26;

/**
 * The answer is there; the end of the body comes right behind it. Reading it lets the connection be used again;
 * a server that keeps it open all the same is cut off.
 */
const letGo = (reader: ReadableStreamDefaultReader<Uint8Array>): void => {
  const cut = (): void => void reader.cancel().catch(() => {});
  const timer = setTimeout(cut, endOfBodyMs);
  void reader
    .read()
    .then(({ done }) => (done ? undefined : reader.cancel()))
    .catch(() => {})
    .finally(() => clearTimeout(timer));
};

const endOfBodyMs = 1000;

/** Marks the requests of the handlers among the options of their `fetch`: a client may be shared with other code. */
const isOurs: unique symbol = Symbol("colloquy");

/** The options of a request whose error body is read to a bound. */
export const oursOnly: { readonly [isOurs]: true } = { [isOurs]: true };

/**
 * Has the client read the body of an error to a bound, in the requests that are marked: the SDK itself reads it to its end,
 * which may never come. The body is read within the time that the request has.
 */
export const withBoundedErrors = (client: OpenAI): OpenAI => {
  // Private in the SDK's types. A copy of the client would not know a key that is given to the client later.
  const own = client["fetch"] as typeof fetch | undefined;
  if (own === undefined || bounded.has(own)) return client;
  const fetchBounded: typeof fetch = async (input, init) => {
    const response = await own(input, init);
    if (response.ok || init === undefined || !(isOurs in init)) return response;
    const text = await errorTextOf(response, init.signal ?? undefined);
    return Object.defineProperty(response, "text", { value: () => Promise.resolve(text) });
  };
  bounded.add(fetchBounded);
  client["fetch"] = fetchBounded;
  return client;
};

const bounded = new WeakSet<typeof fetch>();
