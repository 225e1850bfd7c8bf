import type { Json } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type Answer, badRequest, missingIndex } from "./answer.ts";

/** A request, parsed for an endpoint. */
export interface Call {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined if the request has no body. */
  readonly body: Json | undefined;
  /** Null for a service without its security plugin. */
  readonly user: string | null;
}

export interface Route {
  readonly methods: readonly string[];
  /** Such as `/_plugins/_ml/memory/{memory_id}`. If several paths match, the first route is used. */
  readonly path: string;
  /** The query parameters that the route reads. */
  readonly query?: readonly string[];
  /** Reads and checks the request. Returns the function that performs it. */
  readonly prepare: (call: Call) => Either.Either<Answer, () => Answer>;
}

export interface FoundRoute {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the route of a request, or the service's response if there is none. */
export const routeOf = (routes: readonly Route[], method: string, path: string): Either.Either<Answer, FoundRoute> => {
  const segments = segmentsOf(path);
  const decoded = segments.map(decodedSegment);
  const undecodable = segments.find((_, index) => decoded[index] === undefined);
  if (undecodable !== undefined) return Either.left(badRequest(`invalid escape sequence in [${undecodable}]`));
  const fitting = routes.flatMap((route) => {
    const parameters = parametersOf(route.path, decoded);
    return parameters === null ? [] : [{ route, parameters }];
  });
  const found = fitting.find(({ route }) => route.methods.includes(method));
  return found === undefined
    ? Either.left(noRoute(method, path, new Set(fitting.flatMap(({ route }) => route.methods))))
    : Either.right(found);
};

/** Returns the service's error about unknown query parameters, or null. */
export const problemOfQuery = ({ query = [] }: Route, path: string, given: URLSearchParams): Answer | null => {
  const unknown = [...new Set(given.keys())].filter((name) => !query.includes(name) && !everywhere.includes(name));
  if (unknown.length === 0) return null;
  const names = unknown.toSorted().map((name) => `[${name}]`);
  return badRequest(
    `request [${path}] contains unrecognized parameter${names.length > 1 ? "s" : ""}: ${names.join(", ")}`,
  );
};

const everywhere = ["pretty", "human", "error_trace", "filter_path", "format"];

/** Splits a path; a slash at its end is ignored. */
const segmentsOf = (path: string): readonly string[] => path.replace(/\/+$/, "").split("/");

const decodedSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

const parametersOf = (
  path: string,
  segments: readonly (string | undefined)[],
): Readonly<Record<string, string>> | null => {
  const names = segmentsOf(path);
  if (names.length !== segments.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? "";
    if (name.startsWith("{") && segment !== "") parameters[name.slice(1, -1)] = segment;
    else if (name !== segment) return null;
  }
  return parameters;
};

const noRoute = (method: string, path: string, allowed: ReadonlySet<string>): Answer => {
  if (allowed.size > 0) {
    const error = `Incorrect HTTP method for uri [${path}] and method [${method}], allowed: [${[...allowed].join(", ")}]`;
    return { status: 405, body: { error, status: 405 }, headers: { allow: [...allowed].join(",") } };
  }
  // A path with one segment names an index.
  const index = /^\/([^/_][^/]*)$/.exec(path)?.[1];
  if (index !== undefined && (method === "GET" || method === "HEAD")) return missingIndex(index);
  return { status: 400, body: { error: `no handler found for uri [${path}] and method [${method}]` } };
};
