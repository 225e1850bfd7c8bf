/**
 * The environment variables, as they are now: none where the platform has none, as a browser, and none where it does not let
 * them be listed, as Deno without `--allow-env`. What can't be read needs no hiding.
 */
export const allVariables = (): readonly (readonly [name: string, value: string])[] => {
  try {
    return Object.entries(environment()).map(([name, value = ""]) => [name, value] as const);
  } catch {
    return [];
  }
};

/** The value of one variable; undefined where there is none, and where it may not be read. */
export const variable = (name: string): string | undefined => {
  try {
    return environment()[name];
  } catch {
    return undefined;
  }
};

/** As much of a platform as is looked at here: Node, Deno and Bun have a process, some workers and no browser do. */
const environment = (): Readonly<Record<string, string | undefined>> => {
  const platform = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };
  return platform.process?.env ?? {};
};
