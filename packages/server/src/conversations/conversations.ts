import type { Host, HostedThread } from "@colloquy/host";
import { cursorOf } from "@colloquy/host/store";
import type { JsonObject, State } from "@colloquy/machine";
import { z } from "zod";
import { type Call, type Route } from "../http/route.ts";
import { HttpError, invalid } from "../http/http-error.ts";
import { listPage, pageQuery, usable } from "../http/list-page.ts";
import { isThreadId, mayReach } from "../http/access.ts";
import type { ServerContext } from "../http/server-options.ts";
import { addItems, conversationOf, itemIn, itemsIn, takeBack } from "./path-items.ts";

/** Returns the routes of the Conversations API. A conversation is a thread, and its items are those of the path. */
export const conversationRoutes = (host: Host, context: ServerContext): readonly Route[] => [
  ...routesOfAll(host),
  ...routesOfOne(host),
  ...routesOfItems(host, context),
];

const routesOfAll = (host: Host): readonly Route[] => [
  {
    method: "POST",
    path: "/v1/conversations",
    description: "Begins a conversation, with items and metadata where there are some.",
    body: createSchema,
    handle: async (call) => {
      const { items = [], metadata = {} } = await call.body(createSchema);
      const { system, turns } = conversationOf(items ?? []);
      const { threadDefaults: defaults } = host;
      const thread = host.thread(await call.newThreadId(`conv_${crypto.randomUUID().replaceAll("-", "")}`));
      await thread.start({
        ...defaults,
        metadata: { ...defaults.metadata, ...metadata },
        ...(system === null ? {} : { system }),
      });
      for (const turn of turns) await thread.addTurn(turn);
      return shown(call, thread);
    },
  },
  {
    method: "GET",
    path: "/v1/conversations",
    description: "The conversations that the caller may use, the newest first.",
    query: pageQuery,
    handle: async (call) => {
      const { limit, order, after } = call.query(pageQuery);
      const found = await listed(host, call, { limit: limit + 1, order, after });
      const data = found.slice(0, limit);
      return listPage(data, found.length > limit);
    },
  },
];

const routesOfOne = (host: Host): readonly Route[] => [
  onThread(host, { method: "GET", path: "", description: "A conversation." }, shown),
  onThread(
    host,
    { method: "POST", path: "", description: "Replaces the metadata of a conversation.", body: updateSchema },
    async (call, thread) => {
      const { metadata } = await call.body(updateSchema);
      await thread.setMetadata(metadata ?? {});
      return shown(call, thread);
    },
  ),
  onThread(
    host,
    { method: "DELETE", path: "", description: "Deletes a conversation, and all that was said in it." },
    async (call, thread) => {
      if (!(await thread.delete())) throw notThere(call);
      return Response.json({ id: thread.id, object: "conversation.deleted", deleted: true });
    },
  ),
];

const routesOfItems = (host: Host, { lines }: ServerContext): readonly Route[] => [
  onThread(
    host,
    { method: "GET", path: "/items", description: "The items of a conversation, the newest first.", query: pageQuery },
    async (call, thread) => {
      const range = call.query(pageQuery);
      const { found } = await look(call, thread, (state) => ({ found: itemsIn(state, range) }));
      if (found === null) throw invalid(`there is no item "${range.after}" in this conversation`, "after");
      return listPage(found.items, found.hasMore);
    },
  ),
  onThread(
    host,
    {
      method: "POST",
      path: "/items",
      description: "Adds items behind the newest; nothing is asked.",
      body: itemsSchema,
    },
    async (call, thread) => {
      const { items } = await call.body(itemsSchema);
      const added = await lines.next(thread.id, () => addItems(thread, items));
      if (added === null) throw notThere(call);
      return listPage(added, false);
    },
  ),
  onThread(
    host,
    { method: "GET", path: "/items/:item_id", description: "An item of a conversation." },
    async (call, thread) => {
      const { item } = await look(call, thread, (state) => ({ item: itemIn(state, idOfItem(call)) }));
      if (item === null) throw notThere(call);
      return Response.json(item);
    },
  ),
  onThread(
    host,
    { method: "DELETE", path: "/items/:item_id", description: "Takes the newest item back." },
    async (call, thread) => {
      if (!(await lines.next(thread.id, () => takeBack(thread, idOfItem(call))))) throw notThere(call);
      return shown(call, thread);
    },
  ),
];

/** Creates a route below a conversation. It answers 404 if this principal may not use the thread. */
const onThread = (
  host: Host,
  route: Omit<Route, "handle">,
  handle: (call: Call, thread: HostedThread) => Promise<Response>,
): Route => ({
  ...route,
  path: `/v1/conversations/:conversation_id${route.path}`,
  handle: async (call) => {
    const id = call.parameters["conversation_id"] ?? "";
    if (!(await mayReach(call, id))) throw notThere(call);
    return handle(call, host.thread(id));
  },
});

const idOfItem = ({ parameters }: Call): string => parameters["item_id"] ?? "";

const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= 16, "at most 16 members")
  .nullish();

/** Items are checked by the parser of that format, whose errors say what is wrong. */
const inputItems = z.array(z.looseObject({ type: z.string().optional() })).max(20);

const createSchema = z.strictObject({ items: inputItems.nullish(), metadata: metadataSchema });
const updateSchema = z.strictObject({ metadata: metadataSchema });
const itemsSchema = z.strictObject({ items: inputItems });

/** Reads a thread's state. @throws HttpError 404 if the thread does not exist */
const look = async <Seen>(call: Call, thread: HostedThread, see: (state: State) => Seen): Promise<Seen> => {
  const seen = await thread.look(see);
  if (seen === null) throw notThere(call);
  return seen;
};

/** Creates the same error for a missing and a forbidden thread, so that none reveals whether it exists. */
const notThere = ({ url }: Call): HttpError =>
  new HttpError(404, `there is nothing at ${JSON.stringify(url.pathname)}`, { code: "not_found" });

const shown = async (call: Call, thread: HostedThread): Promise<Response> =>
  Response.json(
    await look(call, thread, ({ context: { createdAt, metadata } }) =>
      conversation({ threadId: thread.id, createdAt, metadata }),
    ),
  );

const conversation = (thread: {
  readonly threadId: string;
  readonly createdAt: number;
  readonly metadata: JsonObject;
}) => ({
  id: thread.threadId,
  object: "conversation",
  // In seconds.
  created_at: Math.floor(thread.createdAt / 1_000),
  metadata: thread.metadata,
});

/** Lists up to `limit` conversations that this principal may use. Threads that no request can name are left out. */
const listed = async (
  host: Host,
  call: Call,
  {
    limit,
    order,
    after,
  }: { readonly limit: number; readonly order: "asc" | "desc"; readonly after: string | undefined },
): Promise<readonly ReturnType<typeof conversation>[]> => {
  const begin = after === undefined ? undefined : await placeOf(host, call, after);
  const found = await usable(call, limit, async (cursor = begin) => {
    const page = {
      order: order === "asc" ? "oldest" : "newest",
      ...(cursor === undefined ? {} : { after: cursor }),
    } as const;
    const { threads, next } = await host.threads(page);
    return { items: threads.filter(({ threadId }) => isThreadId(threadId)), next };
  });
  return found.map(conversation);
};

const placeOf = async (host: Host, call: Call, id: string): Promise<string> => {
  const createdAt = (await mayReach(call, id)) ? await host.thread(id).look(({ context }) => context.createdAt) : null;
  if (createdAt === null) throw invalid(`there is no conversation ${JSON.stringify(id)}`, "after");
  return cursorOf({ createdAt, threadId: id });
};
