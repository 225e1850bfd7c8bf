import type { Store } from "@colloquy/host";
import { overriding } from "./gated-store.ts";

/** Makes a process's view of a store. After `die`, it carries out and answers nothing more. */
export const mortal = (inner: Store): { readonly store: Store; readonly die: () => void } => {
  let dead = false;
  const never = new Promise<never>(() => {});
  const alive =
    <Given extends readonly unknown[], Answer>(method: (...given: Given) => Answer) =>
    (...given: Given): Answer =>
      // A dead process waits for nothing.
      dead ? (never as Answer) : method(...given);
  const { inbox, parts } = inner;
  return {
    die: () => {
      dead = true;
    },
    store: overriding(inner, {
      acquire: alive((...given) => inner.acquire(...given)),
      renew: alive((...given) => inner.renew(...given)),
      release: alive((...given) => inner.release(...given)),
      abandoned: alive(() => inner.abandoned()),
      append: alive((...given) => inner.append(...given)),
      read: alive((...given) => inner.read(...given)),
      ...(parts === undefined
        ? {}
        : {
            parts: {
              append: alive((...given) => parts.append(...given)),
              read: alive((...given) => parts.read(...given)),
            },
          }),
      ...(inbox === undefined
        ? {}
        : {
            inbox: {
              post: alive((...given) => inbox.post(...given)),
              unanswered: alive((...given) => inbox.unanswered(...given)),
              waiting: alive(() => inbox.waiting()),
              answer: alive((...given) => inbox.answer(...given)),
              answerTo: alive((...given) => inbox.answerTo(...given)),
              discard: alive((...given) => inbox.discard(...given)),
            },
          }),
    }),
  };
};
