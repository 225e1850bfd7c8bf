import type { LlmContext, LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { Failure, FailureKind, JsonObject, ReplyDraft } from "@colloquy/machine";
import type { MakeModel, ModelServer } from "@colloquy/runtime-test/contracts";
import { openaiChat } from "../../../src/llm/openai.ts";

/** Handlers with one fault each, and a part of the name of a check that must notice it. */
export type Faults = Readonly<Record<string, readonly [noticedBy: string, MakeModel]>>;

/** Makes a handler without a fault. */
const sound = ({ url, apiKey, stream }: ModelServer, options: JsonObject = {}): LlmHandler =>
  openaiChat({ baseURL: url, apiKey, stream, model: "contract", tools: [], ...options });

const wrong =
  (change: (handler: LlmHandler) => LlmHandler): MakeModel =>
  (server) =>
    change(sound(server));

/** Changes the outcome of a handler. */
const retold = (tell: (outcome: LlmOutcome) => LlmOutcome): MakeModel =>
  wrong((handler) => async (call, context) => tell(await handler(call, context)));

type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;
type Failed = Extract<LlmOutcome, { readonly type: "failed" }>;

const afterAnswer = (change: (outcome: Completed) => LlmOutcome): MakeModel =>
  retold((outcome) => (outcome.type === "completed" ? change(outcome) : outcome));

const afterFailure = (change: (outcome: Failed) => LlmOutcome): MakeModel =>
  retold((outcome) => (outcome.type === "failed" ? change(outcome) : outcome));

const ofFailure = (change: (failure: Failure) => Failure): MakeModel =>
  afterFailure((outcome) => ({ ...outcome, failure: change(outcome.failure) }));

const ofReply = (change: (reply: ReplyDraft) => ReplyDraft): MakeModel =>
  afterAnswer((outcome) => ({ ...outcome, reply: change(outcome.reply) }));

const inContext = (change: (context: LlmContext) => LlmContext): MakeModel =>
  wrong((handler) => (call, context) => handler(call, change(context)));

/** Sends the deltas only when the answer is complete. */
const atTheEnd = (order: (deltas: readonly LlmDelta[]) => readonly LlmDelta[]): MakeModel =>
  wrong((handler) => async (call, context) => {
    const deltas: LlmDelta[] = [];
    const outcome = await handler(call, { ...context, onDelta: (delta) => void deltas.push(delta) });
    for (const delta of order(deltas)) context.onDelta(delta);
    return outcome;
  });

const withFetch =
  (change: (init: RequestInit | undefined, apiKey: string) => RequestInit, own: JsonObject = {}): MakeModel =>
  ({ apiKey, ...server }) =>
    openaiChat({
      baseURL: server.url,
      stream: server.stream,
      model: "contract",
      tools: [],
      apiKey,
      ...own,
      fetch: (url, init) => fetch(url, change(init, apiKey)),
    });

const withParts = (reply: ReplyDraft, type: "refusal" | "reasoning"): ReplyDraft => {
  const content = typeof reply.content === "string" || reply.content === undefined ? [] : (reply.content ?? []);
  return {
    ...reply,
    ...(content.length === 0
      ? {}
      : { content: content.map((part) => (part.type === type ? { type: "text", text: part.text } : part)) }),
  };
};

const asKind = (from: FailureKind, kind: FailureKind): MakeModel =>
  ofFailure((failure) => (failure.kind === from ? { ...failure, kind } : failure));

const neverAborted = new AbortController().signal;

/** A fault for each promise, and some more. */
export const faults: Faults = {
  "a handler that asks twice": [
    "in one request",
    wrong((handler) => async (call, context) => {
      await handler(call, { ...context, onDelta: () => {} });
      return handler(call, context);
    }),
  ],
  "a handler that tries again after a failure": [
    "does not ask again",
    wrong((handler) => async (call, context) => {
      const first = await handler(call, context);
      return first.type === "failed" && first.failure.retryable ? handler(call, context) : first;
    }),
  ],
  "pieces that come when all is over": ["before the next is there", atTheEnd((deltas) => deltas)],
  "pieces in another order": ["together are the reply", atTheEnd((deltas) => deltas.toReversed())],
  "a reply that is not what was shown": ["together are the reply", ofReply((reply) => ({ ...reply, content: "Sun." }))],
  "a reply made of pieces that others write into": [
    "together are the reply",
    wrong((handler) => async (call, context) => {
      const shown: LlmDelta[] = [];
      const onDelta = (delta: LlmDelta): void => {
        shown.push({ ...delta });
        context.onDelta(shown.at(-1) ?? delta);
      };
      const outcome = await handler(call, { ...context, onDelta });
      const content = shown.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
      return outcome.type === "completed" ? { ...outcome, reply: { content } } : outcome;
    }),
  ],
  "usage that is forgotten": ["reports the usage", afterAnswer(({ usage: _, ...outcome }) => outcome)],
  "zeros for unknown usage": [
    "zeros",
    afterAnswer((outcome) => ({ ...outcome, usage: { inputTokens: 0, outputTokens: 0, ...outcome.usage } })),
  ],
  "a plain answer that nobody is shown": [
    "plain answer as",
    inContext((context) => ({ ...context, onDelta: () => {} })),
  ],
  "a refusal as text": ["refusal", ofReply((reply) => withParts(reply, "refusal"))],
  "reasoning as text": ["reasoning apart", ofReply((reply) => withParts(reply, "reasoning"))],
  "tools that are not offered": ["exactly the tools", inContext((context) => ({ ...context, tools: [] }))],
  "tools for a summary": [
    "for a summary",
    wrong(
      (handler) => (call, context) => handler({ ...call, purpose: "answer" }, { ...context, tools: [{ name: "f" }] }),
    ),
  ],
  "calls in another order": [
    "parallel calls",
    ofReply((reply) => ({ ...reply, toolCalls: reply.toolCalls?.toReversed() ?? [] })),
  ],
  "calls without their ids": [
    "calls of a plain",
    ofReply((reply) => ({ ...reply, toolCalls: reply.toolCalls?.map((call) => ({ ...call, id: null })) ?? [] })),
  ],
  "half an answer as a whole one": [
    "ends too early",
    afterFailure(({ partial }) => ({ type: "completed", reply: partial ?? { content: "" }, finishReason: null })),
  ],
  "what came, lost when the connection is cut": [
    "whose connection is cut",
    afterFailure((outcome) => ({ ...outcome, partial: { content: "" } })),
  ],
  "a reset connection as a bad request": ["nothing comes back", asKind("network", "bad_request")],
  "no idle timer at the beginning": [
    "nothing comes for longer",
    wrong(
      (handler) =>
        ({ idleTimeoutMs: _, ...call }, context) =>
          handler(call, context),
    ),
  ],
  "an idle timer that pieces do not wind up": [
    "waits on while pieces come",
    wrong((handler) => async (call, context) => {
      const control = new AbortController();
      const stop = context.clock.wakeAt(context.clock.now() + (call.idleTimeoutMs ?? 0), () => control.abort());
      const outcome = await handler(call, { ...context, signal: control.signal });
      stop();
      return outcome;
    }),
  ],
  "a timer that is left behind": [
    "no timer behind",
    wrong((handler) => (call, context) => {
      context.clock.wakeAt(context.clock.now() + 1, () => {});
      return handler(call, context);
    }),
  ],
  "a signal that is looked at too late": [
    "before it asked",
    wrong((handler) => (call, context) => handler(call, { ...context, signal: neverAborted })),
  ],
  "a cancelled call whose connection stays": [
    "before an answer comes, and closes",
    wrong((handler) => (call, context) => {
      const gone = Promise.withResolvers<LlmOutcome>();
      const failure = { kind: "unknown", message: "cancelled", retryable: false } as const;
      context.signal.addEventListener("abort", () => gone.resolve({ type: "failed", failure }));
      return Promise.race([gone.promise, handler(call, { ...context, signal: neverAborted })]);
    }),
  ],
  "a cancelled answer that goes on": [
    "cancelled in an answer",
    inContext((context) => ({ ...context, signal: neverAborted })),
  ],
  "pieces that are shown after the end": [
    "shows nothing after",
    wrong((handler) => async (call, context) => {
      const outcome = await handler(call, context);
      setImmediate(() => context.onDelta({ type: "text", text: "…" }));
      return outcome;
    }),
  ],
  "all errors as unknown ones": ["classifies", ofFailure((failure) => ({ ...failure, kind: "unknown" }))],
  "errors that are all retryable": ["classifies", ofFailure((failure) => ({ ...failure, retryable: true }))],
  "a gateway's page as the last word": ["gateway's page", ofFailure((failure) => ({ ...failure, retryable: false }))],
  "what came, lost at an error": [
    "middle of a stream",
    afterFailure((outcome) => ({ ...outcome, partial: { content: "" } })),
  ],
  "no word of how long to wait": ["how long the server asks", ofFailure(({ retryAfterMs: _, ...failure }) => failure)],
  "seconds as milliseconds": [
    "how long the server asks",
    ofFailure((failure) => ({ ...failure, ...(failure.retryAfterMs === 2000 ? { retryAfterMs: 2 } : {}) })),
  ],
  "keys that it does not know": [
    "key out of",
    withFetch((init, apiKey) => ({ ...init, headers: { authorization: `Bearer ${apiKey}` } }), { apiKey: "another" }),
  ],
  "redirects that are followed": ["follows no redirect", withFetch((init) => ({ ...init, redirect: "follow" }))],
  "a call that it writes into": [
    "changes nothing",
    wrong((handler) => (call, context) => {
      // Cast: a handler in JavaScript could do this.
      (call.model as { seed?: number }).seed = 1;
      return handler(call, context);
    }),
  ],
  "a failure that is thrown": [
    "nothing comes back",
    retold((outcome) => {
      if (outcome.type === "failed") throw new Error(outcome.failure.message);
      return outcome;
    }),
  ],
};

/** A handler that silently leaves out all tools. */
export const silentAboutTools: MakeModel = inContext((context) => ({ ...context, tools: [] }));
