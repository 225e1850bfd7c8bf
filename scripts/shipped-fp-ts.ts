// The types of fp-ts that declarations of packages name, as the build ships them within each package: what is installed
// brings no fp-ts, of which nothing runs (docs/decisions/0034-packages-are-bundles.md). A test holds them to fp-ts's own.
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
