import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { accepted, type Answer, badRequest, missingIndex, refusal, shardFailure } from "./answer.ts";
import type { DocumentIndex } from "./documents.ts";

/** A request, parsed for an endpoint. */
export interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  /** Undefined if the request has no body. */
  readonly body: Json | undefined;
  /** Null for a service without its security plugin. */
  readonly user: string | null;
}

export interface Route {
  readonly methods: readonly string[];
  /** Such as `/_plugins/_ml/memory/{id}`. If several paths match, the first route is used. */
  readonly path: string;
  /** The things that the route lists, by pages; absent if it lists none. */
  readonly lists?: { readonly notPositive: string; readonly negative: string | null };
  /** Returns the error about a request that cannot be read. */
  readonly refuses?: (call: Call) => Answer | null;
  /** Performs a request that can be read. */
  readonly perform: (call: Call) => Answer;
}

/** Below this path is everything that is imitated. */
const base = "/_plugins/_ml/memory";

/** Makes a route: its methods with spaces between, and its path below the memory API. */
export const route = (
  methods: string,
  path: string,
  perform: Route["perform"],
  more: Pick<Route, "lists" | "refuses"> = {},
): Route => ({ methods: methods.split(" "), path: base + path, perform, ...more });

/** Returns the route of a request and the id in its path, or the service's response if there is none. */
export const routeOf = (
  routes: readonly Route[],
  method: string,
  path: string,
): Either.Either<Answer, { readonly route: Route; readonly id: string }> => {
  const segments = segmentsOf(path);
  const decoded = segments.map(decodedSegment);
  const undecodable = segments.find((_, index) => decoded[index] === undefined);
  if (undecodable !== undefined) return Either.left(badRequest(`invalid escape sequence in [${undecodable}]`));
  const fitting = routes.flatMap((route) => {
    const id = idIn(route.path, decoded);
    return id === null ? [] : [{ route, id }];
  });
  const found = fitting.find(({ route }) => route.methods.includes(method));
  if (found !== undefined) return Either.right(found);
  const allowed = [...new Set(fitting.flatMap(({ route }) => route.methods))];
  if (allowed.length > 0) {
    const error = `Incorrect HTTP method for uri [${path}] and method [${method}], allowed: [${allowed.join(", ")}]`;
    return Either.left({ status: 405, body: { error, status: 405 }, headers: { allow: allowed.join(",") } });
  }
  // A path with one segment names an index.
  const index = /^\/([^/_][^/]*)$/.exec(path)?.[1];
  return Either.left(
    index !== undefined && (method === "GET" || method === "HEAD")
      ? missingIndex(index)
      : { status: 400, body: { error: `no handler found for uri [${path}] and method [${method}]` } },
  );
};

/** Splits a path; a slash at its end is ignored. */
const segmentsOf = (path: string): readonly string[] => path.replace(/\/+$/, "").split("/");

const decodedSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

const idIn = (path: string, segments: readonly (string | undefined)[]): string | null => {
  const names = segmentsOf(path);
  const fits = names.every((name, index) => (name === "{id}" ? segments[index] !== "" : name === segments[index]));
  return fits && names.length === segments.length ? (segments[names.indexOf("{id}")] ?? "") : null;
};

export const countsOf = (things: string): NonNullable<Route["lists"]> => ({
  notPositive: `The number of ${things} to retrieve must be positive`,
  negative: "The starting position must be nonnegative",
});

export const problemOfPage = ({ lists }: Route, query: URLSearchParams): Answer | null => {
  if (lists === undefined) return null;
  const odd = ["next_token", "max_results"].find((name) => query.has(name) && !isJavaInteger(query.get(name) ?? ""));
  if (odd !== undefined) return refusal(400, "number_format_exception", `For input string: "${query.get(odd) ?? ""}"`);
  const { from, size } = pageOf(query);
  const problems = [size <= 0 ? lists.notPositive : null, from < 0 ? lists.negative : null];
  const words = problems.flatMap((problem) => problem ?? []).map((problem, index) => `${index + 1}: ${problem};`);
  return words.length === 0
    ? null
    : refusal(400, "action_request_validation_exception", `Validation Failed: ${words.join("")}`);
};

export const problemOfNames = ({ lists }: Route, path: string, query: URLSearchParams): Answer | null => {
  const known = [...everywhere, ...(lists === undefined ? [] : ["max_results", "next_token"])];
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name)).toSorted();
  return unknown.length === 0
    ? null
    : badRequest(
        `request [${path}] contains unrecognized parameter${unknown.length > 1 ? "s" : ""}: [${unknown.join("], [")}]`,
      );
};

const everywhere = ["pretty", "human", "error_trace", "filter_path", "format"];

const isJavaInteger = (text: string): boolean =>
  /^[+-]?\d+$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;

const pageOf = (query: URLSearchParams): { readonly from: number; readonly size: number } => ({
  from: Number(query.get("next_token") ?? 0),
  size: Number(query.get("max_results") ?? 10),
});

/** Returns one page of a list. A full page has a token for the next page, even if that is empty. */
export const pagedAnswer = (
  index: DocumentIndex,
  name: string,
  items: readonly JsonObject[],
  query: URLSearchParams,
): Answer => {
  const { from, size } = pageOf(query);
  const page: readonly Json[] = items.slice(from, from + size);
  return (
    (index.exists ? problemOfWindow(index.name, from, size) : null) ??
    accepted({ [name]: page, ...(page.length === size ? { next_token: from + size } : {}) })
  );
};

export const problemOfWindow = (index: string, from: number, size: number): Answer | null => {
  if (from < 0) return badRequest("[from] parameter cannot be negative");
  if (size < 0) return badRequest(`[size] parameter cannot be negative, found [${size}]`);
  return from + size <= 10_000
    ? null
    : shardFailure(
        index,
        "illegal_argument_exception",
        `Result window is too large, from + size must be less than or equal to: [10000] but was [${from + size}].`,
      );
};
