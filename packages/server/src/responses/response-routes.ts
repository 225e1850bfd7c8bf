import { EventRefusedError, type Host, type HostedThread } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { z } from "zod";
import { eventStream } from "../http/event-stream.ts";
import { HttpError, invalid } from "../http/http-error.ts";
import { listPage, pageQuery } from "../http/list-page.ts";
import type { Call, Route } from "../http/route.ts";
import type { ServerContext } from "../http/server-options.ts";
import { mayReach } from "../http/access.ts";
import { inputItemsOf, outputItem, saidIn } from "../items/turn-items.ts";
import { askResponse } from "./ask-response.ts";
import { legOfQueued, queuedFacts } from "./leg-of-ask.ts";
import { type LegPlace, placeOfResponse, type QueuedPlace, responseObject } from "./response-object.ts";
import { responseRequest } from "./response-request.ts";
import type { ReadableLeg } from "./leg.ts";
import { findLeg, type ResponsesOptions, type ResponsesRoom, responsesRoom } from "./responses-room.ts";
import { turnPlaceOf } from "./target.ts";

export const responseRoutes = (
  host: Host,
  context: ServerContext,
  options: ResponsesOptions = {},
): readonly Route[] => {
  const room = responsesRoom(host, context, options);
  const of = (
    route: Omit<Route, "handle">,
    handle: (room: ResponsesRoom, call: Call, place: LegPlace) => Promise<Response>,
  ): Route => ({
    ...route,
    path: `/v1/responses/:id${route.path}`,
    handle: async (call) => {
      const given = await placeIn(call);
      if ("turn" in given) return handle(room, call, given);
      const place = await turnPlaceOf(room, given);
      if (place !== null) return handle(room, call, place);
      if (route.method === "DELETE" || route.path === "/input_items") throw stillQueued();
      const queued = await answerQueued(room, call, given);
      if (queued !== null) return queued;
      // Its turn has started meanwhile.
      const begun = await turnPlaceOf(room, given);
      if (begun === null) throw notFound();
      return handle(room, call, begun);
    },
  });
  return [
    {
      method: "POST",
      path: "/v1/responses",
      description: "Asks, or gives the results that a response waits for.",
      body: responseRequest,
      handle: (call) => create(room, call),
    },
    of({ method: "GET", path: "", description: "A response, or the stream of it.", query: readQuery }, read),
    of(
      { method: "GET", path: "/input_items", description: "What a response was asked with.", query: pageQuery },
      inputItems,
    ),
    of({ method: "POST", path: "/cancel", description: "Stops a response that is under way." }, cancel),
    of(
      {
        method: "DELETE",
        path: "",
        description: "Takes the words of the turn of a response out of its thread, for good.",
      },
      remove,
    ),
  ];
};

const create = async (room: ResponsesRoom, call: Call): Promise<Response> => {
  const request = await call.body(responseRequest);
  const stream = request.stream === true ? call.openStream() : null;
  const leg = await askResponse(room, call, request);
  if (stream !== null) return eventStream(stream, endedBlocks(leg.blocks(0) ?? none()));
  if (request.background !== true) await leg.ended;
  return Response.json(responseObject(leg.facts));
};

const read = async (room: ResponsesRoom, call: Call, place: LegPlace): Promise<Response> => {
  const leg = await foundLeg(room, place);
  return call.query(readQuery).stream === "true" ? streamOf(call, leg) : Response.json(responseObject(leg.facts));
};

/** Streams the events of a response. @throws HttpError if those before `starting_after` are not kept here */
const streamOf = (call: Call, leg: ReadableLeg): Response => {
  const { starting_after: after } = call.query(readQuery);
  const blocks = leg.blocks(after === undefined ? 0 : after + 1);
  if (blocks === null)
    throw invalid(
      leg.facts.endedAt === null
        ? "these events of the response are not kept here; leave out starting_after, or read it whole when it has ended"
        : "the numbers of this response's events are not kept here; leave out starting_after to have it whole",
      "starting_after",
      "events_not_kept",
    );
  return eventStream(call.openStream(), endedBlocks(blocks));
};

const readQuery = z.object({
  stream: z.string().optional(),
  /** The number of the newest event that the client has; -1 if it has none. */
  starting_after: z
    .string()
    .regex(/^(?:-1|\d{1,15})$/u, "must be the number of an event")
    .transform(Number)
    .optional(),
});

const inputItems = async (room: ResponsesRoom, call: Call, place: LegPlace): Promise<Response> => {
  await foundLeg(room, place);
  const state = await room.host.thread(place.threadId).state();
  const said = state === null ? null : saidIn(state, place.turn);
  const all: readonly JsonObject[] =
    said === null ? [] : place.leg === 1 ? inputItemsOf(said) : await answersTo(room, place);
  const { limit, order, after } = call.query(pageQuery);
  const ordered = order === "asc" ? all : all.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0)
    throw invalid(`there is no item ${JSON.stringify(after)} in this input`, "after");
  return listPage(ordered.slice(from, from + limit), from + limit < ordered.length);
};

/** Returns the input of a later leg: the outputs of the previous leg's calls. */
const answersTo = async (room: ResponsesRoom, place: LegPlace): Promise<readonly JsonObject[]> => {
  const before = await foundLeg(room, { ...place, leg: place.leg - 1 });
  const calls = new Set(before.facts.items.map((item) => item["call_id"]));
  const state = await room.host.thread(place.threadId).state();
  const said = state === null ? null : saidIn(state, place.turn);
  return (said?.messages ?? []).flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type !== "toolResult") return [];
      const item = outputItem(place.threadId, part.callId, part.content);
      return calls.has(item["call_id"]) ? [item] : [];
    }),
  );
};

const cancel = async (room: ResponsesRoom, _: Call, place: LegPlace): Promise<Response> => {
  const leg = await foundLeg(room, place);
  if (leg.facts.endedAt !== null) return Response.json(responseObject(leg.facts));
  const thread = room.host.thread(place.threadId);
  const asks = await thread.look(({ context: { open } }) => (open?.number === place.turn ? open.asks : []));
  // Cancel by ask id, since another turn may be open by then.
  for (const { askId } of asks ?? []) await cancelAsk(thread, askId);
  await leg.ended;
  return Response.json(responseObject(leg.facts));
};

/** Cancels an ask. An ask that has ended or is missing counts as cancelled. */
const cancelAsk = (thread: HostedThread, askId: string): Promise<void> =>
  thread.cancel("cancelled by the client", askId).catch((thrown: unknown) => {
    if (!(thrown instanceof EventRefusedError)) throw thrown;
  });

/** Reads, cancels or streams a queued response. Returns null if its turn has started. */
const answerQueued = async (room: ResponsesRoom, call: Call, place: QueuedPlace): Promise<Response | null> => {
  const thread = room.host.thread(place.threadId);
  const { askId } = place;
  if (call.request.method === "POST") await cancelAsk(thread, askId);
  const facts = await queuedFacts(thread, place);
  if (facts === null) return null;
  const isStream = call.request.method === "GET" && call.query(readQuery).stream === "true";
  if (!isStream || facts.endedAt !== null) return Response.json(responseObject(facts));
  return streamOf(call, await legOfQueued(room, thread, askId));
};

const remove = async (room: ResponsesRoom, call: Call, place: LegPlace): Promise<Response> => {
  const leg = await foundLeg(room, place);
  if (leg.facts.endedAt === null)
    throw invalid("the response is still in progress; cancel it first", null, "response_in_progress");
  await room.host.thread(place.threadId).redact({ turn: place.turn });
  room.turns.forgetTurn(place.threadId, place.turn);
  return Response.json({ id: call.parameters["id"], object: "response", deleted: true });
};

const foundLeg = async (room: ResponsesRoom, place: LegPlace): Promise<ReadableLeg> => {
  const leg = await findLeg(room, place);
  if (leg === null) throw notFound();
  return leg;
};

const placeIn = async (call: Call): Promise<LegPlace | QueuedPlace> => {
  const place = placeOfResponse(call.parameters["id"] ?? "");
  if (place === null || !(await mayReach(call, place.threadId))) throw notFound();
  return place;
};

const stillQueued = (): HttpError =>
  invalid("the response has no turn yet: read it again when it is no longer queued", null, "response_queued");

const notFound = (): HttpError => new HttpError(404, "there is no such response", { code: "response_not_found" });

/** Adds the end that Open Responses requires, and that OpenAI's clients take. */
async function* endedBlocks(blocks: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  yield* blocks;
  yield "data: [DONE]";
}

async function* none(): AsyncGenerator<string, undefined> {}
