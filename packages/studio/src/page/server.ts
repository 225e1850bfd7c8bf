import { useEffect, useRef, useState } from "preact/hooks";

/** What a query says: what is null or undefined is left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Asks the server. Rejects with an `Error` whose message it gave. */
export const get = <Answer>(path: string, query: Query = {}): Promise<Answer> =>
  answered(fetch(addressOf(path, query)));

/** Has the server do something. Rejects as `get` does. */
export const post = <Answer>(path: string, query: Query, body: object): Promise<Answer> =>
  answered(
    fetch(addressOf(path, query), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

/** Where something is asked for. */
export const addressOf = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value == null ? [] : [[name, String(value)]]));
  return `/studio/api/${path}?${new URLSearchParams(given).toString()}`;
};

const answered = async <Answer>(asked: Promise<Response>): Promise<Answer> => {
  const response = await asked;
  // The server is of this package, and its routes are written against the same types.
  const body = (await response.json().catch(() => null)) as
    | (Answer & { readonly error?: { readonly message: string } })
    | null;
  if (response.ok && body !== null) return body;
  throw new Error(body?.error?.message ?? `the server answered ${response.status}`);
};

/** What was asked for; what it was before stays until there is something new. */
export interface Loaded<Value> {
  readonly value: Value | null;
  readonly problem: string | null;
}

/** Asks when something is another than before: the address, or `revision`. With a null address nothing is asked. */
export const useLoaded = <Value>(path: string, query: Query | null, revision: number | string = 0): Loaded<Value> => {
  const [loaded, set] = useState<Loaded<Value>>({ value: null, problem: null });
  const address = query === null ? null : addressOf(path, query);
  useEffect(() => {
    if (query === null) {
      set({ value: null, problem: null });
      return undefined;
    }
    let isWanted = true;
    void asking(
      get<Value>(path, query),
      (value) => isWanted && set({ value, problem: null }),
      (problem) => isWanted && set(({ value }) => ({ value, problem })),
    );
    return () => void (isWanted = false);
  }, [address, revision]);
  return loaded;
};

/** Goes on with an answer, or with why there is none, for a person. */
export const asking = async <Answer>(
  asked: Promise<Answer>,
  use: (answer: Answer) => void,
  refuse: (problem: string) => void,
): Promise<void> => {
  try {
    use(await asked);
  } catch (thrown) {
    refuse(thrown instanceof Error ? thrown.message : String(thrown));
  }
};

/** Calls a function with each event of a name, for as long as the component is there. */
export const useEvents = (name: string, listen: (data: unknown) => void): boolean => {
  const [isOpen, setOpen] = useState(false);
  const listener = useRef(listen);
  listener.current = listen;
  useEffect(() => {
    const source = new EventSource("/studio/api/events");
    source.addEventListener(name, (event) => listener.current(JSON.parse(String(event.data))));
    source.addEventListener("open", () => setOpen(true));
    source.addEventListener("error", () => setOpen(false));
    return () => source.close();
  }, [name]);
  return isOpen;
};
