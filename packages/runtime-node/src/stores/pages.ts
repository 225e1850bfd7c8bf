/**
 * Splits found items into a page and the cursor of the next page. `found` has one more item than `limit` if there is a
 * next page; otherwise the cursor is null.
 */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
): readonly [page: readonly Item[], next: string | null] => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return [page, last === undefined || found.length <= limit ? null : cursorOf(last)];
};
