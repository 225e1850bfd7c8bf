import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { performerOf, type PerformerOptions } from "@colloquy/host/perform";
import { errorTextOf } from "@colloquy/host/runtime";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { type Performing, type PerformingOptions, performingOf } from "@colloquy/runtime-node/performing";
import { CancelledError, createEndpointHandler, handlers, type LoggerTransport, object } from "@restatedev/restate-sdk";
import { handlersByHand } from "./by-hand.ts";
import type { ThreadHandlers } from "./handlers.ts";
import { type Hub, memoryHub } from "./hub.ts";
import { cutHandler, performHandler } from "./perform.ts";
import { requests } from "./requests.ts";
import { tellHandler } from "./tell.ts";
import { KnownThreads, type WorkerContext } from "./thread-state.ts";

/**
 * The options of a worker: those of `createHost` in `@colloquy/runtime-node`, without a store. All workers of an engine need
 * the same machine and tools.
 */
export interface ServeOptions extends Omit<PerformerOptions, keyof PerformingOptions>, PerformingOptions {
  /** Carries what is shown to the hosts that asked, as it happens. Default: none, and they read the journal. */
  readonly hub?: Hub;
  /** The port of this worker. Default 9080; 0 takes a free one. */
  readonly port?: number;
  /** The address that it listens at. Default 127.0.0.1. */
  readonly hostname?: string;
  /** The address of Restate's admin API, such as `http://127.0.0.1:9070`, where the worker registers. Default: it does not. */
  readonly admin?: string;
  /** The address at which Restate reaches the worker, if it differs, as behind a load balancer. */
  readonly advertised?: string;
  /** The name of the threads' object, the same as in `connect`. Default `thread`. */
  readonly name?: string;
  /** The number of entries between snapshots, from which a worker reads a thread that it does not know. 0: none. Default 64. */
  readonly snapshotEvery?: number;
  /** The number of threads whose state is kept in memory. 0: each event reads its thread. Default 2,000. */
  readonly knownThreads?: number;
  /** Restate's keys that must have signed a request, such as `publickeyv1_…`. Default: unsigned requests are accepted. */
  readonly identityKeys?: readonly string[];
}

/** A worker that listens. */
export interface Worker {
  readonly url: string;
  /** Takes no more work. Running steps get five seconds; the rest continues on the next worker at this address. */
  close(): Promise<void>;
}

/**
 * Serves threads to Restate, which calls this process for each event of a thread and when a timer is due.
 *
 * @throws ConfigurationError for invalid options; Error if the worker can't listen or register
 */
export const serve = async (options: ServeOptions): Promise<Worker> => {
  checkOptions("serve", options, serveOptionKinds);
  const { port = 9080, hostname = "127.0.0.1", admin, advertised, identityKeys, ...others } = options;
  const { hub = memoryHub(), name = "thread", snapshotEvery = 64, knownThreads = 2_000, ...own } = others;
  const { system: _, ...rest } = own;
  const performing = performingOf("serve", own);
  const performer = performerOf({ ...rest, ...performing });
  const worker: WorkerContext = {
    performer,
    hub,
    object: { name },
    known: new KnownThreads(knownThreads),
    snapshotEvery,
  };
  const server = createServer(
    createEndpointHandler({
      services: [threadObject(worker)],
      logger: reporter(performing.onObserverError),
      ...(identityKeys === undefined ? {} : { identityKeys: [...identityKeys] }),
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.listen(port, hostname);
  await once(server, "listening").catch((cause: unknown) => {
    throw new Error(
      `a worker can't listen at port ${port} of ${hostname}; give another port, or end the process that uses it`,
      {
        cause,
      },
    );
  });
  // The server listens on a port, not on a path.
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${bound}`;
  const close = async (): Promise<void> => {
    const { clock } = performer;
    const closed = once(server, "close");
    server.close();
    for (const session of sessions) session.close();
    const cancel = clock.wakeAt(clock.now() + closeMs, () => {
      for (const session of sessions) session.destroy();
    });
    await closed;
    cancel();
  };
  try {
    if (admin !== undefined) await makeKnown(admin, advertised ?? url);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { url, close };
};

/** The milliseconds that running steps get when a worker is closed. */
const closeMs = 5_000;

const serveOptionKinds: OptionKinds<ServeOptions> = {
  llm: kinds.needed(kinds.anything),
  machine: kinds.anything,
  system: kinds.anything,
  clock: kinds.anything,
  tools: kinds.anything,
  toolContext: kinds.anything,
  thread: kinds.anything,
  hooks: kinds.anything,
  observers: kinds.anything,
  onObserverError: kinds.anything,
  describeThrown: kinds.anything,
  secrets: kinds.anything,
  hub: kinds.anything,
  port: kinds.anything,
  hostname: kinds.anything,
  // The address may hold a password.
  admin: kinds.of("an address such as http://127.0.0.1:9070", (value) => URL.canParse(String(value))),
  advertised: kinds.anything,
  name: kinds.anything,
  snapshotEvery: kinds.whole(0),
  knownThreads: kinds.whole(0),
  identityKeys: kinds.anything,
};

/** The milliseconds that Restate gets to examine a worker. */
const answerMs = 60_000;

/** Defines the threads' object for Restate. */
const threadObject = (worker: WorkerContext) => {
  const { exclusive, shared } = handlers.object;
  const input = requests();
  const { journal, lease, release, append, rewrite, remove } = handlersByHand(worker);
  const all: ThreadHandlers = {
    tell: exclusive({ ...oncePerId, input: input.tell }, tellHandler(worker)),
    cut: shared({ ...oncePerId, input: input.cut }, cutHandler(worker)),
    perform: shared({ ingressPrivate: true, inactivityTimeout: day, abortTimeout: day }, performHandler(worker)),
    journal: exclusive({ input: input.journal }, journal),
    lease: exclusive({ input: input.lease }, lease),
    release: exclusive({ input: input.release }, release),
    append: exclusive({ input: input.append }, append),
    rewrite: exclusive({ input: input.rewrite }, rewrite),
    remove: exclusive({ input: input.remove }, remove),
  };
  return object({
    name: worker.object.name,
    handlers: all,
    options: {
      enableLazyState: true,
      // A finished invocation is forgotten at once, as the journal of the thread has its results.
      journalRetention: 0,
      // No result is kept either: one of `journal` has all words of the thread, and would outlive it.
      idempotencyRetention: 0,
      // By default Restate gives up after 70 attempts, a minute, and waits for a person.
      retryPolicy: {
        initialInterval: 50,
        exponentiationFactor: 2,
        maxInterval: 1000,
        maxAttempts: Number.MAX_SAFE_INTEGER,
      },
    },
  });
};

/** An event that is sent again under its id within this time is ignored. */
const oncePerId = { idempotencyRetention: { hours: 1 } };

/** A model may be silent for so long. By default Restate cuts off what is silent for a minute. */
const day = { hours: 24 };

/** Registers the worker. @throws Error with a message that says what to do */
const makeKnown = async (admin: string, uri: string): Promise<void> => {
  // The origin has no password.
  const { origin } = new URL(admin);
  // Forced: Restate examines a known address again, and sends later events there.
  const within = AbortSignal.timeout(answerMs);
  const answer = await fetch(new URL("deployments", admin.endsWith("/") ? admin : `${admin}/`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri, force: true }),
    signal: within,
  }).catch((cause: unknown) => {
    throw new Error(
      `Restate does not answer at ${origin}: start its server (npx @restatedev/restate-server --bind-ip 127.0.0.1), or give the address of its admin API`,
      { cause },
    );
  });
  if (!answer.ok)
    throw new Error(
      `Restate, if its admin API is at ${origin}, did not take the worker at ${uri} (${answer.status}): ${await errorTextOf(answer, within)}`,
    );
};

/** Reports only failures of threads; a cancelled effect is none. Nothing is logged, as an error may hold words of the thread. */
const reporter =
  (report: Performing["onObserverError"]): LoggerTransport =>
  ({ level, context }, message: unknown, thrown?: unknown) => {
    // The SDK exports the enumeration of levels only as a type.
    if (context === undefined || !["warn", "error"].includes(level) || thrown instanceof CancelledError) return;
    report(thrown ?? new Error(String(message)), `restate ${context.invocationTarget}`);
  };
