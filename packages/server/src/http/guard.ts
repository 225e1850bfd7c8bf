import { HttpError } from "./http-error.ts";
import type { Principal } from "./route.ts";
import type { Authenticate, ServerContext } from "./server-options.ts";

/**
 * Whether a request comes by a name and from a page that are allowed. A page whose name was made to resolve to this machine
 * calls by its own name (DNS rebinding), and any page can send a POST: neither gets to a route.
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
  // Its own page, whose name was checked.
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new HttpError(
    403,
    `pages of ${JSON.stringify(origin)} may not call this server; its option origins has those that may`,
    {
      code: "origin_not_allowed",
    },
  );
};

/** Who asks. @throws HttpError 401 */
export const principalOf = async (request: Request, authenticate: Authenticate): Promise<Principal> => {
  const principal =
    typeof authenticate === "function" ? await authenticate(request) : await bearerOf(request, authenticate.token);
  if (principal !== null) return principal;
  throw new HttpError(401, "this server needs a key: Authorization: Bearer …, and the one given is missing or wrong", {
    type: "authentication_error",
    code: "invalid_api_key",
    headers: { "www-authenticate": "Bearer" },
  });
};

const bearerOf = async (request: Request, token: string): Promise<Principal | null> => {
  const [, given] = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return given !== undefined && (await isSame(given, token)) ? { id: "bearer" } : null;
};

/** In a time that says nothing of either: digests of one length, to their ends. */
const isSame = async (given: string, wanted: string): Promise<boolean> => {
  const [one, other] = await Promise.all([digestOf(given), digestOf(wanted)]);
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
};

const digestOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** The headers with which a browser lets a page of an allowed origin read a response; none for other origins. */
export const corsHeaders = (request: Request, { origins }: ServerContext): Readonly<Record<string, string>> => {
  const origin = request.headers.get("origin");
  return origin === null || !origins.includes(origin)
    ? {}
    : { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
};

/** The answer to the question of a browser whether a page may call. */
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
