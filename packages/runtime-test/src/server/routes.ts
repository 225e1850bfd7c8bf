import { type AnswerRoute, answerRoutes } from "./dialects.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** The purpose of a request. */
export type Route = AnswerRoute | "models";

/** Returns the purpose of a request, or the error that refuses it before its body is read. */
export const routeOf = (
  method: string,
  path: string,
  authorization: string | undefined,
  rules: {
    readonly apiKey: string | undefined;
    readonly paths: Readonly<Record<string, AnswerRoute>>;
    readonly anyPath: boolean;
  },
): Route | WireError => {
  if (rules.apiKey !== undefined && authorization !== `Bearer ${rules.apiKey}`) return unauthorised(authorization);
  const plain = plainPath(path);
  if (plain === "/models") return method === "GET" ? "models" : notAllowed(method, path, "GET");
  const further = Object.entries(rules.paths).find(([known]) => plainPath(known) === plain)?.[1];
  // Recorded responses answer any path.
  const anyOther = rules.anyPath ? "/chat/completions" : undefined;
  const route = answerRoutes.find((known) => known === plain) ?? further ?? anyOther;
  if (route === undefined) return { ...invalidRequest(`Invalid URL (${method} ${path})`, null), status: 404 };
  return method === "POST" ? route : notAllowed(method, path, "POST");
};

/** Returns a path without a query and without `/v1`. */
const plainPath = (path: string): string => path.replace(/\?.*$/s, "").replace(/^\/v1(?=\/)/, "");

const unauthorised = (authorization: string | undefined): WireError => ({
  ...invalidRequest(
    authorization === undefined
      ? "You didn't provide an API key. Send it in an Authorization header: 'Authorization: Bearer YOUR_KEY'."
      : "Incorrect API key provided. It must be the one that the server was started with.",
    null,
    "invalid_api_key",
  ),
  status: 401,
});

const notAllowed = (method: string, path: string, allowed: string): WireError => ({
  ...invalidRequest(`Not allowed to ${method} on ${path}: only ${allowed}.`, null, "method_not_supported"),
  status: 405,
  headers: { allow: allowed },
});
