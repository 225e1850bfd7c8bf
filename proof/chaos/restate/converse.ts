import { setTimeout as pause } from "node:timers/promises";

import { type AskHandle, EventRefusedError, type Host } from "@colloquy/host";

import { ending, isPassing } from "../../kit/calls.ts";
import type { Answer } from "../story/facts.ts";
import type { Asked } from "../story/script.ts";
import { threadOf } from "./script.ts";

interface Call {
  readonly host: Host;
  readonly conversation: number;
  readonly asked: Asked;
}

/**
 * Returns the answer to one ask of a conversation, despite kills. If the host rejects the ask for a passing reason, it
 * is asked again under the same id. Its approvals are granted.
 *
 * @throws NeverEnds when it takes longer than the limit.
 */
export const answerTo = (call: Call, limitMs: number): Promise<Answer> =>
  ending(
    call.asked.askId,
    limitMs,
    again(() => ask(call)),
  );

const ask = async ({ host, conversation, asked: { askId, input } }: Call): Promise<Answer> => {
  const threadId = threadOf(conversation);
  const handle = host.ask(input, { threadId, askId });
  const [{ turn, text }] = await Promise.all([handle, approveAll(host, handle)]);
  return { askId, turn, text };
};

const approveAll = async (host: Host, handle: AskHandle): Promise<void> => {
  for await (const part of handle) {
    if (part.type === "approval.requested")
      await again(() => approve(host, handle.threadId, part.request.id)).catch(unlessAnswered);
  }
};

const approve = async (host: Host, threadId: string, id: string): Promise<void> => {
  await host.thread(threadId).approve(id);
};

/** An answer whose receipt was lost may have been taken. */
const unlessAnswered = (error: unknown): void => {
  if (!(error instanceof EventRefusedError && error.refusal.kind === "stale")) throw error;
};

const again = async <Value>(call: () => Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await pause(pauseMs);
  }
};

const pauseMs = 50;
