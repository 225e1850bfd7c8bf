import type { HostedThread } from "@colloquy/host";
import { costOf, counted, splitOf, tokensOf } from "../text/figures.ts";
import { named, oneLine } from "../text/printable.ts";

/**
 * Returns the figures of a thread for the status line: its id, turns and tokens, the share of the window, and the cost.
 *
 * @param agent If given, each figure has a label: `Agent: WeatherAgent`, `Thread: chat-123`, `Msgs: 6`, `Tokens: 2.4k
 * (…)`.
 */
export const threadStatus = async (thread: HostedThread, agent: string | null): Promise<readonly string[]> => {
  const figures = await thread.figures();
  const names =
    agent === null ? [`thread ${named(thread.id)}`] : [`Agent: ${oneLine(agent)}`, `Thread: ${named(thread.id)}`];
  if (figures === null || figures.turns.total === 0) return names;
  const { turns, usage, share } = figures;
  const split = splitOf(usage);
  const tokens = `${tokensOf(usage)}${split === "" ? "" : ` (${split})`}`;
  const window = share === null ? "" : `${Math.round(share * 100)} % of the window`;
  const counts =
    agent === null
      ? [counted(turns.total, "turn"), tokens]
      : [`Msgs: ${figures.messages}`, `Tokens: ${tokens.replace(/ tokens?/, "")}`];
  return [...names, ...counts, window, costOf(usage)].filter((text) => text !== "");
};
