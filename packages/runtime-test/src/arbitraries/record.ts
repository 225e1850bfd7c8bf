import fc from "fast-check";

/** An arbitrary for each member. */
export type Fields<Members extends object> = { readonly [Name in keyof Members]: fc.Arbitrary<Members[Name]> };

/** Returns an arbitrary of plain objects with all `required` members, and each of the others sometimes. */
export function recordOf<Required extends object, Optional extends object = object>(
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<NoInfer<Required> & Partial<Optional>> {
  const requiredKeys = Object.keys(required) as (keyof (Required | Optional))[];
  // The compiler does not resolve what fast-check infers of generic members.
  return fc.record({ ...required, ...optional }, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<
    Required & Partial<Optional>
  >;
}
