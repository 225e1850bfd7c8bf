import type { Inbox, Store } from "@colloquy/host";

/** A store whose methods can be replaced one by one. */
export const methodsOf = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  append: (...given) => store.append(...given),
  read: (...given) => store.read(...given),
  rewrite: (...given) => store.rewrite(...given),
  saveSnapshot: (...given) => store.saveSnapshot(...given),
  readSnapshot: (...given) => store.readSnapshot(...given),
  list: (...given) => store.list(...given),
  delete: (...given) => store.delete(...given),
  close: () => store.close(),
  ...(store.inbox && { inbox: store.inbox }),
});

export const methodsOfInbox = (inbox: Inbox): Inbox => ({
  post: (...given) => inbox.post(...given),
  unanswered: (...given) => inbox.unanswered(...given),
  answer: (...given) => inbox.answer(...given),
  answerTo: (...given) => inbox.answerTo(...given),
  discard: (...given) => inbox.discard(...given),
});
