import {
  type ConversationMachine,
  type Decided,
  type Effect,
  type Event,
  type Message,
  outstanding,
  start,
  type Signal,
  type State,
  textOf,
  type ThreadInput,
  toolCallsOf,
  toolResultOf,
  transition,
} from "@colloquy/machine";

/** An event to send, or a line of prose that the trace repeats unchanged. */
export type TraceItem = Event | string;

/**
 * Returns a golden trace of a machine: the text that a test stores. Each event is above a line of dashes; its outcome is
 * below, with all effects and their ids. The prose between them tells the reader what to look for.
 *
 * @param input the input of the thread. Default: thread `t`, at 0, empty.
 */
export const traceOf = (
  machine: ConversationMachine,
  items: readonly TraceItem[],
  input: ThreadInput = { threadId: "t", at: 0 },
): string => {
  let { state } = start(machine, input);
  const blocks = [[lineOf({ type: "thread.started", ...input }), "----", `0 ${placeOf(state)}`].join("\n")];
  let prose: string[] = [];
  for (const item of items) {
    if (typeof item === "string") {
      prose.push(`# ${item}`);
      continue;
    }
    const { lines, next } = answerTo(machine, state, item);
    blocks.push([...prose, lineOf(item), "----", ...lines].join("\n"));
    prose = [];
    state = next;
  }
  return `${[...blocks, ...(prose.length === 0 ? [] : [prose.join("\n")])].join("\n\n")}\n`;
};

const answerTo = (
  machine: ConversationMachine,
  state: State,
  event: Event,
): { readonly lines: readonly string[]; readonly next: State } => {
  const answer = transition(machine, state, event);
  if (!answer.handled) return { lines: [`refused (${answer.refusal.kind}): ${answer.refusal.reason}`], next: state };
  const out = outstanding(answer.state).map(({ id }) => id);
  const lines = [
    `${answer.entry.seq} ${placeOf(answer.state)}`,
    ...decisionsOf(answer.entry.decided ?? {}),
    ...answer.effects.flatMap(linesOf),
    `out: ${out.join(" ") || "nothing"}`,
  ];
  return { lines, next: answer.state };
};

const lineOf = ({ type, ...fields }: { readonly type: string }): string =>
  [type, ...Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(" ");

const placeOf = ({ value }: State): string =>
  typeof value === "string" ? value : Object.entries(value).flat().join(".");

const decisionsOf = (decided: Decided): readonly string[] =>
  Object.entries(decided).map(([name, value]) => `decided ${name} ${JSON.stringify(value)}`);

const linesOf = (effect: Effect): readonly string[] => {
  switch (effect.type) {
    case "callLlm": {
      const { type, id, messages, promptDigest, model, idleTimeoutMs, output } = effect;
      const extras = [
        `prompt=${promptDigest}`,
        ...(Object.keys(model).length === 0 ? [] : [`model=${JSON.stringify(model)}`]),
        ...(idleTimeoutMs === undefined ? [] : [`idleTimeoutMs=${idleTimeoutMs}`]),
        ...(output === undefined ? [] : [`output=${output.name} (${output.mode})`]),
      ];
      return [[type, id, ...extras].join(" "), ...messages.map((message) => `  ${messageLine(message)}`)];
    }
    case "callTool":
      return [
        `callTool ${effect.id} ${effect.name}(${effect.arguments}) providerCallId=${JSON.stringify(effect.providerCallId)}${
          effect.approval === null ? "" : ` approval=${JSON.stringify(effect.approval)}`
        }${effect.by === undefined ? "" : ` by=${effect.by}`}`,
      ];
    case "requestApproval": {
      const { type, id, name, because, version, arguments: given, digest } = effect;
      return [
        `${type} ${id} ${name}(${JSON.stringify(given)}) because=${because} version=${JSON.stringify(version)} digest=${digest}`,
      ];
    }
    case "checkOutput": {
      const { type, id, attempt, text, output } = effect;
      return [`${type} ${id} attempt=${attempt} output=${output.name} (${output.mode}) ${JSON.stringify(text)}`];
    }
    case "startTimer":
      return [`startTimer ${effect.id} ${effect.purpose} dueAt=${effect.dueAt}`];
    case "publish":
      return [`publish ${lineOf(brief(effect.signal))}`];
    default:
      return [`${effect.type} ${effect.effectId}`];
  }
};

/** Reduces the usage in a `thread.updated` signal to the calls and the tokens. */
const brief = (signal: Signal): { readonly type: string } => {
  if (signal.type !== "thread.updated") return signal;
  const { usage, ...size } = signal;
  const figures = { calls: usage.calls, tokens: usage.totalTokens.sum };
  return { ...size, ...figures };
};

const messageLine = (message: Message): string => {
  const calls = toolCallsOf(message).map((call) => `${call.name}(${call.arguments})`);
  const outcome = toolResultOf(message)?.outcome;
  const marks = [
    ...(message.incomplete === true ? ["incomplete"] : []),
    ...(message.synthesised === true ? ["synthesised"] : []),
    ...(message.truncated === undefined ? [] : ["truncated"]),
    ...(outcome === undefined || outcome === "completed" ? [] : [outcome]),
  ];
  const text = textOf(message);
  return [
    message.id,
    message.role,
    ...marks.map((mark) => `(${mark})`),
    ...(text === "" ? [] : [JSON.stringify(text)]),
    ...calls,
  ].join(" ");
};
