import { digestOf } from "@colloquy/machine";

/**
 * Returns the names of a server's tools for models, by the server's names. Providers allow at most 64 letters, digits,
 * `_` and `-`; other characters become `_`. If two names would be equal, or a name is cut, a digest of the server's
 * name distinguishes them. So the order of the list does not matter.
 */
export const toolNames = (names: readonly string[], prefix: string): ReadonlyMap<string, string> => {
  const plain = new Map(names.map((name) => [name, prefix + name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")]));
  const shared = new Map<string, number>();
  for (const name of plain.values()) shared.set(name, (shared.get(name) ?? 0) + 1);
  return new Map(
    [...plain].map(([name, shown]) => {
      const isOwn = shown === prefix + name || shared.get(shown) === 1;
      return [name, isOwn && shown.length <= lengthMax ? shown : withDigest(shown, name)];
    }),
  );
};

const lengthMax = 64;

const withDigest = (shown: string, name: string): string => {
  const digest = digestOf(name)
    .replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, 8);
  return `${shown.slice(0, lengthMax - digest.length - 1)}_${digest}`;
};
