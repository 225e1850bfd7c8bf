import type { Role } from "./line.ts";
import { named } from "./printable.ts";

/** How lines look, by what their pieces are. The colours are the sixteen that a person's own palette rules. */
export interface Theme {
  readonly styles: Readonly<Record<Role, readonly TextStyle[]>>;
  /** Whether the terminal opens addresses (OSC 8). */
  readonly hyperlinks: boolean;
}

/** A colour of the text, one behind it (`onRed`), or a manner of writing. */
export type TextStyle = Manner | Colour | `on${Capitalize<Colour>}`;

type Manner = keyof typeof manners;
type Hue = (typeof hues)[number];
type Colour = Hue | `bright${Capitalize<Hue>}`;

/**
 * A theme by its name, with looks of one's own by role, such as `{ heading: ["bold", "blue"] }`. Throws what is wrong
 * with the names in it.
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

/** The sequence (SGR) that turns a style on. */
export const sgrOf = (style: TextStyle): string => `\u001B[${codes.get(style)}m`;

const hues = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const manners = { bold: 1, dim: 2, italic: 3, underline: 4, inverse: 7, struck: 9 } as const;

const capitalised = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** The numbers of ECMA-48, and of the bright colours that terminals added. */
const codes: ReadonlyMap<string, number> = new Map([
  ...Object.entries(manners),
  ...hues.flatMap((hue, index): [string, number][] => [
    [hue, 30 + index],
    [`bright${capitalised(hue)}`, 90 + index],
    [`on${capitalised(hue)}`, 40 + index],
    [`onBright${capitalised(hue)}`, 100 + index],
  ]),
]);

/** No looks at all. */
const plain: Theme["styles"] = {
  plain: [],
  strong: [],
  emphasis: [],
  struck: [],
  heading: [],
  link: [],
  code: [],
  keyword: [],
  string: [],
  number: [],
  comment: [],
  name: [],
  dim: [],
  prompt: [],
  selected: [],
  match: [],
  added: [],
  removed: [],
  success: [],
  warning: [],
  error: [],
};

/** Ways of writing, without colours. */
const monochrome: Theme["styles"] = {
  ...plain,
  strong: ["bold"],
  emphasis: ["italic"],
  struck: ["struck"],
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

const dark: Theme["styles"] = {
  ...monochrome,
  heading: ["bold", "brightCyan"],
  link: ["underline", "brightBlue"],
  code: ["cyan"],
  keyword: ["magenta"],
  string: ["green"],
  number: ["yellow"],
  comment: ["dim"],
  name: ["brightBlue"],
  prompt: ["bold", "brightGreen"],
  match: ["bold", "brightYellow"],
  added: ["green"],
  removed: ["red"],
  success: ["green"],
  warning: ["yellow"],
  error: ["brightRed"],
};

/** Yellow and the bright colours are hard to read on white. */
const light: Theme["styles"] = {
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

/** The themes to choose from. */
export const themes: Readonly<Record<"dark" | "light" | "monochrome" | "plain", Theme["styles"]>> = {
  dark,
  light,
  monochrome,
  plain,
};

const roleOf = (written: string): Role => {
  if (!isRole(written)) throw new Error(`there is no role ${named(written)}; ${listed(Object.keys(plain))}`);
  return written;
};

const styleOf = (written: string): TextStyle => {
  if (!isStyle(written)) throw new Error(`there is no style ${named(written)}; ${listed([...codes.keys()])}`);
  return written;
};

const listed = (names: readonly string[]): string => `there are ${names.join(", ")}`;

const isTheme = (name: string): name is keyof typeof themes => Object.hasOwn(themes, name);
const isRole = (name: string): name is Role => Object.hasOwn(plain, name);
const isStyle = (name: string): name is TextStyle => codes.has(name);
