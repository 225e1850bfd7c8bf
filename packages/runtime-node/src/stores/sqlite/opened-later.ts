import { disposable, type Inbox, type PartLog, StorageError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

type Search = NonNullable<Store["search"]>;

export type WholeStore = { readonly inbox: Inbox; readonly parts: PartLog } & Store;

/**
 * Creates a store that its first call opens. If that fails, the call rejects, and the next call tries again.
 *
 * @param name a description of the store for messages
 * @param search searches an opened store; left out if it can't search
 */
export const openedLater = <Opened extends WholeStore>(
  name: string,
  open: () => Opened,
  search?: (store: Opened, ...given: Parameters<Search>) => ReturnType<Search>,
): WholeStore & AsyncDisposable => {
  let opened: Opened | null = null;
  let isClosed = false;
  const store = (): Opened => {
    if (isClosed && opened === null) throw new StorageError("closed", `${name}: it was closed; open it again.`);
    return (opened ??= open());
  };
  /** Wraps a method so that it opens the store, or rejects with the reason why it cannot. */
  const later =
    <Given extends readonly unknown[], Result>(call: (store: Opened, ...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> => {
      try {
        return call(store(), ...given);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  const inbox: Inbox = {
    post: later(({ inbox }, ...given) => inbox.post(...given)),
    unanswered: later(({ inbox }, ...given) => inbox.unanswered(...given)),
    waiting: later(({ inbox }) => inbox.waiting()),
    answer: later(({ inbox }, ...given) => inbox.answer(...given)),
    answerTo: later(({ inbox }, ...given) => inbox.answerTo(...given)),
    discard: later(({ inbox }, ...given) => inbox.discard(...given)),
  };
  const parts: PartLog = {
    append: later(({ parts }, ...given) => parts.append(...given)),
    read: later(({ parts }, ...given) => parts.read(...given)),
  };
  return disposable<WholeStore>({
    inbox,
    parts,
    acquire: later((store, ...given) => store.acquire(...given)),
    renew: later((store, ...given) => store.renew(...given)),
    release: later((store, ...given) => store.release(...given)),
    abandoned: later((store) => store.abandoned()),
    append: (...given) => store().append(...given),
    read: later((store, ...given) => store.read(...given)),
    rewrite: later((store, ...given) => store.rewrite(...given)),
    saveSnapshot: later((store, ...given) => store.saveSnapshot(...given)),
    readSnapshot: later((store, ...given) => store.readSnapshot(...given)),
    list: later((store, ...given) => store.list(...given)),
    ...(search !== undefined && { search: later(search) }),
    delete: later((store, ...given) => store.delete(...given)),
    close: async () => {
      isClosed = true;
      await opened?.close();
    },
  });
};
