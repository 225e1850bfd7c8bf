import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { accepted, type Answer, isObject, missing, parseFailure, refusal, textsOf } from "./answer.ts";
import type { DocumentIndex, Mapping, StoredDocument } from "./documents.ts";
import { base, timeOf } from "./memories.ts";
import { type Page, pagedAnswer, pageOf, pageParameters } from "./page.ts";
import type { Route } from "./routes.ts";

export const conversationMapping: Mapping = { name: "keyword", create_time: "date", user: "keyword" };

export const interactionMapping: Mapping = {
  conversation_id: "keyword",
  create_time: "date",
  input: "text",
  prompt_template: "text",
  response: "text",
  origin: "keyword",
  additional_info: "text",
};

interface Indices {
  readonly conversations: DocumentIndex;
  readonly interactions: DocumentIndex;
}

type Prepare = Route["prepare"];

/** Returns the endpoints of 2.10 and 2.11: conversations and interactions, both newest first. */
export const conversationRoutes = (at: Indices, now: () => string): readonly Route[] => {
  const all = `${base}/conversation`;
  const one = `${all}/{conversation_id}`;
  return [
    { methods: ["POST"], path: all, prepare: createConversation(at, now) },
    { methods: ["GET"], path: all, query: pageParameters, prepare: listConversations(at) },
    { methods: ["POST"], path: one, prepare: createInteraction(at, now) },
    { methods: ["GET"], path: one, query: pageParameters, prepare: listInteractions(at) },
    { methods: ["DELETE"], path: one, prepare: deleteConversation(at) },
  ];
};

const createConversation =
  ({ conversations }: Indices, now: () => string): Prepare =>
  ({ body, user }) =>
    Either.map(({ name = null }: { readonly [name: string]: string | null }) => () => {
      const id = conversations.add({ create_time: now(), name, ...(user === null ? {} : { user }) });
      return accepted({ conversation_id: id });
    })(body === undefined ? Either.right({}) : textsOfBody(body));

const listConversations =
  ({ conversations }: Indices): Prepare =>
  ({ query, user }) =>
    Either.map((page: Page) => () => {
      if (!conversations.exists()) return accepted({ conversations: [] });
      const own = conversations.all().filter(({ source }) => user === null || source["user"] === user);
      const shown = own.toSorted(newestFirst).map(({ id, source }) => ({ conversation_id: id, ...source }));
      return pagedAnswer(conversations, "conversations", shown, page);
    })(pageOf(query, { notPositive: "Can't list 0 or negative conversations", negative: null }));

/** All five fields are optional; a missing one becomes null. */
const createInteraction =
  (at: Indices, now: () => string): Prepare =>
  ({ parameters: { conversation_id: id = "" }, body, user }) =>
    Either.map((texts: { readonly [name: string]: string }) => () => {
      at.interactions.create();
      const problem = problemOfAccess(at, id, user);
      if (problem !== null) return problem;
      const { input = null, prompt_template = null, response = null, origin = null, additional_info = null } = texts;
      const said = { input, prompt_template, response, origin, additional_info };
      return accepted({ interaction_id: at.interactions.add({ conversation_id: id, create_time: now(), ...said }) });
    })(body === undefined ? Either.left(parseFailure("request body is required")) : textsOfBody(body));

const listInteractions =
  (at: Indices): Prepare =>
  ({ parameters: { conversation_id: id = "" }, query, user }) =>
    Either.map((page: Page) => () => {
      if (!at.interactions.exists()) return accepted({ interactions: [] });
      const problem = problemOfAccess(at, id, user);
      if (problem !== null) return problem;
      const own = at.interactions.all().filter(({ source }) => source["conversation_id"] === id);
      return pagedAnswer(at.interactions, "interactions", own.toSorted(newestFirst).map(shownInteraction), page);
    })(
      pageOf(query, {
        notPositive: "The number of interactions to retrieve must be positive",
        negative: "The starting position must be nonnegative",
      }),
    );

const deleteConversation =
  (at: Indices): Prepare =>
  ({ parameters: { conversation_id: id = "" }, user }) =>
    Either.right(() => {
      const problem = problemOfAccess(at, id, user);
      if (problem !== null) return problem;
      for (const { id: each, source } of at.interactions.all()) {
        if (source["conversation_id"] === id) at.interactions.remove(each);
      }
      at.conversations.remove(id);
      return accepted({ success: true });
    });

const problemOfAccess = ({ conversations }: Indices, id: string, user: string | null): Answer | null => {
  if (!conversations.exists()) return null;
  const conversation = conversations.get(id);
  if (conversation === undefined) return missing(`Conversation [${id}]`);
  if (user === null || conversation.source["user"] === user) return null;
  return refusal(500, "security_exception", `User [${user}] does not have access to conversation ${id}`);
};

const textsOfBody = (body: Json): Either.Either<Answer, { readonly [name: string]: string }> =>
  textsOf(isObject(body) ? body : {});

const shownInteraction = ({ id, source }: StoredDocument): JsonObject => {
  const { additional_info: info = null, conversation_id = null, ...others } = source;
  return { conversation_id, interaction_id: id, ...others, ...(info === null ? {} : { additional_info: info }) };
};

const newestFirst = (left: StoredDocument, right: StoredDocument): number =>
  timeOf(right, "create_time") - timeOf(left, "create_time");
