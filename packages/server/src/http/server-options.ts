import type { Clock } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { type Access, accessKinds, type AccessOptions, accessOf } from "./access.ts";

/** Options for access and limits. */
export interface HttpOptions extends AccessOptions {
  /**
   * The names by which the server is called (`api.example.com`, with a port if it matters; `*` is any). Other names are
   * refused, as pages may make their own name resolve to this machine. Default: `localhost`, `127.0.0.1`, `[::1]`.
   */
  readonly hosts?: readonly string[];
  /**
   * The origins whose pages may call the server (`https://example.com`), besides its own. Default: none, and no CORS
   * headers.
   */
  readonly origins?: readonly string[];
  /** The largest body, in bytes. Default 1,048,576. */
  readonly bodyBytesMax?: number;
  /** The number of streams that may be open at a time. Default 10,000. */
  readonly streamsMax?: number;
  /** The same for each principal. Default: `streamsMax`. */
  readonly streamsByPrincipalMax?: number;
  /** The interval of heartbeats on an idle stream, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number;
  /** How long `close` waits for running requests and streams, in milliseconds. Default 10,000. */
  readonly drainMs?: number;
  /**
   * Called with an error of a route and the id of its request, or with an error of starting the host and `recovery`.
   * Default: nothing is reported.
   */
  readonly onError?: (error: unknown, requestId: string) => void;
  /**
   * Called with the members of a request that were skipped as unsupported, and the id of the request. Default: only the
   * response lists them.
   */
  readonly onWarning?: (warnings: readonly string[], requestId: string) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** The server's options after their defaults, for all routes. */
export interface ServerContext extends Readonly<Required<Omit<HttpOptions, keyof AccessOptions>>> {
  readonly access: Access;
  readonly lines: ThreadLines;
}

/** Applies the defaults of the options. @throws ConfigurationError for an invalid one */
export const serverContextOf = (options: HttpOptions): ServerContext => {
  // First, since it says what leaving out `authenticate` means.
  const access = accessOf(options);
  checkOptions("threadServer", options, optionKinds);
  const { streamsMax = 10_000, streamsByPrincipalMax = streamsMax } = options;
  const { bodyBytesMax = 1_048_576, heartbeatMs = 15_000, drainMs = 10_000 } = options;
  const numbers = { bodyBytesMax, streamsMax, streamsByPrincipalMax, heartbeatMs, drainMs };
  const { hosts = loopback, origins = [] } = options;
  return {
    access,
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
    // A reporter that fails must not cost a caller its answer.
  }
};

/** Names that reach only this machine. */
const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const areTexts = (given: unknown, isOne: (text: string) => boolean): given is readonly string[] =>
  Array.isArray(given) && given.every((each) => typeof each === "string" && isOne(each));

const isHostName = (text: string): boolean => text === "*" || /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(text);

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

const optionKinds: OptionKinds<HttpOptions> = {
  ...accessKinds,
  hosts: kinds.of(
    'names such as ["api.example.com", "localhost:8080"], or ["*"]',
    (hosts) => areTexts(hosts, isHostName) && hosts.length > 0,
  ),
  origins: kinds.of('a list such as ["https://example.com"]', (origins) => areTexts(origins, isOrigin)),
  bodyBytesMax: kinds.whole(1),
  streamsMax: kinds.whole(1),
  streamsByPrincipalMax: kinds.whole(1),
  heartbeatMs: kinds.whole(1),
  drainMs: kinds.whole(0),
  onError: kinds.anything,
  onWarning: kinds.anything,
  clock: kinds.anything,
};

/** The system clock. The server only waits for minutes at most, so its timers do not keep the process alive. */
const computerClock: Clock = {
  now: () => Date.now(),
  wakeAt: (dueAt, callback) => {
    // A timer counts at most 2^31 - 1 milliseconds, which are 24 days, and treats more as 1.
    const timer = setTimeout(callback, Math.min(Math.max(dueAt - Date.now(), 0), 2 ** 31 - 1));
    // In Node a timer is an object; elsewhere it is a number.
    if (typeof timer === "object") timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Runs requests that change a thread one after the other, so that the state each one read stays valid. */
class ThreadLines {
  readonly #last = new Map<string, Promise<void>>();

  async next<Done>(threadId: string, work: () => Promise<Done>): Promise<Done> {
    const before = this.#last.get(threadId);
    const over = Promise.withResolvers<void>();
    this.#last.set(threadId, over.promise);
    try {
      await before;
      return await work();
    } finally {
      over.resolve();
      if (this.#last.get(threadId) === over.promise) this.#last.delete(threadId);
    }
  }
}
