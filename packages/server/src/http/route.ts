import type { z } from "zod";
import type { StreamContext } from "./event-stream.ts";
import { HttpError, invalid } from "./http-error.ts";

/** The authenticated caller. */
export interface Principal {
  readonly id: string;
}

/** One request, as a route receives it. */
export interface Call {
  readonly request: Request;
  readonly url: URL;
  /** The decoded parameters of the path. Each matches `[A-Za-z0-9_-]{1,192}`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborted when the client disconnects or the server closes for good. */
  readonly signal: AbortSignal;
  /**
   * Reads the body as JSON, by a schema; an empty body is `{}`. @throws HttpError 400, 413 or 415, whose message names
   * the member
   */
  body<Body>(schema: z.ZodType<Body>): Promise<Body>;
  /**
   * Reads the query string, by a schema of texts; `name[]` is a list. @throws HttpError 400, whose message names the
   * parameter
   */
  query<Query>(schema: z.ZodType<Query>): Query;
  /** Checks whether this principal may use a thread. If not, a route answers 404. */
  mayUse(threadId: string): Promise<boolean>;
  /** Returns the id of a thread that this principal creates: its `threadPrefix`, then the name. */
  newThreadId(name: string): Promise<string>;
  /** Reports skipped members of the request to the operator, through the option `onWarning`. */
  warn(warnings: readonly string[]): void;
  /**
   * Reserves one of the streams that may be open, for `eventStream`. Call it before starting any work that is to be
   * streamed: a refusal then costs nothing. An unused stream is given back when the route has answered.
   *
   * @param onGone called if the client ends the connection before the stream has ended; not if the server closes.
   * @throws HttpError 429 if this principal has too many open streams, 503 if the server has
   */
  openStream(onGone?: () => void): StreamContext;
}

/** A route: one method at one path. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** A path such as `/v1/responses/:id`. A segment that begins with a colon is a parameter. */
  readonly path: string;
  /** Describes the route in the server's description at `/openapi.json`. */
  readonly description?: string;
  /** The schemas of the query string and of the body, for the same description. */
  readonly query?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  readonly body?: z.ZodType;
  handle(call: Call): Response | Promise<Response>;
}

interface Found {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the route of a request. @throws HttpError 400, 404 or 405 */
export type Router = (method: string, pathname: string) => Found;

/** Returns the first route whose path matches. A path without parameters is tried before one with parameters. */
export const routerOf = (routes: readonly Route[]): Router => {
  const places = routes
    .map((route) => ({ route, pattern: patternOf(route.path) }))
    .sort(({ route: one }, { route: other }) => one.path.split("/:").length - other.path.split("/:").length);
  return (method, pathname) => {
    const fitting = places.filter(({ pattern }) => pattern.test(pathname));
    const found = fitting.find(({ route }) => route.method === method);
    if (found !== undefined) {
      const given = Object.entries(found.pattern.exec(pathname)?.groups ?? {});
      return { route: found.route, parameters: Object.fromEntries(given.map(([name, id]) => [name, idOf(name, id)])) };
    }
    if (fitting.length === 0) throw new HttpError(404, `there is nothing at ${JSON.stringify(pathname)}`);
    const allow = fitting.map(({ route }) => route.method).join(", ");
    throw new HttpError(405, `${method} is not possible at ${JSON.stringify(pathname)}; there is ${allow}`, {
      headers: { allow },
    });
  };
};

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[^\w/:-]/g, "\\$&").replaceAll(/(?<=\/):(\w+)/g, "(?<$1>[^/]+)")}$`);

/** Decodes an id before it checks it, since `%2e%2e%2f` arrives encoded. */
const idOf = (name: string, encoded: string): string => {
  const id = decoded(encoded);
  // Allows a thread id of 128 characters, plus the other fields of a response or item id.
  if (id !== null && /^[A-Za-z0-9_-]{1,192}$/.test(id)) return id;
  throw invalid(`${name} in the path is no id: 1 to 192 letters, digits, "_" and "-"`, name);
};

const decoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
};
