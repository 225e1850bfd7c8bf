/** A page of what was found, which is one more than it holds where there is a next one; and the cursor of that, or null. */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
): readonly [page: readonly Item[], next: string | null] => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return [page, last === undefined || found.length <= limit ? null : cursorOf(last)];
};
