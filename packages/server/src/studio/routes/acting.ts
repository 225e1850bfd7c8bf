import type { Host } from "@colloquy/host";
import {
  type ContentPart,
  type JsonObject,
  type Message,
  type MessageDraft,
  toArray,
  turnNumbered,
} from "@colloquy/machine";
import { type Call, HttpError, type Route } from "@colloquy/server";
import { z } from "zod";
import type { Made } from "../wire/wire.ts";
import type { StudioOptions } from "./options.ts";
import { answer, type Reader, threadIn } from "./query.ts";

/** Returns the routes that change something. Each names its thread in the query, as the reading routes do. */
export const actingRoutes = ({ configurations }: StudioOptions, read: Reader): readonly Route[] => {
  const hostUnder = (policy: string | undefined): Host => {
    const named = policy === undefined ? configurations[0] : configurations.find(({ name }) => name === policy);
    if (named === undefined) throw new HttpError(400, "there is no such policy", { param: "policy" });
    return named.host;
  };
  const post = <Body>(
    path: string,
    description: string,
    schema: z.ZodType<Body>,
    act: (call: Call, body: Body) => Promise<object>,
  ): Route => ({
    method: "POST",
    path: `/studio/api/${path}`,
    description,
    body: schema,
    handle: async (call) => answer(await act(call, await call.body(schema))),
  });
  return [
    post(
      "approval",
      "Answers a tool call that waits for approval, as it was shown.",
      approvalBody,
      async (call, body) => {
        const { state } = await threadIn(call, read);
        const thread = hostUnder(undefined).thread(state.context.threadId);
        const { id, digest, approve, reason } = body;
        if (approve) await thread.approve(id, { digest, by: "studio" });
        else await thread.deny(id, { digest, by: "studio", ...(reason === undefined ? {} : { reason }) });
        return {};
      },
    ),
    post("fork", "Copies a thread up to a turn.", forkBody, async (call, { turn }): Promise<Made> => {
      const { state } = await threadIn(call, read);
      const { thread } = await hostUnder(undefined)
        .thread(state.context.threadId)
        .fork({ turn, threadId: await forkId(call) });
      return { threadId: thread.id };
    }),
    post(
      "again",
      "Copies a thread up to a turn and asks what that turn was asked, or something else.",
      againBody,
      async (call, body): Promise<Made> => {
        const { state } = await threadIn(call, read);
        const turn = turnNumbered(state, body.turn);
        if (turn === undefined)
          throw new HttpError(404, `turn ${body.turn} is not there, or still open`, { param: "turn" });
        const input = body.input ?? askedIn(toArray(turn.messages));
        const host = hostUnder(body.policy);
        const { thread } = await host
          .thread(state.context.threadId)
          .fork({ turn: turn.parent, threadId: await forkId(call) });
        const model: JsonObject = body.model === undefined ? {} : { model: body.model };
        // The journal contains the outcome, and the page reads it there.
        thread.ask(input, { model }).catch(() => null);
        return { threadId: thread.id };
      },
    ),
  ];
};

/** Returns an id for a fork, with the prefix of the user who made it. */
const forkId = (call: Call): Promise<string> => call.newThreadId(`fork_${crypto.randomUUID().replaceAll("-", "")}`);

const approvalBody = z.strictObject({
  id: z.string(),
  digest: z.string(),
  approve: z.boolean(),
  reason: z.string().optional(),
});

const forkBody = z.strictObject({ turn: z.int().nonnegative() });

const againBody = z.strictObject({
  turn: z.int().positive(),
  input: z.string().optional(),
  policy: z.string().optional(),
  model: z.string().optional(),
});

/** Returns the user messages before a model's first answer. */
const askedIn = (messages: readonly Message[]): readonly MessageDraft[] => {
  const answered = messages.findIndex(({ role }) => role === "assistant");
  return messages.slice(0, answered === -1 ? undefined : answered).map(({ role, parts, name, metadata }) => ({
    // No tool result comes before the first model call.
    role: role === "tool" ? "user" : role,
    content: parts.filter((part): part is ContentPart => contentTypes.has(part.type)),
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
  }));
};

const contentTypes: ReadonlySet<string> = new Set<ContentPart["type"]>(["text", "data", "image", "opaque"]);
