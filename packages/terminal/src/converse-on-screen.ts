import { terminalConversation } from "./conversation/terminal-conversation.ts";
import type { TerminalConversationOptions } from "./conversation/options.ts";
import { runScreen } from "./run-screen.ts";
import type { ScreenOptions, TerminalOutput } from "./screen/screen-options.ts";

/** What a conversation on a screen is made from, and where it is drawn. */
export type ConverseOnScreenOptions = Omit<TerminalConversationOptions, "port"> &
  Pick<ScreenOptions, "input" | "output" | "theme">;

/**
 * A conversation with a person at a terminal, until they quit or the signal ends it. Rejects when drawing fails; the
 * terminal is as it was before in any case. Ink and React are loaded with the first call.
 */
export const converseOnScreen = ({ input, output, theme, ...options }: ConverseOnScreenOptions): Promise<void> =>
  runScreen({ conversation: (port) => terminalConversation({ ...options, port }), input, output, theme });

/** Whether a terminal can be drawn on: one that knows its size and takes control sequences. Lines suit all others. */
export const suitsScreen = (
  output: TerminalOutput,
  environment: Readonly<Record<string, string | undefined>>,
): boolean => output.columns !== undefined && environment["TERM"] !== "dumb";
