import { readFileSync } from "node:fs";

const exported = readFileSync(new URL("../../../src/policies.ts", import.meta.url), "utf8");

/** The functions that make the shipped policies, by the exports of `src/policies.ts`. */
export const policyFunctions: readonly string[] = [
  ...exported.matchAll(/^export \{ ([a-z]\w*).* from "\.\/prompt\/policies\//gm),
].flatMap(([, name]) => name ?? []);

/** Returns the name of the policies that a function makes: `last-turns` for `lastTurns`. */
export const policyNameOf = (maker: string): string =>
  maker.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
