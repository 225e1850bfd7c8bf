import { HttpError } from "./http-error.ts";
import type { ServerContext } from "./server-options.ts";

/**
 * Checks that a request comes by an allowed host name and from an allowed page. A page can make its own name resolve to
 * this machine (DNS rebinding), and any page can send a POST. Both are refused before a route sees them.
 *
 * @throws HttpError 403
 */
export const checkPlace = (request: Request, url: URL, { hosts, origins }: ServerContext): void => {
  const host = (request.headers.get("host") ?? url.host).toLowerCase();
  const name = host.replace(/:\d+$/, "");
  if (!hosts.some((allowed) => allowed === "*" || allowed === host || allowed === name))
    throw new HttpError(403, `this server is not called ${JSON.stringify(host)}; its option hosts has its names`, {
      code: "host_not_allowed",
    });
  const origin = request.headers.get("origin");
  if (origin === null || origins.includes(origin)) return;
  // It is the server's own page, whose name was checked above.
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new HttpError(
    403,
    `pages of ${JSON.stringify(origin)} may not call this server; its option origins has those that may`,
    {
      code: "origin_not_allowed",
    },
  );
};

/** Returns the headers that let a page of an allowed origin read a response; none for other origins. */
export const corsHeaders = (request: Request, { origins }: ServerContext): Readonly<Record<string, string>> => {
  const origin = request.headers.get("origin");
  return origin === null || !origins.includes(origin)
    ? {}
    : { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
};

/** Answers a browser's preflight request. */
export const preflight = (request: Request, context: ServerContext): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(request, context),
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "",
      "access-control-max-age": "600",
    },
  });
