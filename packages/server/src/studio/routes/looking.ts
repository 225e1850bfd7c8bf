import type { StoredThread } from "@colloquy/host";
import { cursorOf } from "@colloquy/host/store";
import { fingerprintOf, type State, type ConversationMachine } from "@colloquy/machine";
import { type Call, eventStream, HttpError, type Route, usable } from "@colloquy/server";
import { promptChange, promptView, type WholePrompt } from "../projections/prompt-view.ts";
import { differenceOf, factsOf, overviewOf, spokenIn, treeOf } from "../projections/thread-views.ts";
import { turnView } from "../projections/turn-view.ts";
import { changedThreads } from "../reading/changed-threads.ts";
import { type ItemReader, itemReader, type ReadThread, runningText } from "../reading/thread-reader.ts";
import type {
  EntryView,
  FoundView,
  Setup,
  UnitView,
  Chart,
  ChartArrow,
  RunningView,
  ThreadItems,
  TreeItem,
} from "../wire/wire.ts";
import type { StudioOptions } from "./options.ts";
import { answer, entryIn, numberIn, pageIn, type Reader, textIn, threadIn } from "./query.ts";

export const lookingRoutes = (options: StudioOptions, read: Reader): readonly Route[] => {
  const ofThread: OfThread = (path, description, view) =>
    get(path, description, async (call) => answer(view(await threadIn(call, read), call)));
  return [...storeRoutes(options), ...threadRoutes(options, read, ofThread), ...promptRoutes(options, ofThread)];
};

const get = (path: string, description: string, handle: Route["handle"]): Route => ({
  method: "GET",
  path: `/studio/api/${path}`,
  description,
  handle,
});

/** Makes a route to a view of the thread that the query names. */
type OfThread = (path: string, description: string, view: (thread: ReadThread, call: Call) => object) => Route;

const storeRoutes = (options: StudioOptions): readonly Route[] => {
  const { store, clock } = options;
  const items = itemReader(options.configurations[0].host);
  return [
    get("setup", "What can be shown and done here.", () => answer(setupOf(options))),
    get("threads", "The threads of the store, newest first.", async (call) => {
      const begin = call.url.searchParams.get("after") ?? undefined;
      const found = await usable(call, threadsOfPage + 1, async (after = begin) => {
        const { threads, next } = await pageAfter(store, after);
        return { items: threads, next };
      });
      const threads = found.slice(0, threadsOfPage);
      const last = threads.at(-1);
      const page: ThreadItems = {
        threads: await items(threads),
        next: last === undefined || found.length <= threadsOfPage ? null : cursorOf(last),
      };
      return answer(page);
    }),
    get("events", "The threads that change, as they do.", (call) => {
      const stream = call.openStream();
      const changes = changedThreads({ store, clock, everyMs: options.everyMs ?? 500, signal: call.signal });
      return eventStream(stream, blocksOf(call, changes, items));
    }),
    get("search", "Where all of these words were said.", async (call) => {
      const search = store.search?.bind(store);
      if (search === undefined) throw new HttpError(501, "this store can't be searched; one in a SQLite file can");
      const words = textIn(call, "words");
      const hits = await usable(call, hitsMax + 1, async (after) => {
        const page = await search(words, { limit: hitsMax + 1, ...(after === undefined ? {} : { after }) });
        return { items: page.hits, next: page.next };
      });
      const found: FoundView = { words, hits: hits.slice(0, hitsMax), hasMore: hits.length > hitsMax };
      return answer(found);
    }),
  ];
};

const threadRoutes = ({ store, clock }: StudioOptions, read: Reader, ofThread: OfThread): readonly Route[] => [
  ofThread("thread", "A thread as it is now.", ({ state, entries }) => overviewOf(state, entries.length)),
  ofThread("timeline", "The entries of a thread.", ({ rows }, call) => pageIn(call, rows)),
  ofThread("tree", "Its turns, with all branches.", (thread, call) => pageIn(call, treeIn(thread))),
  ofThread("tree-row", "The row of a turn in the tree.", (thread, call) => {
    const number = numberIn(call, "turn", 0);
    return { row: treeIn(thread).findIndex(({ turn }) => turn === number) };
  }),
  ofThread("turn", "A turn, with its calls, tools and waits.", (thread, call) => {
    const turn = turnView(thread, numberIn(call, "turn", 0), clock.now());
    if (turn === null) throw new HttpError(404, "there is no such turn", { param: "turn" });
    return turn;
  }),
  get("running", "The open turn: its time, and the text by now.", async (call) => {
    const { state } = await threadIn(call, read);
    const { open } = state.context;
    if (open === null) return answer({ running: null });
    const now = clock.now();
    const text = await runningText(store, state, now);
    const running: RunningView = { turn: open.number, forMs: Math.max(now - open.startedAt, 0), text };
    return answer({ running });
  }),
  ofThread("entry", "An entry, and the state after it.", entryView),
  ofThread("said", "The conversation after an entry; by default its newest messages.", (thread, call) =>
    pageIn(call, spokenIn(thread.at(entryIn(call, thread).seq)), "last"),
  ),
  get("difference", "How the thread differs between two entries.", async (call) => {
    const [left, right] = [await threadIn(call, read), await threadIn(call, read, "other")];
    const [one, other] = [left.at(entryIn(call, left).seq), right.at(entryIn(call, right, "otherSeq").seq)];
    return answer(differenceOf(one, other));
  }),
  get("export", "A thread as its journal, in JSON lines.", async (call) => journalFile(await threadIn(call, read))),
];

const promptRoutes = (options: StudioOptions, ofThread: OfThread): readonly Route[] => {
  const prompts = promptReader(options);
  return [
    ofThread("prompt", "The prompt of a call: what it shows, and why.", (thread, call) => prompts(thread, call).view),
    ofThread("units", "The units of a thread in a prompt.", (thread, call) =>
      pageIn(call, prompts(thread, call).units),
    ),
    ofThread(
      "prompt-change",
      "How a prompt differs from that of the call before, or of another call.",
      (thread, call) => {
        const after = prompts(thread, call);
        const other = thread.callAt(numberIn(call, "otherSeq", after.view.call.seq - 1));
        if (other === null) throw new HttpError(404, "no other model call came before", { code: "no_call" });
        return promptChange(prompts(thread, call, other), after);
      },
    ),
    ofThread("unit", "A unit whole, and as the prompt shows it.", (thread, call): UnitView => {
      const unit = pageIn(call, prompts(thread, call).explained).items[0];
      if (unit === undefined) throw new HttpError(404, "the prompt has no such unit", { param: "from" });
      return { messages: unit.messages, sent: unit.sent };
    }),
  ];
};

/** Lists the threads after a cursor. An unknown cursor is the client's error. */
const pageAfter = async (store: StudioOptions["store"], after: string | undefined) => {
  try {
    return await store.list(after === undefined ? {} : { after });
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new HttpError(400, thrown.message, { param: "after" });
    throw thrown;
  }
};

const setupOf = ({ store, configurations, models = [], about }: StudioOptions): Setup => ({
  chart: chartOf(configurations[0].host.machine),
  policies: configurations.map(({ name }) => name),
  models,
  searches: store.search !== undefined,
  about,
});

const blocksOf = async function* (
  call: Call,
  changes: AsyncIterable<readonly StoredThread[]>,
  items: ItemReader,
): AsyncGenerator<string> {
  for await (const changed of changes) {
    const threads = await usable(call, changed.length, async () => ({ items: changed, next: null }));
    if (threads.length > 0) yield `event: threads\ndata: ${JSON.stringify(await items(threads))}`;
  }
};

/** Returns the rows of the tree of a thread, cached because they are requested page by page. */
const treeIn = ({ state, rows }: ReadThread): readonly TreeItem[] => {
  const tree = trees.get(state) ?? treeOf(state, rows);
  trees.set(state, tree);
  return tree;
};

const trees = new WeakMap<object, readonly TreeItem[]>();

const threadsOfPage = 100;

const hitsMax = 50;

const entryView = (thread: ReadThread, call: Call): EntryView => {
  const entry = entryIn(call, thread);
  const { seq } = entry;
  const state = thread.at(seq);
  return {
    entry,
    entries: thread.entries.length,
    came: thread.rows[seq - 1]?.place ?? null,
    place: thread.rows[seq]?.place ?? "",
    // Between turns, the turn at the head.
    turn: thread.rows[seq]?.turn ?? (state.context.conversation.head || null),
    facts: factsOf(state),
    call: thread.callAt(seq),
  };
};

type PromptReader = (thread: ReadThread, call: Call, at?: number) => WholePrompt;

/** Returns a reader that caches the last explained prompt, because it is requested page by page. */
const promptReader = ({ configurations }: StudioOptions): PromptReader => {
  let last: { readonly of: ReadThread; readonly key: string; readonly prompt: WholePrompt } | null = null;
  return (thread, call, at = entryIn(call, thread).seq) => {
    const policy = call.url.searchParams.get("policy");
    const seq = thread.callAt(at);
    if (seq === null) throw new HttpError(404, "no model was asked up to this entry", { code: "no_call" });
    const key = JSON.stringify([seq, policy]);
    if (last?.of === thread && last.key === key) return last.prompt;
    const state = thread.at(seq);
    const { fingerprint } = state.context.configuration;
    const configuration =
      policy === null
        ? (configurations.find(({ host }) => fingerprintOf(host.machine) === fingerprint) ?? configurations[0])
        : configurations.find(({ name }) => name === policy);
    if (configuration === undefined) throw new HttpError(400, "there is no such policy", { param: "policy" });
    const prompt = promptView(state, {
      machine: configuration.host.machine,
      as: policy === null ? "sent" : "now",
      seq,
      reported: reportedAfter(thread, state, seq),
    });
    last = { of: thread, key, prompt };
    return prompt;
  };
};

/** Returns the input tokens reported in the outcome of the call that was requested there. */
const reportedAfter = (thread: ReadThread, state: State, seq: number): number | null => {
  const { open } = state.context;
  if (open?.stage.type !== "responding") return null;
  const call = `/${open.number}.${open.step}#${open.stage.call.attempt}`;
  for (const { event } of thread.entries.slice(seq + 1, seq + outcomesWithin)) {
    if ((event.type === "llm.completed" || event.type === "llm.failed") && event.effectId.endsWith(call))
      return event.usage?.inputTokens ?? null;
  }
  return null;
};

const outcomesWithin = 100;

const journalFile = ({ entries, state }: ReadThread): Response => {
  const name = state.context.threadId.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 80);
  return new Response(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), {
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.jsonl"`,
      "cache-control": "no-store",
    },
  });
};

/** Returns the statechart of a machine, from its definition. Self-transitions are left out. Pure. */
const chartOf = ({ root }: ConversationMachine): Chart => {
  const nodes = Object.values<Node>(root.states);
  return {
    states: nodes.map((node) => ({ name: node.key, below: Object.keys(node.states) })),
    arrows: nodes.flatMap((node) => [node, ...Object.values<Node>(node.states)].flatMap(arrowsFrom)),
  };
};

type Node = ConversationMachine["root"]["states"][string];

const arrowsFrom = (node: Node): readonly ChartArrow[] => {
  const events = new Map<string, Set<string>>();
  for (const [event, transitions] of node.transitions) {
    for (const { target } of transitions) {
      const to = target?.[0]?.key;
      if (to !== undefined && to !== node.key) events.set(to, (events.get(to) ?? new Set<string>()).add(event));
    }
  }
  return [...events].map(([to, names]) => ({ from: node.key, to, events: [...names] }));
};
