import type { Clock } from "@colloquy/host";
import { HttpError } from "./http-error.ts";

/** One of the streams that may be open, as `Call.openStream` gives it. */
export interface StreamContext {
  /** Has the stream run until its blocks, its client or the server end. */
  run(blocks: AsyncIterable<string>): ReadableStream<Uint8Array>;
}

/**
 * A response of server-sent events. Each string of the iterable is one event block, already formatted without its empty line
 * (`event: x\ndata: {…}`), or several with empty lines between them. The next block is taken when the client has read the last: a slow reader stops production.
 * A client that goes calls the iterator's `return()`. Blocks that throw are reported, and cut the connection.
 */
export const eventStream = (
  context: StreamContext,
  blocks: AsyncIterable<string>,
  headers?: Readonly<Record<string, string>>,
): Response => {
  const own = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    // Proxies that gather answers would show a stream at its end.
    "x-accel-buffering": "no",
  };
  return new Response(context.run(blocks), { headers: { ...headers, ...own } });
};

/** How many streams may be open, and how often an idle one sends a heartbeat. */
export interface StreamLimits {
  readonly streamsMax: number;
  readonly streamsByPrincipalMax: number;
  readonly heartbeatMs: number;
}

/** All open streams of a server, with one timer between them. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  readonly #byPrincipal = new Map<string, number>();
  readonly #limits: StreamLimits;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly report: (error: unknown, requestId: string) => void;
  #taken = 0;
  #stopHeartbeat: (() => void) | null = null;

  /** @param changed called whenever a stream ended @param report called with what blocks threw, and the id of their request */
  constructor(
    limits: StreamLimits,
    clock: Clock,
    changed: () => void,
    report: (error: unknown, requestId: string) => void,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#changed = changed;
    this.report = report;
  }

  /** How many are open, or about to be. */
  get size(): number {
    return this.#taken;
  }

  /** Takes one of the streams that may be open. @throws HttpError 429 or 503 */
  take(principal: string, signal: AbortSignal, requestId: string, onGone: () => void = () => {}): OpenStream {
    const { streamsMax, streamsByPrincipalMax } = this.#limits;
    const own = this.#byPrincipal.get(principal) ?? 0;
    const headers = { "retry-after": "5" };
    if (own >= streamsByPrincipalMax)
      throw new HttpError(429, `${own} streams are open for you, and no more may be; end one first`, {
        type: "rate_limit_error",
        code: "too_many_streams",
        headers,
      });
    if (this.#taken >= streamsMax)
      throw new HttpError(503, `${this.#taken} streams are open, and this server has no more; ask again later`, {
        code: "too_many_streams",
        headers,
      });
    this.#taken += 1;
    this.#byPrincipal.set(principal, own + 1);
    return new OpenStream(this, { principal, signal, requestId, onGone });
  }

  /** Ends all that are open. */
  endAll(): void {
    for (const stream of this.#open) stream.close();
  }

  begin(stream: OpenStream): void {
    this.#open.add(stream);
    if (this.#stopHeartbeat === null) this.#waitForHeartbeat();
  }

  giveBack(stream: OpenStream, principal: string): void {
    this.#open.delete(stream);
    this.#taken -= 1;
    const own = (this.#byPrincipal.get(principal) ?? 1) - 1;
    if (own === 0) this.#byPrincipal.delete(principal);
    else this.#byPrincipal.set(principal, own);
    if (this.#open.size === 0) {
      this.#stopHeartbeat?.();
      this.#stopHeartbeat = null;
    }
    this.#changed();
  }

  #waitForHeartbeat(): void {
    this.#stopHeartbeat = this.#clock.wakeAt(this.#clock.now() + this.#limits.heartbeatMs, () => {
      this.#stopHeartbeat = null;
      for (const stream of this.#open) stream.beat();
      if (this.#open.size > 0) this.#waitForHeartbeat();
    });
  }
}

/** Whose stream it is. */
interface StreamOwner {
  readonly principal: string;
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly onGone: () => void;
}

/** One stream. It is its own source and its own listener: a thousand of them that are idle have to be cheap. */
class OpenStream implements StreamContext {
  readonly #streams: OpenStreams;
  readonly #owner: StreamOwner;
  #iterator: AsyncIterator<string> | null = null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isOver = false;

  constructor(streams: OpenStreams, owner: StreamOwner) {
    this.#streams = streams;
    this.#owner = owner;
  }

  run(blocks: AsyncIterable<string>): ReadableStream<Uint8Array> {
    this.#iterator = blocks[Symbol.asyncIterator]();
    this.#streams.begin(this);
    // Nothing is taken before it is read.
    const body = new ReadableStream<Uint8Array>(this, { highWaterMark: 0 });
    this.#owner.signal.addEventListener("abort", this);
    if (this.#owner.signal.aborted) this.handleEvent();
    return body;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const next = await this.#iterator?.next();
      if (this.#isOver) return;
      if (next === undefined || next.done === true) {
        this.#end();
        controller.close();
      } else controller.enqueue(bytesOf(`${next.value}\n\n`));
    } catch (thrown) {
      if (this.#isOver) return;
      this.#end();
      this.#streams.report(thrown, this.#owner.requestId);
      // Not what was thrown: it may hold a secret, and there are servers that show it.
      const broken = new Error("the stream broke off");
      // Servers that print it show one sentence: its stack would name only this line.
      broken.stack = String(broken);
      controller.error(broken);
    }
  }

  /** The client reads no more. */
  cancel(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#owner.onGone();
  }

  /** The client went. */
  handleEvent(): void {
    this.cancel();
    this.#controller?.close();
  }

  /** The server closes for good. */
  close(): void {
    this.#stop();
    this.#controller?.close();
  }

  /** A comment, where the client waits for something and nothing lies before it. */
  beat(): void {
    if (this.#controller?.desiredSize === 0) this.#controller.enqueue(heartbeat);
  }

  /** Gives back what no stream was made of. */
  release(): void {
    if (this.#iterator === null && !this.#isOver) this.#end();
  }

  #stop(): void {
    this.#end();
    // Not waited for: a generator that waits itself returns when that is over.
    this.#iterator?.return?.().catch((thrown: unknown) => this.#streams.report(thrown, this.#owner.requestId));
  }

  #end(): void {
    this.#isOver = true;
    this.#owner.signal.removeEventListener("abort", this);
    this.#streams.giveBack(this, this.#owner.principal);
  }
}

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);
const heartbeat = bytesOf(": ping\n\n");
