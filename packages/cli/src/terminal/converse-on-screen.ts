import type { Choice } from "./commands/command.ts";
import type { TerminalConversationOptions } from "./conversation/options.ts";
import { terminalConversation } from "./conversation/terminal-conversation.ts";
import type { ScreenOptions, TerminalOutput } from "./conversation/screen-port.ts";
import { opensLinks, themeNameFor, type Theme, themeNamed, themes } from "./text/theme.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The options of a conversation on a screen, and its terminal. */
export type ConverseOnScreenOptions = Omit<TerminalConversationOptions, "port" | "themes"> &
  Pick<ScreenOptions, "input" | "output"> & {
    /** The environment variables with the terminal's type and the person's wishes (`TERM`, `NO_COLOR`, …). */
    readonly environment: Environment;
    /** The name of its first theme. Default: one that suits the terminal. */
    readonly theme?: string;
    /** Looks by role that override those of any theme, such as `{ heading: ["bold", "blue"] }`. */
    readonly looks?: Looks;
  };

type Looks = Readonly<Record<string, readonly string[]>>;

/**
 * Converses with a person at a terminal, until they quit or the signal ends it. Rejects if drawing fails. The terminal
 * is restored in any case. Ink and React are loaded at the first call.
 *
 * @throws Error for an unknown theme, role or style
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

/** Returns whether a terminal can be drawn on: it knows its size and supports control sequences. Others use lines. */
export const suitsScreen = (output: TerminalOutput, environment: Environment): boolean =>
  output.columns !== undefined && environment["TERM"] !== "dumb";

/** Returns a theme that delegates to the one that was chosen last. */
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
      names: () => Object.keys(themes),
      present: () => name,
      choose: (wanted) => {
        ({ styles } = themeNamed(wanted, looks));
        name = wanted;
      },
    },
  };
};

/**
 * Shows a conversation at a terminal until it ends, or the terminal goes away. Rejects if drawing or a key throws. The
 * terminal is restored in any case. Ink and React are loaded at the first call.
 */
export const runScreen = async (options: ScreenOptions): Promise<void> => {
  // From now on, the screen shows typed text, and not the terminal itself.
  options.input.setRawMode?.(true);
  try {
    const { runInkScreen } = await loaded();
    return await runInkScreen(options);
  } finally {
    options.input.setRawMode?.(false);
  }
};

/**
 * Loads React for production: it reads the environment when it is loaded, and its development version takes twice the
 * time.
 */
const loaded = async (): Promise<typeof import("./screen/ink-screen.ts")> => {
  const { NODE_ENV } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    return await import("./screen/ink-screen.ts");
  } finally {
    if (NODE_ENV === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = NODE_ENV;
  }
};
