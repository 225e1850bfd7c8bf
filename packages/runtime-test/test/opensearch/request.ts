import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";

export interface Response {
  readonly status: number;
  readonly body: unknown;
  readonly headers: IncomingMessage["headers"];
}

/** Sends a request, with a JSON body if there is one. Unlike in `fetch`, a GET may have one. */
export const requested = async (
  url: string,
  {
    method,
    body,
    headers = {},
  }: { readonly method: string; readonly body?: unknown; readonly headers?: Record<string, string> },
): Promise<Response> => {
  const text = body === undefined ? undefined : JSON.stringify(body);
  // A GET without a length counts as without a body.
  const about =
    text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  // Not the URL itself, which would resolve "..".
  const { origin } = new URL(url);
  const outgoing = request(origin, {
    path: url.slice(origin.length) || "/",
    method,
    agent: false,
    headers: { ...about, ...headers },
  });
  outgoing.end(text);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await json(incoming) };
};
