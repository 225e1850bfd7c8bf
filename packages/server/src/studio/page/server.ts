import { useEffect, useRef, useState } from "preact/hooks";

/** The parameters of a query; null and undefined are left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Requests data from the server. Rejects with an `Error` that has the server's message. */
export const get = <Answer>(path: string, query: Query = {}): Promise<Answer> =>
  answered(fetch(addressOf(path, query)));

/** Requests an action from the server. Rejects as `get` does. */
export const post = <Answer>(path: string, query: Query, body: object): Promise<Answer> =>
  answered(
    fetch(addressOf(path, query), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

export const addressOf = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value == null ? [] : [[name, String(value)]]));
  return `/studio/api/${path}?${new URLSearchParams(given).toString()}`;
};

const answered = async <Answer>(asked: Promise<Response>): Promise<Answer> => {
  const response = await asked;
  // The server is in this package, and its routes use the same types.
  const body = (await response.json().catch(() => null)) as
    | (Answer & { readonly error?: { readonly message: string } })
    | null;
  if (response.ok && body !== null) return body;
  throw new Error(body?.error?.message ?? `the server answered ${response.status}`);
};

/** Loaded data; the old value stays until a new one arrives. */
export interface Loaded<Value> {
  readonly value: Value | null;
  readonly problem: string | null;
}

/** Loads data when the address or `revision` changes. With a null query, nothing is loaded. */
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

/** Passes on the answer, or a description of the failure for a person. */
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

/** Calls a function with each event of a name while the component is mounted. */
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
