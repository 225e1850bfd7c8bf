import { inspect, type styleText } from "node:util";
import { type Role, roles } from "./line.ts";
import { named } from "./printable.ts";

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
