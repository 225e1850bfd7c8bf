/** Splits found items, one more than `limit` if there is a next page, into a page and the cursor of the next. */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
): readonly [page: readonly Item[], next: string | null] => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return [page, last === undefined || found.length <= limit ? null : cursorOf(last)];
};
