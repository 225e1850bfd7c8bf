import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { errorTextOf } from "@colloquy/host/runtime";
import { decoded, defined } from "../llm/json/loose-json.ts";

/**
 * The transport to a server. A transport object can be opened once: after its connection is lost, every call fails. A
 * function makes a new one for each connection, as `stdio` and HTTP do by themselves.
 */
export type McpTransport = StdioTransport | HttpTransport | Transport | (() => Transport | Promise<Transport>);

/**
 * A process to start, and to use through its standard input and output. The error about a lost connection contains the
 * end of its standard error output.
 */
export interface StdioTransport {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the few variables that are passed on by default (`PATH`, `HOME` and the like). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that uses streamable HTTP. */
export interface HttpTransport {
  readonly url: string | URL;
  /** Sent with each request, and to no other origin: a redirect to another origin is not followed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

/**
 * Returns the transport of the next connection; null if there is none.
 *
 * @param onError receives the standard error output of a process
 */
export const openTransport = async (
  given: McpTransport,
  isFirst: boolean,
  onError: (text: string) => void,
): Promise<Transport | null> => {
  if (typeof given === "function") return given();
  if ("command" in given) {
    // Loaded on demand, because a browser has no processes.
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const { args = [], env = {}, command, cwd } = given;
    const options = { command, args: [...args], env: { ...env }, ...defined({ cwd }) };
    const transport = new StdioClientTransport({ ...options, stderr: "pipe" });
    transport.stderr?.on("data", (chunk) => onError(String(chunk)));
    return transport;
  }
  if ("url" in given) {
    const { headers = {}, fetch: own = fetch } = given;
    return new StreamableHTTPClientTransport(new URL(given.url), {
      requestInit: { headers: { ...headers } },
      fetch: boundedFetch(own),
    });
  }
  return isFirst ? given : null;
};

/** Returns a function that removes the secrets of a transport from a text. */
export const withoutSecrets = (given: McpTransport): ((text: string) => string) => {
  const secrets = [...new Set(valuesIn(given).flatMap((value) => [value, ...value.split(/[\s,;=]+/)]))]
    .filter(({ length }) => length >= secretLengthMin)
    .sort((left, right) => right.length - left.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[redacted]"), text);
};

/** Shorter values are words or numbers, and removing them would spoil any text. */
const secretLengthMin = 8;

/** Shorter segments of a path are words. */
const secretSegmentMin = 16;

const valuesIn = (given: McpTransport): readonly string[] => {
  if ("command" in given) return Object.values(given.env ?? {});
  if (!("url" in given)) return [];
  const { username, password, pathname, searchParams, search } = new URL(given.url);
  // Some services have the key in the path, and an error about a missing page repeats it.
  const ofPath = pathname.split("/").filter(({ length }) => length >= secretSegmentMin);
  const ofUrl = [username, password, ...ofPath, ...searchParams.values(), ...search.slice(1).split("&")];
  return [...Object.values(given.headers ?? {}), ...ofUrl, ...ofUrl.map(decoded)];
};

/**
 * Wraps a fetch so that endless responses break off. The limit is 10 MB for a body, as for standard output, and for
 * each event of a stream. The body of an error is cut at the length up to which errors are read.
 */
export const boundedFetch =
  (own: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await own(input, init);
    const { body, status, statusText, headers } = response;
    // The client handles redirects, from the response itself.
    if (body === null || !(response.ok || status >= 400)) return response;
    if (!response.ok)
      return new Response(await errorTextOf(response, init?.signal ?? undefined), { status, statusText, headers });
    const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
    return new Response(body.pipeThrough(bound(isStream)), { status, statusText, headers });
  };

const bytesMax = 10_000_000;
const lineFeed = 10;
const carriageReturn = 13;

const bound = (isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  let bytes = 0;
  let isLineEmpty = false;
  return new TransformStream({
    transform: (chunk, controller) => {
      for (const byte of isStream ? chunk : []) {
        bytes = byte === lineFeed && isLineEmpty ? 0 : bytes + 1;
        if (byte !== carriageReturn) isLineEmpty = byte === lineFeed;
      }
      if (!isStream) bytes += chunk.byteLength;
      if (bytes > bytesMax) controller.error(new Error(`the server sent more than ${bytesMax} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
};
