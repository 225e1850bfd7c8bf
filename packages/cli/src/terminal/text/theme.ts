import { inspect, styleText } from "node:util";
import { type Role, roles, type Line, type Span } from "./line.ts";
import { named, printableInLine } from "./printable.ts";

/** The looks of lines, by role; other roles look plain. Its colours are the sixteen of the person's own palette. */
export interface Theme {
  readonly styles: Styles;
  /** Whether the terminal opens links (OSC 8). */
  readonly hyperlinks: boolean;
}

type Styles = Readonly<Partial<Record<Role, readonly TextStyle[]>>>;

/** A text colour, a background colour, or a modifier, by Node's names: `cyanBright`, `bgRed`, `bold`. */
export type TextStyle = Exclude<Extract<Parameters<typeof styleText>[0], string>, `#${string}`>;

/**
 * Makes a theme by its name, with custom looks by role, such as `{ heading: ["bold", "blue"] }`. Throws for an unknown
 * name in it.
 */
export const themeNamed = (
  name: string,
  own: Readonly<Record<string, readonly string[]>> = {},
  hyperlinks = false,
): Theme => {
  if (!isTheme(name)) throw new Error(`there is no theme ${named(name)}; ${listed(Object.keys(themes))}`);
  const styles = Object.entries(own).map(([role, written]) => [roleOf(role), written.map(styleOf)] as const);
  return { styles: { ...themes[name], ...Object.fromEntries(styles) }, hyperlinks };
};

/** Modifiers without colours. */
const monochrome: Styles = {
  strong: ["bold"],
  emphasis: ["italic"],
  struck: ["strikethrough"],
  heading: ["bold", "underline"],
  link: ["underline"],
  keyword: ["bold"],
  comment: ["dim"],
  name: ["bold"],
  dim: ["dim"],
  prompt: ["bold"],
  selected: ["inverse"],
  match: ["bold", "underline"],
  warning: ["bold"],
  error: ["bold"],
};

const dark: Styles = {
  ...monochrome,
  heading: ["bold", "cyanBright"],
  link: ["underline", "blueBright"],
  code: ["cyan"],
  keyword: ["magenta"],
  string: ["green"],
  number: ["yellow"],
  comment: ["dim"],
  name: ["blueBright"],
  prompt: ["bold", "greenBright"],
  match: ["bold", "yellowBright"],
  added: ["green"],
  removed: ["red"],
  success: ["green"],
  warning: ["yellow"],
  error: ["redBright"],
};

/** Yellow and the bright colours are hard to read on white. */
const light: Styles = {
  ...dark,
  heading: ["bold", "blue"],
  link: ["underline", "blue"],
  code: ["blue"],
  number: ["red"],
  name: ["blue"],
  prompt: ["bold", "green"],
  match: ["bold", "magenta"],
  warning: ["bold", "magenta"],
  error: ["red"],
};

/** The available themes. */
export const themes: Readonly<Record<"dark" | "light" | "monochrome" | "plain", Styles>> = {
  dark,
  light,
  monochrome,
  plain: {},
};

const roleOf = (written: string): Role => {
  const role = roles.find((each) => each === written);
  if (role === undefined) throw new Error(`there is no role ${named(written)}; ${listed(roles)}`);
  return role;
};

const styleOf = (written: string): TextStyle => {
  if (!isStyle(written)) throw new Error(`there is no style ${named(written)}; ${listed(Object.keys(inspect.colors))}`);
  return written;
};

const listed = (names: readonly string[]): string => `there are ${names.join(", ")}`;

const isTheme = (name: string): name is keyof typeof themes => Object.hasOwn(themes, name);
const isStyle = (name: string): name is TextStyle => Object.hasOwn(inspect.colors, name);

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

/**
 * Returns an address that a terminal may open, otherwise null. It must be a web or mail address, in visible ASCII
 * characters.
 */
export const linkTarget = (address: string): string | null => {
  if (unsafe.test(address) || address.length > lengthMax || !URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocols.has(protocol) ? href : null;
};

/** Matches characters that `URL` would remove silently. */
const unsafe = /[\s\p{C}]/u;

const protocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The longest address that terminals keep. */
const lengthMax = 2000;

/**
 * Converts a line to terminal output; only this function makes control sequences. Control characters in spans are made
 * visible, and each look ends after its span.
 */
export const painted = (line: Line, theme: Theme): string => line.map((span) => paintedSpan(span, theme)).join("");

const paintedSpan = ({ text, roles, link }: Span, theme: Theme): string => {
  const shown = printableInLine(text);
  if (shown === "") return "";
  const styles = roles.flatMap((role) => theme.styles[role] ?? []);
  const styled = styleText(styles, shown, { validateStream: false });
  const target = theme.hyperlinks && link !== undefined ? linkTarget(link) : null;
  // BEL, because some libraries that cut rows recognise only that end of a link.
  return target === null ? styled : `\u001B]8;;${target}\u0007${styled}\u001B]8;;\u0007`;
};
