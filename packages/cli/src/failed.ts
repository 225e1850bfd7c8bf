import { ContextUnfitError, LimitReachedError } from "@colloquy/host";
import { ArgumentError, exitCodes } from "./exit-code.ts";

export { failureText } from "@colloquy/terminal";

/** The exit code of what ended a turn early, or a command. */
export const exitCodeOf = (thrown: unknown): number => {
  if (thrown instanceof ArgumentError) return exitCodes.arguments;
  return thrown instanceof LimitReachedError || thrown instanceof ContextUnfitError
    ? exitCodes.limit
    : exitCodes.failed;
};
