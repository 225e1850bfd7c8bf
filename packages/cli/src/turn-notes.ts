import type { AskPart, HostedThread } from "@colloquy/host";
import { type CallLlm, type Content, contentText, turnNumbered } from "@colloquy/machine";
import { figuresOf as figuresOfTurn, noticeOf, oneLine, printableJson, shortened } from "@colloquy/terminal";

/** What happens beside an answer, in one line; null for what says nothing to a person. @param whole arguments and results are not shortened. */
export const noteOf = (part: AskPart, whole: boolean): string | null => {
  const cut = whole ? oneLine : shortened;
  switch (part.type) {
    case "toolCall":
      return `  ${oneLine(part.name)} ${cut(part.arguments)}`;
    case "toolResult": {
      if (part.outcome === "completed" && !whole) return null;
      return `  ${oneLine(part.name)} ${part.outcome}: ${cut(textOf(part.content))}`;
    }
    case "signal": {
      const notice = noticeOf(part.signal);
      return notice === null ? null : `  ${notice}`;
    }
    case "wait.started":
      return part.for === "lease"
        ? "  waiting for the process that has the thread, or for its lease to run out"
        : "  waiting for the model";
    case "thread.lost":
      return "  another process went on with the thread; what was shown is void";
    case "replay.started":
      return "  what was shown of this step is void; it is shown anew";
    default:
      return null;
  }
};

/** What a turn took, in one line; null where it is not there any more. */
export const figuresOf = async (thread: HostedThread, number: number): Promise<string | null> => {
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, number);
  return turn === undefined ? null : figuresOfTurn(turn);
};

/** The prompt of a model call as it was sent, for a person. */
export const promptLines = ({ turn, step, messages, model }: CallLlm): readonly string[] => [
  `prompt of turn ${turn}, step ${step}: ${messages.length} messages, ${printableJson(model)}`,
  ...messages.map((message) => `  ${printableJson(message)}`),
];

const textOf = (content: Content | null): string =>
  typeof content === "string" ? content : contentText(content ?? []);
