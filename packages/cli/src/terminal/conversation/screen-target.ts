import type { CommandTarget } from "../commands/command.ts";
import { actions } from "../input/action.ts";
import type { Keymap } from "../input/keymap.ts";
import type { Exchange } from "./exchange.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** Makes the command target of a conversation on a screen. */
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
    keys: () => keysByAction(keymap),
    models,
    themes,
  };
};

const keysByAction = (keymap: Keymap): readonly (readonly [string, string])[] =>
  Object.entries(actions).flatMap(([action, does]) => {
    const keys = Object.keys(keymap).filter((key) => keymap[key] === action);
    return keys.length === 0 || action === "nothing" ? [] : [[keys.join(", "), does] as const];
  });
