import { named } from "@colloquy/terminal";
import type { Answers } from "./answers.ts";
import { ended, shown } from "./ask-once.ts";
import type { Chat } from "./chat-host.ts";
import { ArgumentError, exitCodes } from "./exit-code.ts";
import type { OptionValues } from "./options.ts";
import { approvalsAlone } from "./turn.ts";

/** Answers a tool call that waits for approval, and shows how its turn goes on. Gives the exit code. @throws ArgumentError where no such call waits */
export const answerApproval = async (
  chat: Chat,
  { approve, deny, reason }: Pick<OptionValues, "approve" | "deny" | "reason">,
  answers: Answers,
  signal: AbortSignal,
): Promise<number> => {
  const id = approve ?? deny ?? "";
  const thread = chat.host.thread(chat.threadId);
  const waiting = (await thread.approvals()).map((request) => request.id);
  if (!waiting.includes(id)) {
    const there = waiting.length === 0 ? "none waits" : `there are: ${waiting.map(named).join(", ")}`;
    throw new ArgumentError(`no tool call of thread ${named(thread.id)} waits for approval as ${named(id)}; ${there}`);
  }
  const { turn } =
    approve === undefined ? await thread.deny(id, reason === undefined ? {} : { reason }) : await thread.approve(id);
  if (turn === null) return exitCodes.done;
  const approvals = await approvalsAlone(thread);
  // Nothing more would come.
  if (approvals !== null) return ended(chat, { status: "waiting", approvals }, answers, signal);
  return shown(chat, turn, answers, signal);
};
