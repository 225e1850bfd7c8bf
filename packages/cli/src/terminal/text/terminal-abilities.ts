import type { themes } from "./theme.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether to write in colours. FORCE_COLOR decides if it is set (`0` and `false` mean no), then a non-empty
 * NO_COLOR; otherwise all terminals that are not dumb get colours.
 */
export const wantsColour = (isTerminal: boolean, environment: Environment): boolean => {
  const force = environment["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  return (environment["NO_COLOR"] ?? "") === "" && isTerminal && environment["TERM"] !== "dumb";
};

/** Returns the theme that suits a terminal if the person chose none. */
export const themeNameFor = (isTerminal: boolean, environment: Environment): keyof typeof themes => {
  if (!wantsColour(isTerminal, environment))
    return isTerminal && environment["TERM"] !== "dumb" ? "monochrome" : "plain";
  // `foreground;background`: some terminals report their initial colours in it.
  return /;(?:7|15)$/.test(environment["COLORFGBG"] ?? "") ? "light" : "dark";
};

/** Returns whether a terminal is known to open links (OSC 8). Within tmux and screen the terminal is unknown. */
export const opensLinks = (isTerminal: boolean, environment: Environment): boolean => {
  const { TERM: term = "", TERM_PROGRAM: program = "", VTE_VERSION: vte, TMUX: tmux } = environment;
  if (!isTerminal || tmux !== undefined || /^(?:screen|tmux|dumb)/.test(term)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio)$/.test(program) ||
    /kitty|ghostty|alacritty|foot|wezterm/.test(term) ||
    environment["WT_SESSION"] !== undefined ||
    Number(vte) >= 5000
  );
};
