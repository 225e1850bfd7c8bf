import { named } from "@colloquy/cli/terminal";
import type { Answers } from "./answers.ts";
import { ended, shown } from "./ask-once.ts";
import type { Chat } from "./chat-host.ts";
import { ArgumentError, exitCodes } from "./exit-code.ts";
import type { OptionValues } from "./options.ts";

/**
 * Answers a tool call that waits for approval, and shows the rest of its turn. Returns the exit code.
 *
 * @throws ArgumentError if no such call waits
 */
export const answerApproval = async (
  chat: Chat,
  { approve, deny, reason }: Pick<OptionValues, "approve" | "deny" | "reason">,
  answers: Answers,
  signal: AbortSignal,
): Promise<number> => {
  const id = approve ?? deny ?? "";
  const waiting = (await chat.waiting(chat.threadId)).approvals;
  const wanted = waiting.find(({ request }) => request.id === id);
  if (wanted === undefined) {
    const ids = waiting.map(({ request }) => named(request.id));
    throw new ArgumentError(
      `no tool call of thread ${named(chat.threadId)} waits for approval as ${named(id)}; ${ids.length === 0 ? "none waits" : `there are: ${ids.join(", ")}`}`,
    );
  }
  const { thread, request } = wanted;
  const { digest } = request;
  const answered =
    approve === undefined
      ? await thread.deny(id, { digest, ...(reason === undefined ? {} : { reason }) })
      : await thread.approve(id, { digest });
  // A subagent's turn continues on its own thread; the caller's turn is resumed to receive the result.
  const { turn } = thread.id === chat.threadId ? answered : await chat.host.thread(chat.threadId).resume();
  if (turn === null) return exitCodes.done;
  const { approvals, alone } = await chat.waiting(chat.threadId);
  // Only approvals are left, so no more parts would arrive.
  if (alone)
    return ended(chat, { status: "waiting", approvals: approvals.map(({ request }) => request) }, answers, signal);
  return shown(chat, turn, answers, signal);
};
