import { delimiter, dirname } from "node:path";

const root = dirname(import.meta.dirname);

/**
 * Returns the environment of the user who runs one of our commands, without pnpm's additions: the workspace's tools and
 * Node on the PATH, and the notes on the running script. For commands that must run as a reader would run them.
 */
export const callerEnvironment = (): Record<string, string> => {
  const kept = Object.entries(process.env).filter(
    (each): each is [string, string] => each[1] !== undefined && !/^npm_(?!config_)/.test(each[0]),
  );
  return { ...Object.fromEntries(kept), PATH: callerPath().join(delimiter) };
};

/** Returns the caller's environment with the workspace's tools first on the PATH. */
export const workspaceEnvironment = (): Record<string, string> => ({
  ...callerEnvironment(),
  PATH: [`${root}/node_modules/.bin`, ...callerPath()].join(delimiter),
});

const callerPath = (): readonly string[] =>
  (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.startsWith(root));
