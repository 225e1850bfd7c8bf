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
import { KnownThreads } from "./thread-state.ts";
import type { WorkerContext } from "./worker-context.ts";

/** What a worker is made from: what `createHost` of `@colloquy/runtime-node` is, without a store. All workers of an engine have the same machine and tools. */
export interface ServeOptions extends Omit<PerformerOptions, keyof PerformingOptions>, PerformingOptions {
  /** What is shown while it happens passes by it to those who asked. Default: nothing does, and they read the journal. */
  readonly hub?: Hub;
  /** Where Restate finds this worker. Default 9080; 0 takes a free one. */
  readonly port?: number;
  /** The address that it listens at. Default 127.0.0.1. */
  readonly hostname?: string;
  /** The address of Restate's admin API, such as `http://127.0.0.1:9070`, to which the worker makes itself known. Default: somebody else does that. */
  readonly admin?: string;
  /** At which address Restate reaches it, where that is another than it listens at, as behind a balancer. */
  readonly advertised?: string;
  /** The name of the threads' object; those who connect give the same. Default `thread`. */
  readonly name?: string;
  /** After how many entries a snapshot is written, so that a worker that does not know a thread reads little. 0: never. Default 64. */
  readonly snapshotEvery?: number;
  /** Of how many threads the state is kept in memory. 0: of none, and each event reads its thread. Default 2,000. */
  readonly knownThreads?: number;
  /** Keys of Restate's that requests must be signed by, such as `publickeyv1_…`. Default: anybody who reaches the address may ask. */
  readonly identityKeys?: readonly string[];
}

/** A worker that listens. */
export interface Worker {
  readonly url: string;
  /** Takes no more work. Work under way has five seconds to end; the rest continues when a worker is back at this address. */
  close(): Promise<void>;
}

/**
 * Serves threads to Restate: it calls this process when something comes for one, and when a timer is due.
 *
 * @throws ConfigurationError for options that are invalid; Error where it can't listen, or make itself known
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
    throw new Error(`a worker can't listen at port ${port} of ${hostname}; give another port, or end who has it`, {
      cause,
    });
  });
  // It listens at a port, not at a path.
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

/** How long steps that are under way have to end when a worker is closed, in milliseconds. */
const closeMs = 5_000;

const serveOptionKinds: OptionKinds<ServeOptions> = {
  llm: "required",
  machine: true,
  system: true,
  clock: true,
  tools: true,
  toolContext: true,
  thread: true,
  hooks: true,
  observers: true,
  onObserverError: true,
  describeThrown: true,
  secrets: true,
  hub: true,
  port: true,
  hostname: true,
  // It may have a password in it.
  admin: kinds.of("an address such as http://127.0.0.1:9070", (value) => URL.canParse(String(value))),
  advertised: true,
  name: true,
  snapshotEvery: kinds.whole(0),
  knownThreads: kinds.whole(0),
  identityKeys: true,
};

/** How long Restate has to look at a worker, in milliseconds. */
const answerMs = 60_000;

/** The object that threads are, as Restate is told of it. */
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
      // What is done is forgotten at once: the journal of the thread has it.
      journalRetention: 0,
      // Nor is a result kept: one of `journal` has all words of the thread, and would outlive it.
      idempotencyRetention: 0,
      // By itself Restate would give up after 70 times, which is a minute, and wait for a person.
      retryPolicy: {
        initialInterval: 50,
        exponentiationFactor: 2,
        maxInterval: 1000,
        maxAttempts: Number.MAX_SAFE_INTEGER,
      },
    },
  });
};

/** For so long an event that is sent again under its id is the same. */
const oncePerId = { idempotencyRetention: { hours: 1 } };

/** A model may take as long: Restate would cut off what sends it nothing for a minute. */
const day = { hours: 24 };

/** @throws Error with a message that says what to do */
const makeKnown = async (admin: string, uri: string): Promise<void> => {
  // Without a password that the address may have.
  const { origin } = new URL(admin);
  // Forced: an address that Restate knows is looked at again, and what comes from here on goes there.
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

/** Of all that the SDK says, only what went wrong with a thread: a cancelled effect did not. To no log, since what is thrown may have words of the thread. */
const reporter =
  (report: Performing["onObserverError"]): LoggerTransport =>
  ({ level, context }, message: unknown, thrown?: unknown) => {
    // The enumeration of levels is a type alone: the SDK does not export its values.
    if (context === undefined || !["warn", "error"].includes(level) || thrown instanceof CancelledError) return;
    report(thrown ?? new Error(String(message)), `restate ${context.invocationTarget}`);
  };
