import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, messageFromDraft, type Failure, type ReplyDraft } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { scriptedModel } from "../../models/scripted-model.ts";
import type { ScriptLine } from "../../models/script.ts";
import { callOf, loopbackServer, type LoopbackServer } from "../../server/loopback-server.ts";
import { type ManualClock, manualClock } from "../store/manual-clock.ts";
import type { CallSetting, CallUnderTest, MakeModel, ModelDialect, ModelPath, ModelSubject } from "./subject.ts";
import { spokenOf } from "../../server/answer.ts";

export const question = "What is the weather like in Reykjavík?";

interface ModelSubjectOptions {
  readonly dialect: ModelDialect;
  /** As in the options of `modelContract`. */
  readonly path?: ModelPath;
  /** The longest time, in milliseconds, that each step of a call may take. */
  readonly patienceMs: number;
}

/** Makes the subject of one check. `onOpen` receives the function that closes each server. */
export const modelSubject = (
  makeModel: MakeModel,
  { dialect, path, patienceMs }: ModelSubjectOptions,
  onOpen: (close: () => Promise<void>) => void,
): ModelSubject => {
  const paths = path === undefined ? {} : { [path]: requests[dialect].path };
  const soon: ModelSubject["soon"] = (promise, what) => inTime(promise, what, patienceMs);
  const start = async (server: LoopbackServer, setting: CallSetting): Promise<CallUnderTest> => {
    onOpen(() => server.close());
    const { stream = true } = setting;
    const model = await makeModel({ url: server.url, apiKey, stream });
    return startCall(model, server, setting, soon);
  };
  return {
    apiKey,
    soon,
    call: async (model, setting = {}) => start(await loopbackServer({ model, paths }), setting),
    play: async (recorded, setting = {}) => start(await loopbackServer({ recorded }), setting),
    wire: (line, stream) => wireOf(dialect, line, stream),
  };
};

/** Not a real key; it only has the form of one. */
const apiKey = "sk-contract-4f9a81c2d7e35b60";

const startCall = (
  model: LlmHandler,
  { requests }: LoopbackServer,
  { fields = {}, tools = [], control = new AbortController() }: CallSetting,
  soon: ModelSubject["soon"],
): CallUnderTest => {
  const { clock, timers } = watchedClock();
  const deltas: LlmDelta[] = [];
  const waiting = new Set<() => void>();
  const onDelta = (delta: LlmDelta): void => {
    deltas.push({ ...delta });
    // The receiver of a piece may write into it; that must not change the handler's result.
    if (!Object.isFrozen(delta)) Object.assign(delta, scribbled);
    for (const look of waiting) look();
  };
  const context = { signal: control.signal, onDelta, clock, tools: frozenCopy(tools) };
  // A handler that throws synchronously rejects like one that throws later.
  const outcome = Promise.resolve().then(() => model(frozenCall(fields), context));
  outcome.catch(() => undefined);
  const during: CallUnderTest["during"] = async (promise, what) => {
    const early = outcome.then((end): never => {
      throw new Error(`${what}, and the call ended: ${JSON.stringify(end)}`);
    });
    return soon(Promise.race([promise, early]), what);
  };
  const shown = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (deltas.length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    ended: () => soon(outcome, "the call did not end"),
    deltas,
    during,
    shown: (count) => during(shown(count), `piece ${count} of the answer was not shown`),
    requests,
    clock,
    timers,
    control,
  };
};

const scribbled = { text: "scribbled", arguments: "scribbled", name: "scribbled", id: "scribbled" };

/** Returns a frozen call: a handler that writes into it throws. */
const frozenCall = (fields: Partial<CallLlm>): CallLlm => {
  const messages = [messageFromDraft("1.0", { role: "user", content: question })];
  return frozenCopy({ ...callOf("contract", 1, messages, {}), ...fields });
};

const watchedClock = (): { readonly clock: ManualClock; readonly timers: () => number } => {
  const clock = manualClock();
  const open = new Set<symbol>();
  const wakeAt: ManualClock["wakeAt"] = (dueAt, callback) => {
    const timer = Symbol("timer");
    open.add(timer);
    const cancel = clock.wakeAt(dueAt, () => {
      open.delete(timer);
      callback();
    });
    return () => {
      open.delete(timer);
      cancel();
    };
  };
  return { clock: { ...clock, wakeAt }, timers: () => open.size };
};

const inTime = async <Value>(promise: PromiseLike<Value>, what: string, patienceMs: number): Promise<Value> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what}, and waiting longer is no use`)), patienceMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

const wireOf = async (dialect: ModelDialect, line: ScriptLine, stream: boolean): Promise<string> => {
  const server = await loopbackServer({ model: scriptedModel([line]) });
  try {
    const { path, body } = requests[dialect];
    const options = stream && dialect !== "responses" ? { stream_options: { include_usage: true } } : {};
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "contract", ...body, stream, ...options }),
    });
    return await response.text();
  } finally {
    // `await using` would reach the published package as it is, and Node 22 cannot parse it.
    await server.close();
  }
};

const requests = {
  chat: { path: "/chat/completions", body: { messages: [{ role: "user", content: question }] } },
  responses: { path: "/responses", body: { input: question, reasoning: { summary: "auto" } } },
  completions: { path: "/completions", body: { prompt: question } },
} as const;

/** The whole content of a reply or of its pieces, by kind, to compare the two. */
interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** In the order of their indexes. */
  readonly calls: readonly { readonly id: string | null; readonly name: string; readonly arguments: string }[];
}

export const saidInPieces = (deltas: readonly LlmDelta[]): Said => {
  const said = { text: "", reasoning: "", refusal: "" };
  const calls: { id: string | null; name: string; arguments: string }[] = [];
  for (const delta of deltas) {
    if (delta.type !== "toolCall") said[delta.type] += delta.text;
    else {
      const { id, name, index } = delta;
      calls[index] = { id, name, arguments: (calls[index]?.arguments ?? "") + delta.arguments };
    }
  }
  return { ...said, calls };
};

export const saidInReply = (reply: ReplyDraft): Said => ({
  ...spokenOf(reply),
  calls: (reply.toolCalls ?? []).map(({ id, name, arguments: written }) => ({ id, name, arguments: written })),
});

type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

export const completed = (outcome: LlmOutcome): Completed => {
  if (outcome.type === "completed") return outcome;
  throw new Error(`the call should have completed, and failed: ${JSON.stringify(outcome.failure)}`);
};

export const failureOf = (outcome: LlmOutcome): Failure => {
  if (outcome.type === "failed") return outcome.failure;
  throw new Error(`the call should have failed, and gave ${JSON.stringify(outcome.reply)}`);
};

export const partialOf = (outcome: LlmOutcome, deltas: readonly LlmDelta[]): Said => {
  failureOf(outcome);
  return outcome.type === "failed" && outcome.partial !== undefined
    ? saidInReply(outcome.partial)
    : saidInPieces(deltas);
};
