import fc from "fast-check";

/** An arbitrary for each member. */
export type Fields<Members extends object> = { readonly [Name in keyof Members]: fc.Arbitrary<Members[Name]> };

/** Plain objects with all of the first members, and with each of the others now and then. */
export function recordOf<Required extends object, Optional extends object = object>(
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<NoInfer<Required> & Partial<Optional>> {
  const requiredKeys = Object.keys(required) as (keyof (Required | Optional))[];
  // What fast-check infers of generic members is not looked into by the compiler.
  return fc.record({ ...required, ...optional }, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<
    Required & Partial<Optional>
  >;
}
