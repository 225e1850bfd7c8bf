import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { MachineOptions } from "@colloquy/machine";
import { pricesPerMillion } from "@colloquy/machine/policies";
import { didYouMean } from "@colloquy/cli/printing";
import { keymapOf, named, printableJson, reasonOf } from "@colloquy/cli/terminal";
import type { CommandSetting } from "./command-context.ts";
import { ArgumentError } from "./exit-code.ts";
import { exclusive, type OptionName, optionKinds, type OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

/** The options of a conversation, merged with settings files, and the settings that only files have. */
export interface Settled {
  readonly options: OptionValues;
  readonly pricing?: NonNullable<MachineOptions["pricing"]>;
  /** The folder has no settings, or the user's settings trust it. */
  readonly isTrusted: boolean;
  /** The system prompt comes from a project file, whose author the user may not know; existing threads keep theirs. */
  readonly systemIsForNew: boolean;
  /** The actions of single keys, which override those of the preset. */
  readonly ownKeys: Keys;
  /** The file of typed inputs; null if they are not stored. */
  readonly historyFile: string | null;
  readonly files: readonly string[];
}

type Keys = Readonly<Record<string, string>>;

/**
 * Merges settings. The command line takes precedence over the project's settings, and those over the user's.
 *
 * @throws ArgumentError for an unknown or invalid setting, and for a project's setting that needs trust which the user
 * has not given
 */
export const settled = (
  given: OptionValues,
  { environment, folder }: Pick<CommandSetting, "environment" | "folder">,
): Settled => {
  const home = environment["HOME"] ?? "";
  const ofUser = folderOf(environment["XDG_CONFIG_HOME"], home, ".config");
  const user = ofUser === null ? nothing : settingsIn(join(ofUser, "settings.json"), ofUser, home);
  const projectFolder = folder === undefined ? null : projectAround(folder, home);
  const project = projectFolder === null ? nothing : settingsIn(join(projectFolder, projectFile), projectFolder, home);
  const isTrusted = projectFolder === null || (user.trust ?? []).some((trusted) => isSame(trusted, projectFolder));
  if (!isTrusted) refuseUntrusted(project, projectFolder, ofUser);
  const ofProject = isTrusted ? project.options : forUntrusted(project.options, { ...user.options, ...given });
  const prices = project.prices ?? user.prices;
  const state = folderOf(environment["XDG_STATE_HOME"], home, ".local/state");
  return {
    options: over(given, over(ofProject, user.options)),
    isTrusted,
    systemIsForNew: !isTrusted && given.system === undefined && ofProject.system !== undefined,
    ownKeys: { ...user.ownKeys, ...project.ownKeys },
    historyFile: user.history === true && state !== null ? join(state, "history") : null,
    files: [
      ...(user === nothing || ofUser === null ? [] : [join(ofUser, "settings.json")]),
      ...(projectFolder === null ? [] : [join(projectFolder, projectFile)]),
    ],
    ...(prices === undefined ? {} : { pricing: prices }),
  };
};

interface Settings {
  readonly options: OptionValues;
  readonly trust?: readonly string[];
  readonly history?: boolean;
  readonly prices?: NonNullable<MachineOptions["pricing"]>;
  readonly ownKeys?: Keys;
  readonly at: (name: string) => string;
}

const projectFile = ".colloquy/settings.json";

const nothing: Settings = { options: {}, at: () => "" };

/**
 * The settings that files may contain. The first five may come from any project: they run no code, and do not decide
 * who receives messages or in which place they are stored.
 */
const settable: readonly OptionName[] = [
  ...(["thread", "model", "system", "window", "max-turns"] as const),
  ...(["store", "provider", "base-url", "template", "agent", "tools", "mcp", "react"] as const),
  ...(["output-format", "no-stream", "quiet", "verbose", "keys", "theme", "screen-reader", "no-color"] as const),
];
const anyProjectMay = new Set<string>(settable.slice(0, 5));
const paths = new Set<string>(["store", "template", "agent", "tools"]);

/** Options that displace others, beside the ones that exclude each other. */
const displaces: { readonly [Name in OptionName]?: readonly OptionName[] } = {
  provider: ["model", "base-url", "template"],
  approve: ["thread"],
  deny: ["thread"],
};

const over = (first: OptionValues, then: OptionValues): OptionValues => {
  const pairs = exclusive.flatMap(([one, other]) => [[one, [other]] as const, [other, [one]] as const]);
  const displaced = [...Object.entries(displaces), ...pairs].flatMap(([name, others]) =>
    Object.hasOwn(first, name) ? others : [],
  );
  const kept = Object.entries(then).filter(([name]) => !displaced.some((other) => other === name));
  return { ...Object.fromEntries(kept), ...first };
};

const settingsIn = (file: string, base: string, home: string): Settings => {
  if (!existsSync(file)) return nothing;
  const text = readTextFile(file);
  const at = (name: string): string => placeIn(file, text, name);
  const read = parsed(file, text);
  const refused = (name: string, must: string): ArgumentError =>
    new ArgumentError(`${at(name)}: ${named(name)} is ${printableJson(read[name])}; it must be ${must}`);
  const { trust, history, prices, ...rest } = read;
  const { keys: ownKeys, ...withoutKeys } = rest;
  const others = isKeys(ownKeys) ? withoutKeys : rest;
  const pathOf = (path: string): string =>
    path.startsWith("~/")
      ? join(home, path.slice(2))
      : isAbsolute(path) || /^[a-z][\w+.-]*:\/\//i.test(path)
        ? path
        : resolve(base, path);
  const options = Object.entries(others).map(([name, value]) => {
    const known = settable.find((option) => option === name);
    if (known === undefined)
      throw new ArgumentError(
        `${at(name)}: there is no setting ${named(name)}${didYouMean(name, settable)}; there are ${settable.join(", ")}, trust, history, prices`,
      );
    const kind = optionKinds[known];
    const texts = (value: unknown): readonly string[] | null =>
      isTexts(value) ? (paths.has(name) ? value.map(pathOf) : value) : null;
    if (kind.type === "boolean") {
      if (typeof value !== "boolean") throw refused(name, "true or false");
      return [name, value] as const;
    }
    const many = texts("multiple" in kind ? value : [typeof value === "number" ? String(value) : value]);
    if (many === null)
      throw refused(name, name === "keys" ? keysAre : "multiple" in kind ? "a list of texts" : "a text");
    return [name, "multiple" in kind ? many : many[0]] as const;
  });
  if (trust !== undefined && !isTexts(trust)) throw refused("trust", "a list of folders");
  if (history !== undefined && typeof history !== "boolean") throw refused("history", "true or false");
  return {
    // Each value was checked by the kind of its option.
    options: Object.fromEntries(options.filter(([, value]) => value !== false)) as OptionValues,
    at,
    ...(trust === undefined ? {} : { trust: trust.map(pathOf) }),
    ...(history === undefined ? {} : { history }),
    ...(isKeys(ownKeys) ? { ownKeys: checkedKeys(ownKeys, at("keys")) } : {}),
    ...(prices === undefined ? {} : { prices: pricingOf(prices, at("prices")) }),
  };
};

const keysAre = 'the name of a preset, or what single keys do, such as {"ctrl+x": "quit"}';

const isKeys = (value: unknown): value is Keys =>
  typeof value === "object" && value !== null && isTexts(Object.values(value)) && !Array.isArray(value);

const checkedKeys = (keys: Keys, place: string): Keys => {
  try {
    keymapOf("standard", keys);
  } catch (thrown) {
    throw new ArgumentError(`${place}: ${reasonOf(thrown)}`, { cause: thrown });
  }
  return keys;
};

const parsed = (file: string, text: string): Readonly<Record<string, unknown>> => {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === "object" && read !== null && !Array.isArray(read)) return { ...read };
  } catch (thrown) {
    throw new ArgumentError(`${file} is not JSON: ${reasonOf(thrown)}`, { cause: thrown });
  }
  throw new ArgumentError(`${file} must be a JSON object, such as {"model": "gpt-4o-mini"}`);
};

const pricingOf = (prices: unknown, place: string): NonNullable<MachineOptions["pricing"]> => {
  try {
    const { currency, models } = Object(prices) as {
      readonly currency: string;
      readonly models: Parameters<typeof pricesPerMillion>[1];
    };
    // The call checks both.
    return pricesPerMillion(currency, models);
  } catch (thrown) {
    throw new ArgumentError(
      `${place}: prices can't be read: ${reasonOf(thrown)}; write {"currency": "USD", "models": {"gpt-4o-mini": {"input": 0.15, "output": 0.6}}}, for a million tokens`,
      { cause: thrown },
    );
  }
};

/** Throws if a project has settings that need trust, because the user may not know their author. */
const refuseUntrusted = (
  { options, prices, trust, history, ownKeys, at }: Settings,
  folder: string,
  ofUser: string | null,
): void => {
  const own = ofUser === null ? "your settings" : join(ofUser, "settings.json");
  const file = join(folder, projectFile);
  if (process.getuid !== undefined && statSync(file).uid !== process.getuid())
    throw new ArgumentError(
      `${file} belongs to another user: add ${named(folder)} to "trust" in ${own}, or go on outside of that folder`,
    );
  const others = Object.entries({ prices, trust, history, keys: ownKeys }).filter(([, value]) => value !== undefined);
  const [stray] = [...Object.keys(options), ...others.map(([name]) => name)].filter((name) => !anyProjectMay.has(name));
  if (stray === undefined) return;
  throw new ArgumentError(
    `${at(stray)}: ${stray} is for projects that you trust: add ${named(folder)} to "trust" in ${own}, or remove it`,
  );
};

/**
 * Removes a thread that a project sets, unless it also sets the store: a project must not choose among the user's
 * threads.
 */
const forUntrusted = ({ thread, ...options }: OptionValues, { store, session }: OptionValues): OptionValues =>
  thread === undefined || (store ?? session) !== undefined ? options : { ...options, thread };

const folderOf = (given: string | undefined, home: string, otherwise: string): string | null => {
  if (given !== undefined && isAbsolute(given)) return join(given, "colloquy");
  return home === "" ? null : join(home, otherwise, "colloquy");
};

/** Finds the project of a folder, up to the home folder; nothing above it belongs to the user. */
const projectAround = (folder: string, home: string): string | null => {
  if (existsSync(join(folder, projectFile))) return folder;
  return dirname(folder) === folder || (home !== "" && isSame(folder, home))
    ? null
    : projectAround(dirname(folder), home);
};

const isSame = (one: string, other: string): boolean =>
  existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const placeIn = (file: string, text: string, name: string): string => {
  const before = text.slice(0, Math.max(text.indexOf(JSON.stringify(name)), 0)).split("\n");
  return `${file}:${before.length}:${(before.at(-1) ?? "").length + 1}`;
};
