import type { Json, JsonObject } from "@colloquy/machine";
import { accepted, isObject, missing, noBody, problemOfTexts, refusal, written } from "./answer.ts";
import { DocumentIndex, isOwn, newestFirst, type StoredDocument } from "./documents.ts";
import { countsOf, pagedAnswer, route, type Route } from "./routes.ts";

/** Returns the endpoints of 2.10 and 2.11: conversations and interactions, both newest first. */
export const conversationRoutes = (now: () => string): readonly Route[] => {
  const conversations = new DocumentIndex(".plugins-ml-conversation-meta", "conversation", {});
  const interactions = new DocumentIndex(".plugins-ml-conversation-interactions", "interaction", {});
  return [...routesOfConversations(conversations, now), ...routesOfInteractions(conversations, interactions, now)];
};

const all = "/conversation";
const one = "/conversation/{id}";

const routesOfConversations = (conversations: DocumentIndex, now: () => string): readonly Route[] => [
  route(
    "POST",
    all,
    ({ body, user }) => {
      const { name = null } = textsOf(body);
      const own = user === null ? {} : { user };
      return accepted({ conversation_id: conversations.add({ create_time: now(), name, ...own }) });
    },
    { refuses: ({ body }) => problemOfTexts(valuesOf(body)) },
  ),
  route(
    "GET",
    all,
    ({ query, user }) => {
      const own = conversations.all().toSorted(newestFirst("create_time")).filter(isOwn(user));
      const shown = own.map(({ id, source }) => ({ conversation_id: id, ...source }));
      return pagedAnswer(conversations, "conversations", shown, query);
    },
    { lists: { notPositive: "Can't list 0 or negative conversations", negative: null } },
  ),
];

const routesOfInteractions = (
  conversations: DocumentIndex,
  interactions: DocumentIndex,
  now: () => string,
): readonly Route[] => {
  /** If no conversation was ever written, access is not checked. */
  const inConversation =
    (perform: Route["perform"]): Route["perform"] =>
    (call) => {
      const conversation = conversations.get(call.id);
      if (conversation === undefined && conversations.exists) return missing(`Conversation [${call.id}]`);
      if (conversation === undefined || isOwn(call.user)(conversation)) return perform(call);
      const reason = `User [${call.user ?? ""}] does not have access to conversation ${call.id}`;
      return refusal(500, "security_exception", reason);
    };
  const add = inConversation(({ id, body }) => {
    const { input = null, prompt_template = null, response = null, origin = null, ...others } = textsOf(body);
    const said = { input, prompt_template, response, origin, additional_info: others["additional_info"] ?? null };
    return accepted({ interaction_id: interactions.add({ conversation_id: id, create_time: now(), ...said }) });
  });
  const post: Route["perform"] = (call) => {
    interactions.exists = true;
    return add(call);
  };
  const list: Route["perform"] = ({ id, query }) => {
    const own = interactions.all().filter(({ source }) => source["conversation_id"] === id);
    const shown = own.toSorted(newestFirst("create_time")).map(shownInteraction);
    return pagedAnswer(interactions, "interactions", shown, query);
  };
  const remove = inConversation(({ id }) => {
    interactions.remove(({ source }) => source["conversation_id"] === id);
    conversations.remove((each) => each.id === id);
    return accepted({ success: true });
  });
  return [
    route("POST", one, post, {
      refuses: ({ body }) => (body === undefined ? noBody : problemOfTexts(valuesOf(body))),
    }),
    route("GET", one, (call) => (interactions.exists ? inConversation(list)(call) : list(call)), {
      lists: countsOf("interactions"),
    }),
    route("DELETE", one, remove),
  ];
};

const valuesOf = (body: Json | undefined): readonly (Json | undefined)[] => Object.values(isObject(body) ? body : {});

const textsOf = (body: Json | undefined): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(isObject(body) ? body : {}).map(([name, value]) => [name, written(value)]));

const shownInteraction = ({ id, source }: StoredDocument): JsonObject => {
  const { additional_info: info = null, conversation_id = null, ...others } = source;
  return { conversation_id, interaction_id: id, ...others, ...(info === null ? {} : { additional_info: info }) };
};
