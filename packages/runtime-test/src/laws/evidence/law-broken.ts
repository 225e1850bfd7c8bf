import { differenceOf } from "./difference.ts";

/** A broken law, with its name and the place where it broke. */
export class LawBroken extends Error {
  override readonly name = "LawBroken";
  /** The law's name: `M1` to `M14`, `P1` to `P11`, `R1`, … */
  readonly law: string;

  constructor(law: string, words: string, options?: ErrorOptions) {
    super(`${law}: ${words}`, options);
    this.law = law;
  }
}

/** Throws if two values differ. */
export const requireSame = (law: string, what: string, expected: unknown, actual: unknown): void => {
  const difference = differenceOf(expected, actual);
  if (difference !== null) throw new LawBroken(law, `${what}: ${difference}`);
};
