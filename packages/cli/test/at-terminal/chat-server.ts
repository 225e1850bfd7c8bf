import { virtualClock, type VirtualClock } from "@colloquy/runtime-test";
import { fails, never, ruleModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";

/**
 * The question determines the answer: for `look` and `mail` the model calls a tool. For `slow` it waits in the middle
 * until the clock advances, for `never` for ever, and for `fail` it fails. It repeats any other question, with the
 * number of messages.
 */
const model = ruleModel([
  {
    name: "result",
    when: ({ last }) => last?.role === "tool",
    answer: ({ toolResults }) => `It is ${toolResults.at(-1)?.text}.`,
  },
  {
    name: "tools",
    when: ({ lastUserText }) => /^(?:look|mail)\b/.test(lastUserText),
    answer: ({ lastUserText }) =>
      toolCalls([{ name: lastUserText.slice(0, 4), arguments: { for: lastUserText.slice(5) } }]),
  },
  {
    name: "slow",
    when: ({ lastUserText }) => lastUserText.startsWith("slow"),
    answer: () => streams(["It was ", ...Array.from({ length: 50 }, () => ({ text: "so ", delayMs: 10 })), "there."]),
  },
  {
    name: "never",
    when: ({ lastUserText }) => lastUserText.startsWith("never"),
    answer: () => never({ pieces: ["It will "] }),
  },
  {
    name: "fail",
    when: ({ lastUserText }) => lastUserText === "fail",
    answer: () => fails({ kind: "bad_request", status: 400 }),
  },
  {
    name: "echo",
    when: () => true,
    answer: ({ messages, lastUserText }) => `**${lastUserText}**, ${messages.length} messages`,
  },
]);

/** Starts a server with that model. Returns it with the clock of its answers. */
export const chatServer = async (): Promise<{ readonly server: LoopbackServer; readonly clock: VirtualClock }> => {
  const clock = virtualClock();
  return { server: await loopbackServer({ model, clock }), clock };
};
