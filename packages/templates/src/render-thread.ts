import { messagesOf, type State, toArray, turnsOf } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { RenderOptions, Template } from "./template/template.ts";

export interface RenderThreadOptions extends RenderOptions {
  /** The first turn to render, by its number. Default: from the beginning on, with what stood before the first turn. */
  readonly from?: number;
  /** The last turn to render. Default: to the end, with the turn that is open. */
  readonly to?: number;
}

/**
 * Renders what was said in a thread, under its system prompt: all of it, or the closed turns of a range, those on the
 * path of the conversation. What a model would be sent, which a policy may have cut, is `promptOf(…).messages`.
 */
export const renderThread = (
  template: Template,
  state: State,
  { from, to, ...options }: RenderThreadOptions = {},
): Either.Either<string, string> => {
  const { system } = state.context.conversation;
  const said =
    from === undefined && to === undefined
      ? messagesOf(state)
      : turnsOf(state)
          .filter(({ number }) => number >= (from ?? 1) && number <= (to ?? Number.POSITIVE_INFINITY))
          .flatMap(({ messages }) => toArray(messages));
  return template.render(system === null ? said : [system, ...said], options);
};
