import { digestOf } from "@colloquy/machine";

/**
 * The names under which models call the tools of a server, by the names that the server gives them. Providers allow
 * letters, digits, `_` and `-`, 64 at most: other characters become `_`. Where two names would be one, and where a name
 * is cut, a digest of the server's name tells them apart, so that it does not matter in which order they are listed.
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
