import type { Choice } from "./commands/command.ts";
import type { TerminalConversationOptions } from "./conversation/options.ts";
import { terminalConversation } from "./conversation/terminal-conversation.ts";
import { runScreen } from "./run-screen.ts";
import type { ScreenOptions, TerminalOutput } from "./screen/screen-options.ts";
import { opensLinks, themeNameFor } from "./text/terminal-abilities.ts";
import { type Theme, themeNamed, themes } from "./text/theme.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a conversation on a screen is made from, and where it is drawn. */
export type ConverseOnScreenOptions = Omit<TerminalConversationOptions, "port" | "themes"> &
  Pick<ScreenOptions, "input" | "output"> & {
    /** Which terminal it is, and what the person wants of it (`TERM`, `NO_COLOR`, …). */
    readonly environment: Environment;
    /** The name of its theme at first. Default: what suits the terminal. */
    readonly theme?: string;
    /** Looks by role that take the place of those of any theme, such as `{ heading: ["bold", "blue"] }`. */
    readonly looks?: Looks;
  };

type Looks = Readonly<Record<string, readonly string[]>>;

/**
 * A conversation with a person at a terminal, until they quit or the signal ends it. Rejects when drawing fails; the
 * terminal is as it was before in any case. Ink and React are loaded with the first call.
 *
 * @throws Error for a theme, a role or a style that there is not
 */
export const converseOnScreen = async (options: ConverseOnScreenOptions): Promise<void> => {
  const { input, output, environment, theme: name = themeNameFor(true, environment), looks = {}, ...others } = options;
  const { theme, choice } = chosenTheme(name, looks, opensLinks(true, environment));
  return runScreen({
    conversation: (port) => terminalConversation({ ...others, themes: choice, port }),
    input,
    output,
    theme,
  });
};

/** Whether a terminal can be drawn on: one that knows its size and takes control sequences. Lines suit all others. */
export const suitsScreen = (output: TerminalOutput, environment: Environment): boolean =>
  output.columns !== undefined && environment["TERM"] !== "dumb";

/** A theme that shows things as the one that was chosen last. */
const chosenTheme = (
  first: string,
  looks: Looks,
  hyperlinks: boolean,
): { readonly theme: Theme; readonly choice: Choice } => {
  let name = first;
  let { styles } = themeNamed(first, looks, hyperlinks);
  return {
    theme: {
      hyperlinks,
      get styles() {
        return styles;
      },
    },
    choice: {
      names: Object.keys(themes),
      present: () => name,
      choose: (wanted) => {
        ({ styles } = themeNamed(wanted, looks));
        name = wanted;
      },
    },
  };
};
