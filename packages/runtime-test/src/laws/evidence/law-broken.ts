/** A law does not hold: which, and where it broke. */
export class LawBroken extends Error {
  override readonly name = "LawBroken";
  /** The law's name: `M1` to `M12`, `P1` to `P11`, `R1`, … */
  readonly law: string;

  constructor(law: string, words: string, options?: ErrorOptions) {
    super(`${law}: ${words}`, options);
    this.law = law;
  }
}
