import { ContextUnfitError, LimitReachedError } from "@colloquy/host";
import { ArgumentError, exitCodes, InterruptedError } from "./exit-code.ts";

export { failureText } from "@colloquy/cli/terminal";

/** Returns the exit code for an error that ended a turn or a command. */
export const exitCodeOf = (thrown: unknown): number => {
  if (thrown instanceof ArgumentError) return exitCodes.arguments;
  if (thrown instanceof InterruptedError) return exitCodes.interrupted;
  return thrown instanceof LimitReachedError || thrown instanceof ContextUnfitError
    ? exitCodes.limit
    : exitCodes.failed;
};
