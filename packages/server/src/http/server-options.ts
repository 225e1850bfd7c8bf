import type { Clock } from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { type Access, type AccessOptions, accessOf } from "./access.ts";
import { ThreadLines } from "./thread-lines.ts";

/** Who may ask, and within which limits. */
export interface HttpOptions extends AccessOptions {
  /**
   * By which names the server is called (`api.example.com`, with a port where it matters; `*` is any), against pages that have
   * their own name resolved to this machine. Default: `localhost`, `127.0.0.1`, `[::1]`.
   */
  readonly hosts?: readonly string[];
  /** From which origins pages may call it (`https://example.com`), beside its own. Default: none, and no CORS headers. */
  readonly origins?: readonly string[];
  /** The largest body, in bytes. Default 1,048,576. */
  readonly bodyBytesMax?: number;
  /** How many streams may be open at a time. Default 10,000. */
  readonly streamsMax?: number;
  /** The same for each principal. Default: as many as may be open. */
  readonly streamsByPrincipalMax?: number;
  /** How often a stream without news says that it is there, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number;
  /** How long `close` waits for what is under way, in milliseconds. Default 10,000. */
  readonly drainMs?: number;
  /** Called with an error of a route, and the id of its request; `recovery` with one of starting the host. Default: nothing is reported. */
  readonly onError?: (error: unknown, requestId: string) => void;
  /** Called with what of a request was left out because this server can't do it, and with the id of the request. Default: only the response says so. */
  readonly onWarning?: (warnings: readonly string[], requestId: string) => void;
  /** Default: the computer's. */
  readonly clock?: Clock;
}

/** What all routes have of their server: its options, after their defaults. */
export interface ServerContext extends Readonly<Required<Omit<HttpOptions, keyof AccessOptions>>> {
  readonly access: Access;
  readonly lines: ThreadLines;
}

/** Options after their defaults. @throws ConfigurationError for one that is invalid */
export const serverContextOf = (options: HttpOptions): ServerContext => {
  const problem = problemOfOptions("threadServer", options, optionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const { streamsMax = 10_000, streamsByPrincipalMax = streamsMax } = options;
  const { bodyBytesMax = 1_048_576, heartbeatMs = 15_000, drainMs = 10_000 } = options;
  const numbers = { bodyBytesMax, streamsMax, streamsByPrincipalMax, heartbeatMs, drainMs };
  for (const [name, value] of Object.entries(numbers)) {
    const least = name === "drainMs" ? 0 : 1;
    if (!(Number.isSafeInteger(value) && value >= least))
      throw new ConfigurationError(`threadServer: ${name} is ${value}; it must be a whole number, ${least} or more`);
  }
  const { hosts = loopback, origins = [] } = options;
  if (!areTexts(hosts, isHostName) || hosts.length === 0)
    throw new ConfigurationError(
      `threadServer: hosts must be names such as ["api.example.com", "localhost:8080"], or ["*"] (got ${JSON.stringify(hosts)})`,
    );
  if (!areTexts(origins, isOrigin))
    throw new ConfigurationError(
      `threadServer: origins must be a list such as ["https://example.com"] (got ${JSON.stringify(origins)})`,
    );
  return {
    access: accessOf(options),
    hosts: hosts.map((host) => host.toLowerCase()),
    origins,
    ...numbers,
    onError: (error, requestId) => reported(() => options.onError?.(error, requestId)),
    onWarning: (warnings, requestId) => reported(() => options.onWarning?.(warnings, requestId)),
    clock: options.clock ?? computerClock,
    lines: new ThreadLines(),
  };
};

const reported = (report: () => void): void => {
  try {
    report();
  } catch {
    // A reporter that fails must cost nobody an answer.
  }
};

/** Names under which only this machine is reached. */
const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const areTexts = (given: unknown, isOne: (text: string) => boolean): boolean =>
  Array.isArray(given) && given.every((each) => typeof each === "string" && isOne(each));

const isHostName = (text: string): boolean => text === "*" || /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(text);

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

const optionNames: OptionNames<HttpOptions> = {
  authenticate: true,
  mayUse: true,
  threadPrefix: true,
  hosts: true,
  origins: true,
  bodyBytesMax: true,
  streamsMax: true,
  streamsByPrincipalMax: true,
  heartbeatMs: true,
  drainMs: true,
  onError: true,
  onWarning: true,
  clock: true,
};

/** For what a server waits for: at most minutes, and never in place of work, so a process need not live for it. */
const computerClock: Clock = {
  now: () => Date.now(),
  wakeAt: (dueAt, callback) => {
    const timer = setTimeout(callback, Math.max(dueAt - Date.now(), 0));
    // Elsewhere than in Node it is a number.
    if (typeof timer === "object") timer.unref();
    return () => clearTimeout(timer);
  },
};
