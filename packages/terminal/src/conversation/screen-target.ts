import type { CommandTarget } from "../commands/command.ts";
import { actions } from "../input/action.ts";
import type { Keymap } from "../input/keymap.ts";
import type { Exchange } from "./exchange.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** What commands do something with on a screen. */
export const screenTarget = (
  options: TerminalConversationOptions,
  exchange: Exchange,
  keymap: Keymap,
  shown: Pick<CommandTarget, "say" | "open" | "propose" | "end">,
): CommandTarget => {
  const { host, port, newThreadId, models = null, themes = null } = options;
  return {
    ...shown,
    host,
    thread: exchange.thread,
    turnTo: (threadId) => exchange.turnTo(threadId),
    newThreadId: newThreadId ?? ((): string => host.thread("new").id),
    copy: (text) => port.copy(text),
    keys: () => Object.entries(keymap).map(([key, action]) => `${key.padEnd(14)} ${actions[action]}`),
    models,
    themes,
  };
};
