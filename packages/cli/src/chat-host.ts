import type { Agent } from "@colloquy/sessions/agents";
import type { HostedThread, AskOptions } from "@colloquy/host";
import { type Content, textOf, type MachineOptions } from "@colloquy/machine";
import type { Choice, ConverseOptions } from "@colloquy/cli/terminal";
import { threadIdOf } from "./chat-thread.ts";
import type { CommandContext } from "./command-context.ts";
import { openedHost, opening, type Opens } from "./opened-host.ts";
import type { Settled } from "./settings.ts";
import type { Asked, FollowedChat } from "./turn.ts";

/** An open conversation. */
export interface Chat extends FollowedChat {
  readonly agent: Agent | null;
  /** Asks on a thread. */
  readonly ask: (input: Content, threadId: string) => Asked;
  /** Whether a text may be sent into a turn; false if it would not be a valid input of a signature. */
  readonly steers: boolean;
  readonly models: Choice;
  /** Shows output beside answers; a conversation on a screen replaces this function. */
  readonly notices: { show: (text: string) => void };
  readonly notes?: ConverseOptions["notes"];
  /** The model and the store, in one line. */
  readonly about: string;
  /** The options with which another command reaches its threads; null if they are not stored. */
  readonly store: string | null;
  readonly close: () => Promise<void>;
}

/**
 * Opens a conversation from options: its model, tools, store and thread.
 *
 * @throws if anything cannot be used; then everything is closed again
 */
export const openedChat = (settings: Settled, context: CommandContext): Promise<Chat> =>
  opening((opens) => chatOf(settings, context, opens));

const chatOf = async (settings: Settled, context: CommandContext, opens: Opens): Promise<Omit<Chat, "close">> => {
  const { options, pricing, systemIsForNew } = settings;
  const { ask, provider, system, ...opened } = await openedHost(settings, context, opens);
  const models = modelChoice(options.model, provider.model, pricing);
  const threadId = await threadIdOf(options, opened.host, context);
  if (system !== undefined && !systemIsForNew) await useSystem(opened.host.thread(threadId), system);
  return { ...opened, threadId, models, ask: (input, id) => ask(input, id, models.asked()) };
};

/** An existing thread has its own system prompt. */
const useSystem = async (thread: HostedThread, system: string): Promise<void> => {
  const state = await thread.state();
  if (state === null) return;
  const present = state.context.conversation.system;
  if (present === null || textOf(present) !== system) await thread.changeSystem(system);
};

/** The choice of the model: any model of the provider, by name; models with prices are offered. */
interface ModelChoice extends Choice {
  /** Returns the model option of an ask; empty if no model was chosen. */
  readonly asked: () => Pick<AskOptions, "model">;
}

/** @param given the name that the user gave; @param otherwise the model that is called if none is chosen */
const modelChoice = (given: string | undefined, otherwise: string, pricing: MachineOptions["pricing"]): ModelChoice => {
  let chosen = given;
  const priced = Object.keys(pricing?.options["models"] ?? {});
  return {
    names: [...new Set([otherwise, ...priced])],
    present: () => chosen ?? otherwise,
    choose: (name) => void (chosen = name),
    asked: () => (chosen === undefined ? {} : { model: { model: chosen } }),
  };
};
