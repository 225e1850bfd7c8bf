import type { HostedThread } from "@colloquy/host";
import { textOf, toArray, type Turn, turnNumbered } from "@colloquy/machine";
import type { CommandTarget } from "../commands/command.ts";
import { performCommand } from "../commands/commands.ts";
import { actions, type Keymap } from "../input/keymap.ts";
import type { ViewAction } from "../views/view.ts";
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

/** Performs the action of a view. @param edit starts editing the question of a turn */
export const performViewAction = async (
  action: ViewAction,
  target: () => CommandTarget,
  edit: (turn: number) => Promise<void>,
): Promise<void> => {
  switch (action.type) {
    case "moveHead":
      return performCommand(target(), `/branch ${action.turn}`);
    case "fork":
      return performCommand(target(), `/fork ${action.turn}`);
    case "checkpoint":
      // A checkpoint names the place of the head, so the head moves first.
      await performCommand(target(), `/branch ${action.turn}`);
      return target().propose("/checkpoint ");
    case "edit":
      return edit(action.turn);
    case "openThread":
      await target().turnTo(action.threadId);
      return action.turn === undefined ? undefined : performCommand(target(), `/branch ${action.turn}`);
    case "copy":
      return target().copy(action.text);
  }
};

/** Returns a turn and its question, for editing. @throws Error if it has none */
export const questionOf = async (
  thread: HostedThread,
  number: number,
): Promise<{ readonly turn: Turn; readonly question: string }> => {
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, number);
  const question = turn === undefined ? undefined : toArray(turn.messages).find(({ role }) => role === "user");
  if (turn === undefined || question === undefined) throw new Error(`turn ${number} has no question to edit`);
  return { turn, question: textOf(question) };
};
