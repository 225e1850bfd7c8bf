// The fp-ts types that packages' declarations use. The build ships this file in each package, which does not depend on
// fp-ts (docs/decisions/0034-packages-are-bundles.md). A test compares them with fp-ts's own.
export interface Left<E> {
  readonly _tag: "Left";
  readonly left: E;
}

export interface Right<A> {
  readonly _tag: "Right";
  readonly right: A;
}

export type Either<E, A> = Left<E> | Right<A>;

export interface Monoid<A> {
  readonly concat: (x: A, y: A) => A;
  readonly empty: A;
}
