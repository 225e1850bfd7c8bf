import { ArgumentError } from "./exit-code.ts";

/**
 * Loads a module that needs packages which this one does not install.
 *
 * @param what names the feature, for the error.
 * @throws ArgumentError with the command that installs them, if one is missing
 */
export const loaded = async <Module>(
  what: string,
  packages: readonly string[],
  load: () => Promise<Module>,
): Promise<Module> => {
  try {
    return await load();
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const named = packages.map((name) => `"${name}"`).join(" and ");
    throw new ArgumentError(
      `${what} needs ${named}, not installed beside colloquy; install it: npm install --global ${packages.join(" ")}`,
      { cause: thrown },
    );
  }
};

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  (thrown.code === "ERR_MODULE_NOT_FOUND" || thrown.code === "MODULE_NOT_FOUND");
