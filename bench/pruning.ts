// Compares fitting a thread of 10,000 messages into a window with LangChain's `trimMessages`, given the same counts,
// and with a hand-written pass over an array.
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  trimMessages,
} from "@langchain/core/messages";
import { checkPrompt, countMessage, estimateCounter } from "@colloquy/machine/policies";
import {
  digestOfPrompt,
  type Message,
  messagesOf,
  promptOf,
  type State,
  textOf,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import { budget, longThread, windowMachine } from "./kit/long-thread.ts";
import { cpuMicros, type Figure, figureOf, median, pair, short, times } from "./kit/measure.ts";

const length = 10_000;

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const work = workOn(longThread(length));
  await checkResults(work);
  return [await againstLangchain(rounds, work), await againstHand(rounds, work), firstPrompt(rounds, work)];
};

/** One thread in the three forms that are pruned. */
interface Work {
  readonly state: State;
  readonly messages: readonly Message[];
  readonly chat: readonly BaseMessage[];
  readonly counts: ReadonlyMap<string, number>;
}

const workOn = (state: State): Work => {
  const { system } = state.context.conversation;
  const messages = [...(system === null ? [] : [system]), ...messagesOf(state)];
  return {
    state,
    messages,
    chat: messages.map(langchainMessage),
    counts: new Map(messages.map((message) => [message.id, count(message)])),
  };
};

const count = (message: Message): number => countMessage(estimateCounter, message);

const againstLangchain = async (rounds: number, { state, chat, counts }: Work): Promise<Figure> => {
  const machine = windowMachine();
  const prompts = 10_000;
  const measured = await pair(
    rounds,
    1,
    () => times(prompts, () => promptOf(machine, state)),
    () => trimmed(chat, counts),
  );
  const ours = measured.ours / prompts;
  return {
    name: `a window on ${length} messages / LangChain's trimMessages`,
    value: measured.ratio / prompts,
    most: 0.05,
    note: `${short(ours)} µs against ${short(measured.reference)}, a ${Math.round(measured.reference / ours)}th, both with known counts`,
  };
};

const againstHand = async (rounds: number, { state, messages, counts }: Work): Promise<Figure> => {
  const machine = windowMachine();
  const known = new WeakMap(messages.map((message) => [message, counts.get(message.id) ?? 0]));
  const prompts = 2_000;
  const measured = await pair(
    rounds,
    prompts,
    () => times(prompts, () => promptOf(machine, state)),
    () => times(prompts, () => newestByHand(messages, (message) => known.get(message) ?? 0)),
  );
  return figureOf(`a window on ${length} messages / a hand-written pass over known counts`, measured, 2);
};

/**
 * Measures a first prompt, before anything is counted, as after reading a thread. It excludes making the machines.
 */
const firstPrompt = (rounds: number, { state, messages }: Work): Figure => {
  const ours: number[] = [];
  const reference: number[] = [];
  const prompts = 200;
  const warming = 3;
  for (let round = 0; round < warming + rounds; round++) {
    const machines = Array.from({ length: prompts }, () => windowMachine());
    const mine = cost(() => machines.map((machine) => promptOf(machine, state).tokens));
    const theirs = cost(() => times(prompts, () => newestByHand(messages, count)));
    if (round < warming) continue;
    ours.push(mine / prompts);
    reference.push(theirs / prompts);
  }
  return {
    name: "the first prompt of a thread, nothing counted yet / by hand likewise",
    value: median(ours) / median(reference),
    most: Infinity,
    note: `${short(median(ours))} µs against ${short(median(reference))}`,
  };
};

const trimmed = (chat: readonly BaseMessage[], counts: Work["counts"]): Promise<BaseMessage[]> =>
  trimMessages([...chat], {
    strategy: "last",
    includeSystem: true,
    maxTokens: budget.tokens,
    tokenCounter: (messages) =>
      messages.reduce((total, { id }) => total + (counts.get(id ?? "") ?? 0), estimateCounter.perPrompt),
  });

/** Returns the system message and the newest units that fit. Results stay with their calls. */
const newestByHand = (messages: readonly Message[], tokens: (message: Message) => number): readonly Message[] => {
  const [system, ...none] = messages.slice(0, 1);
  if (system === undefined) return none;
  let left = budget.tokens - estimateCounter.perPrompt - tokens(system);
  let from = messages.length;
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index];
    if (message === undefined) break;
    left -= tokens(message);
    if (left < 0) break;
    if (message.role !== "tool") from = index;
  }
  return [system, ...messages.slice(from)];
};

/** Checks that all three keep the system message and the newest that fit. LangChain's may begin with half a round. */
const checkResults = async ({ state, messages, chat, counts }: Work): Promise<void> => {
  const { messages: ours, tokens, fits } = promptOf(windowMachine(), state);
  const problem = checkPrompt(ours);
  if (!fits || problem !== null) throw new Error(`the prompt is none: ${problem?.reason ?? `${tokens} tokens`}`);
  const byHand = newestByHand(messages, count);
  if (digestOfPrompt(byHand) !== digestOfPrompt(ours)) {
    throw new Error(`by hand it shows ${byHand.length} messages, and we show ${ours.length}`);
  }
  const theirs = (await trimmed(chat, counts)).map(({ id }) => id);
  const shared = ours.slice(1).map(({ id }) => id);
  const extra = theirs.slice(1, theirs.length - shared.length);
  const partOfRound = extra.every((id) => messages.find((message) => message.id === id)?.role === "tool");
  if (theirs[0] !== ours[0]?.id || theirs.slice(1 + extra.length).join() !== shared.join() || !partOfRound) {
    throw new Error(`LangChain kept ${theirs.length} messages, and we keep ${ours.length}`);
  }
};

const langchainMessage = (message: Message): BaseMessage => {
  const { id, role } = message;
  const content = textOf(message);
  const result = toolResultOf(message);
  if (result !== undefined) return new ToolMessage({ id, content, tool_call_id: result.callId, name: result.name });
  if (role === "system") return new SystemMessage({ id, content });
  if (role !== "assistant") return new HumanMessage({ id, content });
  return new AIMessage({
    id,
    content,
    tool_calls: toolCallsOf(message).map((call) => ({
      id: call.callId,
      name: call.name,
      args: { query: call.arguments },
    })),
  });
};

const cost = (work: () => unknown): number => {
  const before = cpuMicros();
  work();
  return cpuMicros() - before;
};
