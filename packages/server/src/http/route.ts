import type { z } from "zod";
import type { StreamContext } from "./event-stream.ts";

export { HttpError } from "./http-error.ts";

/** Who asks, as the authentication says. */
export interface Principal {
  readonly id: string;
}

/** One request on its way through a route. */
export interface Call {
  readonly request: Request;
  readonly url: URL;
  /** Of the path, decoded; each is of `[A-Za-z0-9_-]{1,192}`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborted when the client goes, or the server closes for good. */
  readonly signal: AbortSignal;
  /** The body as JSON, by a schema; no body is `{}`. @throws HttpError 400, 413 or 415, in words that name the member */
  body<Body>(schema: z.ZodType<Body>): Promise<Body>;
  /** The query string, by a schema of texts; `name[]` is a list. @throws HttpError 400, in words that name the parameter */
  query<Query>(schema: z.ZodType<Query>): Query;
  /** Whether this principal may use that thread; a route answers 404 otherwise. */
  mayUse(threadId: string): Promise<boolean>;
  /** Returns the id of a thread that this principal creates: the name, after its `threadPrefix`. */
  newThreadId(name: string): Promise<string>;
  /** Tells the operator, by the option `onWarning`, what of the request was left out. */
  warn(warnings: readonly string[]): void;
  /**
   * Takes one of the streams that may be open, for `eventStream`. To be called before anything is begun that is to be streamed:
   * a refusal then costs nothing. What no stream was made of is given back when the route has answered.
   *
   * @param onGone called if the client ends the connection before the stream has ended; not if the server closes.
   * @throws HttpError 429 where this principal has too many open, 503 where all have
   */
  openStream(onGone?: () => void): StreamContext;
}

/** What is answered at one path. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** As `/v1/responses/:id`: a segment that begins with a colon is a parameter. */
  readonly path: string;
  /** What it does, for the description of the server at `/openapi.json`. */
  readonly description?: string;
  /** The schemas of the query string and of the body, for the same description. */
  readonly query?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  readonly body?: z.ZodType;
  handle(call: Call): Response | Promise<Response>;
}
