import fc from "fast-check";
import { expect, test } from "vitest";
import { type Mail, Mailbox, type Receipt } from "../../src/mailbox/mailbox.ts";

const mailOf = (number: number): Mail & { readonly receipt: Receipt } => ({
  event: { type: "cancel.requested", at: number },
  receipt: { accepted: () => {}, refused: () => {}, failed: () => {} },
});

/** What is done to a mailbox: something is added behind, or before all; the first is taken; the one at some place is taken back. */
const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ type: "add" } as const) },
    { weight: 3, arbitrary: fc.constant({ type: "take" } as const) },
    fc.record({ type: fc.constant("addFirst" as const), count: fc.nat(3) }),
    fc.record({ type: fc.constant("takeBack" as const), place: fc.nat(20) }),
  ),
  { maxLength: 60 },
);

test("a mailbox gives its mails in order, whatever is added, taken and taken back meanwhile", () => {
  fc.assert(
    fc.property(acts, (given) => {
      const mailbox = new Mailbox();
      const model = new PlainMailbox();
      for (const act of given) {
        expect(model.did(act, mailbox)).toEqual([true, true]);
        expect([mailbox.size, mailbox.first]).toEqual([model.mails.length, model.mails[0]]);
        expect(mailbox.some(model.isNewest)).toBe(model.mails.some(model.isNewest));
      }
      expect(mailbox.end(new Error("over"))).toEqual(model.mails);
      expect(mailbox.size).toBe(0);
    }),
    { seed: 7, numRuns: 300 },
  );
});

type Act = NonNullable<ReturnType<typeof acts.generate>["value"]>[number];

/** What a mailbox is, as plainly as can be. */
class PlainMailbox {
  mails: ReturnType<typeof mailOf>[] = [];
  #made = 0;

  readonly isNewest = ({ event }: Mail): boolean => event.at === this.#made - 1;

  /** Does the same here and there; false where something else came of it. */
  did(act: Act, mailbox: Mailbox): readonly boolean[] {
    let [taken, takenBack] = [true, true];
    if (act.type === "add") {
      this.mails.push(mailOf(this.#made++));
      for (const mail of this.mails.slice(-1)) mailbox.add(mail);
    } else if (act.type === "addFirst") {
      const added = Array.from({ length: act.count }, () => mailOf(this.#made++));
      mailbox.addFirst(added);
      this.mails = [...added, ...this.mails];
    } else if (act.type === "take") taken = mailbox.take() === this.mails.shift();
    else {
      const { receipt } = this.mails[act.place] ?? mailOf(-1);
      takenBack = mailbox.takeBack(receipt) === this.mails.some((mail) => mail.receipt === receipt);
      this.mails = this.mails.filter((mail) => mail.receipt !== receipt);
    }
    return [taken, takenBack];
  }
}
