import { messagesOf, type State, toArray, turnsOf } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { RenderOptions, Template } from "./template/template.ts";

export interface RenderThreadOptions extends RenderOptions {
  /** The first turn to render, by its number. Default: the beginning, including the messages before the first turn. */
  readonly from?: number;
  /** The last turn to render. Default: the end, including the open turn. */
  readonly to?: number;
}

/**
 * Renders the messages of a thread after its system prompt: all of them, or those of a range of closed turns on the
 * path. For the prompt of the next model call, which a policy may cut, use `promptOf(…).messages`.
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
