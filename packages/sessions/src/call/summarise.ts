import type { LlmContext, LlmOutcome } from "@colloquy/host";
import { type CallLlm, ConfigurationError, contentText, textOf, toArray, turnNumbered } from "@colloquy/machine";
import type { SessionCore } from "../core/core.ts";
import type { Ground } from "../core/ground.ts";

/** Requests the summary of a turn. A failure fails only the summary, not the answer. */
export const summarise = async (
  core: SessionCore,
  ground: Ground,
  call: CallLlm,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const { summariser } = core.options;
  const [instruction, request] = call.messages;
  const text = await withDescription(core, ground, call, request === undefined ? "" : textOf(request));
  if (summariser === undefined) {
    if (ground.llm === undefined) throw new ConfigurationError(`the session "${core.name}" has no model for summaries`);
    const messages = call.messages.map((message) =>
      message === request ? { ...message, parts: [{ type: "text", text } as const] } : message,
    );
    return ground.llm({ ...call, messages }, context);
  }
  const given = { text, instruction: instruction === undefined ? "" : textOf(instruction), signal: context.signal };
  return { type: "completed", reply: { content: await summariser(given) }, finishReason: "stop" };
};

/** Replaces the outputs in a text with their description by `describe`. */
const withDescription = async (core: SessionCore, { host }: Ground, call: CallLlm, text: string): Promise<string> => {
  if (core.options.describe === undefined) return text;
  const state = await host.thread(call.threadId).state();
  const covered = state?.context.summarising?.covers.to;
  if (state === null || covered === undefined) return text;
  const turn = turnNumbered(state, covered);
  const answer = turn === undefined ? undefined : toArray(turn.messages).findLast(({ role }) => role === "assistant");
  return answer === undefined ? text : text.replace(contentText(answer.parts), () => textOf(answer));
};
