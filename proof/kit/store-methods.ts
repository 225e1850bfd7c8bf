import type { Inbox } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

export type Through = <Value>(call: () => Promise<Value>) => Promise<Value>;

const directly: Through = (call) => call();

/** Copies the methods of a store and its inbox into an object, so that each can be replaced. */
export const methodsOf = (store: Store, through: Through = directly): Store => ({
  acquire: (...given) => through(() => store.acquire(...given)),
  renew: (...given) => through(() => store.renew(...given)),
  release: (...given) => through(() => store.release(...given)),
  abandoned: () => through(() => store.abandoned()),
  append: (...given) => through(async () => store.append(...given)),
  read: (...given) => through(() => store.read(...given)),
  rewrite: (...given) => through(() => store.rewrite(...given)),
  saveSnapshot: (...given) => through(() => store.saveSnapshot(...given)),
  readSnapshot: (...given) => through(() => store.readSnapshot(...given)),
  list: (...given) => through(() => store.list(...given)),
  delete: (...given) => through(() => store.delete(...given)),
  close: () => store.close(),
  ...(store.inbox && { inbox: methodsOfInbox(store.inbox, through) }),
});

const methodsOfInbox = (inbox: Inbox, through: Through): Inbox => ({
  post: (...given) => through(() => inbox.post(...given)),
  unanswered: (...given) => through(() => inbox.unanswered(...given)),
  waiting: () => through(() => inbox.waiting()),
  answer: (...given) => through(() => inbox.answer(...given)),
  answerTo: (...given) => through(() => inbox.answerTo(...given)),
  discard: (...given) => through(() => inbox.discard(...given)),
});
