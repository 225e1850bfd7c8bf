import {
  type Host,
  EventRefusedError,
  ImportRefusedError,
  StoreError,
  ThreadClosedError,
  ThreadExistsError,
  ThreadHeldError,
  ThreadUnknownError,
} from "@colloquy/host";
import { bodyOf, queryOf } from "./reading.ts";
import { OpenStreams } from "./event-stream.ts";
import { errorResponse, HttpError, invalid } from "./http-error.ts";
import { type Call, type Route, type Router, routerOf } from "./route.ts";
import type { ServerContext } from "./server-options.ts";
import { ConfigurationError } from "@colloquy/machine";

/** A server without a socket, to be mounted in any server that receives requests. */
export interface ThreadServer {
  /** Answers a request; never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Closes the server. New requests are refused (503). Running ones continue for `drainMs` and are then ended. Its host
   * stays open: turns continue until the host is closed.
   */
  close(): Promise<void>;
}

/** The error format of the routes under a path that web pages call. */
export interface PageErrors {
  /** The path, without a slash at its end. */
  readonly base: string;
  answer(thrown: unknown, problem: HttpError): Response;
}

/** Serves routes. The first request starts the host. */
export const serve = (
  host: Pick<Host, "start">,
  routes: readonly Route[],
  context: ServerContext,
  pages: PageErrors | null = null,
): ThreadServer => new RoutesServer(host, routes, context, pages);

class RoutesServer implements ThreadServer {
  /** Null after it was started. */
  #host: Pick<Host, "start"> | null;
  readonly #find: Router;
  readonly #context: ServerContext;
  readonly #pages: PageErrors | null;
  readonly #streams: OpenStreams;
  readonly #over = new AbortController();
  #answering = 0;
  #closing: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor(host: Pick<Host, "start">, routes: readonly Route[], context: ServerContext, pages: PageErrors | null) {
    this.#host = host;
    this.#find = routerOf(routes);
    this.#context = context;
    this.#pages = pages;
    this.#streams = new OpenStreams(context, context.clock, () => this.#checkDrained(), context.onError);
  }

  async fetch(request: Request): Promise<Response> {
    this.#start();
    const requestId = requestIdOf(request);
    this.#answering += 1;
    const response = await this.#answer(request, requestId).catch((thrown: unknown) =>
      this.#refuse(thrown, request, requestId),
    );
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

  /** Creates the call of a request. `release` gives back a stream that the call reserved and did not use. */
  #callOf(made: Pick<Call, "request" | "url" | "requestId" | "principal" | "parameters">) {
    const { request, url, requestId, principal } = made;
    const { access, onWarning } = this.#context;
    const over = this.#over.signal;
    let signal: AbortSignal | null = null;
    let stream: ReturnType<OpenStreams["take"]> | null = null;
    const call: Call = {
      ...made,
      // Created on use: a signal that lives as long as a stream costs more than the rest of a call.
      get signal() {
        return (signal ??= AbortSignal.any([request.signal, over]));
      },
      body: (schema) => bodyOf(request, schema, this.#context.bodyBytesMax),
      query: (schema) => queryOf(url, schema),
      mayUse: (threadId) => access.mayUse(principal, threadId),
      newThreadId: async (name) => `${await access.prefixOf(principal)}${name}`,
      warn: (warnings) => onWarning(warnings, requestId),
      openStream: (onGone) => (stream ??= this.#streams.take(principal.id, request.signal, requestId, onGone)),
    };
    return { call, release: () => stream?.release() };
  }

  /**
   * Answers an error. An error that the host threw, of status 500 or more, is also reported to the operator. The client
   * does not see the message of an unexpected one, since it may hold a secret. A page receives only a sentence for its
   * user, so each error of a page is reported.
   */
  #refuse(thrown: unknown, request: Request, requestId: string): Response {
    const internal = `the server failed; its operator finds the reason under request ${requestId}`;
    const problem = thrown instanceof HttpError ? thrown : (problemOfHost(thrown) ?? new HttpError(500, internal));
    const pages = this.#pages !== null && isUnder(this.#pages.base, request) ? this.#pages : null;
    const isOwn = thrown instanceof HttpError;
    if (pages !== null || (!isOwn && problem.status >= 500)) this.#context.onError(thrown, requestId);
    return pages?.answer(thrown, problem) ?? errorResponse(problem);
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

const isUnder = (base: string, { url }: Request): boolean => {
  const { pathname } = new URL(url);
  return pathname === base || pathname.startsWith(`${base}/`);
};

const withHeaders = (response: Response, headers: Readonly<Record<string, string>>): Response => {
  try {
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  } catch {
    // The headers of a redirection or of a fetched response are immutable.
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

/** Converts a host's error if it concerns the client. Never uses 409, since clients repeat a POST after it. */
const problemOfHost = (thrown: unknown): HttpError | null => {
  const again = { "retry-after": "1" };
  if (thrown instanceof ThreadUnknownError) return new HttpError(404, thrown.message, { code: "not_found" });
  if (thrown instanceof EventRefusedError) {
    const { kind, reason } = thrown.refusal;
    return kind === "full"
      ? new HttpError(429, reason, { code: "queue_full", headers: again })
      : invalid(reason, null, kind);
  }
  if (thrown instanceof ImportRefusedError || thrown instanceof ThreadExistsError)
    return invalid(thrown.message, null, "invalid");
  if (thrown instanceof ThreadHeldError || thrown instanceof ThreadClosedError)
    return new HttpError(503, thrown.message, { code: "thread_unavailable", headers: again });
  // The message may name details that a client should not see.
  if (thrown instanceof StoreError)
    return new HttpError(503, "the store failed; ask again", { code: "store_failed", headers: again });
  return thrown instanceof ConfigurationError ? invalid(thrown.message) : null;
};

/**
 * Checks that a request comes by an allowed host name and from an allowed page. A page can make its own name resolve to
 * this machine (DNS rebinding), and any page can send a POST. Both are refused before a route sees them.
 *
 * @throws HttpError 403
 */
const checkPlace = (request: Request, url: URL, { hosts, origins }: ServerContext): void => {
  const host = (request.headers.get("host") ?? url.host).toLowerCase();
  const name = host.replace(/:\d+$/, "");
  if (!hosts.some((allowed) => allowed === "*" || allowed === host || allowed === name))
    throw new HttpError(403, `this server is not called ${JSON.stringify(host)}; its option hosts lists its names`, {
      code: "host_not_allowed",
    });
  const origin = request.headers.get("origin");
  if (origin === null || origins.includes(origin)) return;
  // The server's own page, whose host name was checked above.
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new HttpError(
    403,
    `pages of ${JSON.stringify(origin)} may not call this server; its option origins lists the allowed origins`,
    {
      code: "origin_not_allowed",
    },
  );
};

/** Returns the headers that let a page of an allowed origin read a response; none for other origins. */
const corsHeaders = (request: Request, { origins }: ServerContext): Readonly<Record<string, string>> => {
  const origin = request.headers.get("origin");
  return origin === null || !origins.includes(origin)
    ? {}
    : { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
};

const preflight = (request: Request, context: ServerContext): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(request, context),
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "",
      "access-control-max-age": "600",
    },
  });
