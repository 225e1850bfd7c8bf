import type { themes } from "./theme.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether to write in colours: FORCE_COLOR decides where it is set (`0` and `false` are a no), else NO_COLOR where it
 * is not empty, else it is for terminals that are not dumb.
 */
export const wantsColour = (isTerminal: boolean, environment: Environment): boolean => {
  const force = environment["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  return (environment["NO_COLOR"] ?? "") === "" && isTerminal && environment["TERM"] !== "dumb";
};

/** The theme that suits a terminal, where a person chose none. */
export const themeNameFor = (isTerminal: boolean, environment: Environment): keyof typeof themes => {
  if (!wantsColour(isTerminal, environment))
    return isTerminal && environment["TERM"] !== "dumb" ? "monochrome" : "plain";
  // `foreground;background`, as some terminals tell the colours that they begin with.
  return /;(?:7|15)$/.test(environment["COLORFGBG"] ?? "") ? "light" : "dark";
};

/** Whether a terminal is known to open addresses (OSC 8). Within tmux and screen nobody knows which one draws. */
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
