import { createInterface } from "node:readline";
import { commandIn, failureText, performCommand, plainTarget } from "@colloquy/cli/terminal";
import type { Answers } from "./answers.ts";
import { askOnce } from "./ask-once.ts";
import type { Chat } from "./chat-host.ts";
import type { CommandContext } from "./command-context.ts";
import { exitCodes } from "./exit-code.ts";

/**
 * Asks line by line until the input ends; a line that begins with a slash is a command. Returns the exit code of the
 * first failure.
 */
export const pipedQuestions = async (
  chat: Chat,
  answers: Answers,
  { input, errors, signal }: Pick<CommandContext, "input" | "errors" | "signal">,
  before: number,
): Promise<number> => {
  let code = before;
  let { threadId } = chat;
  const reader = createInterface({ input, terminal: false, crlfDelay: Infinity });
  let isEnded = false;
  const end = (): void => {
    isEnded = true;
    reader.close();
  };
  signal.addEventListener("abort", end);
  const perform = async (line: string): Promise<number> => {
    const { host, models } = chat;
    const turnTo = async (id: string): Promise<void> => void (threadId = id);
    try {
      await performCommand(
        plainTarget({ host, models, thread: host.thread(threadId), printer: errors, turnTo, end }),
        line,
      );
      return exitCodes.done;
    } catch (thrown) {
      errors.line(`error: ${failureText(thrown)}`);
      return exitCodes.failed;
    }
  };
  try {
    for await (const typed of reader) {
      const line = typed.trim();
      // A closed reader still returns the lines that it has read.
      if (isEnded || signal.aborted) break;
      if (line === "") continue;
      const command = commandIn(line);
      const came =
        command !== null ? await perform(command) : await askOnce({ ...chat, threadId }, line, answers, signal);
      if (code === exitCodes.done) code = came;
    }
  } finally {
    signal.removeEventListener("abort", end);
  }
  return signal.aborted ? exitCodes.interrupted : code;
};
