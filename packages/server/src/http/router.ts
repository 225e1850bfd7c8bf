import { HttpError } from "./http-error.ts";
import type { Route } from "./route.ts";

/** A route and the parameters in its path. */
interface Found {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the route of a request. @throws HttpError 400, 404 or 405 */
export type Router = (method: string, pathname: string) => Found;

/** Returns the first route whose path matches. A path without parameters is tried before one with parameters. */
export const routerOf = (routes: readonly Route[]): Router => {
  const places = routes
    .map((route) => ({ route, segments: route.path.split("/") }))
    .sort((one, other) => parametersIn(one.segments) - parametersIn(other.segments));
  return (method, pathname) => {
    const given = pathname.split("/");
    const fitting = places.filter(({ segments }) => fits(segments, given));
    const found = fitting.find(({ route }) => route.method === method);
    if (found !== undefined) return { route: found.route, parameters: parametersOf(found.segments, given) };
    if (fitting.length === 0) throw new HttpError(404, `there is nothing at ${JSON.stringify(pathname)}`);
    const allow = fitting.map(({ route }) => route.method).join(", ");
    throw new HttpError(405, `${method} is not possible at ${JSON.stringify(pathname)}; there is ${allow}`, {
      headers: { allow },
    });
  };
};

const isParameter = (segment: string): boolean => segment.startsWith(":");

const parametersIn = (segments: readonly string[]): number => segments.filter(isParameter).length;

const fits = (segments: readonly string[], given: readonly string[]): boolean =>
  segments.length === given.length &&
  segments.every((segment, index) => (isParameter(segment) ? given[index] !== "" : segment === given[index]));

/** Decodes before checking, since `%2e%2e%2f` arrives encoded. */
const parametersOf = (segments: readonly string[], given: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    segments.flatMap((segment, index) =>
      isParameter(segment) ? [[segment.slice(1), idOf(segment.slice(1), given[index] ?? "")]] : [],
    ),
  );

const idOf = (name: string, encoded: string): string => {
  const id = decoded(encoded);
  // Allows a thread id of 128 characters, plus the other fields of a response or item id.
  if (id !== null && /^[A-Za-z0-9_-]{1,192}$/.test(id)) return id;
  throw new HttpError(400, `${name} in the path is no id: 1 to 192 letters, digits, "_" and "-"`, { param: name });
};

const decoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
};
