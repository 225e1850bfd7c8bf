import { type AnswerRoute, answerRoutes } from "./dialects.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** What a request is for. */
export type Route = AnswerRoute | "models";

/** What a request is for, or why it is refused before anybody looks into it. */
export const routeOf = (
  method: string,
  path: string,
  authorization: string | undefined,
  rules: { readonly apiKey: string | undefined; readonly anyPath: boolean },
): Route | WireError => {
  if (rules.apiKey !== undefined && authorization !== `Bearer ${rules.apiKey}`) return unauthorised(authorization);
  const plain = path.replace(/\?.*$/s, "").replace(/^\/v1(?=\/)/, "");
  if (plain === "/models") return method === "GET" ? "models" : notAllowed(method, path, "GET");
  // Recorded responses do not mind what was asked.
  const route = answerRoutes.find((known) => known === plain) ?? (rules.anyPath ? "/chat/completions" : undefined);
  if (route === undefined) return { ...invalidRequest(`Invalid URL (${method} ${path})`, null), status: 404 };
  return method === "POST" ? route : notAllowed(method, path, "POST");
};

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
