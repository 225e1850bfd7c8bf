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
  throw new HttpError(400, `${name} in the path is no id: 1 to 192 letters, digits, "_" and "-"`, { param: name });
};

const decoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
};
