import type { Host } from "@colloquy/host";
import { bodyOf, queryOf } from "./reading.ts";
import { OpenStreams } from "./event-stream.ts";
import { checkPlace, corsHeaders, preflight } from "./guard.ts";
import { problemOfHost } from "./host-problem.ts";
import { errorResponse, HttpError } from "./http-error.ts";
import type { Call, Route } from "./route.ts";
import { type Router, routerOf } from "./router.ts";
import type { ServerContext } from "./server-options.ts";

/** A server without a socket: what is mounted wherever requests come in. */
export interface ThreadServer {
  /** Answers a request; never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Ends it: what comes now is refused (503), what is under way goes on for `drainMs`, and is then ended. Its host stays
   * open: turns go on, and are closed with it.
   */
  close(): Promise<void>;
}

/** Serves routes. The first request starts the host. */
export const serve = (host: Pick<Host, "start">, routes: readonly Route[], context: ServerContext): ThreadServer =>
  new RoutesServer(host, routes, context);

class RoutesServer implements ThreadServer {
  /** Null once it was started. */
  #host: Pick<Host, "start"> | null;
  readonly #find: Router;
  readonly #context: ServerContext;
  readonly #streams: OpenStreams;
  readonly #over = new AbortController();
  #answering = 0;
  #closing: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor(host: Pick<Host, "start">, routes: readonly Route[], context: ServerContext) {
    this.#host = host;
    this.#find = routerOf(routes);
    this.#context = context;
    this.#streams = new OpenStreams(context, context.clock, () => this.#checkDrained(), context.onError);
  }

  async fetch(request: Request): Promise<Response> {
    this.#start();
    const requestId = requestIdOf(request);
    this.#answering += 1;
    const response = await this.#answer(request, requestId).catch((thrown: unknown) => this.#refuse(thrown, requestId));
    this.#answering -= 1;
    this.#checkDrained();
    const headers = {
      "x-request-id": requestId,
      "x-content-type-options": "nosniff",
      ...corsHeaders(request, this.#context),
    };
    return withHeaders(response, headers);
  }

  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  #start(): void {
    const host = this.#host;
    this.#host = null;
    try {
      host?.start();
    } catch (thrown) {
      this.#context.onError(thrown, "recovery");
    }
  }

  async #answer(request: Request, requestId: string): Promise<Response> {
    if (this.#closing !== null)
      throw new HttpError(503, "this server is shutting down; ask again", {
        headers: { "retry-after": "1", connection: "close" },
      });
    const url = new URL(request.url);
    checkPlace(request, url, this.#context);
    if (request.method === "OPTIONS") return preflight(request, this.#context);
    const principal = await this.#context.access.principalOf(request);
    const found = this.#find(request.method, url.pathname);
    const { call, release } = this.#callOf({ request, url, requestId, principal, parameters: found.parameters });
    try {
      return await found.route.handle(call);
    } finally {
      release();
    }
  }

  /** A request as its route has it, and what gives back the stream that was taken for it and not begun. */
  #callOf(made: Pick<Call, "request" | "url" | "requestId" | "principal" | "parameters">) {
    const { request, url, requestId, principal } = made;
    const { access, onWarning } = this.#context;
    const over = this.#over.signal;
    let signal: AbortSignal | null = null;
    let stream: ReturnType<OpenStreams["take"]> | null = null;
    const call: Call = {
      ...made,
      // Most calls do without: one that lives as long as a stream costs more than the rest of a call.
      get signal() {
        return (signal ??= AbortSignal.any([request.signal, over]));
      },
      body: (schema) => bodyOf(request, schema, this.#context.bodyBytesMax),
      query: (schema) => queryOf(url, schema),
      mayUse: (threadId) => access.mayUse(principal, threadId),
      newThreadId: async (name) => `${await access.prefixOf(principal)}${name}`,
      warn: (warnings) => onWarning(warnings, requestId),
      openStream: () => (stream ??= this.#streams.take(principal.id, request.signal, requestId)),
    };
    return { call, release: () => stream?.release() };
  }

  /** What a route threw, as an answer. What is no refusal is reported to the operator alone: it may hold a secret. */
  #refuse(thrown: unknown, requestId: string): Response {
    if (thrown instanceof HttpError) return errorResponse(thrown);
    const internal = `the server failed; its operator finds the reason under request ${requestId}`;
    const problem = problemOfHost(thrown) ?? new HttpError(500, internal);
    if (problem.status >= 500) this.#context.onError(thrown, requestId);
    return errorResponse(problem);
  }

  async #drain(): Promise<void> {
    const { clock, drainMs } = this.#context;
    const drained = Promise.withResolvers<void>();
    this.#drained = drained.resolve;
    const stop = clock.wakeAt(clock.now() + drainMs, drained.resolve);
    this.#checkDrained();
    await drained.promise;
    stop();
    this.#over.abort(new Error("the server closes"));
    this.#streams.endAll();
  }

  #checkDrained(): void {
    if (this.#answering === 0 && this.#streams.size === 0) this.#drained?.();
  }
}

const withHeaders = (response: Response, headers: Readonly<Record<string, string>>): Response => {
  try {
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  } catch {
    // Those of a redirection, or of what was fetched, can't be changed.
    return new Response(response.body, {
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), ...headers },
    });
  }
};

const requestIdOf = (request: Request): string => {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
};
