import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { withoutSecrets } from "./models.ts";
import { appendingFile, readTextFile } from "./text-file.ts";

/** A destination for request bodies, which are sent one after the other. */
interface BodySink {
  /** For a person: an endpoint without user, password and query. */
  readonly place: string;
  /**
   * Returns the endpoint's answer; null for a file.
   *
   * @throws SendError if an endpoint does not accept the body; the abort reason
   */
  send(body: Uint8Array): Promise<Uint8Array | null>;
  close(): void;
}

/** An endpoint did not accept a body after all attempts. The message contains nothing of the headers. */
export class SendError extends Error {
  override readonly name = "SendError";
}

export const isEndpoint = (to: string): boolean => /^https?:\/\//i.test(to);

/**
 * Makes a sink for an endpoint, or for a new file that only its owner may read, with `behind` after each body. An empty
 * file is removed again. A body is sent again if the endpoint is busy or does not answer. There are five attempts in
 * all, with the delay that the endpoint requests, up to a minute.
 *
 * @throws Error for a URL that is invalid or not HTTP, and for a file that exists already
 */
export const bodySink = (
  to: string,
  {
    headers,
    signal,
    behind,
  }: { readonly headers: Record<string, string>; readonly signal: AbortSignal; readonly behind: string },
): BodySink => {
  if (!isEndpoint(to)) return fileSink(to, behind);
  const url = endpointIn(to);
  return { place: withoutSecrets(url.href), send: (body) => sent(url, { headers, signal, body }, 1), close: () => {} };
};

const fileSink = (to: string, behind: string): BodySink => {
  // Nobody intends a file with such a name.
  if (/^[a-z][a-z\d+.-]*:\/\/|^[\w.-]+:\d+(?:\/|$)/i.test(to))
    throw new Error(
      "--to is not a URL of http or https; give an endpoint such as http://localhost:4318/v1/traces, or a file that is not there yet",
    );
  const file = appendingFile(to);
  let isEmpty = true;
  return {
    place: to,
    send: async (body) => {
      file.append(body);
      file.append(behind);
      isEmpty = false;
      return null;
    },
    close: () => {
      file.close();
      // Removed, so that the next attempt can use the name.
      if (isEmpty) rmSync(to);
    },
  };
};

/** Parses the URL. Without a path, it gets the path of the specification; user and password belong in the header. */
const endpointIn = (to: string): URL => {
  if (!URL.canParse(to))
    throw new Error("--to begins with http and is not a URL; give one such as http://localhost:4318/v1/traces");
  const url = new URL(to);
  if (url.username !== "" || url.password !== "")
    throw new Error("--to has a user or a password in it: give the header for them in a --header-file");
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url;
};

interface Sending {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly body: Uint8Array;
}

const sent = async (url: URL, { headers, signal, body }: Sending, attempt: number): Promise<Uint8Array> => {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let problem: string;
  let answer: Response | null = null;
  try {
    // No redirects, because the headers are only for this endpoint.
    answer = await fetch(url, { method: "POST", headers, body: body.slice(), signal: within, redirect: "manual" });
    if (answer.ok) return await startOf(answer, within);
    await answer.body?.cancel();
    problem = `it answered ${answer.status}`;
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof SendError) throw thrown;
    problem = within.aborted
      ? `it did not answer within ${timeoutMs / 1_000} s`
      : `it can't be reached${codeOf(thrown)}`;
  }
  const mayPass = answer === null || answer.ok || [429, 502, 503, 504].includes(answer.status);
  if (!mayPass) throw new SendError(problem);
  if (attempt === attemptsMax) throw new SendError(`${problem}, ${attempt} times`);
  await wait(retryDelayMs(attempt, answer?.headers.get("retry-after") ?? null, Date.now()), undefined, { signal });
  return sent(url, { headers, signal, body }, attempt + 1);
};

/** Reads an answer up to a limit. It contains the number of rejected spans. @throws SendError for a longer answer */
const startOf = async ({ body }: Response, signal: AbortSignal): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    signal.throwIfAborted();
    bytes += piece.length;
    if (bytes > answerBytesMax) throw new SendError(`its answer has more than ${answerBytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

const answerBytesMax = 65_536;

/**
 * Returns the delay after an attempt, from 1, in milliseconds.
 *
 * @param retryAfter the header, in seconds or as a date (RFC 9110, 10.2.3)
 */
export const retryDelayMs = (attempt: number, retryAfter: string | null, now: number): number => {
  const asked = retryAfter === null || retryAfter.trim() === "" ? Number.NaN : Number(retryAfter) * 1_000;
  const until = Number.isNaN(asked) ? Date.parse(retryAfter ?? "") - now : asked;
  return Number.isNaN(until) ? 1_000 * 2 ** (attempt - 1) : Math.min(Math.max(until, 0), 60_000);
};

const attemptsMax = 5;
const timeoutMs = 30_000;

const codeOf = (thrown: unknown): string => {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
};

/**
 * Reads the headers in a file, one `name: value` per line; ignores empty lines and those that begin with #.
 *
 * @throws Error that names the line of an invalid header, and never shows it
 */
export const headersIn = (file: string | undefined, to: string): Record<string, string> => {
  if (file === undefined) return {};
  if (!isEndpoint(to)) throw new Error("--header-file is for an endpoint, and --to is a file");
  const lines = readTextFile(file).split(/\r?\n/u);
  return Object.fromEntries(
    lines.flatMap((line, index) => {
      if (line.trim() === "" || line.startsWith("#")) return [];
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/u.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new Error(`line ${index + 1} of the --header-file "${file}" is no "name: value"`);
      return [[name.toLowerCase(), value.trimEnd()]];
    }),
  );
};
