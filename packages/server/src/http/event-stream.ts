import type { Clock } from "@colloquy/host";
import { HttpError } from "./http-error.ts";

/** One of the streams that may be open; `Call.openStream` returns it. */
export interface StreamContext {
  /** Runs the stream until its blocks end, its client disconnects or the server closes. */
  run(blocks: AsyncIterable<string>): ReadableStream<Uint8Array>;
}

/**
 * Creates a response of server-sent events. Each string of the iterable is one formatted event block without its empty
 * line (`event: x\ndata: {…}`), or several with empty lines between them. The next block is taken when the client has
 * read the last one, so a slow reader stops production. If the client disconnects, the iterator's `return()` is called.
 * If the iterable throws, the error is reported and the connection is cut.
 */
export const eventStream = (
  context: StreamContext,
  blocks: AsyncIterable<string>,
  headers?: Readonly<Record<string, string>>,
): Response => {
  const own = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    // Without it, buffering proxies would hold the stream back until its end.
    "x-accel-buffering": "no",
  };
  return new Response(context.run(blocks), { headers: { ...headers, ...own } });
};

/** Limits on open streams, and the heartbeat interval of idle ones. */
export interface StreamLimits {
  readonly streamsMax: number;
  readonly streamsByPrincipalMax: number;
  readonly heartbeatMs: number;
}

/** All open streams of a server. They share one timer. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  readonly #byPrincipal = new Map<string, number>();
  readonly #limits: StreamLimits;
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly report: (error: unknown, requestId: string) => void;
  #taken = 0;
  #stopHeartbeat: (() => void) | null = null;

  /** @param changed called whenever a stream ends @param report called with an error of blocks and its request's id */
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

  /** The number of streams that are open or about to open. */
  get size(): number {
    return this.#taken;
  }

  /** Reserves one of the streams that may be open. @throws HttpError 429 or 503 */
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

interface StreamOwner {
  readonly principal: string;
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly onGone: () => void;
}

/** One stream. It is its own source and its own listener, so that a thousand idle streams are cheap. */
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
    // No block is taken before the client reads.
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
      // The thrown error may hold a secret, and some servers show the error of a stream.
      const broken = new Error("the stream broke off");
      // Some servers print the stack, which would name only this line. Print one sentence instead.
      broken.stack = String(broken);
      controller.error(broken);
    }
  }

  /** Stops when the client stops reading. */
  cancel(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#owner.onGone();
  }

  /** Stops when the client disconnects. */
  handleEvent(): void {
    this.cancel();
    this.#controller?.close();
  }

  /** Ends the stream when the server closes. */
  close(): void {
    this.#stop();
    this.#controller?.close();
  }

  /** Sends a comment if the client waits for data and none is queued. */
  beat(): void {
    if (this.#controller?.desiredSize === 0) this.#controller.enqueue(heartbeat);
  }

  /** Gives back a reservation from which no stream was made. */
  release(): void {
    if (this.#iterator === null && !this.#isOver) this.#end();
  }

  #stop(): void {
    this.#end();
    // Do not wait: a suspended generator returns only when its own wait is over.
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
